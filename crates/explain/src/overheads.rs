//! Costs of the kernel's own work, as distributions: the overheads that schedulability analysis adds to a
//! task set. Read from the same events; the analysis itself is elsewhere.
//!
//! The parameters are those of Brandenburg, "Scheduling and Locking in Multiprocessor Real-Time
//! Operating Systems" (2011), chapter 3, measured on stock Linux. The wake-up latency is their sum
//! and is never added as well.

use crate::cpu::is_ipi;
use crate::cycle::{Explained, Stretch, WokenBy};
use crate::feather_trace::FeatherCounts;
use serde::{Deserialize, Serialize};
use wakepath_statistics::{LatencyHistogram, Quantile};
use wakepath_timeline::{Interrupt, KernelEvent, Left, What};

/// Collects the distributions while events go by.
#[derive(Debug, Default)]
pub struct Overheads {
    cpus: Vec<PerCpu>,
    pub(crate) event: LatencyHistogram,
    pub(crate) release: LatencyHistogram,
    pub(crate) scheduling: LatencyHistogram,
    pub(crate) switch: LatencyHistogram,
    pub(crate) tick: LatencyHistogram,
    pub(crate) ipi: LatencyHistogram,
}

#[derive(Debug, Default, Clone)]
struct PerCpu {
    interrupt_ns: Option<u64>,
    /// The timer interrupt under way has woken someone and is not done with it.
    tick_ns: Option<u64>,
    /// End of the interrupt that came last, while nothing else has happened.
    interrupt_end_ns: Option<u64>,
    sent_ns: Option<u64>,
}

impl Overheads {
    pub(crate) fn event(&mut self, event: &KernelEvent, at_ns: u64) {
        let index = usize::from(event.cpu);
        if self.cpus.len() <= index {
            self.cpus.resize(index + 1, PerCpu::default());
        }
        if let What::IpiSend {
            target_cpu: Some(target),
            ..
        } = event.what
        {
            let target = usize::from(target);
            if let Some(target) = self.cpus.get_mut(target).filter(|_| target != index) {
                // Of several that join, the first is the one that was waited for.
                target.sent_ns.get_or_insert(at_ns);
            }
        }
        let cpu = &mut self.cpus[index];
        let interrupt_end_ns = cpu.interrupt_end_ns.take();
        match &event.what {
            What::InterruptEntry(interrupt) => {
                cpu.interrupt_ns = Some(at_ns);
                if is_ipi(interrupt)
                    && let Some(sent) = cpu.sent_ns.take().filter(|&sent| sent <= at_ns)
                {
                    self.ipi.record(span(sent, at_ns));
                }
            }
            What::InterruptExit(interrupt) => {
                cpu.interrupt_ns = None;
                cpu.tick_ns = None;
                if !matches!(interrupt, Interrupt::IrqWork) {
                    cpu.interrupt_end_ns = Some(at_ns);
                }
            }
            What::TimerExpiryEntry { function, .. } => {
                cpu.tick_ns = function.starts_with("tick_").then_some(at_ns);
            }
            What::TimerExpiryExit { .. } => {
                if let Some(since) = cpu.tick_ns.take() {
                    self.tick.record(span(since, at_ns));
                }
            }
            What::WakeUp { .. } => {
                if let Some(since) = cpu.interrupt_ns {
                    self.release.record(span(since, at_ns));
                }
            }
            What::Switch {
                left: Left::Runnable,
                ..
            } => {
                if let Some(since) = interrupt_end_ns {
                    self.scheduling.record(span(since, at_ns));
                }
            }
            What::Lost { .. } => *cpu = PerCpu::default(),
            _ => {}
        }
    }

    pub(crate) fn cycle(&mut self, cycle: &Explained) {
        if cycle.woken != WokenBy::Direct || cycle.latency_ns() != cycle.explained_ns() {
            return;
        }
        let of = |stretch| {
            let pieces = cycle
                .latency
                .iter()
                .filter(|piece| piece.stretch == stretch);
            pieces.map(crate::Piece::ns).sum::<u64>()
        };
        self.event.record(of(Stretch::DueToInterrupt) as i64);
        self.switch.record(of(Stretch::SwitchToUser) as i64);
    }

    /// Adds another stream's.
    pub fn merge(&mut self, other: &Self) {
        self.event.merge(&other.event);
        self.release.merge(&other.release);
        self.scheduling.merge(&other.scheduling);
        self.switch.merge(&other.switch);
        self.tick.merge(&other.tick);
        self.ipi.merge(&other.ipi);
    }

    /// As distributions.
    pub fn costs(&self) -> OverheadCosts {
        OverheadCosts {
            timer_lateness: Distribution::new(&self.event),
            release: Distribution::new(&self.release),
            scheduling: Distribution::new(&self.scheduling),
            context_switch: Distribution::new(&self.switch),
            tick: Distribution::new(&self.tick),
            ipi: Distribution::new(&self.ipi),
        }
    }
}

fn span(from_ns: u64, to_ns: u64) -> i64 {
    i64::try_from(to_ns.saturating_sub(from_ns)).unwrap_or(i64::MAX)
}

/// The overheads of a run: the file `overheads.json`. All times in nanoseconds; a distribution
/// without a count was never seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverheadTable {
    /// Version of this table.
    pub version: u32,
    /// Unit of every time: `ns`.
    pub unit: String,
    /// Of all phases together.
    #[serde(flatten)]
    pub all: OverheadCosts,
    /// Phase by phase, in the order of the run; none in a file of a wakepath that did not distinguish them.
    #[serde(default)]
    pub phases: Vec<PhaseOverheads>,
    /// The counts of LITMUS^RT's Feather-Trace, which replaces the tracepoints for its conditions; none if
    /// nothing was recorded by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feather_trace: Option<FeatherCounts>,
}

/// The overheads of one phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseOverheads {
    /// Its name.
    pub phase: String,
    /// Costs in it.
    #[serde(flatten)]
    pub costs: OverheadCosts,
}

/// Costs of each of the kernel's steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverheadCosts {
    /// Δev: due time → timer interrupt, over direct wake-ups of the measured loops.
    pub timer_lateness: Distribution,
    /// Δrel: interrupt entry → a thread put on its run queue, over all wake-ups from interrupts.
    pub release: Distribution,
    /// Δsch: end of the interrupt → switch away from the thread that it interrupted, if nothing comes
    /// between. It includes kernel code that can't be preempted: the largest is a blocking time.
    pub scheduling: Distribution,
    /// Δcxs: switch → first instruction of the loop's cycle.
    pub context_switch: Distribution,
    /// Δtick: the tick's callback.
    pub tick: Distribution,
    /// Δipi: inter-processor interrupt sent → received, if both CPUs were traced.
    pub ipi: Distribution,
}

impl OverheadTable {
    /// Name of the file in a run directory.
    pub const FILE_NAME: &'static str = "overheads.json";

    /// Of phases in their order.
    pub fn new(phases: &[(String, Overheads)]) -> Self {
        let mut all = Overheads::default();
        for (_, overheads) in phases {
            all.merge(overheads);
        }
        let phases = phases.iter().map(|(phase, overheads)| PhaseOverheads {
            phase: phase.clone(),
            costs: overheads.costs(),
        });
        Self {
            version: 1,
            unit: "ns".into(),
            all: all.costs(),
            phases: phases.collect(),
            feather_trace: None,
        }
    }
}

/// A distribution of times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// How many were seen.
    pub count: u64,
    /// Smallest, exact.
    pub min: Option<i64>,
    /// Median, within 0.8 %, like the others below.
    pub median: Option<i64>,
    /// 99th percentile.
    pub p99: Option<i64>,
    /// 99.9th percentile.
    pub p999: Option<i64>,
    /// Largest, exact. Observed, not a bound.
    pub max: Option<i64>,
    /// Bins that hold values, ascending: smallest and largest value, count.
    pub bins: Vec<(i64, i64, u64)>,
}

impl Distribution {
    fn new(histogram: &LatencyHistogram) -> Self {
        // A quantile without a value above it would only be the maximum.
        let quantile = |quantile: Quantile, least: u64| {
            let enough = histogram.count() >= least;
            enough.then(|| histogram.quantile(quantile)).flatten()
        };
        Self {
            count: histogram.count(),
            min: histogram.min(),
            median: quantile(Quantile::P50, 1),
            p99: quantile(Quantile::P99, 100),
            p999: quantile(Quantile::P999, 1000),
            max: histogram.max(),
            bins: histogram.occupied().collect(),
        }
    }
}

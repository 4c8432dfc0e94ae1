//! Measurements, with the known values: from the disturbances themselves and straight from the events.

use wakepath_explain::{Cause, Explained, Piece, Stretch, Usual};
use wakepath_timeline::{Interrupt, KernelEvent, SoftIrq, What};

pub struct Measured {
    pub cycles: Vec<Explained>,
    pub injected: Vec<(u64, u64)>,
    pub usual: Usual,
    pub(super) loop_cpu: u16,
    pub(super) loop_thread: u32,
    pub(super) events: Vec<KernelEvent>,
    pub(super) chunks: Vec<(u64, u64)>,
}

impl Measured {
    pub fn note(&self, text: &str) {
        eprintln!("{text}; usual: {:?}", self.usual);
    }

    /// At least 99 % of the latency of the cycles later than this is explained.
    ///
    /// Some kernels don't record every switch. If the events have no switch to the loop, the activity until
    /// then is unknown, and "no events" is the right answer for that stretch: it counts neither way.
    pub fn assert_explained(&self, above_ns: u64) {
        let late = self
            .cycles
            .iter()
            .filter(|cycle| cycle.latency_ns() > above_ns);
        let (mut all, mut explained, mut count, mut without_switch) = (0, 0, 0, 0);
        for cycle in late {
            let withheld = self.without_switch_ns(cycle);
            all += cycle.latency_ns() - withheld;
            explained += cycle.explained_ns();
            count += 1;
            without_switch += u32::from(withheld > 0);
        }
        eprintln!(
            "{count} late cycles, {without_switch} with a switch that was not recorded, \
             {explained} of {all} ns explained"
        );
        if explained * 100 < all * 99 {
            self.show_unexplained();
            panic!("{explained} of {all} ns");
        }
    }

    /// Unexplained time before a switch to the loop that the kernel did not record.
    fn without_switch_ns(&self, cycle: &Explained) -> u64 {
        let sample = &cycle.sample;
        let first = self.events.partition_point(|e| e.at_ns < sample.due_ns);
        let mut until_awake = self.events[first..]
            .iter()
            .take_while(|e| e.at_ns <= sample.wake_ns);
        let to_the_loop = |event: &KernelEvent| matches!(&event.what, What::Switch { next, .. } if next.id == self.loop_thread);
        if until_awake.any(to_the_loop) {
            return 0;
        }
        let unknown = |piece: &&Piece| {
            piece.stretch == Stretch::WakingToSwitch && piece.cause == Cause::NoEvents
        };
        cycle
            .latency
            .iter()
            .filter(unknown)
            .map(|piece| piece.ns())
            .sum()
    }

    /// The events of the cycle of which most is unexplained.
    fn show_unexplained(&self) {
        let missing = |cycle: &&Explained| cycle.latency_ns() - cycle.explained_ns();
        let Some(cycle) = self.cycles.iter().max_by_key(missing) else {
            return;
        };
        eprintln!("{cycle:#?}");
        let within = cycle.sample.due_ns.saturating_sub(100_000)..=cycle.sample.wake_ns + 100_000;
        for event in self
            .events
            .iter()
            .filter(|event| within.contains(&event.at_ns))
        {
            eprintln!("{event:?}");
        }
    }

    /// How long the neighbour ran between two instants, as it counted itself.
    pub fn neighbour_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        let chunk = |&(from, to): &(u64, u64)| to.min(to_ns).saturating_sub(from.max(from_ns));
        self.chunks.iter().map(chunk).sum()
    }

    /// How long ordinary threads had the loop's CPU between two instants, straight from the events: the neighbour, and
    /// whatever else the machine has to do.
    pub fn ordinary_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        self.sum(from_ns, to_ns, |what| match what {
            What::Switch { next, .. } => Some(next.id != 0 && next.priority >= 100),
            _ => None,
        })
    }

    /// Time of the matching interrupts between a cycle's due time and its end, straight from the events.
    pub fn interrupt_ns(&self, cycle: &Explained, which: impl Fn(&Interrupt) -> bool) -> u64 {
        let sample = &cycle.sample;
        self.sum(sample.due_ns, sample.end_ns, |what| match what {
            What::InterruptEntry(interrupt) if which(interrupt) => Some(true),
            What::InterruptExit(interrupt) if which(interrupt) => Some(false),
            _ => None,
        })
    }

    /// Time of a SoftIRQ between a cycle's due time and its wake-up, less interrupts within.
    pub fn softirq_ns(&self, cycle: &Explained, vector: u8) -> u64 {
        let (from_ns, to_ns) = (cycle.sample.due_ns, cycle.sample.wake_ns);
        let mut within = false;
        let whole = self.sum(from_ns, to_ns, |what| match what {
            What::SoftIrqEntry(of) if *of == SoftIrq(vector) => Some(true),
            What::SoftIrqExit(of) if *of == SoftIrq(vector) => Some(false),
            _ => None,
        });
        let interrupts = self.sum(from_ns, to_ns, |what| match what {
            What::SoftIrqEntry(of) if *of == SoftIrq(vector) => {
                within = true;
                None
            }
            What::SoftIrqExit(of) if *of == SoftIrq(vector) => {
                within = false;
                None
            }
            What::InterruptEntry(_) if within => Some(true),
            What::InterruptExit(_) if within => Some(false),
            _ => None,
        });
        whole - interrupts
    }

    /// When a thread of this name leaves the loop's CPU after an instant, straight from the events.
    pub fn left_at_ns(&self, name: &str, from_ns: u64) -> Option<u64> {
        let first = self.events.partition_point(|event| event.at_ns < from_ns);
        let mut later = self.events[first..].iter();
        let leaves = |event: &&KernelEvent| {
            event.cpu == self.loop_cpu
                && matches!(&event.what, What::Switch { previous, .. } if previous.name.to_string() == name)
        };
        later.find(leaves).map(|event| event.at_ns)
    }

    fn sum(&self, from_ns: u64, to_ns: u64, mut edge: impl FnMut(&What) -> Option<bool>) -> u64 {
        let mut begun = None;
        let mut sum = 0;
        // A softirq or interrupt under way began a millisecond earlier at most.
        let first = self
            .events
            .partition_point(|e| e.at_ns + 1_000_000 < from_ns);
        let near = self.events[first..]
            .iter()
            .take_while(|e| e.at_ns <= to_ns + 1_000_000);
        for event in near.filter(|event| event.cpu == self.loop_cpu) {
            match edge(&event.what) {
                Some(true) => begun = begun.or(Some(event.at_ns)),
                Some(false) => {
                    if let Some(begun) = begun.take() {
                        let end = event.at_ns.min(to_ns);
                        sum += end.saturating_sub(begun.max(from_ns));
                    }
                }
                None => {}
            }
        }
        sum
    }
}

pub fn of_kind(cycle: &Explained, kind: &str) -> u64 {
    let pieces = cycle.latency.iter().chain(&cycle.execution);
    pieces
        .filter(|p| p.cause.kind() == kind)
        .map(|p| p.ns())
        .sum()
}

/// Within 10 % or 5 µs.
pub fn assert_close(found: u64, known: u64, cycle: &Explained) {
    assert_close_share(found, known, 0.10, cycle);
}

pub fn assert_close_share(found: u64, known: u64, share: f64, cycle: &Explained) {
    let allowed = (share * known as f64).max(5_000.0);
    assert!(
        found.abs_diff(known) as f64 <= allowed,
        "{found} ns found, {known} ns known, in {cycle:#?}"
    );
}

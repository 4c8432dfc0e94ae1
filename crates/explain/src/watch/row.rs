//! Activations as the samples of a loop: due when the timer was to expire, woken at the switch-in.

use super::activation::Activation;
use super::rhythm::{Rhythm, expiry_ns};
use wakepath_timeline::{DueTimes, Sample, SampleFlags};

/// A thread's activations as samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The even row of due times that represents the expiries; for an exact rhythm it equals them.
    pub due: DueTimes,
    /// One for each activation, at the instants at which it happened. The cycles of an exact rhythm
    /// are numbered by period, others one after the other, but that a cycle which runs over
    /// following due times of the even row takes their numbers away.
    pub samples: Vec<Sample>,
    /// Whether its samples are moved onto the even row by their due times alone: those lie near it.
    pub is_near: bool,
    /// Activations without a sample: their programmed time was not seen or is off an exact row, or they came
    /// out of order.
    pub left_out: u64,
}

/// The row of a thread with this rhythm.
pub fn row(activations: &[Activation], rhythm: Rhythm) -> Row {
    let exact = rhythm.anchor_ns.is_some();
    let expiry = |of: &Activation| {
        expiry_ns(of, rhythm.programmed).filter(|&at| !exact || rhythm.is_on_row(at))
    };
    let first_ns = activations.iter().find_map(expiry).unwrap_or(0);
    let due = DueTimes {
        start_ns: first_ns,
        period_ns: rhythm.period_ns,
    };
    let mut samples: Vec<Sample> = Vec::with_capacity(activations.len());
    let mut left_out = 0;
    for of in activations {
        let before = samples.last();
        let number = expiry(of).and_then(|due_ns| {
            let cycle = if exact {
                (due_ns + rhythm.beside_ns * 2).checked_sub(first_ns)? / rhythm.period_ns
            } else {
                match before {
                    None => 0,
                    Some(before) => after(&due, before, of.switched_in_ns.saturating_sub(due_ns)),
                }
            };
            let in_order = before.is_none_or(|b| b.cycle < cycle && b.due_ns < due_ns);
            in_order.then_some((cycle, due_ns))
        });
        let Some((cycle, due_ns)) = number else {
            left_out += 1;
            continue;
        };
        let mut flags = SampleFlags::HAS_CPU_TIME.with(SampleFlags::HAS_SWITCHES);
        if before.is_some_and(|before| before.end_ns > due_ns) {
            flags = flags.with(SampleFlags::DUE_ALREADY_PAST);
        }
        samples.push(Sample {
            cycle,
            due_ns,
            wake_ns: of.switched_in_ns,
            end_ns: of.end_ns,
            cpu_time_ns: u32::try_from(of.run_ns).unwrap_or(u32::MAX),
            involuntary_switches: u16::try_from(of.preemptions).unwrap_or(u16::MAX),
            cpu: of.cpu,
            flags,
            ..Sample::default()
        });
    }
    let is_near = rhythm.beside_ns > 0;
    let earliest = |of: &Sample| of.due_ns.saturating_sub(of.cycle * rhythm.period_ns);
    let start_ns = if is_near {
        samples.iter().map(earliest).min().unwrap_or(first_ns)
    } else {
        first_ns
    };
    Row {
        due: DueTimes { start_ns, ..due },
        samples,
        is_near,
        left_out,
    }
}

/// Number of the next cycle on an even row, which has this latency: it begins when the previous one has ended
/// there too, however long that was.
fn after(due: &DueTimes, before: &Sample, latency_ns: u64) -> u64 {
    let due_ns = due.due_ns(before.cycle).cast_signed();
    let end_ns = (due_ns + before.response_ns()).cast_unsigned();
    let earliest_ns = end_ns.saturating_sub(latency_ns);
    let number = earliest_ns
        .saturating_sub(due.start_ns)
        .div_ceil(due.period_ns);
    number.max(before.cycle + 1)
}

impl Row {
    /// The samples moved onto the even row. Latency, execution and response stay as they are; the instants of
    /// a rhythm that is not exact do not. If due times are near the row, the instants stay, and the latency
    /// counts from the row.
    pub fn even(&self) -> Vec<Sample> {
        let moved = |sample: &Sample| {
            let due_ns = self.due.due_ns(sample.cycle);
            if self.is_near {
                return Sample { due_ns, ..*sample };
            }
            Sample {
                due_ns,
                wake_ns: due_ns.saturating_add_signed(sample.latency_ns()),
                end_ns: due_ns.saturating_add_signed(sample.response_ns()),
                ..*sample
            }
        };
        self.samples.iter().map(moved).collect()
    }

    /// Deviation of each interval between consecutive wake-ups from a whole number of periods, in
    /// nanoseconds: the period's jitter.
    pub fn jitter_ns(&self) -> Vec<u64> {
        let of = |two: &[Sample]| {
            let periods = two[1].cycle - two[0].cycle;
            let interval_ns = two[1].wake_ns.saturating_sub(two[0].wake_ns);
            interval_ns.abs_diff(periods * self.due.period_ns)
        };
        self.samples.windows(2).map(of).collect()
    }
}

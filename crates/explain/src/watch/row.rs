//! Activations as the samples of a loop: due when the timer was to expire, woken at the switch-in.

use super::activation::Activation;
use super::near_row::{MS, may_want_one_less};
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
    let due = |of| programmed_due_ns(of, rhythm);
    let first_ns = activations.iter().find_map(due).unwrap_or(0);
    let due = DueTimes {
        start_ns: first_ns,
        period_ns: rhythm.period_ns,
    };
    let mut samples: Vec<Sample> = Vec::with_capacity(activations.len());
    let mut left_out = 0;
    for (place, of) in activations.iter().enumerate() {
        let before = samples.last();
        let number = due_ns(activations, place, rhythm).and_then(|due_ns| {
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

/// The due time of a turn; `None` if it is unknown, or on no row although the rhythm has one.
pub(super) fn due_ns(turns: &[Activation], place: usize, rhythm: Rhythm) -> Option<u64> {
    let of = &turns[place];
    let put_off = || put_off(&turns[place.checked_sub(1)?], of, rhythm);
    programmed_due_ns(of, rhythm).or_else(put_off)
}

fn programmed_due_ns(of: &Activation, rhythm: Rhythm) -> Option<u64> {
    let has_row = rhythm.anchor_ns.is_some();
    expiry_ns(of, rhythm.programmed).filter(|&at| !has_row || rhythm.is_on_row(at))
}

/// The due time of a turn near a row that asked for a later instant: the thread had computed the time to it, and was
/// held up before it asked. That took no longer than the turn before, in which it did both. Python may ask for a
/// millisecond more.
fn put_off(before: &Activation, of: &Activation, rhythm: Rhythm) -> Option<u64> {
    let anchor_ns = rhythm.anchor_ns.filter(|_| rhythm.beside_ns > 0)?;
    let asked_ns = of.programmed_ns?;
    let lasted_ns = before.end_ns.saturating_sub(before.switched_in_ns);
    let more_ns = if may_want_one_less(of) { MS } else { 0 };
    let latest_ns = rhythm.beside_ns + lasted_ns + more_ns;
    let period_ns = rhythm.period_ns;
    let put_off_ns = (asked_ns % period_ns + period_ns - anchor_ns % period_ns) % period_ns;
    (put_off_ns <= latest_ns).then(|| asked_ns - put_off_ns)
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

/// Ends a cycle where the next one wakes: a sleep that was cut short begins a cycle before its due time, and a task that
/// runs in any of several threads may have begun in another one.
fn put_in_order(samples: &mut [Sample]) {
    for number in 1..samples.len() {
        let wake_ns = samples[number].wake_ns;
        let before = &mut samples[number - 1];
        before.end_ns = before.end_ns.min(wake_ns).max(before.wake_ns);
        let end_ns = before.end_ns;
        let of = &mut samples[number];
        of.wake_ns = of.wake_ns.max(end_ns);
        of.end_ns = of.end_ns.max(of.wake_ns);
    }
}

impl Row {
    /// The samples moved onto the even row. Latency, execution and response stay as they are; the instants of
    /// a rhythm that is not exact do not. If due times are near the row, the instants stay, and the latency
    /// counts from the row. A cycle ends when the next one wakes, at the latest.
    pub fn even(&self) -> Vec<Sample> {
        let mut even = self.moved();
        put_in_order(&mut even);
        even
    }

    /// The same, in which a cycle may still run in one thread when the next one wakes in another.
    pub(super) fn moved(&self) -> Vec<Sample> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns of a loop that computes the time to its next due time, every 4 ms: of each fiftieth it asked for an instant
    /// later by `put_off_ns`, after a turn that lasted `lasted_ns`.
    fn turns(put_off_ns: u64, lasted_ns: u64) -> Vec<Activation> {
        let turn = |number: u64| {
            let put_off_ns = if number % 50 == 7 { put_off_ns } else { 0 };
            let programmed_ns = number * 4 * MS + number % 5 * 1_000 + put_off_ns;
            let switched_in_ns = programmed_ns + 50_000;
            let is_long = number % 50 == 6;
            Activation {
                programmed_ns: Some(programmed_ns),
                asked_at_ns: Some(programmed_ns - 3 * MS - number % 13 * 40_000),
                expiry_ns: programmed_ns + 2_000,
                switched_in_ns,
                end_ns: switched_in_ns + if is_long { lasted_ns } else { 100_000 },
                run_ns: 100_000,
                ..Activation::default()
            }
        };
        (1..300).map(turn).collect()
    }

    fn row_of(turns: &[Activation]) -> Row {
        let rhythm = Rhythm::new(turns).unwrap();
        assert_eq!((rhythm.period_ns, rhythm.sleeps_ns), (4 * MS, None));
        row(turns, rhythm)
    }

    #[test]
    fn a_thread_held_up_before_it_asks_for_its_timer_is_late() {
        let row = row_of(&turns(300_000, 400_000));
        assert_eq!((row.samples.len(), row.left_out), (299, 0));
        let even = row.even();
        assert!(even.windows(2).all(|two| two[1].cycle == two[0].cycle + 1));
        let late = even.iter().filter(|of| of.latency_ns() > 300_000);
        assert_eq!(late.count(), 6);
    }

    /// asyncio at 50 Hz. A turn that begins late leaves 17.5 ms, for which it asks 19; usually it leaves 18.5 ms.
    #[test]
    fn a_time_out_that_python_rounds_up_twice_is_its_cycle() {
        let turn = |number: u64| {
            let due_ns = number * 20 * MS;
            let [began_late, after_late] = [number % 50 == 6, number % 50 == 7];
            let rounded_ns = if after_late { 1_500_000 } else { 500_000 };
            let programmed_ns = due_ns + rounded_ns + number % 7 * 1_000;
            let switched_in_ns = programmed_ns + if began_late { MS } else { 50_000 };
            let asked_ns = if number.is_multiple_of(2) { 18 } else { 19 };
            let asked_ns = if after_late { 19 } else { asked_ns };
            Activation {
                programmed_ns: Some(programmed_ns),
                asked_at_ns: Some(programmed_ns - asked_ns * MS + 2_000),
                expiry_ns: programmed_ns + 2_000,
                switched_in_ns,
                end_ns: switched_in_ns + 400_000,
                run_ns: 400_000,
                ..Activation::default()
            }
        };
        let turns: Vec<Activation> = (1..300).map(turn).collect();
        let rhythm = Rhythm::new(&turns).unwrap();
        assert_eq!(rhythm.period_ns, 20 * MS);
        let row = row(&turns, rhythm);
        assert_eq!((row.samples.len(), row.left_out), (299, 0));
    }

    #[test]
    fn an_instant_further_off_than_the_turn_before_lasted_is_no_due_time() {
        assert_eq!(row_of(&turns(500_000, 400_000)).left_out, 6);
    }
}

//! What shows a finding.

use super::passed::{passed, passes_without_a_call};
use super::{Finding, Together, WaitEnds};
use crate::watched::waking::WokenBy;
use wakepath_explain::watch::{
    Activation, BegunBy, CutBy, CutSleeps, Row, Task, ThreadActivity, TurnWaits, Waker,
};
use wakepath_explain::{Cause, DELAYED_ACK_NS, is_kernel_worker, sleeps, waits_for_any_event};
use wakepath_timeline::{Sample, SoftIrq};

/// How much longer than its period an interval is to be a gap, in halves of a period.
const GAP_HALVES: u64 = 3;

impl Finding {
    /// Findings about a task with this row.
    pub(in crate::watched) fn new(
        task: &Task,
        row: &Row,
        woken_by: Option<&WokenBy>,
        (activity, is_executor): (&ThreadActivity, bool),
    ) -> Vec<Self> {
        if let Some(pool) = activity.pool_of(task) {
            return vec![Self::Moves {
                threads: pool.threads.len(),
                together: pool.cycles.map(|of| Together {
                    period_ns: of.rhythm.period_ns,
                    dues: of.dues,
                    unclear: of.unclear,
                }),
            }];
        }
        let mut found = way_of_waiting(task, row, woken_by, (activity, is_executor));
        found.extend(waits_in_cycle(task, activity));
        found.extend(cut_sleeps(&activity.cut_sleeps));
        found.extend(starts_others(task, activity));
        found.extend(task.has_timer_wheel.then_some(Finding::TimerWheel));
        found.extend(passed(task));
        found.extend(caught_up(task));
        found
    }
}

/// What its own way of waiting does.
fn way_of_waiting(
    task: &Task,
    row: &Row,
    woken_by: Option<&WokenBy>,
    (activity, is_executor): (&ThreadActivity, bool),
) -> Vec<Finding> {
    let rhythm = task.rhythm;
    let samples = &row.samples;
    let mut found = Vec::new();
    if let Some(asked_ns) = rhythm.sleeps_ns {
        found.extend(sleeps_for(asked_ns, samples, activity.awaits_events));
        return found;
    }
    if !rhythm.is_periodic {
        return found;
    }
    let gaps = Gaps::new(task, samples);
    let on_wall_clock = task.turns.iter().filter(|of| of.wall_ns.is_some()).count();
    match rhythm.begun_by {
        BegunBy::Timer if is_executor => {
            let of = (on_wall_clock * 2 > task.turns.len()).then_some(&activity.clock_steps_ns);
            found.extend(of.and_then(|steps_ns| executor_clock(&gaps, steps_ns)));
        }
        BegunBy::Timer if on_wall_clock * 2 > task.turns.len() => found.push(Finding::WallClock {
            computes: false,
            gaps: gaps.count,
            longest_ns: gaps.longest_ns,
            steps_ns: activity.clock_steps_ns.clone(),
        }),
        BegunBy::Timer if gaps.count > 0 && gaps.are_by_set_clock(activity) => {
            found.push(Finding::WallClock {
                computes: true,
                gaps: gaps.count,
                longest_ns: gaps.longest_ns,
                steps_ns: activity.clock_steps_ns.clone(),
            });
        }
        // Without a row, an interval that is longer may just follow a late turn.
        BegunBy::Timer
            if gaps.count > 0
                && rhythm.programmed
                && rhythm.anchor_ns.is_some()
                && !task.is_of_event_loop() =>
        {
            found.push(Finding::AskedForLater {
                times: gaps.count,
                longest_ns: gaps.longest_ns,
            });
        }
        BegunBy::Other => found.extend(woken_late(&gaps, samples, rhythm.period_ns, woken_by)),
        _ => {}
    }
    found
}

/// An executor's clock is the middleware's choice, and does no harm unless it is set.
fn executor_clock(gaps: &Gaps, steps_ns: &[i64]) -> Option<Finding> {
    (!steps_ns.is_empty()).then(|| Finding::ExecutorClock {
        gaps: gaps.count,
        longest_ns: gaps.longest_ns,
        steps_ns: steps_ns.to_vec(),
    })
}

/// A wait of less than this share of the period, one in so many, is part of the work.
const SMALL_WAIT: u64 = 5;

/// Waits of most cycles in one system call, if they take a good part of the period.
fn waits_in_cycle(task: &Task, activity: &ThreadActivity) -> Option<Finding> {
    let turns = task.turns.len() as u64;
    if task.rhythm.begun_by != BegunBy::Timer || task.timer.is_some() || turns == 0 {
        return None;
    }
    let is_for_next = |name: &str| activity.awaits_events && waits_for_any_event(name);
    let is_one = |name: &str| !is_for_next(name) && !sleeps(name);
    // Its wakers may be many, as the kernel's workers are; the first is the one with most of the time.
    let of_call = |of: &TurnWaits| of.call.clone().filter(|name| is_one(name));
    let first = activity.waits.iter().find(|of| of_call(of).is_some())?;
    let same = activity.waits.iter().filter(|of| of.call == first.call);
    let (times, total_ns) = same.fold((0, 0), |(times, ns), of| {
        (times + of.times, ns + of.total_ns)
    });
    // Not every wait is seen: a kernel may leave out a switch, and then nobody knows when it began.
    let wait_ns = total_ns.checked_div(times)?;
    let per_cycle_ns = total_ns / times.min(turns);
    let is_long = times * 2 >= turns && per_cycle_ns * SMALL_WAIT >= task.rhythm.period_ns;
    let was_late = |of: &&Activation| {
        let times = of.programmed_ns.zip(of.asked_at_ns);
        times.is_some_and(|(for_ns, asked_ns)| for_ns <= asked_ns)
    };
    let late = task.turns.iter().filter(was_late).count() as u64;
    is_long.then(|| Finding::WaitsInCycle {
        call: first.call.as_deref().unwrap_or_default().to_owned(),
        waker: WokenBy::named(&first.waker).0,
        ended_by: match &first.waker {
            Waker::Thread(thread) if !is_kernel_worker(thread) => WaitEnds::Thread,
            Waker::TcpTimer if DELAYED_ACK_NS.contains(&wait_ns) => WaitEnds::DelayedAck,
            Waker::TcpTimer | Waker::SoftIrq(SoftIrq::NET_RX) => WaitEnds::Network,
            _ => WaitEnds::Kernel,
        },
        wait_ns,
        times,
        cycles: turns,
        sets_period: late * 2 > turns,
    })
}

/// Fewer cycles with a start of a thread show no habit.
const LEAST_STARTS: u64 = 10;

/// Threads or processes that it starts in most of its cycles.
fn starts_others(task: &Task, activity: &ThreadActivity) -> Option<Finding> {
    let started_ns = &activity.started_ns;
    let starts = |of: &&Activation| {
        let next = started_ns.partition_point(|at_ns| *at_ns < of.switched_in_ns);
        started_ns
            .get(next)
            .is_some_and(|at_ns| *at_ns <= of.end_ns)
    };
    let times = task.turns.iter().filter(starts).count() as u64;
    let cycles = task.turns.len() as u64;
    (times >= LEAST_STARTS && times * 2 >= cycles)
        .then_some(Finding::StartsOthers { times, cycles })
}

/// Signals by their senders; threads of one name, as children that end are, are one.
fn cut_sleeps(cut: &[CutSleeps]) -> impl Iterator<Item = Finding> {
    let mut by_sender: Vec<(String, Vec<&CutSleeps>)> = Vec::new();
    for of in cut {
        let name = match &of.by {
            CutBy::Waker(Waker::Thread(thread)) => thread.name.to_string(),
            CutBy::Waker(waker) => WokenBy::named(waker).0,
            CutBy::Timer(function) => match &**function {
                "it_real_fn" => "a timer of its process (setitimer)".into(),
                "posix_timer_fn" => "a timer of its process (timer_create)".into(),
                other => Cause::OtherTimer(other.into()).to_string(),
            },
        };
        match by_sender.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(of),
            None => by_sender.push((name, vec![of])),
        }
    }
    by_sender.into_iter().map(|(name, all)| Finding::SleepCut {
        sender: match &all[..] {
            [of] => match &of.by {
                CutBy::Waker(waker) => WokenBy::named(waker).0,
                CutBy::Timer(_) => name,
            },
            several => format!("{} threads named {name}", several.len()),
        },
        times: all.iter().map(|of| of.times).sum(),
        early_ns: all.iter().map(|of| of.early_ns).max().unwrap_or(0),
    })
}

/// A thread that asks for a due time later than this after it, in nanoseconds, had not computed it just before.
const ASKED_LATE_NS: u64 = 20_000;

/// Cycles that were due already when the thread asked to sleep until then, if it has asked for each that passed. Of a
/// clock that can be set the due time is not known well enough.
fn caught_up(task: &Task) -> Option<Finding> {
    let turns = task.turns.iter().filter(|of| of.wall_ns.is_none());
    let late = turns.filter_map(|of| {
        let late_ns = of.asked_at_ns?.checked_sub(of.programmed_ns?)?;
        (late_ns > ASKED_LATE_NS).then_some(late_ns)
    });
    let (times, longest_ns) =
        late.fold((0, 0), |(times, longest), ns| (times + 1, ns.max(longest)));
    let has_row = task.rhythm.anchor_ns.is_some() && !task.is_of_event_loop();
    (times > 0 && has_row && !passes_without_a_call(task))
        .then_some(Finding::CaughtUp { times, longest_ns })
}

/// Mean figures of its intervals without those that a signal cut short.
fn sleeps_for(asked_ns: u64, samples: &[Sample], is_time_out: bool) -> Option<Finding> {
    let intervals = samples.windows(2).filter_map(|two| {
        let interval_ns = two[1].due_ns.checked_sub(two[0].due_ns)?;
        let latency_ns = u64::try_from(two[0].latency_ns()).unwrap_or(0);
        (interval_ns >= asked_ns).then_some((interval_ns, latency_ns))
    });
    let (count, all_ns, late_ns) = intervals.fold((0, 0, 0), |(count, all_ns, late_ns), of| {
        (count + 1, all_ns + of.0, late_ns + of.1)
    });
    let interval_ns = u64::checked_div(all_ns, count)?;
    let latency_ns = late_ns / count;
    Some(Finding::SleepsFor {
        asked_ns,
        work_ns: interval_ns.saturating_sub(asked_ns + latency_ns),
        latency_ns,
        interval_ns,
        is_time_out,
    })
}

/// Intervals of more than one and a half periods before which the thread had gone to sleep in time, and in which no turn
/// without a sample lies.
struct Gaps {
    count: u64,
    longest_ns: u64,
    /// From a period before each, in which its sleep may have been computed, to its end, in nanoseconds.
    all: Vec<(u64, u64)>,
}

impl Gaps {
    fn new(task: &Task, samples: &[Sample]) -> Self {
        let period_ns = task.rhythm.period_ns;
        let is_between = |two: &[Sample]| {
            let first = task
                .turns
                .partition_point(|of| of.switched_in_ns <= two[0].wake_ns);
            task.turns
                .get(first)
                .is_some_and(|of| of.switched_in_ns < two[1].wake_ns)
        };
        let mut new = Self {
            count: 0,
            longest_ns: 0,
            all: Vec::new(),
        };
        // The first one may be part of the start.
        for two in samples.windows(2).skip(1) {
            let interval_ns = two[1].due_ns.saturating_sub(two[0].due_ns);
            let was_in_time = two[0].end_ns < two[0].due_ns + period_ns;
            if was_in_time && interval_ns * 2 > period_ns * GAP_HALVES && !is_between(two) {
                new.count += 1;
                new.longest_ns = new.longest_ns.max(interval_ns);
                new.all
                    .push((two[0].wake_ns.saturating_sub(period_ns), two[1].wake_ns));
            }
        }
        new
    }

    /// Whether the clock that counts from 1970 was set in each of them, by about as much as it is longer than others.
    fn are_by_set_clock(&self, activity: &ThreadActivity) -> bool {
        let sets = || activity.clock_set_ns.iter().zip(&activity.clock_steps_ns);
        let is_by = |(from_ns, to_ns): &(u64, u64)| {
            let is_within = |at_ns: u64| (*from_ns..=to_ns + SEEN_WITHIN_NS).contains(&at_ns);
            let length_ns = to_ns - from_ns;
            sets().any(|(at_ns, by_ns)| {
                is_within(*at_ns) && (length_ns / 2..=length_ns).contains(&by_ns.unsigned_abs())
            })
        };
        self.all.iter().all(is_by)
    }
}

/// A clock that is set is seen within this, in nanoseconds: events are read twice as often.
const SEEN_WITHIN_NS: u64 = 200_000_000;

/// Only where the thread's own latency is small against what the wake-up was late.
fn woken_late(
    gaps: &Gaps,
    samples: &[Sample],
    period_ns: u64,
    woken_by: Option<&WokenBy>,
) -> Option<Finding> {
    let latencies = samples.iter().map(|sample| sample.latency_ns());
    let latency_ns = u64::try_from(latencies.max()?).unwrap_or(0);
    let woken_by = woken_by?;
    let late_ns = gaps.longest_ns.saturating_sub(period_ns);
    (gaps.count > 0 && late_ns > latency_ns).then(|| Finding::WokenLate {
        waker: woken_by.waker.clone(),
        by: woken_by.kind,
        times: gaps.count,
        longest_ns: gaps.longest_ns,
        latency_ns,
    })
}

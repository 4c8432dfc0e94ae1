//! The account, sample by sample and in pieces that are merged, against a plain count over whole
//! histories.

use crate::runs::*;
use proptest::prelude::*;
use std::ops::Range;
use wakepath_timeline::{Sample, SampleFlags};
use wakepath_verdict::{
    Account, CLUSTER_GAP, CycleRecord, DueTally, Gaps, JudgedWindow, Limits, Outcome, Reason,
    Until, judge_so_far,
};

/// What becomes of a due time.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Met,
    Late,
    /// Wakes the given number of periods late, and catches up.
    Stalled(u64),
    Unanswered,
    Switched,
    Skipped,
    Lost,
}

/// One segment of one thread.
#[derive(Debug, Clone)]
struct History {
    fates: Vec<Fate>,
    warm_up: u64,
    /// Due times before the end of the window that come after the last fate.
    beyond: u64,
    until: bool,
    gaps: Gaps,
}

fn histories() -> impl Strategy<Value = Vec<History>> {
    let fate = prop_oneof![
        40 => Just(Fate::Met),
        4 => Just(Fate::Late),
        1 => (1..30_u64).prop_map(Fate::Stalled),
        2 => Just(Fate::Unanswered),
        1 => Just(Fate::Switched),
        3 => Just(Fate::Skipped),
        1 => Just(Fate::Lost),
    ];
    let gap = |fate: Fate| (1..15_usize).prop_map(move |length| vec![fate; length]);
    let piece = prop_oneof![
        20 => fate.prop_map(|fate| vec![fate]),
        1 => gap(Fate::Skipped),
        1 => gap(Fate::Lost),
        3 => gap(Fate::Met),
    ];
    let history = (
        proptest::collection::vec(piece, 0..120),
        0..30_u64,
        prop_oneof![3 => Just(0), 1 => 0..20_u64],
        any::<bool>(),
        prop_oneof![
            4 => Just(Gaps::Skipped),
            2 => Just(Gaps::UnseenWhileRunning),
            2 => Just(Gaps::RanAfterwards),
            1 => Just(Gaps::Unseen),
        ],
    );
    let history = history.prop_map(|(pieces, warm_up, beyond, until, gaps)| History {
        gaps,
        fates: pieces.concat(),
        warm_up,
        beyond,
        until,
    });
    proptest::collection::vec(history, 1..4)
}

impl History {
    fn window(&self, thread: u32) -> JudgedWindow {
        let end_cycle = (self.fates.len() as u64 + self.beyond).max(self.warm_up);
        JudgedWindow {
            thread,
            gaps: self.gaps,
            ..window(self.warm_up..end_cycle)
        }
    }

    /// A sample, or none, for each due time.
    fn samples(&self) -> Vec<Option<Sample>> {
        let mut ended_ns = 0;
        let mut all = Vec::new();
        for (cycle, fate) in (0..).zip(&self.fates) {
            let (latency_ns, flags) = match fate {
                Fate::Skipped | Fate::Lost => {
                    all.push(None);
                    continue;
                }
                Fate::Met => (20_000, SampleFlags::default()),
                Fate::Late => (600_000, SampleFlags::default()),
                Fate::Stalled(periods) => (periods * PERIOD_NS + 3_000, SampleFlags::default()),
                Fate::Unanswered => (20_000, SampleFlags::UNANSWERED),
                Fate::Switched => (20_000, SampleFlags::MODE_SWITCH),
            };
            let wake_ns = (DUE.due_ns(cycle) + latency_ns).max(ended_ns);
            ended_ns = wake_ns + 100_000;
            let warm_up = if cycle < self.warm_up {
                SampleFlags::WARM_UP
            } else {
                SampleFlags::default()
            };
            all.push(Some(Sample {
                cycle,
                due_ns: DUE.due_ns(cycle),
                wake_ns,
                end_ns: ended_ns,
                flags: flags.with(warm_up),
                ..Sample::default()
            }));
        }
        all
    }

    fn until(&self) -> Until {
        if self.until {
            Until::WindowEnd
        } else {
            Until::LastCycle
        }
    }

    /// Judged due times whose samples are lost, in this range.
    fn lost_in(&self, cycles: Range<u64>) -> u64 {
        let lost = |cycle: &u64| self.fates.get(*cycle as usize) == Some(&Fate::Lost);
        (cycles.start.max(self.warm_up)..cycles.end)
            .filter(lost)
            .count() as u64
    }
}

/// Fate of a due time if all of them are known.
#[derive(Clone, Copy, PartialEq)]
enum Counted {
    Met,
    Missed,
    Unknown,
}

/// The plain count.
fn batch(histories: &[History]) -> DueTally {
    let mut tally = DueTally::default();
    let mut series: Vec<Vec<Counted>> = Vec::new();
    let mut outages: Vec<(u64, u64)> = Vec::new();
    for (thread, history) in (0..).zip(histories) {
        let samples = history.samples();
        tally.samples += samples.iter().flatten().count() as u64;
        tally.skips_unknown |= history.gaps == Gaps::Unseen;
        let last = samples.iter().flatten().last().map(|last| last.cycle + 1);
        let end = if history.until {
            history.window(thread).end_cycle
        } else {
            last.unwrap_or(0).max(history.warm_up)
        };
        let at = |cycle: u64| samples.get(cycle as usize).copied().flatten();
        let mut counted = Vec::new();
        let mut ends = vec![Some(DUE.due_ns(history.warm_up))];
        let mut cycle = history.warm_up;
        let mut overran = false;
        while cycle < end {
            if let Some(sample) = at(cycle) {
                let missed = sample.latency_ns() > 500_000
                    || sample.response_ns() > PERIOD_NS as i64
                    || sample.flags.contains(SampleFlags::UNANSWERED);
                counted.push(if missed {
                    Counted::Missed
                } else {
                    Counted::Met
                });
                tally.executed += 1;
                tally.executed_late += u64::from(missed);
                tally.mode_switches += u64::from(sample.flags.contains(SampleFlags::MODE_SWITCH));
                let latency = Some(sample.latency_ns());
                tally.largest_latency_ns = tally.largest_latency_ns.max(latency);
                tally.largest_suffered_ns = tally.largest_suffered_ns.max(latency);
                tally.largest_response_ns =
                    tally.largest_response_ns.max(Some(sample.response_ns()));
                overran = sample.execution_ns() > PERIOD_NS as i64;
                ends.push(Some(sample.end_ns));
                cycle += 1;
                continue;
            }
            let next = (cycle..end)
                .find(|&cycle| at(cycle).is_some())
                .unwrap_or(end);
            let until_ns = at(next)
                .filter(|_| next < end)
                .map_or(DUE.due_ns(end), |next| next.wake_ns);
            let lost = history.lost_in(cycle..next);
            tally.lost += lost;
            counted.extend((0..lost).map(|_| Counted::Unknown));
            let ended = ends.last().copied().flatten();
            if lost > 0 || history.gaps == Gaps::Unseen {
                ends.push(None);
            }
            for skipped in cycle + lost..next {
                let ran = ended.is_none_or(|ended_ns| DUE.due_ns(skipped) < ended_ns);
                let unseen = match history.gaps {
                    Gaps::Skipped => false,
                    Gaps::UnseenWhileRunning | Gaps::RanAfterwards => ran,
                    Gaps::Unseen => true,
                };
                if unseen {
                    counted.push(Counted::Unknown);
                    match history.gaps {
                        Gaps::RanAfterwards => tally.ran_unseen += 1,
                        _ => tally.unseen += 1,
                    }
                    continue;
                }
                counted.push(Counted::Missed);
                tally.skipped += 1;
                tally.skipped_at_end += u64::from(next == end);
                tally.overruns.skipped += u64::from(overran);
                let suffered = until_ns as i64 - DUE.due_ns(skipped) as i64;
                tally.largest_suffered_ns = tally.largest_suffered_ns.max(Some(suffered));
            }
            cycle = next;
        }
        ends.push(Some(DUE.due_ns(end)));
        if end > history.warm_up {
            tally.threads.insert(thread);
            let pairs = ends.windows(2).filter_map(|two| Some((two[0]?, two[1]?)));
            outages.extend(pairs);
        }
        tally.window_ns += (end - history.warm_up) * PERIOD_NS;
        series.extend(
            counted
                .split(|one| *one == Counted::Unknown)
                .map(<[_]>::to_vec),
        );
    }
    for (from_ns, to_ns) in outages {
        let length_ns = to_ns.saturating_sub(from_ns);
        if tally
            .longest_outage
            .is_none_or(|of| length_ns > of.length_ns)
        {
            tally.longest_outage = Some(wakepath_verdict::Outage { length_ns, from_ns });
        }
    }
    for one in series {
        let misses: Vec<usize> = (0..one.len())
            .filter(|&at| one[at] == Counted::Missed)
            .collect();
        tally.misses.due += one.len() as u64;
        tally.misses.missed += misses.len() as u64;
        let groups = |gap: usize| misses.chunk_by(move |a, b| b - a <= gap + 1);
        let longest = |gap| groups(gap).map(<[_]>::len).max().unwrap_or(0) as u64;
        tally.misses.clusters += groups(CLUSTER_GAP as usize).count() as u64;
        tally.misses.longest_run = tally.misses.longest_run.max(longest(0));
        let largest = longest(CLUSTER_GAP as usize);
        tally.misses.largest_cluster = tally.misses.largest_cluster.max(largest);
    }
    tally
}

/// The account's, in pieces that end at each cycle for which `cuts` holds.
fn streamed(histories: &[History], cuts: impl Fn(u64) -> bool) -> Vec<DueTally> {
    let mut account = Account::new(Limits::new(&criterion()));
    let mut pieces = Vec::new();
    for (thread, history) in (0..).zip(histories) {
        account.begin(history.window(thread));
        let mut next = 0;
        for sample in history.samples().iter().flatten() {
            account.lose(history.lost_in(next..sample.cycle));
            account.add(sample, |_| ()).unwrap();
            next = sample.cycle + 1;
            if cuts(sample.cycle) {
                pieces.push(account.take());
            }
        }
        if history.until {
            account.lose(history.lost_in(next..history.fates.len() as u64));
        }
        account.end(history.until(), |_| ());
    }
    pieces.push(account.take());
    pieces
}

fn merged(pieces: &[DueTally]) -> DueTally {
    pieces.iter().fold(DueTally::default(), |mut all, piece| {
        all.merge(piece);
        all
    })
}

proptest! {
    #[test]
    fn the_account_is_the_plain_count_however_it_is_cut_stored_and_merged(
        histories in histories(), every in 1..60_u64,
    ) {
        let plain = merged(&streamed(&histories, |_| false));
        let counts = DueTally { misses: plain.misses.counts(), ..plain.clone() };
        prop_assert_eq!(counts, batch(&histories));
        let pieces = streamed(&histories, |cycle| cycle % every == 0);
        prop_assert_eq!(&merged(&pieces), &plain);
        // As rounds and minutes are kept.
        let stored = serde_json::to_string(&pieces).unwrap();
        let read: Vec<DueTally> = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(&merged(&read), &plain);
        let (first, second) = read.split_at(read.len() / 2);
        let mut halves = merged(first);
        halves.merge(&merged(second));
        prop_assert_eq!(&halves, &plain);
    }

    #[test]
    fn a_run_and_its_minutes_have_the_same_verdict(history in histories(), every in 1..60_u64) {
        // Lost due times have a different reason in each.
        let kept = |fate: &Fate| if *fate == Fate::Lost { Fate::Skipped } else { *fate };
        let fates: Vec<Fate> = history[0].fates.iter().map(kept).collect();
        let history = History {
            until: true,
            gaps: Gaps::Skipped,
            beyond: history[0].beyond + 1,
            warm_up: history[0].warm_up.min(fates.len() as u64),
            fates,
        };
        let samples: Vec<Sample> = history.samples().into_iter().flatten().collect();
        let criterion = wakepath_scenario::Criterion {
            outage_ns: Some(20_000_000),
            consecutive_misses: Some(12),
            miss_fraction: 0.3,
            ..criterion()
        };
        let window = history.window(0);
        let mut record = CycleRecord::new(&criterion);
        record.add(window, &samples).unwrap();
        let provenance = sound(samples.len() as u64);
        let name = name(FIFO, "idle");
        let condition = wakepath_verdict::Condition {
            name: &name,
            record: &record,
            provenance: &provenance,
        };
        let run = wakepath_verdict::judge(condition, &criterion);
        let pieces = streamed(&[history], |cycle| cycle % every == 0);
        let minutes = judge_so_far(&name, &merged(&pieces), &criterion, Vec::new());
        prop_assert_eq!((run.outcome, run.reasons), (minutes.outcome, minutes.reasons));
        prop_assert_eq!(run.margin, minutes.margin);
    }
}

#[test]
fn due_times_that_passed_while_a_cycle_ran_are_no_skipped_ones_where_nothing_shows_them() {
    // Each 50th cycle works for 5 periods; cycles due in that time run at once afterwards, without
    // a wake-up.
    let busy = |cycle: u64| cycle % 50 == 10;
    let mut account = Account::new(Limits::new(&criterion()));
    account.begin(JudgedWindow {
        gaps: Gaps::UnseenWhileRunning,
        ..window(0..1000)
    });
    let caught_up = |cycle: u64| (11..=15).contains(&(cycle % 50));
    for cycle in (0..1000).filter(|cycle| !caught_up(*cycle)) {
        let work_ns = if busy(cycle) {
            5 * PERIOD_NS + 100_000
        } else {
            20_000
        };
        account
            .add(&sample(cycle, 20_000, work_ns), |_| ())
            .unwrap();
    }
    account.end(Until::WindowEnd, |_| ());
    let tally = account.take();
    assert_eq!((tally.executed, tally.skipped, tally.unseen), (900, 0, 100));
    assert_eq!(tally.misses.missed, 20, "the busy ones themselves");
}

/// A tally over this many clean cycles except for what `change` makes of single samples.
fn tally(cycles: u64, change: impl Fn(&mut Sample) -> bool) -> DueTally {
    let mut account = Account::new(Limits::new(&criterion()));
    account.begin(window(0..cycles));
    for mut sample in clean(0..cycles) {
        if change(&mut sample) {
            account.add(&sample, |_| ()).unwrap();
        }
    }
    account.end(Until::WindowEnd, |_| ());
    account.take()
}

fn so_far(tally: &DueTally) -> wakepath_verdict::Judgement {
    let criterion = wakepath_scenario::Criterion {
        outage_ns: Some(20_000_000),
        ..criterion()
    };
    judge_so_far(&name(FIFO, "idle"), tally, &criterion, Vec::new())
}

#[test]
fn unanswered_cycles_fail_a_history_as_they_fail_a_run() {
    let found = so_far(&tally(1000, |sample| {
        if sample.cycle % 4 == 0 {
            sample.flags = SampleFlags::UNANSWERED;
        }
        true
    }));
    assert_eq!(found.outcome, Outcome::Failed);
    assert_eq!(found.cycles.missed().unwrap(), 250);
}

#[test]
fn a_stall_over_the_start_of_the_window_is_an_outage() {
    let found = so_far(&tally(10_000, |sample| sample.cycle >= 25));
    let outage = |reason: &Reason| matches!(reason, Reason::OutageAbove { longest_ns, .. } if *longest_ns > 25_000_000);
    assert!(found.reasons.iter().any(outage), "{:?}", found.reasons);
    assert_eq!(found.outcome, Outcome::Failed);
}

#[test]
fn mode_switches_and_lost_samples_make_a_history_invalid() {
    let switched = so_far(&tally(1000, |sample| {
        if sample.cycle == 7 {
            sample.flags = SampleFlags::MODE_SWITCH;
        }
        true
    }));
    assert_eq!(switched.outcome, Outcome::Invalid);
    let mut lost = tally(1000, |_| true);
    lost.lost_elsewhere = 1;
    let lost = so_far(&lost);
    assert_eq!(lost.outcome, Outcome::Invalid);
    assert_eq!(
        lost.reasons[0],
        Reason::SamplesLost {
            lost: 1,
            written: 1001
        }
    );
}

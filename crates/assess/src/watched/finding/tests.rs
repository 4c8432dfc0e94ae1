//! Findings and their text, from turns made up here.

use super::*;
use crate::watched::WokenBy;
use wakepath_explain::watch::{
    Activation, BegunBy, CutBy, CutSleeps, Rhythm, Task, ThreadActivity, TurnWaits, Waker,
};
use wakepath_timeline::{SoftIrq, Thread, ThreadName};

const MS: u64 = 1_000_000;

/// Turns of 1 ms that are due at these times and run `latency_ns` later.
fn found(
    dues_ms: &[u64],
    latency_ns: u64,
    begun_by: BegunBy,
    sleeps_ns: Option<u64>,
) -> Vec<String> {
    let turn = |due_ms: &u64| Activation {
        programmed_ns: Some(due_ms * MS),
        expiry_ns: due_ms * MS,
        switched_in_ns: due_ms * MS + latency_ns,
        end_ns: due_ms * MS + latency_ns + MS,
        ..Activation::default()
    };
    let on_row = begun_by == BegunBy::Timer && dues_ms.iter().all(|ms| ms % 4 == 0);
    let task = Task {
        rhythm: Rhythm {
            period_ns: 4 * MS,
            anchor_ns: on_row.then_some(4 * MS),
            programmed: begun_by == BegunBy::Timer,
            begun_by,
            beside_ns: 0,
            sleeps_ns,
            is_periodic: true,
        },
        timer: None,
        turns: dues_ms.iter().map(turn).collect(),
        unwoken: 0,
        has_timer_wheel: false,
    };
    let woken_by = WokenBy {
        waker: "SoftIRQ NET_RX".into(),
        kind: WakerKind::Network,
        times: 9,
        of: 9,
    };
    let row = task.row();
    let found = Finding::new(
        &task,
        &row,
        Some(&woken_by),
        (&ThreadActivity::default(), false),
    );
    found.iter().map(Finding::with_fix).collect()
}

#[test]
fn a_sender_is_late_only_if_its_pauses_are_longer_than_the_loop_s_own_latency() {
    let dues = [4, 8, 12, 56, 60, 64];
    let said = found(&dues, MS / 2, BegunBy::Other, None);
    assert_eq!(
        said,
        [
            "its wake-ups (SoftIRQ NET_RX) were up to 44 ms apart, later than 1.5 periods 1 time, while it \
          ran at most 500 µs after being woken: the sender or the network is late → watch what sends to it \
          in the same way, on its own machine"
        ]
    );
    assert!(found(&[4, 8, 12, 20], 5 * MS, BegunBy::Other, None).is_empty());
    assert!(found(&[4, 8, 12, 16], MS / 2, BegunBy::Other, None).is_empty());
    // Woken for its initialisation.
    assert!(found(&[4, 56, 60, 64], MS / 2, BegunBy::Other, None).is_empty());
}

#[test]
fn what_a_sleep_for_a_time_adds_up_to_is_said_with_its_frequency() {
    let said = found(&[5, 10, 15, 20], MS / 4, BegunBy::Timer, Some(4 * MS));
    let expected = "it sleeps for 4 ms after its work, so its period is 4 ms + 750 µs of work + 250 µs of \
                    wake-up latency = 5 ms on average (200 Hz)";
    assert!(said.len() == 1 && said[0].starts_with(expected), "{said:?}");
    // A signal ended one sleep after 2 ms.
    let cut = found(&[5, 10, 12, 17, 22], MS / 4, BegunBy::Timer, Some(4 * MS));
    assert!(cut[0].starts_with(expected), "{cut:?}");
}

#[test]
fn a_timer_that_was_programmed_for_later_is_the_program_s_own_doing() {
    let said = found(&[4, 8, 48, 52], 1_000, BegunBy::Timer, None);
    assert!(
        said.len() == 1 && said[0].contains("1 time, up to 40.0 ms after"),
        "{said:?}"
    );
    // As of setInterval() in Node, whose intervals begin with a late turn.
    assert!(found(&[5, 9, 49, 53], 1_000, BegunBy::Timer, None).is_empty());
}

#[test]
fn work_in_threads_that_each_cycle_starts_is_said_to_be_unknown() {
    let turns: Vec<Activation> = (1..=20)
        .map(|number| Activation {
            programmed_ns: Some(number * 4 * MS),
            expiry_ns: number * 4 * MS,
            switched_in_ns: number * 4 * MS + 1_000,
            end_ns: number * 4 * MS + 100_000,
            ..Activation::default()
        })
        .collect();
    let said = |started_ns: Vec<u64>| {
        let activity = ThreadActivity {
            started_ns,
            ..ThreadActivity::default()
        };
        of_turns(turns.clone(), &activity)
    };
    let in_each = |count: u64| (1..=count).map(|number| number * 4 * MS + 50_000).collect();
    assert!(said(in_each(9)).is_empty());
    // Those of its initialisation are no cycles' work.
    assert!(said((1..=20).map(|number| number * 1_000).collect()).is_empty());
    let all = said(in_each(20));
    let begin = "it starts threads or processes in 20 of 20 cycles.";
    assert!(all.len() == 1 && all[0].starts_with(begin), "{all:?}");
}

#[test]
fn a_turn_that_is_on_no_row_lies_in_no_gap() {
    let turns: Vec<Activation> = [8_000_000, 12_000_000, 16_900_000, 20_000_000]
        .map(|due_ns| Activation {
            programmed_ns: Some(due_ns),
            expiry_ns: due_ns,
            switched_in_ns: due_ns + 1_000,
            end_ns: due_ns + 100_000,
            ..Activation::default()
        })
        .into();
    let none = ThreadActivity::default();
    assert_eq!(of_turns(turns.clone(), &none), Vec::<String>::new());
    let without = [turns[0], turns[1], turns[3]];
    assert_eq!(of_turns(without.into(), &none).len(), 1);
}

/// A turn that was due at 8 ms and requested this much later, or earlier.
fn turn(late_ns: i64) -> Activation {
    Activation {
        programmed_ns: Some(8 * MS),
        asked_at_ns: (8 * MS).checked_add_signed(late_ns),
        expiry_ns: 9 * MS,
        switched_in_ns: 9 * MS,
        end_ns: 9 * MS,
        ..Activation::default()
    }
}

fn of_turns(turns: Vec<Activation>, activity: &ThreadActivity) -> Vec<String> {
    of_turns_in((activity, false), turns)
}

fn of_turns_in(activity: (&ThreadActivity, bool), turns: Vec<Activation>) -> Vec<String> {
    of_task(activity, task(turns))
}

fn task(turns: Vec<Activation>) -> Task {
    let rhythm = Rhythm {
        period_ns: 4 * MS,
        anchor_ns: Some(8 * MS),
        programmed: true,
        begun_by: BegunBy::Timer,
        beside_ns: 0,
        sleeps_ns: None,
        is_periodic: true,
    };
    Task {
        rhythm,
        timer: None,
        turns,
        unwoken: 0,
        has_timer_wheel: false,
    }
}

fn of_task(activity: (&ThreadActivity, bool), task: Task) -> Vec<String> {
    let found = Finding::new(&task, &task.row(), None, activity);
    found.iter().map(Finding::with_fix).collect()
}

#[test]
fn a_timer_wheel_that_is_no_task_is_told() {
    let none = ThreadActivity::default();
    let mut task = task([-3_000_000, -1].map(turn).into());
    assert!(of_task((&none, false), task.clone()).is_empty());
    task.has_timer_wheel = true;
    let said = of_task((&none, false), task);
    assert!(
        said.len() == 1 && said[0].contains("each 64 ms"),
        "{said:?}"
    );
}

#[test]
fn cycles_that_were_due_before_they_were_asked_for_are_caught_up() {
    let none = ThreadActivity::default();
    let turns = [-3_000_000, 250_000, 750_000, -1].map(turn);
    let said = of_turns(turns.into(), &none);
    assert!(
        said.len() == 1 && said[0].contains("2 cycles that were due already, up to 750 µs"),
        "{said:?}"
    );
    let one = of_turns([-3_000_000, 250_000, -1].map(turn).into(), &none);
    assert!(one[0].contains("1 cycle that was due already"), "{one:?}");
    assert!(of_turns([-3_000_000, -1].map(turn).into(), &none).is_empty());
    // Computed just before it passed.
    assert!(of_turns([-3_000_000, 374, -1].map(turn).into(), &none).is_empty());
}

#[test]
fn a_thread_that_made_no_call_for_a_due_time_is_not_said_to_have_caught_up() {
    let none = ThreadActivity::default();
    let at = |due_ms: u64, asked_ns: u64, lasted_ns: u64| Activation {
        programmed_ns: Some(due_ms * MS),
        asked_at_ns: Some(asked_ns),
        expiry_ns: due_ms * MS,
        switched_in_ns: due_ms * MS + 1_000,
        end_ns: due_ms * MS + lasted_ns,
        ..Activation::default()
    };
    let late = at(24, 24 * MS + 250_000, 300_000);
    let has_caught_up = |first: Activation| {
        let said = of_turns(vec![first, at(20, 19 * MS, 100_000), late], &none);
        said.iter().any(|of| of.contains("caught up"))
    };
    assert!(has_caught_up(at(16, 15 * MS, 100_000)));
    // From 8 to 17 ms: those of 12 and 16 ms passed.
    assert!(!has_caught_up(at(8, 7 * MS, 9 * MS)));
}

#[test]
fn an_executor_s_clock_is_named_only_if_it_was_set() {
    let turns: Vec<Activation> = [-1, -1].map(turn).into();
    let on_wall_clock = turns.into_iter().map(|of| Activation {
        wall_ns: Some(1_800_000_000_000_000_000),
        ..of
    });
    let turns: Vec<Activation> = on_wall_clock.collect();
    let (never_set, set) = (
        ThreadActivity::default(),
        ThreadActivity {
            clock_steps_ns: vec![-2_000 * MS as i64],
            ..ThreadActivity::default()
        },
    );
    let own = of_turns_in((&never_set, false), turns.clone());
    assert!(
        own.len() == 1 && own[0].contains("use CLOCK_MONOTONIC"),
        "{own:?}"
    );
    assert!(of_turns_in((&never_set, true), turns.clone()).is_empty());
    let of_executor = of_turns_in((&set, true), turns);
    let [line] = &of_executor[..] else {
        panic!("{of_executor:?}");
    };
    for part in [
        "as its middleware chose",
        "set 1 time, by up to -2",
        "makestep",
    ] {
        assert!(line.contains(part), "{line}");
    }
}

#[test]
fn sleeps_that_signals_cut_short_name_the_sender_and_the_fix() {
    let activity = ThreadActivity {
        cut_sleeps: vec![CutSleeps {
            by: CutBy::Timer("it_real_fn".into()),
            times: 3,
            early_ns: 400_000,
        }],
        ..ThreadActivity::default()
    };
    let said = of_turns(Vec::new(), &activity);
    assert!(
        said.len() == 1 && said[0].contains("(setitimer)"),
        "{said:?}"
    );
    assert!(said[0].contains("3 times, up to 400 µs") && said[0].contains("EINTR"));
}

fn thread(id: u32, name: &[u8]) -> Thread {
    Thread {
        id,
        name: ThreadName::new(name),
        priority: 120,
    }
}

#[test]
fn children_that_signal_as_they_end_are_one_sender() {
    let by = |id, name| CutSleeps {
        by: CutBy::Waker(Waker::Thread(thread(id, name))),
        times: 1,
        early_ns: u64::from(id),
    };
    let activity = ThreadActivity {
        cut_sleeps: vec![by(7, b"worker"), by(9, b"worker"), by(8, b"other")],
        ..ThreadActivity::default()
    };
    let said = of_turns(Vec::new(), &activity);
    let begins = [
        "signals from 2 threads named worker",
        "signals from other-8",
    ];
    assert!(
        said.iter()
            .zip(begins)
            .all(|(of, begin)| of.starts_with(begin)),
        "{said:?}"
    );
    assert!(said.len() == 2 && said[0].contains("2 times, up to 9 ns"));
}

#[test]
fn the_fix_for_a_wait_in_each_cycle_is_that_of_what_ends_it() {
    let by = |call: &str, waker, wait_ns| {
        let activity = ThreadActivity {
            waits: vec![TurnWaits {
                call: Some(call.into()),
                waker,
                times: 4,
                total_ns: 4 * wait_ns,
            }],
            ..ThreadActivity::default()
        };
        of_turns([400; 4].map(turn).into(), &activity).remove(0)
    };
    let by_thread = |call, name| by(call, Waker::Thread(thread(9, name)), 3 * MS);
    assert!(by_thread("read", b"kworker/u8:2").contains("serial adapter"));
    let answer = by_thread("read", b"planner");
    assert!(answer.contains("ask in one cycle") && !answer.contains("serial adapter"));
    assert!(by_thread("futex", b"planner").contains("if that is a lock"));
    // The network is no serial adapter, and a delayed acknowledgement takes its time.
    let network = by("read", Waker::SoftIrq(SoftIrq::NET_RX), 43 * MS);
    assert!(!network.contains("serial adapter") && !network.contains("TCP_NODELAY"));
    assert!(by("read", Waker::TcpTimer, 43 * MS).contains("TCP_NODELAY"));
    assert!(!by("read", Waker::TcpTimer, 3 * MS).contains("TCP_NODELAY"));
}

#[test]
fn a_wait_in_each_cycle_names_its_call_and_whether_it_sets_the_period() {
    let waited = |times, call: &str, total_ns| ThreadActivity {
        waits: vec![TurnWaits {
            call: Some(call.into()),
            waker: Waker::Unnamed,
            times,
            total_ns,
        }],
        ..ThreadActivity::default()
    };
    let waits = |call: &str, total_ns| waited(4, call, total_ns);
    let said = |late_ns, activity| of_turns([late_ns; 4].map(turn).into(), &activity);
    let late = said(400, waits("read", 12 * MS)).remove(0);
    assert!(
        late.contains("read() within its cycles, 4 times in 4 cycles, 3.00 ms each"),
        "{late}"
    );
    assert!(late.contains("this sets its period"), "{late}");
    let early = said(-3_000_000, waits("read", 12 * MS)).remove(0);
    assert!(!early.contains("sets its period"), "{early}");
    // Two of which nobody saw the beginning make the others no shorter.
    let unseen = said(400, waited(2, "read", 6 * MS)).remove(0);
    assert!(
        unseen.contains("2 times in 4 cycles, 3.00 ms each"),
        "{unseen}"
    );
    assert!(
        said(400, waited(1, "read", 3 * MS))
            .iter()
            .all(|it| !it.contains("read()"))
    );
    assert!(said(-3_000_000, waits("read", MS)).is_empty());
    // An event loop waits for its next event; a loop that sleeps otherwise waits for an answer.
    let polls = waits("epoll_wait", 12 * MS);
    assert!(said(-3_000_000, polls.clone())[0].contains("epoll_wait()"));
    let awaits_events = true;
    let event_loop = ThreadActivity {
        awaits_events,
        ..polls
    };
    assert!(said(-3_000_000, event_loop).is_empty());
}

#[test]
fn what_a_way_of_waiting_costs_in_all_is_that_of_each_time() {
    let naps = Finding::SleepsFor {
        asked_ns: 300 * MS,
        work_ns: MS,
        latency_ns: 3 * MS,
        interval_ns: 304 * MS,
        is_time_out: false,
    };
    assert_eq!(naps.lost_ns(19), 19 * 4 * MS);
    let fix = |of: &Finding| of.fix().unwrap();
    assert!(fix(&naps).contains("TIMER_ABSTIME"));
    let mut time_outs = naps;
    if let Finding::SleepsFor { is_time_out, .. } = &mut time_outs {
        *is_time_out = true;
    }
    assert!(fix(&time_outs).contains("compute each time-out"));
    let gaps = Finding::WallClock {
        computes: false,
        gaps: 3,
        longest_ns: 204 * MS,
        steps_ns: Vec::new(),
    };
    assert_eq!(gaps.lost_ns(1352), 3 * 204 * MS);
}

#[test]
fn longer_sleeps_when_the_clock_is_set_are_computed_from_it() {
    let turn = |due_ms: u64| Activation {
        programmed_ns: Some(due_ms * MS),
        expiry_ns: due_ms * MS,
        switched_in_ns: due_ms * MS + 20_000,
        end_ns: due_ms * MS + MS,
        ..Activation::default()
    };
    // 150 ms are missing.
    let dues = (0..40).map(|k| 1_000 + k * 10 + if k > 20 { 150 } else { 0 });
    let turns: Vec<Activation> = dues.map(turn).collect();
    let said = |by_ms: i64, set_ms: u64| {
        let activity = ThreadActivity {
            clock_steps_ns: vec![by_ms * MS.cast_signed()],
            clock_set_ns: vec![set_ms * MS],
            ..ThreadActivity::default()
        };
        let task = Task {
            rhythm: Rhythm::new(&turns).unwrap(),
            timer: None,
            turns: turns.clone(),
            unwoken: 0,
            has_timer_wheel: false,
        };
        of_task((&activity, false), task)
    };
    let is_by_clock = |found: &[String]| found.iter().any(|of| of.contains("CLOCK_MONOTONIC"));
    assert!(is_by_clock(&said(-150, 1_240)), "{:?}", said(-150, 1_240));
    // Of another size, or at another time.
    for (by_ms, set_ms) in [(-20, 1_240), (-150, 1_050)] {
        let found = said(by_ms, set_ms);
        assert!(!is_by_clock(&found), "{found:?}");
        assert!(found.iter().any(|of| of.contains("skipped")), "{found:?}");
    }
}

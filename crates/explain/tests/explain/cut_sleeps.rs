//! Sleeps that signals end or stop before their due time: streams with the answer worked out by hand.

use crate::hand_made::{HOG, LOOP, MS, START, Stream, US, thread};
use wakepath_explain::watch::{CutBy, ThreadActivity, Waker};
use wakepath_timeline::{Left, What};

wakepath_test_program::tests![
    a_sleep_that_a_signal_ends_is_a_cycle_that_runs_early_and_its_sender_is_named,
    a_sleep_that_is_resumed_after_a_signal_is_no_cycle_of_its_own,
    a_wait_for_any_event_is_cut_if_a_handler_runs_after_it,
    a_wait_with_time_outs_is_cut_by_another_timers_signal,
    a_stop_in_the_sleep_delays_the_next_cycle_and_lengthens_none,
    a_sleep_whose_signal_comes_too_late_to_end_it_early_is_not_cut,
];

fn call(name: &str) -> What {
    What::SystemCallEntry {
        name: name.into(),
        argument: None,
    }
}

fn sleep() -> What {
    call("clock_nanosleep")
}

/// Sleeps until each millisecond. A signal of the hog ends the sleeps before `cut` turns 300 µs early; the loop sleeps
/// on if `resumes`, and otherwise runs at once.
fn signalled(cut: &[u64], resumes: bool) -> ThreadActivity {
    ended_early("clock_nanosleep", "rt_sigreturn", cut, resumes)
}

/// The same of sleeps in this call, which the loop follows with this one.
fn ended_early(sleeps_in: &str, then: &str, cut: &[u64], resumes: bool) -> ThreadActivity {
    ended_by(None, (sleeps_in, then), cut, resumes)
}

/// The same, by a timer with this callback or by the hog.
fn ended_by(
    timer: Option<&str>,
    (sleeps_in, then): (&str, &str),
    cut: &[u64],
    resumes: bool,
) -> ThreadActivity {
    let sleep = || call(sleeps_in);
    let number = 0xf000;
    let mut stream = Stream::new();
    stream.program(START - MS, LOOP, START);
    for turn in 0..40 {
        let due = START + turn * MS;
        let is_cut = cut.contains(&turn);
        let runs = if is_cut && !resumes {
            due - 300 * US
        } else {
            due + 7 * US
        };
        if is_cut && let Some(function) = timer {
            let function = function.into();
            let entry = What::TimerExpiryEntry {
                timer: number,
                function,
            };
            stream.at(due - 305 * US, entry);
        }
        if is_cut {
            stream.wake(due - 304 * US, LOOP);
            if timer.is_some() {
                stream.at(due - 303 * US, What::TimerExpiryExit { timer: number });
            }
            stream
                .switch(due - 301 * US, LOOP, Left::Runnable)
                .at(due - 300 * US, What::SystemCallExit)
                .at(due - 300 * US + 100, call(then))
                .at(due - 300 * US + 200, What::SystemCallExit);
        }
        if is_cut && resumes {
            stream
                .at(due - 299 * US, sleep())
                .program(due - 298 * US, LOOP, due)
                .switch(due - 297 * US, HOG, Left::Sleeping);
        }
        if !is_cut || resumes {
            stream
                .expire(due + 3 * US, LOOP)
                .switch(runs, LOOP, Left::Runnable)
                .at(runs + US, What::SystemCallExit);
        }
        stream
            .at(runs + 50 * US, sleep())
            .program(runs + 51 * US, LOOP, due + MS)
            .switch(runs + 52 * US, HOG, Left::Sleeping);
    }
    stream.activity().remove(&LOOP).unwrap()
}

fn a_sleep_that_a_signal_ends_is_a_cycle_that_runs_early_and_its_sender_is_named() {
    let activity = signalled(&[12, 20, 31], false);
    let sender = CutBy::Waker(Waker::Thread(thread(HOG)));
    let [cut] = &activity.cut_sleeps[..] else {
        panic!("{:?}", activity.cut_sleeps);
    };
    assert_eq!((&cut.by, cut.times, cut.early_ns), (&sender, 3, 304_000));
    let task = activity.tasks().unwrap().remove(0);
    assert_eq!(task.rhythm.period_ns, MS);
    let samples = task.row().samples;
    let cycles: Vec<u64> = samples.iter().map(|of| of.cycle).collect();
    assert_eq!(cycles, (0..39).collect::<Vec<u64>>());
    let early = samples.iter().filter(|of| of.latency_ns() < 0);
    assert_eq!(early.map(|of| of.cycle).collect::<Vec<u64>>(), [12, 20, 31]);
}

fn a_sleep_that_is_resumed_after_a_signal_is_no_cycle_of_its_own() {
    let activity = signalled(&[12, 20, 31], true);
    assert!(activity.cut_sleeps.is_empty(), "{:?}", activity.cut_sleeps);
    let samples = activity.tasks().unwrap().remove(0).row().samples;
    assert_eq!(samples.len(), 39);
    assert!(samples.iter().all(|of| of.latency_ns() == 7_000));
    // The previous turn had ended with the sleep.
    assert_eq!(samples[11].cpu_time_ns, 52_000);
    assert_eq!(samples[11].execution_ns(), samples[10].execution_ns());
}

/// A signal stops the loop in the sleep before turn 12, this long before its due time, and lets it continue 5 ms later: it
/// asks for the same time again, which has passed, and runs at once what was due in the meantime.
fn stopped(early_ns: u64) -> ThreadActivity {
    let mut stream = Stream::new();
    stream.program(START - MS, LOOP, START);
    let mut free_ns = 0;
    for turn in 0..40 {
        let due = START + turn * MS;
        if turn == 12 {
            let stops = due - early_ns;
            stream
                .wake(stops, LOOP)
                .switch(stops + 3 * US, LOOP, Left::Runnable)
                .at(stops + 4 * US, What::SystemCallExit)
                .switch(stops + 6 * US, HOG, Left::Stopped)
                .wake(stops + 5 * MS, LOOP)
                .switch(stops + 5 * MS + 3 * US, LOOP, Left::Runnable);
            free_ns = stops + 5 * MS + 10 * US;
            stream.at(free_ns, sleep()).program(free_ns + US, LOOP, due);
        }
        let runs = free_ns.max(due) + 7 * US;
        stream.expire(runs - 4 * US, LOOP);
        if free_ns < due {
            stream.switch(runs, LOOP, Left::Runnable);
        }
        stream
            .at(runs + US, What::SystemCallExit)
            .at(runs + 50 * US, sleep())
            .program(runs + 51 * US, LOOP, due + MS);
        if runs + 52 * US < due + MS {
            stream.switch(runs + 52 * US, HOG, Left::Sleeping);
        } else {
            free_ns = runs + 52 * US;
        }
    }
    stream.activity().remove(&LOOP).unwrap()
}

fn a_stop_in_the_sleep_delays_the_next_cycle_and_lengthens_none() {
    let activity = stopped(300 * US);
    assert!(activity.cut_sleeps.is_empty(), "{:?}", activity.cut_sleeps);
    let samples = activity.tasks().unwrap().remove(0).row().samples;
    let work_ns = samples[10].execution_ns();
    assert_eq!(
        (samples[11].cycle, samples[11].execution_ns()),
        (11, work_ns)
    );
    assert_eq!(
        (samples[12].cycle, samples[12].latency_ns()),
        (12, 4_714_000)
    );
}

fn a_sleep_whose_signal_comes_too_late_to_end_it_early_is_not_cut() {
    let mut stream = Stream::new();
    stream.program(START - MS, LOOP, START);
    for turn in 0..40 {
        let due = START + turn * MS;
        // It has its CPU after the due time only.
        if turn == 12 {
            stream.wake(due - 20 * US, LOOP);
        } else {
            stream.expire(due + 3 * US, LOOP);
        }
        stream
            .switch(due + 7 * US, LOOP, Left::Runnable)
            .at(due + 8 * US, What::SystemCallExit)
            .at(due + 57 * US, sleep())
            .program(due + 58 * US, LOOP, due + MS)
            .switch(due + 59 * US, HOG, Left::Sleeping);
    }
    let activity = stream.activity().remove(&LOOP).unwrap();
    assert!(activity.cut_sleeps.is_empty(), "{:?}", activity.cut_sleeps);
    assert_eq!(activity.tasks().unwrap().remove(0).row().samples.len(), 39);
}

fn a_wait_for_any_event_is_cut_if_a_handler_runs_after_it() {
    let activity = ended_early("ppoll", "rt_sigreturn", &[12, 20, 31], false);
    let [cut] = &activity.cut_sleeps[..] else {
        panic!("{:?}", activity.cut_sleeps);
    };
    assert_eq!((cut.times, cut.early_ns), (3, 304_000));
    let samples = activity.tasks().unwrap().remove(0).row().samples;
    let early = samples.iter().filter(|of| of.latency_ns() < 0);
    assert_eq!(early.map(|of| of.cycle).collect::<Vec<u64>>(), [12, 20, 31]);
    // The previous turn had ended with its wait.
    assert_eq!(samples[11].execution_ns(), samples[10].execution_ns());
    // An event that the loop reads is no signal, and a wait that continues is none that was cut.
    for (then, resumes) in [("read", false), ("rt_sigreturn", true)] {
        let activity = ended_early("ppoll", then, &[12, 20, 31], resumes);
        assert!(activity.cut_sleeps.is_empty(), "{:?}", activity.cut_sleeps);
    }
}

fn a_wait_with_time_outs_is_cut_by_another_timers_signal() {
    let calls = ("pselect6", "rt_sigreturn");
    let activity = ended_by(Some("it_real_fn"), calls, &[12, 20, 31], false);
    let [cut] = &activity.cut_sleeps[..] else {
        panic!("{:?}", activity.cut_sleeps);
    };
    let by = CutBy::Timer("it_real_fn".into());
    assert_eq!((&cut.by, cut.times, cut.early_ns), (&by, 3, 304_000));
    let task = activity.tasks().unwrap().remove(0);
    assert_eq!((task.rhythm.period_ns, task.row().samples.len()), (MS, 39));
}

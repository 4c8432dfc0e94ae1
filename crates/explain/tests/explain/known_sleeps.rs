//! Threads that sleep for a time, that have several timers, or that sleep on a clock that can be set, by streams made
//! by hand.

use crate::hand_made::{HOG, LOOP, MS, START, Stream, US, thread};
use wakepath_explain::watch::{BegunBy, Task, Waker};
use wakepath_timeline::{CallArgument, Left, What};

wakepath_test_program::tests![
    a_sleeper_for_a_time_that_is_often_late_has_the_period_that_it_asks_for,
    a_sleeper_for_a_time_has_the_period_of_sleep_and_work_together,
    a_thread_that_computes_the_time_to_its_next_due_time_does_not_sleep_for_a_time,
    each_timer_of_an_event_loop_is_a_task_of_its_own,
    a_sleep_within_the_turns_of_a_timer_is_part_of_them,
    what_an_event_loop_serves_after_a_timer_is_no_part_of_its_cycle,
    due_times_on_the_wall_clock_are_exact_and_its_steps_are_told,
    a_clock_that_is_set_back_makes_no_latency,
    turns_without_a_period_are_recorded_in_their_order,
    a_sleep_that_outlasts_its_timer_until_a_thread_ends_it_is_a_late_cycle,
    a_loop_that_a_device_paces_has_its_period_and_its_wait,
    a_server_that_sleeps_while_it_serves_a_request_has_the_period_of_its_requests,
];

/// Sleeps for a time after each turn; `late_us` of a turn is how much later than 7 µs it runs.
fn sleeper_for(sleep_ns: u64, work_us: u64, late_us: impl Fn(u64) -> u64) -> Vec<Task> {
    let mut stream = Stream::new();
    let mut due = START;
    stream.program(due - MS, LOOP, due);
    for turn in 0..60 {
        let late = late_us(turn) * US;
        let asked = due + late + (7 + work_us) * US;
        stream
            .expire(due + 3 * US, LOOP)
            .switch(due + late + 7 * US, LOOP, Left::Runnable);
        // The kernel reads the clock some hundred nanoseconds before the timer is started.
        due = asked + sleep_ns - 300 - turn % 5 * 100;
        stream
            .program(asked, LOOP, due)
            .switch(asked + US, HOG, Left::Sleeping);
    }
    tasks(&mut stream)
}

fn tasks(stream: &mut Stream) -> Vec<Task> {
    stream.activity()[&LOOP].tasks().unwrap()
}

fn a_sleeper_for_a_time_that_is_often_late_has_the_period_that_it_asks_for() {
    let late_us = |turn: u64| turn * turn * 37 % 101 * 200;
    let [task] = &sleeper_for(10 * MS, 20, late_us)[..] else {
        panic!("one task");
    };
    assert_eq!(task.rhythm.period_ns, 10 * MS);
    assert_eq!(task.rhythm.sleeps_ns, Some(10 * MS));
    let samples = task.row().samples;
    assert_eq!(samples.len(), 59);
    for (turn, sample) in (0..).zip(&samples) {
        let latency_ns = (late_us(turn) * US + 7 * US).cast_signed();
        assert_eq!(sample.latency_ns(), latency_ns);
    }
}

fn a_sleeper_for_a_time_has_the_period_of_sleep_and_work_together() {
    let [task] = &sleeper_for(4 * MS, 500, |turn| turn % 7)[..] else {
        panic!("one task");
    };
    assert_eq!(task.rhythm.sleeps_ns, Some(4 * MS));
    let period_ns = task.rhythm.period_ns;
    assert!((4_505_000..4_515_000).contains(&period_ns), "{period_ns}");
}

fn a_thread_that_computes_the_time_to_its_next_due_time_does_not_sleep_for_a_time() {
    let mut stream = Stream::new();
    stream.program(START - MS, LOOP, START);
    // Some hundred nanoseconds pass between its look at the clock and the kernel's.
    let due = |k: u64| START + k * 10 * MS + k % 7 * 100;
    for k in (0..50).filter(|k| !(20..30).contains(k)) {
        let work = (500 + k * k * 37 % 101 * 20) * US;
        let next = if k == 19 { 30 } else { k + 1 };
        stream.turn(LOOP, due(k), work, due(next));
    }
    let task = tasks(&mut stream).remove(0);
    assert_eq!(
        (task.rhythm.sleeps_ns, task.rhythm.period_ns),
        (None, 10 * MS)
    );
    let row = task.row();
    assert_eq!((row.due.start_ns, row.left_out), (START, 0));
    // Due times that it was too late for show as gaps.
    let cycles: Vec<u64> = row.samples.iter().map(|sample| sample.cycle).collect();
    let expected: Vec<u64> = (0..50)
        .filter(|k| !(20..30).contains(k))
        .take(cycles.len())
        .collect();
    assert_eq!(cycles, expected);
    for (at, sample) in row.even().iter().enumerate() {
        let beside = row.samples[at].due_ns - sample.due_ns;
        assert_eq!(sample.latency_ns().unsigned_abs(), 7_000 + beside);
        assert!(beside < US);
    }
}

const TIMERS: [(u64, u64); 2] = [(0xa000, 10 * MS), (0xb000, 33 * MS)];

/// A thread that waits for two timerfds; where both expire at once it is woken once and reads both. Within each turn
/// of the first it sleeps for 100 µs, if `naps`; 2 ms after each turn it serves an event of another thread's for 50 µs, if
/// `serves`.
fn event_loop(naps: bool, serves: bool) -> Stream {
    let waits = || What::SystemCallEntry {
        name: "epoll_wait".into(),
        argument: Some(CallArgument::Descriptor(5)),
    };
    let mut stream = Stream::new();
    let mut dues: Vec<(u64, usize)> = Vec::new();
    for (which, (_, period)) in TIMERS.iter().enumerate() {
        let own = (0..1_320 * MS / period).map(|k| (START + k * period, which));
        dues.extend(own);
    }
    dues.sort_unstable();
    let function = || "timerfd_tmrproc".into();
    let start = |which: usize, due: u64| What::TimerStart {
        timer: TIMERS[which].0,
        function: function(),
        expires_ns: due,
        soft_expires_ns: due,
        soft: false,
    };
    stream.at(START - MS, start(0, START));
    stream.at(START - MS, start(1, START));
    let mut dues = dues.into_iter().peekable();
    while let Some((due, which)) = dues.next() {
        let both = dues.next_if(|next| next.0 == due).map(|next| next.1);
        let mut at = due + 3 * US;
        for which in [Some(which), both].into_iter().flatten() {
            let timer = TIMERS[which].0;
            let entry = What::TimerExpiryEntry {
                timer,
                function: function(),
            };
            stream.at(at, entry);
            if at == due + 3 * US {
                stream.wake(at + US, LOOP);
            }
            stream.at(at + 2 * US, What::TimerExpiryExit { timer });
            at += 3 * US;
        }
        stream.switch(due + 20 * US, LOOP, Left::Runnable);
        if serves {
            stream.at(due + 21 * US, What::SystemCallExit);
        }
        let mut at = due + 30 * US;
        for which in [Some(which), both].into_iter().flatten() {
            stream.at(at, start(which, due + TIMERS[which].1));
            at += 40 * US;
        }
        if naps && which == 0 {
            stream
                .program(at, LOOP, at + 100 * US)
                .switch(at + US, HOG, Left::Sleeping)
                .expire(at + 103 * US, LOOP)
                .switch(at + 110 * US, LOOP, Left::Runnable);
            at += 150 * US;
        }
        if serves {
            stream.at(at - US, waits());
        }
        stream.switch(at, HOG, Left::Sleeping);
        if serves {
            stream
                .wake(at + 2 * MS, LOOP)
                .switch(at + 2 * MS + 5 * US, LOOP, Left::Runnable)
                .at(at + 2 * MS + 6 * US, What::SystemCallExit)
                .at(at + 2 * MS + 50 * US, waits())
                .switch(at + 2 * MS + 55 * US, HOG, Left::Sleeping);
        }
    }
    stream
}

fn what_an_event_loop_serves_after_a_timer_is_no_part_of_its_cycle() {
    let execution_ns = |stream: &mut Stream| {
        let tasks = tasks(stream);
        let row = tasks[0].row();
        (tasks.len(), row.samples[1].execution_ns())
    };
    assert_eq!(execution_ns(&mut event_loop(false, false)), (2, 50_000));
    assert_eq!(execution_ns(&mut event_loop(false, true)), (2, 50_000));
}

fn each_timer_of_an_event_loop_is_a_task_of_its_own() {
    let tasks = tasks(&mut event_loop(false, false));
    assert_eq!(tasks.len(), 2);
    for (task, (_, period)) in tasks.iter().zip(TIMERS) {
        assert_eq!(
            (task.rhythm.period_ns, task.is_by_lasting_timers()),
            (period, true)
        );
        let row = task.row();
        // That the second timer is this thread's shows when it first wakes it.
        let first = if task.timer == Some(0) { 0 } else { 1 };
        let due = |(k, _): (u64, _)| START + (first + k) * period;
        let dues: Vec<u64> = (0..).zip(&row.samples).map(due).collect();
        let seen: Vec<u64> = row.samples.iter().map(|sample| sample.due_ns).collect();
        assert_eq!(seen, dues);
        let late = row
            .samples
            .iter()
            .filter(|sample| sample.latency_ns() != 20_000);
        // Each 330 ms both expire at once, and the second is read 70 µs after that.
        let late: Vec<i64> = late.map(|sample| sample.latency_ns()).collect();
        match task.timer {
            Some(0) => assert!(late.is_empty(), "{late:?}"),
            _ => assert_eq!(late, [70_000; 3]),
        }
    }
}

fn a_sleep_within_the_turns_of_a_timer_is_part_of_them() {
    let tasks = tasks(&mut event_loop(true, false));
    let periods: Vec<u64> = tasks.iter().map(|task| task.rhythm.period_ns).collect();
    assert_eq!(periods, [10 * MS, 33 * MS]);
    let row = tasks[0].row();
    // 50 µs to the nap, 100 µs and 10 µs of waking, 40 µs after it.
    assert_eq!(row.samples[1].execution_ns(), 200_000);
}

/// 1.7 billion seconds.
const AHEAD: u64 = 1_700_000_000_000_000_000;

/// Sleeps until every fourth millisecond of a clock that is so far ahead; `late_us` to its callback.
fn on_wall_clock(dues: &[(u64, u64)], late_us: impl Fn(usize) -> u64) -> Stream {
    let mut stream = Stream::new();
    stream.program(dues[0].0 - MS, LOOP, dues[0].0 + dues[0].1);
    for (at, two) in dues.windows(2).enumerate() {
        let (due, next) = (two[0].0, two[1]);
        let late = late_us(at) * US;
        stream
            .expire(due + late, LOOP)
            .switch(due + late + 5 * US, LOOP, Left::Runnable)
            .program(due + late + 50 * US, LOOP, next.0 + next.1)
            .switch(due + late + 51 * US, HOG, Left::Sleeping);
    }
    stream
}

fn due_times_on_the_wall_clock_are_exact_and_its_steps_are_told() {
    let dues: Vec<(u64, u64)> = (0..60)
        .map(|k| (START + 4 * MS * (k + if k >= 30 { 50 } else { 0 }), AHEAD))
        .collect();
    let mut stream = on_wall_clock(&dues, |at| at as u64 * 7 % 11);
    let activity = stream.activity().remove(&LOOP).unwrap();
    assert!(activity.clock_steps_ns.is_empty());
    let task = activity.tasks().unwrap().remove(0);
    assert_eq!(
        (task.rhythm.period_ns, task.rhythm.programmed),
        (4 * MS, true)
    );
    let row = task.row();
    for (at, (sample, due)) in row.samples.iter().zip(&dues).enumerate() {
        // Its first callback was on time.
        assert_eq!(sample.due_ns, due.0);
        assert_eq!(sample.latency_ns(), (at as i64 * 7 % 11 + 5) * 1_000);
    }
    assert_eq!(row.samples[30].cycle - row.samples[29].cycle, 51);
}

fn a_clock_that_is_set_back_makes_no_latency() {
    // Set back by 200 ms while it sleeps until due time 30.
    let dues: Vec<(u64, u64)> = (0..60)
        .map(|k| {
            if k < 30 {
                (START + 4 * MS * k, AHEAD)
            } else {
                (START + 4 * MS * k + 200 * MS, AHEAD - 200 * MS)
            }
        })
        .collect();
    let mut stream = on_wall_clock(&dues, |_| 3);
    let activity = stream.activity().remove(&LOOP).unwrap();
    assert_eq!(activity.clock_steps_ns, [-200 * MS.cast_signed()]);
    let row = activity.tasks().unwrap()[0].row();
    assert!(
        row.samples
            .iter()
            .all(|sample| sample.latency_ns() < 100_000)
    );
}

fn turns_without_a_period_are_recorded_in_their_order() {
    let mut stream = Stream::new();
    for k in 0..40 {
        let at = START + k * 5 * MS + k * k * 37 % 101 * 100 * US;
        stream
            .at(
                at,
                What::Waking {
                    thread: thread(LOOP),
                    target_cpu: 1,
                },
            )
            .switch(at + 9 * US, LOOP, Left::Runnable)
            .switch(at + 60 * US, HOG, Left::Sleeping);
    }
    let activity = stream.activity().remove(&LOOP).unwrap();
    assert!(activity.tasks().is_err());
    let task = activity.irregular().unwrap();
    assert_eq!(
        (task.rhythm.begun_by, task.rhythm.is_periodic),
        (BegunBy::Other, false)
    );
    let row = task.row();
    assert_eq!((row.samples.len(), row.left_out), (39, 0));
    assert!(
        row.samples
            .iter()
            .all(|sample| sample.latency_ns() == 9_000)
    );
    assert!(
        row.samples
            .windows(2)
            .all(|two| two[0].cycle < two[1].cycle)
    );
}

fn a_sleep_that_outlasts_its_timer_until_a_thread_ends_it_is_a_late_cycle() {
    let mut stream = Stream::new();
    stream.program(START - MS, LOOP, START);
    let name = || "clock_nanosleep".into();
    for turn in 0..20 {
        let due = START + turn * MS;
        let late = if turn == 12 { 400 * US } else { 0 };
        match turn {
            // Frozen: its timer wakes no thread.
            12 => {
                let (timer, function) = (LOOP.into(), "hrtimer_wakeup".into());
                stream
                    .at(due + 3 * US, What::TimerExpiryEntry { timer, function })
                    .at(due + 4 * US, What::TimerExpiryExit { timer })
                    .wake(due + late + 4 * US, LOOP);
            }
            _ => {
                stream.expire(due + 3 * US, LOOP);
            }
        }
        stream
            .switch(due + late + 7 * US, LOOP, Left::Runnable)
            .at(due + late + 8 * US, What::SystemCallExit)
            .at(
                due + late + 50 * US,
                What::SystemCallEntry {
                    name: name(),
                    argument: None,
                },
            )
            .program(due + late + 51 * US, LOOP, due + MS)
            .switch(due + late + 52 * US, HOG, Left::Sleeping);
    }
    let activity = stream.activity().remove(&LOOP).unwrap();
    assert!(activity.cut_sleeps.is_empty());
    let samples = activity.tasks().unwrap().remove(0).row().samples;
    assert_eq!(samples.len(), 19);
    assert_eq!(samples[12].latency_ns(), 407_000);
}

/// Its cycle is due already each time, and its answer comes 16 ms after it asked, or up to 3 ms later.
fn a_loop_that_a_device_paces_has_its_period_and_its_wait() {
    let mut stream = Stream::new();
    let call = |name: &str| What::SystemCallEntry {
        name: name.into(),
        argument: None,
    };
    let mut at = START;
    stream.switch(at - MS, LOOP, Left::Runnable);
    let mut waited = 0;
    for turn in 0..50_u64 {
        let wait = 16 * MS + turn * turn * 37 % 101 * 30 * US;
        waited += wait;
        stream
            .at(at, call("clock_nanosleep"))
            .program(at + US, LOOP, at)
            .expire(at + 2 * US, LOOP)
            .at(at + 5 * US, What::SystemCallExit)
            .at(at + 200 * US, call("read"))
            .switch(at + 202 * US, HOG, Left::Sleeping)
            .wake(at + 202 * US + wait, LOOP)
            .switch(at + 204 * US + wait, LOOP, Left::Runnable)
            .at(at + 205 * US + wait, What::SystemCallExit);
        at += 210 * US + wait;
    }
    let activity = stream.activity().remove(&LOOP).unwrap();
    let [wait] = &activity.waits[..] else {
        panic!("{:?}", activity.waits);
    };
    assert_eq!((wait.call.as_deref(), wait.times), (Some("read"), 50));
    assert_eq!(wait.total_ns, waited);
    assert_eq!(wait.waker, Waker::Thread(thread(HOG)));
    let task = activity.tasks().unwrap().remove(0);
    assert!((16 * MS..20 * MS).contains(&task.rhythm.period_ns));
    assert_eq!(
        (task.rhythm.anchor_ns, task.rhythm.begun_by),
        (None, BegunBy::Timer)
    );
}

fn a_server_that_sleeps_while_it_serves_a_request_has_the_period_of_its_requests() {
    let mut stream = Stream::new();
    for k in 0..40 {
        let at = START + k * 200 * MS + k * 37 % 11 * MS;
        let due = at + 14 * MS;
        stream
            .wake(at, LOOP)
            .switch(at + 7 * US, LOOP, Left::Runnable)
            .program(at + 50 * US, LOOP, due)
            .switch(at + 51 * US, HOG, Left::Sleeping)
            .expire(due + 3 * US, LOOP)
            .switch(due + 7 * US, LOOP, Left::Runnable)
            .switch(due + 30 * US, HOG, Left::Sleeping);
    }
    let rhythm = tasks(&mut stream).remove(0).rhythm;
    assert_eq!((rhythm.begun_by, rhythm.sleeps_ns), (BegunBy::Other, None));
}

//! Waits of threads whose budget of CPU time was used up: streams made by hand.

use crate::stream::*;
use wakepath_explain::{Budgets, Quota};
use wakepath_timeline::{Budget, Interrupt, Left, What};

wakepath_test_program::tests![
    a_wait_until_the_quota_is_filled_up_is_throttled_and_names_the_group,
    a_wait_past_the_refill_is_throttled_only_if_the_group_usually_was,
    who_used_up_the_quota_is_stopped_until_the_refill_and_shares_after_it,
    what_its_program_used_up_stops_a_thread_too,
    an_idle_cpu_shows_that_a_ready_thread_was_stopped,
    a_wait_without_a_refill_is_the_neighbour_s,
    a_group_s_real_time_budget_is_one_cause_whoever_ran_instead,
    a_deadline_thread_is_throttled_until_its_own_timer_whoever_runs,
    a_reservation_s_timer_right_before_shows_that_the_fair_server_chose,
];

const NAME: &str = "throttled: control group /robot used up its CPU quota";

fn robot(is_usual: bool) -> Budgets {
    let budget = Budget::CpuQuota {
        group: "/robot".into(),
        file: "/sys/fs/cgroup/cpu/robot/cpu.cfs_quota_us".into(),
    };
    Budgets {
        quota: Some(Quota {
            budget,
            is_usual,
            granted_ns: Some(10 * MS),
        }),
        real_time: None,
    }
}

/// An ordinary loop, ready from 5 µs after its due time on, while the hog runs; the quota is filled up 50 ms after the
/// due time.
fn ready_and_stopped(budgets: Budgets) -> Stream {
    let mut stream = Stream::with(hog(), thread(LOOP, "loop", 120));
    stream.budgets = budgets;
    stream.timer(DUE + 2 * US);
    stream
}

fn refill(stream: &mut Stream) {
    let at_ns = DUE + 50 * MS;
    stream.at(at_ns, What::InterruptEntry(Interrupt::LocalTimer));
    stream.expiry(at_ns + US, "sched_cfs_period_timer");
    stream.at(at_ns + 2 * US, What::TimerExpiryExit { timer: 7 });
    stream.at(at_ns + 3 * US, What::InterruptExit(Interrupt::LocalTimer));
}

fn a_wait_until_the_quota_is_filled_up_is_throttled_and_names_the_group() {
    let mut stream = ready_and_stopped(robot(false));
    refill(&mut stream);
    stream.run(DUE + 50 * MS + 90 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    let throttled = beyond_usual(cycle)
        .into_iter()
        .find(|(name, _)| name == NAME);
    let (_, ns) = throttled.expect("named");
    assert!((49 * MS..=50 * MS).contains(&ns), "{ns}");
}

fn a_wait_past_the_refill_is_throttled_only_if_the_group_usually_was() {
    for (is_usual, expected) in [(true, true), (false, false)] {
        let mut stream = ready_and_stopped(robot(is_usual));
        refill(&mut stream);
        stream.run(DUE + 57 * MS, DUE, Left::Runnable);
        let causes = beyond_usual(&stream.explain()[0]);
        let is_named = causes.iter().any(|(name, _)| name == NAME);
        assert_eq!(is_named, expected, "{causes:?}");
        // From the refill on the thread waits for its turn.
        let shared = causes.iter().find(|(name, _)| name.contains("sharing"));
        assert!(shared.is_some_and(|(_, ns)| *ns >= 6 * MS), "{causes:?}");
    }
}

fn who_used_up_the_quota_is_stopped_until_the_refill_and_shares_after_it() {
    for (ran_ns, is_stopped) in [(9 * MS, true), (6 * MS, false)] {
        let mut stream = Stream::with(hog(), thread(LOOP, "loop", 120));
        stream.budgets = robot(false);
        let filled_up = |stream: &mut Stream, at_ns: u64| {
            stream.expiry(at_ns, "sched_cfs_period_timer");
            stream.at(at_ns + US, What::TimerExpiryExit { timer: 7 });
        };
        filled_up(&mut stream, DUE);
        stream
            .timer(DUE + 2 * US)
            .run(DUE + 7 * US, DUE, Left::Runnable);
        stream.switch(DUE + 7 * US + ran_ns, hog(), Left::Runnable);
        filled_up(&mut stream, DUE + 50 * MS);
        let again = stream.the_loop.clone();
        stream.switch(DUE + 57 * MS, again, Left::Runnable);
        stream.samples[0].end_ns = DUE + 57 * MS + 30 * US;
        let cycle = &stream.explain()[0];
        let sums = |kind: &str| of_kind(cycle, kind) / MS;
        let expected = if is_stopped { (40, 6) } else { (0, 50) };
        assert_eq!((sums("throttled"), sums("thread")), expected, "{cycle:#?}");
    }
}

fn what_its_program_used_up_stops_a_thread_too() {
    for (process, is_stopped) in [(Some(90), true), (None, false)] {
        let mut stream = Stream::with(hog(), thread(LOOP, "loop", 120));
        let Budgets { quota, .. } = robot(false);
        stream.budgets.quota = quota.map(|of| Quota {
            granted_ns: Some(4 * MS),
            ..of
        });
        if let Some(process) = process {
            let followed = What::Followed {
                thread: 300,
                process,
                calls: true,
            };
            stream.at(DUE - 4_950 * US, followed);
        }
        stream.expiry(DUE - 4_900 * US, "sched_cfs_period_timer");
        stream.at(DUE - 4_899 * US, What::TimerExpiryExit { timer: 7 });
        stream.switch(DUE - 4_800 * US, thread(300, "burst", 120), Left::Runnable);
        stream.switch(DUE - 500 * US, hog(), Left::Runnable);
        stream.timer(DUE + 2 * US);
        refill(&mut stream);
        stream.run(DUE + 57 * MS, DUE, Left::Runnable);
        let cycle = &stream.explain()[0];
        let sums = |kind: &str| of_kind(cycle, kind) / MS;
        let expected = if is_stopped { (49, 6) } else { (0, 56) };
        assert_eq!((sums("throttled"), sums("thread")), expected, "{cycle:#?}");
    }
}

fn an_idle_cpu_shows_that_a_ready_thread_was_stopped() {
    let mut stream = ready_and_stopped(robot(false));
    stream.switch(DUE + 10 * MS, idle(), Left::Sleeping);
    stream.run(DUE + 50 * MS, DUE, Left::Runnable);
    let causes = beyond_usual(&stream.explain()[0]);
    assert_eq!(causes.len(), 1, "{causes:?}");
    assert_eq!(causes[0].0, NAME);
}

fn a_wait_without_a_refill_is_the_neighbour_s() {
    let mut stream = ready_and_stopped(robot(true));
    stream.run(DUE + 3 * MS, DUE, Left::Runnable);
    let causes = beyond_usual(&stream.explain()[0]);
    assert_eq!(causes.len(), 1, "{causes:?}");
    assert!(causes[0].0.contains("hog-200 (OTHER), sharing"));
}

fn a_group_s_real_time_budget_is_one_cause_whoever_ran_instead() {
    let mut stream = Stream::with(hog(), fifo());
    stream.budgets.real_time = Some(Budget::GroupRealTime {
        group: "/robot".into(),
        file: "/sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us".into(),
    });
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream.switch(DUE + 28 * US, hog(), Left::Runnable);
    stream.switch(DUE + 20_028 * US, thread(201, "git", 120), Left::Runnable);
    stream.switch(DUE + 40_028 * US, idle(), Left::Sleeping);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 50_028 * US, again, Left::Sleeping);
    stream.samples[0].end_ns = DUE + 50_058 * US;
    let cycle = &stream.explain()[0];
    let throttled: Vec<String> = cycle
        .execution
        .iter()
        .filter(|piece| piece.cause.kind() == "throttled")
        .map(|piece| piece.cause.to_string())
        .collect();
    assert_eq!(
        throttled,
        ["throttled: control group /robot used up its real-time budget"]
    );
    let remedy = cycle.execution.iter().find_map(|piece| {
        wakepath_explain::remedy(&piece.cause).filter(|fix| fix.contains("rt_runtime"))
    });
    assert!(remedy.is_some_and(|fix| fix.contains("/sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us")));
}

/// A FIFO 40 thread spins until an ordinary thread has its CPU for 50 ms, in which the loop wakes. `before`: events
/// before that switch.
fn starving(before: impl FnOnce(&mut Stream, u64)) -> Vec<(String, u64)> {
    let spinner = || thread(300, "busy_poll", 59);
    let mut stream = Stream::with(spinner(), fifo());
    before(&mut stream, DUE - 15 * US);
    stream.switch(DUE - 10 * US, hog(), Left::Runnable);
    stream.timer(DUE + 2 * US);
    stream.switch(DUE + 20 * MS, thread(17, "migration/1", 0), Left::Runnable);
    let after = DUE + 20 * MS + 10 * US;
    stream.switch(after, thread(201, "git", 120), Left::Sleeping);
    stream.run(DUE + 50 * MS, DUE, Left::Runnable);
    let mut sums: Vec<(String, u64)> = Vec::new();
    for (name, ns) in beyond_usual(&stream.explain()[0]) {
        if name.starts_with("throttled") {
            match sums.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += ns,
                None => sums.push((name, ns)),
            }
        }
    }
    sums
}

fn a_reservation_s_timer_right_before_shows_that_the_fair_server_chose() {
    let expires = |stream: &mut Stream, at_ns: u64| {
        stream.expiry(at_ns, "dl_task_timer");
        stream.at(at_ns + US, What::TimerExpiryExit { timer: 7 });
    };
    let throttled = starving(expires);
    assert_eq!(throttled.len(), 1, "{throttled:?}");
    let (name, ns) = &throttled[0];
    let server = "throttled: the fair server gave ordinary threads their share of the CPU";
    assert_eq!(name, server);
    assert!(*ns > 49 * MS, "{ns}");
    let named = |throttled: &[(String, u64)]| throttled.iter().any(|(name, _)| name == server);
    assert!(!named(&starving(|_, _| {})));
    // The server puts its turn off: its threads got the CPU by another right.
    let deferred = starving(|stream, at_ns| {
        expires(stream, at_ns);
        let what = What::TimerStart {
            timer: 7,
            expires_ns: DUE + MS,
            soft_expires_ns: DUE + MS,
            function: "dl_task_timer".into(),
            soft: false,
        };
        stream.at(at_ns + 2 * US, what);
    });
    assert!(!named(&deferred), "{deferred:?}");
}

fn a_deadline_thread_is_throttled_until_its_own_timer_whoever_runs() {
    let of = |function: &str| {
        let mut stream = Stream::with(hog(), thread(LOOP, "loop", -1));
        stream.timer(DUE + 2 * US);
        stream.softirq(DUE + MS, DUE + MS + 5 * US, 7);
        let at_ns = DUE + 9 * MS;
        stream.at(at_ns, What::InterruptEntry(Interrupt::LocalTimer));
        stream.expiry(at_ns + US, function);
        stream.at(at_ns + 2 * US, What::TimerExpiryExit { timer: 7 });
        stream.at(at_ns + 3 * US, What::InterruptExit(Interrupt::LocalTimer));
        stream.run(at_ns + 5 * US, DUE, Left::Runnable);
        of_kind(&stream.explain()[0], "throttled")
    };
    assert!(of("dl_task_timer") > 8_900_000);
    assert_eq!(of("tick_nohz_handler"), 0);
}

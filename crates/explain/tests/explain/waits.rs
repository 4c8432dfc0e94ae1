//! A blocked loop's wait, and the causes that kept its holder from running: streams with the answer worked
//! out by hand.

use crate::stream::*;
use wakepath_explain::{Bands, CallStack, Explained, Frame, LateCycle, LatePiece, Stacks, Totals};
use wakepath_timeline::{Interrupt, Left, SoftIrq, Thread, What};

wakepath_test_program::tests![
    a_lock_s_holder_that_a_less_urgent_thread_keeps_off_is_priority_inversion,
    a_holder_that_a_thread_with_less_weight_keeps_off_is_inversion,
    a_holder_that_a_more_urgent_thread_keeps_off_is_no_inversion,
    a_holder_that_runs_for_long_is_named,
    a_holder_that_was_stopped_is_named_with_that,
    a_chain_of_waits_is_followed_to_its_end,
    a_wait_that_an_interrupt_ends_is_for_a_device,
    a_sleep_of_the_loop_s_own_is_named_so,
    a_wait_that_nothing_is_seen_to_end_is_unknown,
    a_wait_in_the_kernel_says_so,
    the_fair_server_s_thread_is_no_section_that_can_not_be_preempted,
    a_wake_up_that_a_stalled_cpu_does_not_take_is_no_section_either,
    an_interrupt_that_is_taken_shows_a_section_that_can_not_be_preempted,
    without_any_interrupt_a_thread_that_runs_on_is_unexplained_in_its_cause,
    one_page_fault_does_not_take_the_blame_for_longer_work,
    a_cycle_that_overran_is_late_by_what_its_work_waited_for,
    a_wait_is_told_with_the_function_that_waited,
    a_holder_that_waits_is_told_with_the_function_and_the_call_that_wait,
    a_lock_that_is_held_beyond_the_due_time_is_blamed_and_not_the_waker,
    an_answer_that_comes_after_the_due_time_is_waited_for,
    a_sleep_of_the_loop_s_own_beyond_its_due_time_is_named_so,
    a_signal_that_stops_a_waiting_loop_is_not_what_it_waited_for,
];

const HOLDER: u32 = 300;
const OTHER: u32 = 400;

pub fn holder(priority: i32) -> Thread {
    thread(HOLDER, "logger", priority)
}

/// The loop begins its cycle, and waits from 20 µs after its due time on.
fn blocked_from_20_us(next: Thread, left: Left) -> Stream {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream.switch(DUE + 20 * US, next, left);
    stream
}

/// The thread that runs there wakes it on its CPU, and it ends its cycle 40 µs later.
fn woken(stream: &mut Stream, at_ns: u64) -> Explained {
    stream.wake(at_ns);
    let again = stream.the_loop.clone();
    stream.switch(at_ns + 2 * US, again, Left::Runnable);
    stream.samples[0].end_ns = at_ns + 42 * US;
    stream.explain().remove(0)
}

pub fn causes(cycle: &Explained) -> Vec<(String, u64)> {
    let pieces = cycle.execution.iter().filter(|piece| {
        let kind = piece.cause.kind();
        piece.ns() > 3 * US && kind != "own-code"
    });
    pieces.map(|p| (p.cause.to_string(), p.ns())).collect()
}

fn kept_off_by(priority: i32) -> (&'static str, Explained) {
    let by = thread(OTHER, "vision", priority);
    // The holder is ready, as it was preempted; the other one runs before it.
    let mut stream = blocked_from_20_us(holder(120), Left::Sleeping);
    stream.switch(DUE + 30 * US, by, Left::Runnable);
    stream.switch(DUE + 830 * US, holder(120), Left::Sleeping);
    let cycle = woken(&mut stream, DUE + 840 * US);
    let kind = cycle.execution.iter().max_by_key(|piece| piece.ns());
    (kind.unwrap().cause.kind(), cycle)
}

fn a_lock_s_holder_that_a_less_urgent_thread_keeps_off_is_priority_inversion() {
    let (kind, cycle) = kept_off_by(49);
    assert_eq!(kind, "priority-inversion");
    let name = "blocked on logger-300 (OTHER), which was ready while vision-400 (FIFO/RR 50) had its \
        CPU: priority inversion";
    assert!(
        causes(&cycle).contains(&(name.into(), 800_000)),
        "{cycle:#?}"
    );
    // The holder's own run time before and after, and the switch to the loop.
    assert_eq!(of_kind(&cycle, "blocked-on-thread"), 22_000);
}

fn a_holder_that_a_thread_with_less_weight_keeps_off_is_inversion() {
    // Nice 5: the scheduler gives it turns before the holder, which is as ordinary.
    let (kind, cycle) = kept_off_by(125);
    assert_eq!(kind, "priority-inversion", "{cycle:#?}");
}

fn a_holder_that_a_more_urgent_thread_keeps_off_is_no_inversion() {
    // FIFO 95, above the loop's 80: that would delay the loop anyhow.
    let (kind, cycle) = kept_off_by(4);
    assert_eq!(kind, "blocked-on-thread", "{cycle:#?}");
}

fn a_holder_that_runs_for_long_is_named() {
    let mut stream = blocked_from_20_us(holder(120), Left::Sleeping);
    let cycle = woken(&mut stream, DUE + 620 * US);
    let name = "blocked on logger-300 (OTHER), which ran";
    assert_eq!(causes(&cycle), [(name.into(), 602_000)]);
}

fn a_holder_that_was_stopped_is_named_with_that() {
    let mut stream = blocked_from_20_us(holder(120), Left::Sleeping);
    stream.switch(DUE + 30 * US, hog(), Left::Stopped);
    stream.switch(DUE + 830 * US, holder(120), Left::Runnable);
    let cycle = woken(&mut stream, DUE + 840 * US);
    let name = "blocked on logger-300 (OTHER), which a signal or debugger had stopped";
    let longest = causes(&cycle).into_iter().max_by_key(|(_, ns)| *ns);
    assert_eq!(longest, Some((name.into(), 800_000)));
    let cause = cycle.execution.iter().max_by_key(|piece| piece.ns());
    let advice = wakepath_explain::remedy(&cause.unwrap().cause).unwrap();
    assert!(
        advice.contains("SIGSTOP") && advice.contains("logger"),
        "{advice}"
    );
}

fn a_chain_of_waits_is_followed_to_its_end() {
    let disk = thread(500, "disk", 120);
    let mut stream = blocked_from_20_us(holder(120), Left::Sleeping);
    stream.switch(DUE + 30 * US, disk.clone(), Left::Blocked);
    stream.at(
        DUE + 730 * US,
        What::Waking {
            thread: holder(120),
            target_cpu: 1,
        },
    );
    stream.at(
        DUE + 731 * US,
        What::WakeUp {
            thread: holder(120),
            target_cpu: 1,
        },
    );
    stream.switch(DUE + 732 * US, holder(120), Left::Sleeping);
    let cycle = woken(&mut stream, DUE + 740 * US);
    let name = "blocked on logger-300 (OTHER), which waited for disk-500 (OTHER), which ran";
    assert!(
        causes(&cycle).contains(&(name.into(), 700_000)),
        "{cycle:#?}"
    );
}

fn a_wait_that_an_interrupt_ends_is_for_a_device() {
    let device = Interrupt::Device {
        number: 40,
        name: "ttyUSB0".into(),
    };
    let mut stream = blocked_from_20_us(hog(), Left::Sleeping);
    stream.at(DUE + 420 * US, What::InterruptEntry(device.clone()));
    stream.wake(DUE + 421 * US);
    stream.at(DUE + 423 * US, What::InterruptExit(device));
    let again = stream.the_loop.clone();
    stream.switch(DUE + 424 * US, again, Left::Runnable);
    stream.samples[0].end_ns = DUE + 460 * US;
    let cycle = stream.explain().remove(0);
    let name = "blocked until interrupt 40 ttyUSB0 woke it";
    assert_eq!(causes(&cycle), [(name.into(), 401_000)]);
}

fn a_sleep_of_the_loop_s_own_is_named_so() {
    let mut stream = blocked_from_20_us(hog(), Left::Sleeping);
    stream.timer(DUE + 418 * US);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 424 * US, again, Left::Runnable);
    stream.samples[0].end_ns = DUE + 460 * US;
    let cycle = stream.explain().remove(0);
    assert_eq!(of_kind(&cycle, "own-sleep"), 400_000);
}

fn a_wait_that_nothing_is_seen_to_end_is_unknown() {
    let mut stream = blocked_from_20_us(hog(), Left::Sleeping);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 424 * US, again, Left::Runnable);
    stream.samples[0].end_ns = DUE + 460 * US;
    let cycle = stream.explain().remove(0);
    let name = "blocked, on what is unknown";
    assert_eq!(causes(&cycle), [(name.into(), 404_000)]);
}

fn a_wait_in_the_kernel_says_so() {
    let mut stream = blocked_from_20_us(hog(), Left::Blocked);
    let vector = SoftIrq(4);
    stream.at(DUE + 420 * US, What::SoftIrqEntry(vector));
    stream.wake(DUE + 421 * US);
    stream.at(DUE + 423 * US, What::SoftIrqExit(vector));
    let again = stream.the_loop.clone();
    stream.switch(DUE + 424 * US, again, Left::Runnable);
    stream.samples[0].end_ns = DUE + 460 * US;
    let cycle = stream.explain().remove(0);
    let name = "blocked in the kernel until SoftIRQ BLOCK woke it";
    assert_eq!(causes(&cycle), [(name.into(), 401_000)]);
}

fn the_fair_server_s_thread_is_no_section_that_can_not_be_preempted() {
    // A FIFO 40 thread spins; the kernel gives an OTHER thread its share before it and before the loop, which
    // wakes in that time.
    let mut stream = Stream::with(thread(OTHER, "busy_poll", 59), fifo());
    stream.switch(DUE - 10 * US, hog(), Left::Runnable);
    stream.timer(DUE + 2 * US);
    stream.switch(
        DUE + 40_005 * US,
        thread(OTHER, "busy_poll", 59),
        Left::Runnable,
    );
    stream.run(DUE + 40_007 * US, DUE, Left::Runnable);
    let cycle = &stream.explain()[0];
    assert_eq!(of_kind(cycle, "not-preemptible"), 0, "{cycle:#?}");
    assert_eq!(of_kind(cycle, "throttled"), 40_002_000, "{cycle:#?}");
}

/// A wake-up from another CPU, with what CPU 1 does until the loop runs.
fn from_elsewhere(then: impl FnOnce(&mut Stream)) -> Explained {
    let mut stream = Stream::with(hog(), fifo());
    let thread = stream.the_loop.clone();
    let peer = 77;
    for what in [
        What::Waking {
            thread: thread.clone(),
            target_cpu: 1,
        },
        What::WakeUp {
            thread,
            target_cpu: 1,
        },
    ] {
        stream.on(0, DUE, peer, what);
    }
    then(&mut stream);
    stream.explain().remove(0)
}

fn a_wake_up_that_a_stalled_cpu_does_not_take_is_no_section_either() {
    let cycle = from_elsewhere(|stream| {
        stream.interrupt(DUE + 5_000 * US, DUE + 5_002 * US, Interrupt::Reschedule);
        stream.run(DUE + 5_004 * US, DUE, Left::Runnable);
    });
    assert_eq!(of_kind(&cycle, "not-preemptible"), 0, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "nothing-ran"), 5_000_000, "{cycle:#?}");
}

fn an_interrupt_that_is_taken_shows_a_section_that_can_not_be_preempted() {
    let cycle = from_elsewhere(|stream| {
        stream.interrupt(DUE + 3 * US, DUE + 5 * US, Interrupt::Reschedule);
        stream.run(DUE + 707 * US, DUE, Left::Runnable);
    });
    assert_eq!(of_kind(&cycle, "not-preemptible"), 700_000, "{cycle:#?}");
}

fn without_any_interrupt_a_thread_that_runs_on_is_unexplained_in_its_cause() {
    let cycle = from_elsewhere(|stream| {
        stream.run(DUE + 702 * US, DUE, Left::Runnable);
    });
    assert_eq!(of_kind(&cycle, "not-preemptible"), 0, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "ran-on"), 700_000, "{cycle:#?}");
}

fn one_page_fault_does_not_take_the_blame_for_longer_work() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream.at(DUE + 100 * US, FAULT);
    stream.samples[0].end_ns = DUE + 30_058 * US;
    let cycle = stream.explain().remove(0);
    assert_eq!(of_kind(&cycle, "page-fault"), 5_000);
    assert_eq!(of_kind(&cycle, "own-inflation"), 29_995_000);
}

fn a_cycle_that_overran_is_late_by_what_its_work_waited_for() {
    let (_, cycle) = kept_off_by(49);
    let late_with = |period_ns| {
        let mut totals = Totals::new(MS, period_ns, 1, Bands::new(&mut []));
        totals.add(&cycle);
        let most = totals.causes.iter().max_by_key(|(_, sum)| sum.late_ns);
        let (cause, sum) = most.expect("a cause");
        (totals.overran, totals.late, cause.kind(), sum.late_ns)
    };
    // It ended 882 µs after it was due, and was woken in time.
    assert_eq!(late_with(800 * US), (1, 1, "priority-inversion", 800 * US));
    let (overran, late, ..) = late_with(900 * US);
    assert_eq!((overran, late), (0, 0));
}

/// The stack of one wait of one thread: in the C library, called by `function` of the program.
fn stacks_of(function: &str, thread: u32, from_ns: u64, to_ns: u64) -> Stacks {
    let frame = |function: &str, module: &str| Frame {
        function: Some(function.into()),
        file: None,
        line: None,
        module: Some(module.into()),
        address: None,
        generated: false,
    };
    Stacks {
        version: Stacks::VERSION,
        lost: 0,
        left_out: 0,
        frames: vec![
            frame("__lll_lock_wait", "/lib/libc.so.6"),
            frame(function, "/opt/planner"),
            frame("futex_do_wait", ""),
        ],
        stacks: vec![CallStack {
            user: vec![0, 1],
            kernel: vec![2],
        }],
        stays: vec![(thread, from_ns, to_ns, 0).into()],
        ran: Vec::new(),
    }
}

fn longest(cycle: &Explained) -> LatePiece {
    let cycle = LateCycle::new(cycle, 0);
    let pieces = cycle.execution.into_iter();
    pieces.max_by_key(|piece| piece.ns).unwrap()
}

fn a_wait_is_told_with_the_function_that_waited() {
    let told = |from_ns, to_ns| {
        let mut stream = blocked_from_20_us(holder(120), Left::Sleeping);
        stream.places = stacks_of("take_state", LOOP, from_ns, to_ns).places();
        longest(&woken(&mut stream, DUE + 830 * US))
    };
    // Another tracer of the kernel stamps the same switch a microsecond later.
    let piece = told(DUE + 21 * US, DUE + 832 * US);
    let cause = "in `take_state`, blocked on logger-300 (OTHER), which ran";
    assert_eq!(piece.cause, cause);
    let stack = piece.stack.unwrap();
    assert_eq!(stack.user, ["`__lll_lock_wait`", "`take_state`"]);
    assert_eq!(stack.kernel, ["`futex_do_wait`"]);
    // The stack of another wait is irrelevant to this one.
    let piece = told(DUE - 900 * US, DUE + 5 * US);
    assert_eq!(piece.cause, "blocked on logger-300 (OTHER), which ran");
    assert_eq!(piece.stack, None);
}

fn a_holder_that_waits_is_told_with_the_function_and_the_call_that_wait() {
    let device = Interrupt::Device {
        number: 40,
        name: "ttyUSB0".into(),
    };
    let mut stream = blocked_from_20_us(holder(120), Left::Sleeping);
    stream.places = stacks_of("send_state", HOLDER, DUE + 31 * US, DUE + 733 * US).places();
    entered(&mut stream, DUE + 29 * US, "write");
    stream.switch(DUE + 30 * US, hog(), Left::Sleeping);
    stream.at(DUE + 729 * US, What::InterruptEntry(device.clone()));
    stream.at(
        DUE + 730 * US,
        What::Waking {
            thread: holder(120),
            target_cpu: 1,
        },
    );
    stream.at(DUE + 731 * US, What::InterruptExit(device));
    stream.switch(DUE + 732 * US, holder(120), Left::Runnable);
    let piece = longest(&woken(&mut stream, DUE + 740 * US));
    let cause = "blocked on logger-300 (OTHER), which waited in `send_state`, in write() until \
        interrupt 40 ttyUSB0 woke it";
    assert_eq!(piece.cause, cause);
}

fn entered(stream: &mut Stream, at_ns: u64, name: &str) {
    let name = name.into();
    stream.at(
        at_ns,
        What::SystemCallEntry {
            name,
            argument: None,
        },
    );
}

/// The loop's calls are recorded, and it waits in one from 1 ms before its due time on.
fn blocked_beyond(name: &str, next: Thread) -> Stream {
    let mut stream = Stream::with(fifo(), fifo());
    let (thread, process, calls) = (LOOP, 90, true);
    stream.at(
        DUE - 2 * MS,
        What::Followed {
            thread,
            process,
            calls,
        },
    );
    entered(&mut stream, DUE - MS, name);
    stream.switch(DUE - MS + US, next, Left::Sleeping);
    stream
}

fn late_causes(cycle: &Explained) -> Vec<(String, u64)> {
    let pieces = cycle.latency.iter().filter(|piece| piece.ns() > 3 * US);
    pieces.map(|p| (p.cause.to_string(), p.ns())).collect()
}

fn a_lock_that_is_held_beyond_the_due_time_is_blamed_and_not_the_waker() {
    let mut stream = blocked_beyond("futex", holder(120));
    stream
        .wake(DUE + 2 * MS)
        .run(DUE + 2 * MS + 2 * US, DUE, Left::Runnable);
    let cycle = stream.explain().remove(0);
    let name = "in futex(): blocked on logger-300 (OTHER), which ran";
    assert_eq!(late_causes(&cycle), [(name.into(), 2 * MS)]);
}

fn an_answer_that_comes_after_the_due_time_is_waited_for() {
    let mut stream = blocked_beyond("recvfrom", holder(120));
    stream.at(DUE + 2 * MS, What::SoftIrqEntry(SoftIrq::NET_RX));
    stream
        .wake(DUE + 2 * MS)
        .at(DUE + 2 * MS + US, What::SoftIrqExit(SoftIrq::NET_RX))
        .run(DUE + 2 * MS + 2 * US, DUE, Left::Runnable);
    let cycle = stream.explain().remove(0);
    let name = "in recvfrom(): blocked until SoftIRQ NET_RX woke it";
    assert_eq!(late_causes(&cycle), [(name.into(), 2 * MS)]);
}

fn a_sleep_of_the_loop_s_own_beyond_its_due_time_is_named_so() {
    let mut stream = Stream::with(fifo(), fifo());
    entered(&mut stream, DUE - MS, "clock_nanosleep");
    let asked_ns = DUE + 2 * MS;
    let start = What::TimerStart {
        timer: 7,
        function: "hrtimer_wakeup".into(),
        expires_ns: asked_ns,
        soft_expires_ns: asked_ns,
        soft: false,
    };
    stream
        .at(DUE - MS + 500, start)
        .switch(DUE - MS + US, hog(), Left::Sleeping)
        .timer(asked_ns + 2 * US)
        .run(asked_ns + 7 * US, DUE, Left::Runnable);
    let cycle = stream.explain().remove(0);
    let name = "in clock_nanosleep(): a sleep or a time-out in the loop's own work";
    assert_eq!(late_causes(&cycle), [(name.into(), 2 * MS)]);
}

fn a_signal_that_stops_a_waiting_loop_is_not_what_it_waited_for() {
    let ops = thread(OTHER, "ops", 120);
    let mut stream = blocked_beyond("futex", holder(120));
    // The signal wakes it; it leaves its call, stops, and enters the call again when it may run on.
    stream
        .switch(DUE + MS, ops.clone(), Left::Sleeping)
        .wake(DUE + MS);
    let again = stream.the_loop.clone();
    stream
        .switch(DUE + MS + 2 * US, again.clone(), Left::Runnable)
        .at(DUE + MS + 3 * US, What::SystemCallExit)
        .switch(DUE + MS + 4 * US, ops, Left::Stopped)
        .wake(DUE + 4 * MS)
        .switch(DUE + 4 * MS + 2 * US, again, Left::Runnable);
    entered(&mut stream, DUE + 4 * MS + 3 * US, "futex");
    stream
        .switch(DUE + 4 * MS + 4 * US, holder(120), Left::Sleeping)
        .wake(DUE + 5 * MS)
        .run(DUE + 5 * MS + 2 * US, DUE, Left::Runnable);
    let cycle = stream.explain().remove(0);
    let causes = late_causes(&cycle);
    let sum = |word: &str| -> u64 {
        let of = causes.iter().filter(|(cause, _)| cause.contains(word));
        of.map(|(_, ns)| ns).sum()
    };
    assert!(sum("blocked on ops") == 0, "{causes:#?}");
    let stop = "stopped by a signal or debugger, from ops-400 (OTHER)";
    assert_eq!(sum(stop) / MS, 2, "{causes:#?}");
    assert!(sum("blocked on logger-300") > 1_900 * US, "{causes:#?}");
}

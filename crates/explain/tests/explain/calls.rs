//! Time inside the loop's own program: system calls by name, its own code, waits in a call, and a
//! thread that has inherited the loop's priority.

use crate::stream::*;
use wakepath_explain::{CallStack, Explained, Frame, LateCycle, Stacks, remedy};
use wakepath_timeline::{CallArgument, CallTarget, Interrupt, Left, What};

wakepath_test_program::tests![
    a_call_that_takes_long_is_named_with_its_time,
    a_call_as_long_as_usual_is_the_loop_s_own_work,
    work_outside_of_calls_is_user_code_and_nothing_else,
    code_that_takes_long_names_the_functions_that_ticks_found_it_in,
    without_recorded_calls_both_are_possible,
    calls_that_are_not_recorded_any_more_take_no_blame,
    a_wait_in_a_call_names_the_call_and_its_target,
    a_wait_in_a_call_right_after_a_page_fault_is_the_call_s,
    without_recorded_calls_a_sleep_after_a_page_fault_is_no_wait_for_its_page,
    pages_that_are_read_from_a_disk_take_what_each_took,
    a_thread_that_inherited_the_loop_s_priority_gets_its_own,
    the_remedy_of_an_allocation_is_no_lock_of_memory_alone,
];

const PROCESS: u32 = 90;

/// The loop runs from its due time on; the second is what comes after its switch-in.
fn running() -> Stream {
    let mut stream = Stream::with(hog(), fifo());
    stream.at(
        DUE - 4 * MS,
        What::Followed {
            thread: LOOP,
            process: PROCESS,
            calls: true,
        },
    );
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    stream
}

fn call(stream: &mut Stream, from_ns: u64, to_ns: u64, name: &str, descriptor: Option<u32>) {
    let name = name.into();
    stream.at(
        from_ns,
        What::SystemCallEntry {
            name,
            argument: descriptor.map(CallArgument::Descriptor),
        },
    );
    stream.at(to_ns, What::SystemCallExit);
}

fn ended(mut stream: Stream, end_ns: u64) -> Explained {
    stream.samples[0].end_ns = end_ns;
    // What follows a cycle closes it.
    stream.switch(end_ns + 10 * US, hog(), Left::Sleeping);
    stream.explain().remove(0)
}

fn largest(cycle: &Explained) -> (String, &'static str, u64) {
    let pieces = cycle.execution.iter();
    let piece = pieces.max_by_key(|piece| piece.ns()).expect("a piece");
    (piece.cause.to_string(), piece.cause.kind(), piece.ns())
}

fn a_call_that_takes_long_is_named_with_its_time() {
    let mut stream = running();
    call(&mut stream, DUE + 20 * US, DUE + 25_020 * US, "mmap", None);
    let cycle = ended(stream, DUE + 25_058 * US);
    let name = "the loop's system call mmap()".to_owned();
    assert_eq!(largest(&cycle), (name, "system-call", 25_000_000));
    assert_eq!(of_kind(&cycle, "own-code"), 50_000);
    assert_eq!(of_kind(&cycle, "user-code"), 0);
}

fn a_call_as_long_as_usual_is_the_loop_s_own_work() {
    let mut stream = running();
    let usual_ns = 40_000;
    call(
        &mut stream,
        DUE + 10 * US,
        DUE + 10 * US + usual_ns,
        "write",
        None,
    );
    stream.samples[0].end_ns = DUE + 2_058 * US;
    let usual = wakepath_explain::Usual {
        calls_ns: [("write".to_owned(), usual_ns)].into(),
        ..USUAL
    };
    let cycle = explained(stream.explainer(Some(usual)), stream.events.iter()).remove(0);
    assert_eq!(of_kind(&cycle, "system-call"), 0, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "user-code"), 2_000_000);
}

fn work_outside_of_calls_is_user_code_and_nothing_else() {
    let mut stream = running();
    call(&mut stream, DUE + 20 * US, DUE + 21 * US, "read", None);
    let cycle = ended(stream, DUE + 30_058 * US);
    let name = "the loop's own code ran longer than usual (user code)".to_owned();
    let (cause, kind, _) = largest(&cycle);
    assert_eq!((cause, kind), (name, "user-code"));
    assert_eq!(of_kind(&cycle, "user-code"), 30_000_000, "{cycle:#?}");
}

/// Two functions at three ticks each, of a thread.
fn seen(thread: u32, at_ns: impl Fn(u64) -> u64) -> Stacks {
    let frame = |function: &str, line| Frame {
        function: Some(function.into()),
        file: Some("/src/plan.c".into()),
        line: Some(line),
        module: Some("/opt/planner".into()),
        address: None,
        generated: false,
    };
    let stack = |frame| CallStack {
        user: vec![frame, 3],
        kernel: Vec::new(),
    };
    Stacks {
        version: Stacks::VERSION,
        lost: 0,
        left_out: 0,
        frames: vec![
            frame("solve", 10),
            frame("solve", 11),
            frame("draw", 90),
            frame("main", 200),
        ],
        stacks: vec![stack(0), stack(1), stack(2)],
        stays: Vec::new(),
        ran: (0..6)
            .map(|tick| (thread, at_ns(tick), (tick / 2) as u32).into())
            .collect(),
    }
}

fn code_that_takes_long_names_the_functions_that_ticks_found_it_in() {
    let tick_ns = |tick: u64| DUE + 2 * MS + tick * 4 * MS;
    let of = |thread| {
        let mut stream = running();
        for tick in 0..6 {
            stream.interrupt(
                tick_ns(tick),
                tick_ns(tick) + 10 * US,
                Interrupt::LocalTimer,
            );
        }
        // The stack is taken within the interrupt.
        stream.places = seen(thread, |tick| tick_ns(tick) + 5 * US).places();
        // Before and after a call.
        call(&mut stream, DUE + 25 * MS, DUE + 25 * MS + US, "read", None);
        ended(stream, DUE + 30_058 * US)
    };
    let cycle = of(LOOP);
    let long = "the loop's own code ran longer than usual (user code)";
    let sum = |cause: &str| -> u64 {
        let pieces = cycle.execution.iter();
        let pieces = pieces.filter(|piece| piece.cause.to_string() == cause);
        pieces.map(|piece| piece.ns()).sum::<u64>() / MS
    };
    // The last tick of one and the first of the other are at 14 and 18 ms; none comes after the call.
    assert_eq!(
        sum(&format!("{long}, in `solve` (plan.c)")),
        15,
        "{cycle:#?}"
    );
    assert_eq!(sum(&format!("{long}, in `draw` (plan.c)")), 8, "{cycle:#?}");
    assert_eq!(sum(long), 5, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "user-code") / MS, 29);
    // The lines are in the stack.
    let late = LateCycle::new(&cycle, 0);
    let mut stacks = late
        .execution
        .iter()
        .filter_map(|piece| piece.stack.as_ref());
    assert!(stacks.any(|stack| stack.user == ["`draw` (plan.c:90)", "`main` (plan.c:200)"]));
    // Another thread's ticks say nothing.
    let unknown = of(LOOP + 1);
    let (cause, ..) = largest(&unknown);
    assert_eq!(cause, long);
    let advice = unknown
        .execution
        .iter()
        .find_map(|piece| remedy(&piece.cause));
    // Stacks are recorded already.
    assert!(advice.is_some_and(|advice| advice.contains("time its parts")));
}

fn without_recorded_calls_both_are_possible() {
    let mut stream = Stream::with(hog(), fifo());
    stream
        .timer(DUE + 2 * US)
        .run(DUE + 7 * US, DUE, Left::Runnable);
    let cycle = ended(stream, DUE + 30_058 * US);
    assert_eq!(of_kind(&cycle, "own-inflation"), 30_000_000);
}

fn calls_that_are_not_recorded_any_more_take_no_blame() {
    let mut stream = running();
    let name = "ioctl".into();
    stream.at(
        DUE + 20 * US,
        What::SystemCallEntry {
            name,
            argument: None,
        },
    );
    stream.at(
        DUE + 30 * US,
        What::Followed {
            thread: LOOP,
            process: PROCESS,
            calls: false,
        },
    );
    let cycle = ended(stream, DUE + 30_058 * US);
    assert_eq!(of_kind(&cycle, "own-inflation"), 29_990_000, "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "system-call"), 10_000);
}

fn a_wait_in_a_call_names_the_call_and_its_target() {
    let mut stream = running();
    stream.at(
        DUE + 18 * US,
        What::Descriptor {
            process: PROCESS,
            descriptor: 1,
            target: CallTarget::Pipe,
        },
    );
    let (name, descriptor) = ("write".into(), Some(1));
    stream.at(
        DUE + 19 * US,
        What::SystemCallEntry {
            name,
            argument: descriptor.map(CallArgument::Descriptor),
        },
    );
    let reader = thread(300, "terminal", 120);
    stream.switch(DUE + 20 * US, reader, Left::Sleeping);
    stream.wake(DUE + 620 * US);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 622 * US, again, Left::Runnable);
    stream.at(DUE + 623 * US, What::SystemCallExit);
    let cycle = ended(stream, DUE + 662 * US);
    let wait = cycle.execution.iter().max_by_key(|piece| piece.ns());
    let cause = &wait.expect("a piece").cause;
    assert_eq!(
        cause.to_string(),
        "in write() on a pipe: blocked on terminal-300 (OTHER), which ran"
    );
    let remedy = remedy(cause).expect("a remedy");
    assert!(remedy.starts_with("no printing in the loop"), "{remedy}");
}

fn a_thread_that_inherited_the_loop_s_priority_gets_its_own() {
    let logger = thread(101, "logger", 19);
    let remedy_of = |process, is_found_before: bool| {
        let mut stream = Stream::with(logger.clone(), fifo());
        let members = [(LOOP, PROCESS), (101, process)];
        if is_found_before {
            for (thread, process) in members {
                stream.at(
                    DUE - 4 * MS,
                    What::Followed {
                        thread,
                        process,
                        calls: true,
                    },
                );
            }
        } else {
            stream.members = members.to_vec();
        }
        stream.timer(DUE + 2 * US);
        stream.run(DUE + 20_007 * US, DUE, Left::Sleeping);
        let cycle = stream.explain().remove(0);
        let (cause, ns) = cycle.main_cause().expect("a cause");
        assert!(ns > 19 * MS, "{cycle:#?}");
        (cause.to_string(), remedy(&cause).expect("a remedy"))
    };
    for is_found_before in [true, false] {
        let (cause, advice) = remedy_of(PROCESS, is_found_before);
        assert_eq!(
            cause,
            "thread logger (FIFO/RR 80), of the loop's own priority and process"
        );
        assert!(advice.contains("PTHREAD_EXPLICIT_SCHED"), "{advice}");
    }
    let (cause, advice) = remedy_of(PROCESS + 1, true);
    assert!(cause.ends_with("of the loop's own priority"), "{cause}");
    assert!(!advice.contains("by one"), "{advice}");
}

fn the_remedy_of_an_allocation_is_no_lock_of_memory_alone() {
    let mut stream = running();
    call(
        &mut stream,
        DUE + 20 * US,
        DUE + 25_020 * US,
        "munmap",
        None,
    );
    let cycle = ended(stream, DUE + 25_058 * US);
    let long = cycle.execution.iter().max_by_key(|piece| piece.ns());
    let advice = remedy(&long.expect("a piece").cause).expect("a remedy");
    assert!(advice.contains("M_MMAP_MAX"), "{advice}");
}

fn a_wait_in_a_call_right_after_a_page_fault_is_the_call_s() {
    let mut stream = running();
    let name = "wait4".into();
    stream
        .at(DUE + 20 * US, FAULT)
        .at(
            DUE + 40 * US,
            What::SystemCallEntry {
                name,
                argument: None,
            },
        )
        .switch(DUE + 60 * US, hog(), Left::Sleeping)
        .wake(DUE + 5_060 * US);
    let again = stream.the_loop.clone();
    stream
        .switch(DUE + 5_062 * US, again, Left::Runnable)
        .at(DUE + 5_063 * US, What::SystemCallExit);
    let cycle = ended(stream, DUE + 5_110 * US);
    assert_eq!(of_kind(&cycle, "page-fault"), 5_000, "{cycle:#?}");
    // Until it runs again: the wake-up at its end is the wait's.
    assert_eq!(
        of_kind(&cycle, "blocked-on-thread"),
        5_002_000,
        "{cycle:#?}"
    );
}

fn pages_that_are_read_from_a_disk_take_what_each_took() {
    let mut stream = running();
    // Each fault asks the disk for 30 µs, waits for 60 µs, and is over 5 µs later.
    for page in 0..100 {
        let at_ns = DUE + (20 + page * 100) * US;
        stream
            .at(at_ns, FAULT)
            .switch(at_ns + 30 * US, hog(), Left::Blocked)
            .wake(at_ns + 90 * US);
        let again = stream.the_loop.clone();
        stream.switch(at_ns + 92 * US, again, Left::Runnable);
    }
    let cycle = ended(stream, DUE + 10_030 * US);
    let faults_ns = of_kind(&cycle, "page-fault");
    assert!((9_950_000..=10_000_000).contains(&faults_ns), "{cycle:#?}");
    assert_eq!(of_kind(&cycle, "user-code"), 0, "{cycle:#?}");
}

fn without_recorded_calls_a_sleep_after_a_page_fault_is_no_wait_for_its_page() {
    let page_ns = |left| {
        let mut stream = Stream::with(hog(), fifo());
        stream
            .timer(DUE + 2 * US)
            .run(DUE + 7 * US, DUE, Left::Runnable)
            .at(DUE + 20 * US, FAULT)
            .switch(DUE + 40 * US, hog(), left)
            .wake(DUE + 5_040 * US);
        let again = stream.the_loop.clone();
        stream.switch(DUE + 5_042 * US, again, Left::Runnable);
        of_kind(&ended(stream, DUE + 5_060 * US), "page-fault")
    };
    // Pages are waited for in state D.
    assert!(page_ns(Left::Blocked) >= 5_000_000);
    assert!(page_ns(Left::Sleeping) <= 10_000);
}

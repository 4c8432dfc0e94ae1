//! Pages that the kernel copies after a fork: streams with the answer worked out by hand.

use crate::stream::*;
use wakepath_explain::{Explained, remedy};
use wakepath_timeline::{Left, Thread, What};

wakepath_test_program::tests![
    pages_copied_after_a_fork_name_who_forked,
    a_wait_in_the_copying_of_a_page_names_who_forked,
    without_a_fork_of_its_process_or_copied_pages_they_are_page_faults,
];

const COPIES: What = What::PageFault {
    user: true,
    copies: true,
};

fn snapshot() -> Thread {
    thread(300, "snapshot", 79)
}

/// Another thread, of this process, makes these calls on another CPU before the loop runs.
fn after(calls: &[&str], process: u32) -> Stream {
    let mut stream = running_with_calls();
    let followed = What::Followed {
        thread: 300,
        process,
        calls: true,
    };
    stream.on(0, DUE - 3 * MS, 0, followed);
    let switch = What::Switch {
        previous: idle(),
        left: Left::Runnable,
        next: snapshot(),
    };
    stream.on(0, DUE - 2 * MS, 0, switch);
    for (call, at_ns) in calls.iter().zip((DUE - MS..).step_by(10_000)) {
        let entry = What::SystemCallEntry {
            name: (*call).into(),
            argument: None,
        };
        stream.on(0, at_ns, 300, entry);
        stream.on(0, at_ns + US, 300, What::SystemCallExit);
    }
    stream
}

fn faulting(mut stream: Stream, what: What) -> Explained {
    for fault in 0..100 {
        stream.at(DUE + (10 + 2 * fault) * US, what.clone());
    }
    ended(stream, DUE + 260 * US)
}

fn ended(mut stream: Stream, end_ns: u64) -> Explained {
    stream.events.sort_by_key(|event| event.at_ns);
    stream.samples[0].end_ns = end_ns;
    stream.switch(end_ns + 10 * US, hog(), Left::Sleeping);
    stream.explain().remove(0)
}

/// Text and fix of the work's page faults, which took most of it.
fn faults_of(cycle: &Explained) -> (String, String) {
    let mut pieces = cycle.execution.iter();
    let found = pieces.find(|piece| piece.cause.kind() == "page-fault");
    let cause = &found.unwrap_or_else(|| panic!("{cycle:#?}")).cause;
    (cause.to_string(), remedy(cause).expect("a fix"))
}

const NAMED: &str = "the loop copies pages after fork() by snapshot-300 (FIFO/RR 20)";

fn pages_copied_after_a_fork_name_who_forked() {
    let cycle = faulting(after(&["fork", "wait4"], 90), COPIES);
    let (cause, fix) = faults_of(&cycle);
    assert_eq!(cause, NAMED);
    assert!(fix.starts_with("snapshot calls fork()"), "{fix}");
    assert!(fix.contains("MADV_DONTFORK"), "{fix}");
    assert!(of_kind(&cycle, "page-fault") > 150 * US, "{cycle:#?}");
}

fn a_wait_in_the_copying_of_a_page_names_who_forked() {
    let mut stream = after(&["fork"], 90);
    stream
        .at(DUE + 20 * US, COPIES)
        .switch(DUE + 30 * US, hog(), Left::Blocked)
        .wake(DUE + 3 * MS);
    let again = stream.the_loop.clone();
    stream.switch(DUE + 3 * MS + 2 * US, again, Left::Runnable);
    let (cause, _) = faults_of(&ended(stream, DUE + 3 * MS + 40 * US));
    assert_eq!(cause, NAMED);
}

fn without_a_fork_of_its_process_or_copied_pages_they_are_page_faults() {
    for (calls, process, what) in [
        (&["vfork", "clone3"][..], 90, COPIES),
        (&["fork"], 91, COPIES),
        (&["fork", "execve"], 90, COPIES),
        (&["fork"], 90, FAULT),
    ] {
        let (cause, fix) = faults_of(&faulting(after(calls, process), what));
        assert_eq!(cause, "page faults of the loop", "{calls:?} {process}");
        assert!(fix.contains("mlockall"), "{fix}");
    }
}

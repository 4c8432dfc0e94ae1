//! Data that TCP holds back until the packet before them is acknowledged: streams with the answer worked out by hand.

use crate::stream::*;
use wakepath_explain::{Explained, remedy};
use wakepath_timeline::{CallArgument, CallTarget, Left, SoftIrq, Thread, What};

wakepath_test_program::tests![
    data_held_back_until_an_acknowledgement_are_named_with_their_cure,
    an_answer_that_is_late_for_another_reason_is_not,
];

const PEER: u32 = 300;
const NAMED: &str = "which waited for the loop's data until a delayed acknowledgement (TCP, Nagle)";

fn peer() -> Thread {
    thread(PEER, "plc", 79)
}

/// A thread's call on a CPU; the second event is its end.
fn call(name: &str) -> [What; 2] {
    let entry = What::SystemCallEntry {
        name: name.into(),
        argument: Some(CallArgument::Descriptor(4)),
    };
    [entry, What::SystemCallExit]
}

/// The loop makes these calls, waits for an answer, and the peer gets the question after `ns`, from the network's
/// SoftIRQ that `asked_in` had asked for.
fn answered(calls: &[&str], ns: u64, asked_in: SoftIrq) -> Explained {
    let mut stream = running_with_calls();
    let followed = What::Followed {
        thread: PEER,
        process: 91,
        calls: true,
    };
    stream.on(0, DUE - 3 * MS, 0, followed);
    for process in [90, 91] {
        let descriptor = What::Descriptor {
            process,
            descriptor: 4,
            target: CallTarget::Socket,
        };
        stream.on(0, DUE - 3 * MS, 0, descriptor);
    }
    // The peer waits.
    let switch = |previous: Thread, left, next| What::Switch {
        previous,
        left,
        next,
    };
    stream.on(0, DUE - 2 * MS, 0, switch(idle(), Left::Runnable, peer()));
    stream.on(0, DUE - 2 * MS + US, PEER, call("recvfrom")[0].clone());
    let waits = switch(peer(), Left::Sleeping, idle());
    stream.on(0, DUE - 2 * MS + 2 * US, PEER, waits);
    for (name, at_ns) in calls.iter().zip((DUE + 10 * US..).step_by(5_000)) {
        let [begins, ends] = call(name);
        stream.at(at_ns, begins).at(at_ns + 2 * US, ends);
    }
    let from_ns = DUE + 40 * US;
    stream
        .at(from_ns, call("recvfrom")[0].clone())
        .switch(from_ns + US, hog(), Left::Sleeping);
    let at_ns = from_ns + ns;
    let [begins, ends] = [What::SoftIrqEntry, What::SoftIrqExit];
    let woken = |id: &Thread, target_cpu| What::Waking {
        thread: id.clone(),
        target_cpu,
    };
    for (after_ns, what) in [
        (0, begins(asked_in)),
        (100, What::SoftIrqRaise(SoftIrq::NET_RX)),
        (200, ends(asked_in)),
        (300, begins(SoftIrq::NET_RX)),
        (400, woken(&peer(), 0)),
        (500, ends(SoftIrq::NET_RX)),
        (600, switch(idle(), Left::Runnable, peer())),
    ] {
        stream.on(0, at_ns + after_ns, 0, what);
    }
    let own = stream.the_loop.clone();
    let target_cpu = stream.cpu;
    for (after_ns, what) in [
        (700, What::SystemCallExit),
        (800, call("sendto")[0].clone()),
        (900, woken(&own, target_cpu)),
        (1_000, What::SystemCallExit),
    ] {
        stream.on(0, at_ns + after_ns, PEER, what);
    }
    stream.switch(at_ns + 2 * US, own, Left::Runnable);
    stream.events.sort_by_key(|event| event.at_ns);
    let end_ns = at_ns + 20 * US;
    stream.samples[0].end_ns = end_ns;
    stream.switch(end_ns + 10 * US, hog(), Left::Sleeping);
    stream.explain().remove(0)
}

/// Text and fix of the longest wait.
fn longest(cycle: &Explained) -> (String, String) {
    let piece = cycle.execution.iter().max_by_key(|piece| piece.ns());
    let cause = &piece.expect("a piece").cause;
    (cause.to_string(), remedy(cause).expect("a fix"))
}

fn data_held_back_until_an_acknowledgement_are_named_with_their_cure() {
    let cycle = answered(&["sendto", "write"], 43 * MS, SoftIrq::TIMER);
    let (cause, fix) = longest(&cycle);
    let expected = format!("in recvfrom() on a socket: blocked on plc-300 (FIFO/RR 20), {NAMED}");
    assert_eq!(cause, expected);
    assert!(fix.contains("TCP_NODELAY"), "{fix}");
}

fn an_answer_that_is_late_for_another_reason_is_not() {
    let parts = ["sendto", "sendto"];
    for (calls, ns, asked_in) in [
        // Nothing is held back for one packet, or once it is answered.
        (&["sendto"][..], 43 * MS, SoftIrq::TIMER),
        (&["sendto", "recvfrom", "sendto"], 43 * MS, SoftIrq::TIMER),
        // Sooner than any acknowledgement is delayed, and as late as lost packets.
        (&parts, 20 * MS, SoftIrq::TIMER),
        (&parts, 210 * MS, SoftIrq::TIMER),
        // From a device, such as a network card.
        (&parts, 43 * MS, SoftIrq(6)),
    ] {
        let (cause, _) = longest(&answered(calls, ns, asked_in));
        assert!(cause.contains("blocked on plc"), "{cause}");
        assert!(!cause.contains(NAMED), "{calls:?} {ns}: {cause}");
    }
}

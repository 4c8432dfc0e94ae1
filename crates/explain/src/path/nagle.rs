//! Waits for data that TCP held back: Nagle's algorithm keeps a small packet until the one before it is acknowledged, and
//! the other end delays that. <https://www.rfc-editor.org/rfc/rfc9293#section-3.7.4>

use crate::call::{Call, sends};
use crate::tcp_timers::DELAYED_ACK_NS;
use crate::track::{Happened, Track};
use wakepath_timeline::CallTarget;

/// Whether a thread sent in parts before it waited for the answer, and a timer of TCP's delivered the last of them when a
/// delayed acknowledgement comes.
pub(super) fn held_back(sender: &Track, delivered_ns: u64) -> bool {
    let marks = sender.marks();
    let until = marks.partition_point(|mark| mark.at_ns <= delivered_ns);
    let mut calls = marks
        .range(..until)
        .rev()
        .filter_map(|mark| match &mark.what {
            Happened::CallEntered(entered) if is_of_socket(&entered.call) => {
                Some((mark.at_ns, &entered.call))
            }
            _ => None,
        });
    let waits = calls.next().is_some_and(|(_, call)| !sends(&call.name));
    let mut parts = calls.take_while(|(_, call)| sends(&call.name));
    let last_ns = parts.next().map(|(at_ns, _)| at_ns);
    let is_delayed = last_ns.is_some_and(|at_ns| DELAYED_ACK_NS.contains(&(delivered_ns - at_ns)));
    waits && is_delayed && parts.next().is_some()
}

fn is_of_socket(call: &Call) -> bool {
    call.target == Some(CallTarget::Socket)
}

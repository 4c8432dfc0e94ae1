//! A cycle of a watched thread may hold more than the cycle's own work: from one of its wake-ups to
//! the next the thread may wait for any event, be woken by something else than its timer, and serve
//! that. Such a wait costs nothing, and what follows it is not the cycle's work. An event that comes while the thread
//! runs wakes nobody: there the thread's own call that takes it shows what it serves.

use crate::call::{Call, accepts, receives};
use crate::cause::{Cause, RanIn};
use crate::cpu::Context;
use crate::cycle::{Explained, Piece, Stretch};
use crate::path::{WaitWithin, overrun};
use crate::resolve::Raw;
use crate::track::{Happened, Track};
use crate::wait::{Meanwhile, Source, Wait};
use std::collections::{BTreeMap, BTreeSet};
use wakepath_timeline::CallTarget;

/// Whether a cycle holds such a wait that something else than a timer ended.
pub(crate) fn is_in(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| source(piece).is_some())
}

/// Names the thread's own running between a cycle's due time and its beginning, except for the last `path_ns`, which its way
/// to the cycle takes: the cycle before, or if it has waited for any event since, another event, which `served` names. So is
/// all that a thread does `until_next_wake_up` before it takes what woke it.
pub(crate) fn name_before(
    pieces: &mut [Piece],
    path_ns: u64,
    (previous, until_next_wake_up): (Option<&Explained>, bool),
    served: Option<&Source>,
) {
    let waited = |piece: &Piece| match &piece.cause {
        Cause::Awaiting => true,
        Cause::Blocked(wait) => wait.call.as_ref().is_some_and(Call::is_for_any_event),
        _ => false,
    };
    let mut path_ns = path_ns;
    for piece in pieces.iter_mut().rev() {
        let is_before = match piece.stretch {
            Stretch::NotAsleep => true,
            Stretch::SwitchToUser => until_next_wake_up,
            _ => false,
        };
        if !is_before || piece.cause != Cause::Path {
            continue;
        }
        if piece.ns() <= path_ns {
            path_ns -= piece.ns();
            continue;
        }
        path_ns = 0;
        let before = previous.filter(|before| piece.from_ns < before.sample.end_ns);
        piece.cause = match before {
            Some(before) if !before.execution.iter().any(waited) => overrun(),
            _ => Cause::OtherWork(served.cloned().unwrap_or(Source::Own)),
        };
    }
}

/// What woke a thread last before an instant, if that was no timer.
pub(crate) fn served_at(track: &Track, at_ns: u64) -> Option<Source> {
    let marks = track.marks().iter().rev();
    let mut before = marks.filter(|mark| mark.at_ns <= at_ns);
    let from = before.find_map(|mark| match &mark.what {
        Happened::Waking { from, .. } => Some(from),
        _ => None,
    });
    match from? {
        Context::Thread(waker) => Some(Source::Thread(waker.clone())),
        Context::Interrupt(handler) => Some(Source::Handler(handler.clone())),
        Context::Timer { .. } | Context::Unknown => None,
    }
}

/// Names the waits and what follows them, except for those `within` the cycle's own work.
pub(crate) fn name(pieces: &mut [Piece], within: &[WaitWithin]) {
    let is_within = |piece: &Piece| {
        let after = within.partition_point(|wait| wait.from_ns <= piece.from_ns);
        after > 0 && piece.to_ns <= within[after - 1].to_ns
    };
    let mut serves = None;
    for piece in pieces {
        match (source(piece), &piece.cause) {
            (Some(_), _) if is_within(piece) => {}
            (Some(source), _) => {
                serves = Some(source);
                piece.cause = Cause::Awaiting;
            }
            (None, Cause::OwnCode | Cause::SystemCall(_)) => {
                if let Some(source) = &serves {
                    piece.cause = Cause::OtherWork(source.clone());
                }
            }
            _ => {}
        }
    }
}

/// What ended a wait for any event, if that was no timer.
fn source(piece: &Piece) -> Option<Source> {
    let Cause::Blocked(wait) = &piece.cause else {
        return None;
    };
    let Wait {
        chain, meanwhile, ..
    } = &**wait;
    if !wait.call.as_ref().is_some_and(Call::is_for_any_event) {
        return None;
    }
    match (chain.first(), meanwhile) {
        (Some(waker), _) => Some(Source::Thread(waker.clone())),
        (None, Meanwhile::Device(handler)) => Some(Source::Handler(handler.clone())),
        _ => None,
    }
}

/// Whether a call takes an event that is no timer's.
fn takes_event(call: &Call) -> bool {
    let is_event = match &call.target {
        Some(CallTarget::Socket | CallTarget::Pipe) => true,
        Some(CallTarget::Other(word)) => &**word == "eventfd",
        _ => false,
    };
    is_event && (receives(&call.name) || accepts(&call.name))
}

/// The calls by which most cycles take events, as they are shown.
pub(crate) fn usually_taken(cycles: &[Raw]) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for raw in cycles {
        let calls = raw.explained.execution.iter().filter_map(taken);
        let taken: BTreeSet<String> = calls.map(Call::to_string).collect();
        for call in taken {
            *counts.entry(call).or_default() += 1;
        }
    }
    let usual = counts
        .into_iter()
        .filter(|(_, count)| count * 2 > cycles.len());
    usual.map(|(call, _)| call).collect()
}

fn taken(piece: &Piece) -> Option<&Call> {
    match &piece.cause {
        Cause::SystemCall(call) if takes_event(call) => Some(call),
        _ => None,
    }
}

/// Names long work after an event that only this cycle takes, of a thread that waits for any event. Its work for its
/// timer begins again with a read of that.
pub(crate) fn name_taken(pieces: &mut [Piece], usually: &BTreeSet<String>) {
    let is_of_any =
        |piece: &Piece| matches!(&piece.cause, Cause::SystemCall(call) if call.is_for_any_event());
    if !pieces.iter().any(is_of_any) {
        return;
    }
    let mut serves: Option<Call> = None;
    for piece in pieces {
        match (&piece.cause, &serves) {
            (Cause::SystemCall(call), _) if call.is_of_timer() || call.is_for_any_event() => {
                serves = None;
            }
            (Cause::SystemCall(call), _)
                if takes_event(call) && !usually.contains(&call.to_string()) =>
            {
                serves = Some(call.clone());
            }
            (Cause::UserCode(RanIn::NotRecorded | RanIn::NotSeen), Some(call)) => {
                piece.cause = Cause::OtherWork(Source::Taken(call.clone()));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::WokenBy;
    use crate::track::Mark;
    use crate::wait::Handler;
    use wakepath_timeline::{Sample, SoftIrq, Thread, ThreadName};

    const PATH_NS: u64 = 20_000;

    fn piece(ns: (u64, u64), stretch: Stretch, cause: Cause) -> Piece {
        let (from_ns, to_ns) = ns;
        Piece {
            from_ns,
            to_ns,
            stretch,
            cause,
        }
    }

    /// The cause of own running from 1 to 4 ms in this stretch, after a cycle that ended at 2 ms with this cause.
    fn named(stretch: Stretch, previous: Cause, until_next_wake_up: bool) -> Cause {
        let before = Explained {
            sample: Sample {
                end_ns: 2_000_000,
                ..Sample::default()
            },
            woken: WokenBy::NotAsleep,
            latency: Vec::new(),
            execution: vec![piece((0, 900_000), Stretch::Execution, previous)],
        };
        let mut pieces = [
            piece((1_000_000, 4_000_000), stretch, Cause::Path),
            piece((4_000_000, 4_000_000 + PATH_NS), stretch, Cause::Path),
        ];
        name_before(
            &mut pieces,
            PATH_NS,
            (Some(&before), until_next_wake_up),
            None,
        );
        let [first, last] = pieces;
        assert_eq!(last.cause, Cause::Path, "its way takes so long");
        first.cause
    }

    #[test]
    fn own_running_before_a_cycle_is_the_cycle_before_or_another_event() {
        let other = Cause::OtherWork(Source::Own);
        let not_asleep = |previous| named(Stretch::NotAsleep, previous, true);
        assert_eq!(not_asleep(Cause::OwnCode), overrun());
        assert_eq!(not_asleep(Cause::Awaiting), other);
        let on_its_way = |until| named(Stretch::SwitchToUser, Cause::Awaiting, until);
        assert_eq!(on_its_way(true), other);
        // A loop that records itself: its first instruction is its own.
        assert_eq!(on_its_way(false), Cause::Path);
    }

    #[test]
    fn own_running_in_short_pieces_between_interrupts_is_no_path_but_for_the_last() {
        let piece = |number: u64| {
            let cause = match number % 2 {
                0 => Cause::Path,
                _ => Cause::NothingRan,
            };
            let ns = (number * 15_000, (number + 1) * 15_000);
            piece(ns, Stretch::NotAsleep, cause)
        };
        let mut pieces: Vec<Piece> = (0..101).map(piece).collect();
        let mut served = pieces.clone();
        name_before(&mut pieces, PATH_NS, (None, true), None);
        let own = Cause::OtherWork(Source::Own);
        assert_eq!(pieces.iter().filter(|of| of.cause == own).count(), 50);
        assert_eq!(pieces[100].cause, Cause::Path);
        let network = Source::Handler(Handler::SoftIrq(SoftIrq::NET_RX));
        name_before(&mut served, PATH_NS, (None, true), Some(&network));
        assert_eq!(served[0].cause, Cause::OtherWork(network));
    }

    #[test]
    fn what_a_thread_serves_is_what_woke_it_last() {
        let thread = Thread {
            id: 9,
            name: ThreadName::new(b"can_rx"),
            priority: 120,
        };
        let mut track = Track::default();
        let mut woken = |at_ns, from| {
            track.push(Mark {
                at_ns,
                cpu: 0,
                what: Happened::Waking { from, priority: 19 },
            });
        };
        woken(10, Context::Thread(thread.clone()));
        woken(50, Context::Unknown);
        assert_eq!(served_at(&track, 20), Some(Source::Thread(thread)));
        assert_eq!((served_at(&track, 5), served_at(&track, 60)), (None, None));
    }
}

//! Waits for any event within a cycle's own work, as for an answer: they are for something else than the next due time.

use super::Window;
use crate::call::Call;
use crate::track::Track;
use crate::watch::ROUNDED_BY_NS;

/// Whether the thread sleeps at an instant with a time-out that ends its sleep for this due time, which may be rounded up.
pub(crate) fn is_until(track: &Track, at_ns: u64, due_ns: u64) -> bool {
    let until_ns = track.asked_until(at_ns);
    until_ns.is_some_and(|until_ns| until_ns <= due_ns + ROUNDED_BY_NS)
}

/// Whether the loop's wait at an instant can't end for its next due time, if time-outs begin its cycles.
pub(super) fn is_within(window: &Window<'_>, at_ns: u64) -> bool {
    let call = window.track.call_at(at_ns);
    let is_for_next = |next_ns| is_until(window.track, at_ns, next_ns);
    call.is_some_and(Call::is_for_any_event)
        && window
            .next_due_ns
            .is_some_and(|next_ns| !is_for_next(next_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::track::{Happened, Mark};

    #[test]
    fn a_time_out_far_beyond_the_due_time_is_for_something_else() {
        let mut track = Track::default();
        let mut mark = |at_ns, what| {
            track.push(Mark {
                at_ns,
                cpu: 0,
                what,
            });
        };
        mark(10, Happened::CallLeft);
        let slack = |asked_ns| Happened::Slack {
            asked_ns,
            until_ns: asked_ns,
        };
        mark(20, slack(50_000_000));
        assert!(is_until(&track, 30, 49_100_000));
        // A watchdog's, with a timer that outlives the wait.
        assert!(!is_until(&track, 30, 10_000_000));
        assert!(!is_until(&track, 15, 49_100_000), "it had set none yet");
    }
}

//! Waits for any event within a cycle's own work, as for an answer: they are for something else than the next due time.

use super::Window;
use crate::track::{Interval, Track};
use crate::watch::ROUNDED_BY_NS;
use wakepath_timeline::CallArgument;

/// Whether the thread sleeps at an instant with a time-out that ends its sleep for this due time, which may be rounded up.
pub(crate) fn is_until(track: &Track, at_ns: u64, due_ns: u64) -> bool {
    let until_ns = track.asked_until(at_ns);
    until_ns.is_some_and(|until_ns| until_ns <= due_ns + ROUNDED_BY_NS)
}

/// A wait for any event in a cycle's work that may be for something else than the next due time. From and to when, in
/// nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitWithin {
    pub from_ns: u64,
    pub to_ns: u64,
    /// Whether it can't end for the next due time, if time-outs begin the loop's cycles.
    pub is_beyond: bool,
    /// The call's argument.
    pub argument: Option<CallArgument>,
}

/// The loop's wait, if it is one.
pub(super) fn wait_within(window: &Window<'_>, interval: &Interval) -> Option<WaitWithin> {
    let Interval { from_ns, to_ns, .. } = *interval;
    let entered = window.track.entered_at(from_ns)?;
    let is_for_next = |next_ns| is_until(window.track, from_ns, next_ns);
    entered.call.is_for_any_event().then(|| WaitWithin {
        from_ns,
        to_ns,
        is_beyond: window
            .next_due_ns
            .is_some_and(|next_ns| !is_for_next(next_ns)),
        argument: entered.argument,
    })
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

//! Calls in which a thread takes its next item without having to wait for it, as from a queue that has some.

use std::sync::Arc;
use wakepath_timeline::CallArgument;

/// Such calls that are kept of one turn. With more of them it polls.
const MOST_OF_A_TURN: usize = 64;

/// A call by its name and its first argument.
type Key = (Arc<str>, Option<CallArgument>);

/// A thread's calls that are like the one in which it was last woken, and in which it did not sleep.
#[derive(Debug, Default)]
pub(super) struct Fetches {
    under_way: Option<(Key, u64)>,
    has_slept: bool,
    /// The call in which it was woken.
    waits_in: Option<Key>,
    of_this_turn: usize,
    /// When it entered them, in nanoseconds.
    found: Vec<u64>,
}

impl Fetches {
    pub fn entered(&mut self, at_ns: u64, name: &Arc<str>, argument: Option<CallArgument>) {
        self.under_way = Some(((Arc::clone(name), argument), at_ns));
        self.has_slept = false;
    }

    pub fn left(&mut self) {
        let Some((call, at_ns)) = self.under_way.take() else {
            return;
        };
        let is_alike = self.waits_in.as_ref() == Some(&call);
        if is_alike && !self.has_slept && self.of_this_turn < MOST_OF_A_TURN {
            self.of_this_turn += 1;
            self.found.push(at_ns);
        }
    }

    pub fn slept(&mut self) {
        self.has_slept = true;
    }

    /// Something else than a timer woke the thread: a turn begins.
    pub fn woken(&mut self) {
        self.waits_in = self.under_way.as_ref().map(|(call, _)| call.clone());
        // What woke it on its way to sleep came first: that call waited, too.
        self.has_slept = true;
        self.of_this_turn = 0;
    }

    /// Whether it is in a call like the one in which it was last woken.
    pub fn waits_for_next(&self) -> bool {
        let under_way = self.under_way.as_ref().map(|(call, _)| call);
        under_way.is_some() && under_way == self.waits_in.as_ref()
    }

    pub fn lose(&mut self) {
        (self.under_way, self.waits_in) = (None, None);
    }

    /// When the thread entered such calls since the last call, in nanoseconds, in order.
    pub fn take(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_like_the_one_that_waited_count_unless_they_wait_too() {
        let mut fetches = Fetches::default();
        let mut call = |at_ns, name: &str, descriptor, sleeps| {
            let argument = Some(CallArgument::Descriptor(descriptor));
            fetches.entered(at_ns, &name.into(), argument);
            if sleeps {
                fetches.slept();
                fetches.woken();
            }
            fetches.left();
        };
        for (at_ns, name, descriptor, sleeps) in [
            (1, "read", 3, false),
            (2, "read", 3, true),
            (3, "read", 4, false),
            (4, "write", 3, false),
            (5, "read", 3, false),
            (6, "read", 3, false),
            (7, "read", 3, true),
        ] {
            call(at_ns, name, descriptor, sleeps);
        }
        assert_eq!(fetches.take(), [5, 6]);
        assert!(fetches.take().is_empty());
    }
}

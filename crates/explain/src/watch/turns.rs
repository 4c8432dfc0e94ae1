//! A thread's turns, one after the other, while its scheduling goes by. What begins a turn is the
//! caller's to say.

use super::activation::Activation;

/// Turns that have ended, and the one under way.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    pub(crate) ended: Vec<Activation>,
    current: Option<Current>,
}

#[derive(Debug)]
struct Current {
    activation: Activation,
    switched_in: bool,
    /// Since when it sleeps, in nanoseconds, if what it waits for may come from others.
    sleeps_since: Option<u64>,
}

impl Turns {
    /// A turn begins, and the previous one has ended. `is_on_cpu`: there is no switch to wait for.
    pub(crate) fn begin(&mut self, activation: Activation, is_on_cpu: bool) {
        self.close();
        self.current = Some(Current {
            activation,
            switched_in: is_on_cpu,
            sleeps_since: None,
        });
    }

    pub(crate) fn switched_in(&mut self, at_ns: u64, cpu: u16) {
        if let Some(current) = self.current.as_mut().filter(|current| !current.switched_in) {
            current.switched_in = true;
            // The instant of a switch that was not told is that of the event before it.
            let at_ns = at_ns.max(current.activation.switched_in_ns);
            current.activation.switched_in_ns = at_ns;
            current.activation.end_ns = at_ns;
            current.activation.cpu = cpu;
        }
    }

    pub(crate) fn preempted(&mut self) {
        if let Some(current) = &mut self.current {
            current.activation.preemptions += 1;
        }
    }

    /// It ran for some time until an instant.
    pub(crate) fn ran(&mut self, ns: u64, until_ns: u64) {
        if let Some(current) = self.current.as_mut().filter(|current| current.switched_in) {
            current.activation.run_ns += ns;
            current.activation.end_ns = until_ns;
        }
    }

    /// The thread waits for another, or for any event, and has run up to then.
    pub(crate) fn waits(&mut self) {
        if let Some(current) = self.current.as_mut().filter(|current| current.switched_in) {
            let of = &mut current.activation;
            of.first_wait.get_or_insert((of.end_ns, of.run_ns));
        }
    }

    /// The thread goes to sleep.
    pub(crate) fn slept(&mut self, at_ns: u64) {
        if let Some(current) = self.current.as_mut().filter(|current| current.switched_in) {
            current.sleeps_since = Some(at_ns);
        }
    }

    /// Something else than a timer wakes it.
    pub(crate) fn handed(&mut self, at_ns: u64) {
        if let Some(current) = &mut self.current
            && let Some(since_ns) = current.sleeps_since.take()
        {
            current.activation.waited_ns += at_ns.saturating_sub(since_ns);
        }
    }

    /// No further turn comes. The one under way is left out if it is no cycle, unless it is the only one.
    pub(crate) fn end_for_good(&mut self, is_none: impl Fn(&Activation) -> bool) {
        let is_left_out = |of: &Current| !self.ended.is_empty() && is_none(&of.activation);
        if self.current.as_ref().is_some_and(is_left_out) {
            self.current = None;
        }
        self.close();
    }

    pub(crate) fn close(&mut self) {
        let ended = self.current.take().filter(|current| current.switched_in);
        self.ended.extend(ended.map(|current| current.activation));
    }

    /// The current turn turns out to be part of the previous one.
    pub(crate) fn resume(&mut self) {
        let Some(Current { activation, .. }) = self.current.take() else {
            return;
        };
        if let Some(mut before) = self.ended.pop() {
            before.run_ns += activation.run_ns;
            before.waited_ns += activation.waited_ns;
            before.preemptions += activation.preemptions;
            before.end_ns = activation.end_ns;
            before.first_wait = None;
            self.current = Some(Current {
                activation: before,
                switched_in: true,
                sleeps_since: None,
            });
        }
    }

    /// Events are missing in the turn under way; whether there was one.
    pub(crate) fn lose(&mut self) -> bool {
        self.current.take().is_some()
    }
}

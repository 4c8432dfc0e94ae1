//! A thread's turns, one after the other, while its scheduling goes by. What begins a turn is the
//! caller's to say.

use super::activation::{Activation, TimedWait};
use super::one_call::WokenIn;
use super::sleep_call::RESUMED_NS;
use crate::halt::TO_STOP_NS;
use wakepath_timeline::CallArgument;

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
    /// When it last went to sleep in the call in which its turn began.
    slept: Option<Slept>,
    /// Such a sleep that a stop cut short, and the time on a CPU up to the stop, in nanoseconds.
    stopped: Option<(Slept, u64)>,
    /// Whether it ended with a sleep that was cut short and resumed.
    is_over: bool,
}

/// Its end and its time on a CPU, if the turn had ended there. In nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Slept {
    end_ns: u64,
    run_ns: u64,
}

impl Current {
    fn new(activation: Activation, switched_in: bool, is_over: bool) -> Self {
        Self {
            activation,
            switched_in,
            sleeps_since: None,
            slept: None,
            stopped: None,
            is_over,
        }
    }

    fn is_under_way(&self) -> bool {
        self.switched_in && !self.is_over
    }

    /// The whole turn. One that was stopped while the thread slept as before this turn, and that did nothing before the next,
    /// had ended with that sleep: the stop delays the next one only.
    fn whole(self) -> Activation {
        let mut of = self.activation;
        if let Some((slept, at_stop_ns)) = self.stopped
            && of.run_ns <= at_stop_ns + TO_STOP_NS
        {
            (of.end_ns, of.run_ns) = (slept.end_ns, slept.run_ns);
        }
        of
    }
}

impl Turns {
    /// A turn begins, and the previous one has ended. `is_on_cpu`: there is no switch to wait for.
    pub(crate) fn begin(&mut self, activation: Activation, is_on_cpu: bool) {
        self.close();
        self.current = Some(Current::new(activation, is_on_cpu, false));
    }

    /// The same of a thread that runs: the previous one had ended with its last sleep in the call in which it began.
    pub(crate) fn begin_after_sleep(&mut self, activation: Activation) {
        if let Some(current) = &mut self.current
            && let Some(slept) = current.slept
        {
            let of = &mut current.activation;
            (of.end_ns, of.run_ns) = (slept.end_ns, slept.run_ns);
        }
        self.begin(activation, true);
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

    /// Whether the turn under way began in a wait at this word in memory.
    pub(crate) fn is_begun_at(&self, argument: Option<CallArgument>) -> bool {
        let word = argument.filter(|of| matches!(of, CallArgument::Address(_)));
        let current = self.current.as_ref();
        word.is_some() && current.is_some_and(|current| current.activation.argument == word)
    }

    /// It leaves the CPU to which it came at `since_ns` before it ran any instruction of its own: it has not begun yet.
    pub(crate) fn not_begun(&mut self, since_ns: u64) {
        if let Some(current) = self.current.as_mut().filter(|of| of.is_under_way())
            && current.activation.switched_in_ns == since_ns
        {
            current.switched_in = false;
            current.activation.run_ns = 0;
        }
    }

    pub(crate) fn preempted(&mut self) {
        if let Some(current) = self.current.as_mut().filter(|of| !of.is_over) {
            current.activation.preemptions += 1;
        }
    }

    /// It ran for some time until an instant.
    pub(crate) fn ran(&mut self, ns: u64, until_ns: u64) {
        if let Some(current) = self.current.as_mut().filter(|of| of.is_under_way()) {
            current.activation.run_ns += ns;
            current.activation.end_ns = until_ns;
        }
    }

    /// A signal of its timer comes, of which the thread only takes note.
    pub(crate) fn notes(&mut self) {
        if let Some(current) = &mut self.current {
            current.activation.noted += 1;
        }
    }

    /// The thread waits for another, or for any event, and has run up to then.
    pub(crate) fn waits(&mut self) {
        if let Some(current) = self.current.as_mut().filter(|of| of.is_under_way()) {
            let of = &mut current.activation;
            of.first_wait.get_or_insert((of.end_ns, of.run_ns));
        }
    }

    /// The thread waits for any event until an instant, in a call with this argument, and has run up to then. If another
    /// one began its turn, it waits for something else.
    pub(crate) fn waits_until(&mut self, for_ns: u64, argument: Option<CallArgument>) {
        if let Some(current) = self.current.as_mut().filter(|of| of.is_under_way()) {
            let of = &mut current.activation;
            if argument.is_some() && of.argument.is_some_and(|of| Some(of) != argument) {
                return;
            }
            let is_later = |known: TimedWait| for_ns > known.for_ns + RESUMED_NS;
            if !of.timed_wait.is_some_and(is_later) {
                of.timed_wait = Some(TimedWait {
                    for_ns,
                    end_ns: of.end_ns,
                    run_ns: of.run_ns,
                });
            }
        }
    }

    /// The thread goes to sleep, in a call of this kind with this argument. If a timer that outlives sleeps began its turn in
    /// that very wait for any event, as a timerfd does, it has served it.
    pub(crate) fn slept(&mut self, at_ns: u64, call: WokenIn, argument: Option<CallArgument>) {
        if let Some(current) = self.current.as_mut().filter(|of| of.is_under_way()) {
            current.sleeps_since = Some(at_ns);
            let of = &current.activation;
            if of.timer.is_some()
                && of.woken_in == WokenIn::Events
                && call == of.woken_in
                && argument.is_some_and(|is| Some(is) == of.argument)
            {
                current.is_over = true;
                return;
            }
            if call != WokenIn::Unknown && call == of.woken_in {
                current.slept = Some(Slept {
                    end_ns: of.end_ns,
                    run_ns: of.run_ns,
                });
            }
        }
    }

    /// The thread is stopped or frozen.
    pub(crate) fn stopped(&mut self) {
        if let Some(current) = self.current.as_mut().filter(|of| of.is_under_way())
            && let Some(slept) = current.slept
            && current
                .stopped
                .is_none_or(|(of, _)| of.end_ns < slept.end_ns)
            && current.activation.run_ns <= slept.run_ns + TO_STOP_NS
        {
            current.stopped = Some((slept, current.activation.run_ns));
        }
    }

    /// Something else than a timer wakes it, in a call that takes data from a descriptor if `is_input`.
    pub(crate) fn handed(&mut self, at_ns: u64, is_input: bool) {
        if let Some(current) = &mut self.current
            && let Some(since_ns) = current.sleeps_since.take()
        {
            let waited_ns = at_ns.saturating_sub(since_ns);
            current.activation.waited_ns += waited_ns;
            if is_input {
                current.activation.input_ns += waited_ns;
            }
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
        self.ended.extend(ended.map(Current::whole));
    }

    /// The current turn turns out to be no more than a pause in the sleep after the previous one, which had ended with
    /// that sleep: a stop within it delays the next turn only.
    pub(crate) fn resume(&mut self) {
        if self.current.take().is_none() {
            return;
        }
        let before = self.ended.pop();
        self.current = before.map(|before| Current::new(before, true, true));
    }

    /// Events are missing in the turn under way; whether there was one.
    pub(crate) fn lose(&mut self) -> bool {
        self.current.take().is_some()
    }
}

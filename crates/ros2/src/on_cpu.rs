//! Time of threads on a CPU, by the kernel's switches.

use std::collections::BTreeMap;
use wakepath_timeline::{KernelEvent, Left, What};

/// Takes a trace's events, and has each thread's time so far.
#[derive(Debug, Default)]
pub(crate) struct OnCpu {
    threads: BTreeMap<u32, OfThread>,
    has_switches: bool,
}

/// A thread so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfThread {
    /// Time on a CPU before `since_ns`, in nanoseconds.
    before_ns: u64,
    since_ns: Option<u64>,
    /// How often it was taken off its CPU although it could have run on.
    pub(crate) preempted: u32,
}

impl OnCpu {
    /// Takes an event, in their order.
    pub(crate) fn event(&mut self, event: &KernelEvent) {
        match &event.what {
            What::Switch {
                previous,
                left,
                next,
            } => {
                self.has_switches = true;
                let of = self.threads.entry(previous.id).or_default();
                of.before_ns = of.until(event.at_ns);
                of.since_ns = None;
                of.preempted += u32::from(*left == Left::Runnable);
                let of = self.threads.entry(next.id).or_default();
                of.since_ns = Some(event.at_ns);
            }
            What::Lost { .. } => {
                let all = self.threads.values_mut();
                all.for_each(|of| of.since_ns = None);
            }
            _ => {}
        }
    }

    /// A thread that runs now.
    pub(crate) fn running(&mut self, thread: u32, at_ns: u64) -> OfThread {
        let of = self.threads.entry(thread).or_default();
        of.since_ns.get_or_insert(at_ns);
        *of
    }

    /// Time on a CPU since a thread was as it was `then`, in nanoseconds, and how often it was preempted; `None`
    /// without the kernel's switches.
    pub(crate) fn since(
        &mut self,
        (thread, then): (u32, OfThread),
        (from_ns, at_ns): (u64, u64),
    ) -> Option<(u64, u32)> {
        let now = self.running(thread, at_ns);
        let ns = now.until(at_ns).saturating_sub(then.until(from_ns));
        self.has_switches
            .then_some((ns, now.preempted - then.preempted))
    }
}

impl OfThread {
    fn until(&self, at_ns: u64) -> u64 {
        let since = self.since_ns.map_or(0, |since| at_ns.saturating_sub(since));
        self.before_ns + since
    }
}

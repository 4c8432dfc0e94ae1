//! What wakes a thread that no timer wakes.

use serde::{Deserialize, Serialize};
use wakepath_explain::Cause;
use wakepath_explain::watch::{ThreadActivity, Waker};
use wakepath_timeline::SoftIrq;

/// What wakes a thread that no timer wakes.
#[derive(Debug, Clone, Serialize)]
pub struct WokenBy {
    /// Thread, interrupt or SoftIRQ, as a person reads it.
    pub waker: String,
    /// Its kind.
    pub kind: WakerKind,
    /// How often it was the one.
    pub times: u64,
    /// How often the thread was woken by something else than a timer.
    pub of: u64,
}

/// A kind of waker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WakerKind {
    /// A thread.
    Thread,
    /// Several threads, none of them most often.
    Threads,
    /// The network's reception.
    Network,
    /// An interrupt or its tail.
    Device,
    /// No event names it.
    Unknown,
}

impl WokenBy {
    /// The most frequent waker, or the threads among them together where most wake-ups come from threads of which each
    /// wakes it seldom, as those that end while it waits for each.
    pub(super) fn new(activity: &ThreadActivity) -> Option<Self> {
        let (waker, times) = activity.wakers.first()?;
        let of = activity.other_wake_ups;
        let is_thread = |waker: &Waker| matches!(waker, Waker::Thread(_));
        let threads = activity.wakers.iter().filter(|(by, _)| is_thread(by));
        let by_threads: u64 = threads.clone().map(|(_, times)| times).sum();
        if times * 2 < of && by_threads * 2 >= of {
            return Some(Self {
                waker: format!("{} threads", threads.count()),
                kind: WakerKind::Threads,
                times: by_threads,
                of,
            });
        }
        let (waker, kind) = Self::named(waker);
        Some(Self {
            waker,
            kind,
            times: *times,
            of,
        })
    }

    /// A waker as a person reads it, and its kind.
    pub(super) fn named(waker: &Waker) -> (String, WakerKind) {
        match waker {
            Waker::Thread(thread) => (Cause::thread_name(thread), WakerKind::Thread),
            Waker::Interrupt(interrupt) => {
                let cause = Cause::Interrupt(interrupt.clone());
                (cause.to_string(), WakerKind::Device)
            }
            Waker::SoftIrq(vector) => {
                let kind = match *vector {
                    SoftIrq::NET_RX => WakerKind::Network,
                    _ => WakerKind::Device,
                };
                let vector = *vector;
                let cause = Cause::SoftIrq {
                    vector,
                    thread: None,
                };
                (cause.to_string(), kind)
            }
            Waker::TcpTimer => ("a packet that TCP had held back".into(), WakerKind::Network),
            Waker::Unnamed => ("a thread that no event names".into(), WakerKind::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::{Thread, ThreadName};

    #[test]
    fn many_threads_that_each_wake_it_seldom_are_named_together() {
        let thread = |id| {
            let name = ThreadName::new(b"Timer");
            let priority = 120;
            (Waker::Thread(Thread { id, name, priority }), 4)
        };
        let woken = |threads: u32| {
            let mut wakers = vec![(Waker::SoftIrq(SoftIrq::NET_RX), 8)];
            wakers.extend((0..threads).map(thread));
            let activity = ThreadActivity {
                other_wake_ups: wakers.iter().map(|(_, times)| times).sum(),
                wakers,
                ..ThreadActivity::default()
            };
            let of = WokenBy::new(&activity).unwrap();
            (of.waker, of.kind, of.times)
        };
        assert_eq!(woken(50), ("50 threads".into(), WakerKind::Threads, 200));
        assert_eq!(woken(1), ("SoftIRQ NET_RX".into(), WakerKind::Network, 8));
    }
}

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
    /// The network's reception.
    Network,
    /// An interrupt or its tail.
    Device,
    /// No event names it.
    Unknown,
}

impl WokenBy {
    /// The most frequent waker.
    pub(super) fn new(activity: &ThreadActivity) -> Option<Self> {
        let (waker, times) = activity.wakers.first()?;
        let (waker, kind) = Self::named(waker);
        Some(Self {
            waker,
            kind,
            times: *times,
            of: activity.other_wake_ups,
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
            Waker::Unnamed => ("a thread that no event names".into(), WakerKind::Unknown),
        }
    }
}

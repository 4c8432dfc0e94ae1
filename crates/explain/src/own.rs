//! Which threads are wakepath's own: by number and time where the run has recorded them, else by
//! name. A program that is merely called like wakepath is not wakepath.

use wakepath_timeline::Thread;

/// How wakepath's own threads, other than the loops, are distinguished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Own {
    /// They were recorded.
    Threads(Vec<OwnThread>),
    /// They were not, as in runs of older versions: whatever has this name is taken for one.
    Named(String),
}

/// A thread of one of wakepath's own processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnThread {
    /// Its number.
    pub thread: u32,
    /// When it started, in nanoseconds on `CLOCK_MONOTONIC`: before, its number was another's.
    pub from_ns: u64,
    /// When it was known to have ended, in nanoseconds on `CLOCK_MONOTONIC`.
    pub to_ns: u64,
}

impl Default for Own {
    fn default() -> Self {
        Self::Threads(Vec::new())
    }
}

impl Own {
    /// Whether a thread that ran at an instant is one of them.
    pub(crate) fn is_own(&self, thread: &Thread, at_ns: u64) -> bool {
        match self {
            Self::Threads(own) => own
                .iter()
                .any(|own| own.thread == thread.id && (own.from_ns..=own.to_ns).contains(&at_ns)),
            Self::Named(name) => name.as_bytes() == thread.name.bytes(),
        }
    }
}

//! Which threads are wakepath's own: by number and time where the run has recorded them, else by
//! name. A program that is merely called like wakepath is not wakepath.

use std::borrow::Cow;
use wakepath_timeline::{KernelEvent, Thread, ThreadName, What};

/// What threads of wakepath's processes are called unless they have a name of their own.
const NAME: &[u8] = b"wakepath";
/// The name that such a thread gets here if it is of none of the run's processes.
const ANOTHER: &[u8] = b"other wakepath";

/// How wakepath's own threads, other than the loops, are distinguished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Own {
    /// They were recorded.
    Threads(Vec<OwnThread>),
    /// They were not, as in runs of older versions: whatever has this name is taken for one.
    Named(String),
}

/// A thread of one of the run's own processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnThread {
    /// Its number.
    pub thread: u32,
    /// When it started, in nanoseconds on `CLOCK_MONOTONIC`: before, its number was another's.
    pub from_ns: u64,
    /// When it was known to have ended, in nanoseconds on `CLOCK_MONOTONIC`.
    pub to_ns: u64,
    /// Whether it is the tool's, rather than a load's or the controller's.
    pub is_tool: bool,
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
            Self::Threads(own) => of_run(own, thread.id, at_ns).any(|own| own.is_tool),
            Self::Named(name) => name.as_bytes() == thread.name.bytes(),
        }
    }

    /// The event, in which a thread that is called wakepath and is none of the run's has another name: the recorder of
    /// another run must not read like this run's.
    pub(crate) fn named<'a>(&self, event: &'a KernelEvent) -> Cow<'a, KernelEvent> {
        let Self::Threads(own) = self else {
            return Cow::Borrowed(event);
        };
        let is_another = |thread: &Thread| {
            thread.name.bytes() == NAME && of_run(own, thread.id, event.at_ns).next().is_none()
        };
        if !threads(&event.what).into_iter().flatten().any(is_another) {
            return Cow::Borrowed(event);
        }
        let mut event = event.clone();
        let name = |thread: &mut Thread| {
            if thread.name.bytes() == NAME && of_run(own, thread.id, event.at_ns).next().is_none() {
                thread.name = ThreadName::new(ANOTHER);
            }
        };
        match &mut event.what {
            What::Switch { previous, next, .. } => {
                name(previous);
                name(next);
            }
            What::Waking { thread, .. }
            | What::WakeUp { thread, .. }
            | What::Migrate { thread, .. } => name(thread),
            _ => {}
        }
        Cow::Owned(event)
    }
}

/// Entries of a thread at an instant.
fn of_run(own: &[OwnThread], thread: u32, at_ns: u64) -> impl Iterator<Item = &OwnThread> {
    own.iter()
        .filter(move |own| own.thread == thread && (own.from_ns..=own.to_ns).contains(&at_ns))
}

/// The threads that an event names.
fn threads(what: &What) -> [Option<&Thread>; 2] {
    match what {
        What::Switch { previous, next, .. } => [Some(previous), Some(next)],
        What::Waking { thread, .. }
        | What::WakeUp { thread, .. }
        | What::Migrate { thread, .. } => [Some(thread), None],
        _ => [None, None],
    }
}

/// Whether this is the name of a thread of another wakepath.
pub(crate) fn is_of_another(thread: &Thread) -> bool {
    thread.name.bytes() == ANOTHER
}

//! Waits of a loop in page faults of its own: who ended them. `path::page_waits` finds them.

use crate::cause::{Cause, Named};
use crate::fix::{self, Remedy};
use crate::wait::Handler;
use std::fmt;
use wakepath_timeline::Thread;

/// A wait in a page fault.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PageWait {
    /// The page had to be read: this interrupt or SoftIRQ of a disk or of the network ended the wait.
    Device(Handler),
    /// This thread provided the page, as the pager of a userfaultfd does.
    Pager(Thread),
}

impl PageWait {
    /// Without what changes from one time to the next.
    pub(crate) fn grouped(&self, group: &impl Fn(&Thread) -> Thread) -> Self {
        match self {
            Self::Pager(thread) => Self::Pager(group(thread)),
            Self::Device(_) => self.clone(),
        }
    }

    pub(crate) fn remedy(&self) -> Remedy {
        match self {
            Self::Device(_) => fix::READ_PAGES_BEFORE.plain(),
            Self::Pager(thread) => fix::PAGES_BEFORE.with(&[&thread.name.to_string()]),
        }
    }
}

impl From<PageWait> for Cause {
    fn from(wait: PageWait) -> Self {
        Self::PageWait(wait)
    }
}

impl fmt::Display for PageWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(handler) => write!(
                f,
                "page fault that waits for input and output, until {handler} woke the loop"
            ),
            Self::Pager(thread) => write!(
                f,
                "page fault whose page another thread provides: {}",
                Named(thread)
            ),
        }
    }
}

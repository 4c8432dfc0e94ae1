//! The seam at which a test makes an operation on files fail: the first, the second, and so on
//! until nothing fails any more. Outside of tests it is a `None` that is looked at.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rustix::io::Errno;

/// Operations on a file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Creating a file.
    Create,
    /// A file is opened for reading.
    Open,
    /// Bytes are written.
    Write,
    /// Room on the disk is taken.
    Allocate,
    /// A file is cut to a length.
    Truncate,
    /// A file's bytes are waited for.
    Sync,
    /// A file is closed.
    Close,
    /// A file gets another name.
    Rename,
    /// A file is removed.
    Remove,
    /// A directory's names are read.
    List,
    /// A directory's names are waited for.
    SyncDirectory,
}

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// `ENOSPC`: the disk is full.
    NoSpace,
    /// `EIO`: the disk is broken.
    Broken,
    /// A write stores half of the bytes; everything else fails with `ENOSPC`.
    Short,
}

/// Makes one operation fail, or all from one on.
#[derive(Debug)]
pub struct Faults {
    fault: Fault,
    at: u64,
    lasting: bool,
    seen: AtomicU64,
    failed: Mutex<Vec<Operation>>,
}

impl Faults {
    /// The operation of this number fails, counted from 1; with `lasting` all after it too.
    pub fn new(fault: Fault, at: u64, lasting: bool) -> Arc<Self> {
        Arc::new(Self {
            fault,
            at,
            lasting,
            seen: AtomicU64::new(0),
            failed: Mutex::new(Vec::new()),
        })
    }

    /// Operations so far.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Operations that failed by this.
    pub fn failed(&self) -> Vec<Operation> {
        self.failed.lock().map_or(Vec::new(), |all| all.clone())
    }

    fn hits(&self, operation: Operation) -> bool {
        let number = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        let hit = number == self.at || (self.lasting && number > self.at);
        if hit && let Ok(mut failed) = self.failed.lock() {
            failed.push(operation);
        }
        hit
    }

    fn error(&self) -> io::Error {
        match self.fault {
            Fault::NoSpace | Fault::Short => Errno::NOSPC.into(),
            Fault::Broken => Errno::IO.into(),
        }
    }
}

/// Hook at which each operation can be made to fail.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seam(pub(crate) Option<Arc<Faults>>);

impl Seam {
    /// Fails if the test requires it.
    pub(crate) fn pass(&self, operation: Operation) -> io::Result<()> {
        match &self.0 {
            Some(faults) if faults.hits(operation) => Err(faults.error()),
            _ => Ok(()),
        }
    }

    /// Number of `length` bytes to write before the fault.
    pub(crate) fn pass_bytes(&self, length: usize) -> io::Result<usize> {
        match &self.0 {
            Some(faults) if faults.hits(Operation::Write) => match faults.fault {
                // All but the first of lasting short writes take nothing: the disk stays full.
                Fault::Short if length > 1 && faults.seen() == faults.at => Ok(length / 2),
                _ => Err(faults.error()),
            },
            _ => Ok(length),
        }
    }
}

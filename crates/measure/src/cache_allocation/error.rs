//! Why the loop has no share of the cache, or others not theirs again, with what would help.

use std::path::{Path, PathBuf};

pub(super) type Result<T> = std::result::Result<T, CacheError>;

/// What went wrong with a share of the cache.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CacheError {
    #[error("can't {what} {}: {source}", path.display())]
    Io {
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("no cache allocation here: this kernel or CPU has no resctrl")]
    NoResctrl,
    #[error("resctrl is not mounted: mount -t resctrl resctrl /sys/fs/resctrl")]
    NotMounted,
    #[error(
        "no cache allocation here: resctrl has no L3 that can be divided, or divides code and data \
         apart"
    )]
    NoL3,
    #[error("another wakepath is using a share of the cache")]
    AnotherWakepath,
    #[error("{}: {text:?} is not a number", path.display())]
    NoNumber { path: PathBuf, text: String },
    #[error("{}: has no line for L3", path.display())]
    NoL3Line { path: PathBuf },
    #[error("{}: {line:?} can't be read", path.display())]
    Unreadable { path: PathBuf, line: String },
    #[error(
        "the last-level cache has {ways} ways and can't be divided into {own} and {rest}: each part \
         needs at least {least}"
    )]
    TooFewWays {
        ways: u32,
        own: u32,
        rest: u32,
        least: u32,
    },
    #[error(
        "the default group has mask {mask:x} of cache {domain} alone, which can't be divided; set it back to {all:x}"
    )]
    TakenAlready { mask: u64, domain: String, all: u64 },
    #[error("{}: the kernel did not apply the masks", path.display())]
    MasksNotTaken { path: PathBuf },
    #[error("{}: the loop is not in its group", path.display())]
    NotInGroup { path: PathBuf },
    #[error("{}: the old masks could not be restored: {masks}", path.display())]
    NotPutBack { path: PathBuf, masks: String },
    #[error("{0}; and {1}")]
    Both(Box<CacheError>, Box<CacheError>),
}

/// An I/O error on a file.
pub(super) fn io(what: &'static str, path: &Path) -> impl Fn(std::io::Error) -> CacheError {
    move |source| CacheError::Io {
        what,
        path: path.into(),
        source,
    }
}

//! Opens a verb's archive, and finds the runs that count.

use super::bucket;
use super::standings::LeftOut;
use crate::command_line::{Archive, Looked};
use std::path::Path;
use wakepath_directory::Trust;
use wakepath_fleet_archive::{Catalogue, DirectoryStore, Store, catalogue};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// An archive as it was when it was opened.
pub struct Opened {
    /// Its storage.
    pub store: Box<dyn Store>,
    /// All that is in it.
    pub all: Catalogue,
    /// Runs that do not count.
    pub left_out: LeftOut,
}

impl Opened {
    /// Reads all records of an archive.
    pub fn new(store: Box<dyn Store>, at: &Looked) -> Result<Self> {
        let all = catalogue(&*store)?;
        let left_out = LeftOut::new(&*store, &all, &at.seals)?;
        Ok(Self {
            store,
            all,
            left_out,
        })
    }
}

/// Opens an existing archive, and prints the runs that don't count on standard error.
pub fn look(at: &Looked) -> Result<Opened> {
    let opened = Opened::new(open(&at.of)?, at)?;
    opened.left_out.tell();
    Ok(opened)
}

/// One that is there.
pub fn open(archive: &Archive) -> Result<Box<dyn Store>> {
    let (at, trust) = (&archive.archive, trust(archive));
    if is_bucket(archive) {
        bucket::open(at, &bucket::cache()?, trust)
    } else {
        Ok(boxed(DirectoryStore::open(Path::new(at), trust)?))
    }
}

/// Opens an existing archive without using earlier cached objects; `scratch` is an empty directory.
pub fn open_anew(archive: &Archive, scratch: &Path) -> Result<Box<dyn Store>> {
    if is_bucket(archive) {
        bucket::open(&archive.archive, scratch, trust(archive))
    } else {
        open(archive)
    }
}

/// One that is there, or a new one.
pub fn make(archive: &Archive) -> Result<Box<dyn Store>> {
    let (at, trust) = (&archive.archive, trust(archive));
    if is_bucket(archive) {
        bucket::make(at, &bucket::cache()?, trust)
    } else {
        Ok(boxed(DirectoryStore::make(Path::new(at), trust)?))
    }
}

fn boxed(store: impl Store + 'static) -> Box<dyn Store> {
    Box::new(store)
}

fn is_bucket(archive: &Archive) -> bool {
    archive.archive.starts_with("s3://")
}

fn trust(archive: &Archive) -> Trust {
    if archive.trust_directory {
        Trust::Any
    } else {
        Trust::Own
    }
}

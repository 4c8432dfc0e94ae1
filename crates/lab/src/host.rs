//! Functions that the laboratory needs from the program it is part of.

use crate::cache::Cache;
use std::path::PathBuf;

/// The verb with which the program around the laboratory supervises an emulator.
pub const SUPERVISE: &str = "supervise-emulator";

/// The program around the laboratory.
#[derive(Debug, Clone)]
pub struct Host {
    /// This program's file, which is started again to supervise the emulator.
    pub own: PathBuf,
    /// The wakepath of this release, for guests of this machine's architecture.
    pub program: PathBuf,
    /// This program's version.
    pub version: String,
    /// Receives a line for each step.
    pub tell: fn(&str),
}

impl Host {
    /// The cache of downloads; each download is announced.
    pub fn cache(&self) -> Cache {
        Cache::of_this_user().telling(self.tell)
    }

    /// The process that the emulator dies with: a program with its first argument.
    pub(crate) fn guard(&self) -> [PathBuf; 2] {
        [self.own.clone(), SUPERVISE.into()]
    }
}

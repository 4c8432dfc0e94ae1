//! Functions that the laboratory needs from the program it is part of.

use crate::cache::Cache;
use std::path::PathBuf;

/// The program around the laboratory.
#[derive(Debug, Clone)]
pub struct Host {
    /// This program's file, which is started again to supervise the emulator.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
    /// Receives a line for each step.
    pub tell: fn(&str),
}

impl Host {
    /// The cache of downloads; each download is announced.
    pub fn cache(&self) -> Cache {
        Cache::of_this_user().telling(self.tell)
    }

    /// The process that the emulator dies with: a program with its first arguments.
    pub(crate) fn guard(&self) -> [PathBuf; 3] {
        [
            self.program.clone(),
            "internal".into(),
            "lab-emulator".into(),
        ]
    }
}

//! What the laboratory needs of the program that it is part of.

use crate::cache::Cache;
use std::path::PathBuf;

/// The program around the laboratory.
#[derive(Debug, Clone)]
pub struct Host {
    /// This program's file, to be started again as what the emulator dies with.
    pub program: PathBuf,
    /// Its version, as it says it itself.
    pub version: String,
    /// Hears what goes on, a line each.
    pub tell: fn(&str),
}

impl Host {
    /// Where downloads are kept; what is being fetched is told.
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

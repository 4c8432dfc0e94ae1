//! Creates and recognises a service's directory.
//!
//! It reads no run.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use wakepath_directory::Directory;

/// File that marks a service's directory.
pub const MARK: &str = "service.json";
/// Additional file in a directory for a scenario's rounds: how many, and the scenario.
pub const PLAN: &str = "rounds.json";
/// Directory of the run directories.
pub(crate) const SEGMENTS: &str = "segments";
/// The version of the form of all this.
const FORM: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    wakepath_service: u32,
}

/// Whether a directory is a service's.
pub fn is_service(directory: &Path) -> bool {
    directory.join(MARK).is_file()
}

/// Result of examining a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing is in it.
    New,
    /// A service's.
    Known,
    /// One of a later version.
    Strange,
    /// One with rounds of a scenario instead of a program's loops.
    Rounds,
    /// Something else is in it.
    Other,
}

/// Whether rounds of a scenario are measured into a directory.
pub fn has_rounds(directory: &Path) -> bool {
    is_service(directory) && directory.join(PLAN).is_file()
}

/// Examines a directory.
pub(crate) fn standing(directory: &Directory) -> io::Result<Standing> {
    match directory.read(MARK)? {
        None if directory
            .names()?
            .iter()
            .all(|name| matches!(&name[..], "lock" | PLAN)) =>
        {
            Ok(Standing::New)
        }
        None => Ok(Standing::Other),
        Some(text) => Ok(match serde_json::from_slice(&text) {
            Ok(Mark {
                wakepath_service: FORM,
            }) => {
                if directory.holds(PLAN) {
                    Standing::Rounds
                } else {
                    Standing::Known
                }
            }
            _ => Standing::Strange,
        }),
    }
}

/// Makes an empty directory one of a service.
pub(crate) fn make(directory: &Directory) -> io::Result<()> {
    let mark = Mark {
        wakepath_service: FORM,
    };
    directory.put(MARK, &serde_json::to_vec(&mark)?)
}

//! One file for each verb of the command. A verb returns its exit code, or an error that is one
//! line saying what is wrong, where, and what would be right.

mod answers;
pub mod bound;
pub mod check;
pub mod companion;
pub mod compare;
mod criterion;
pub mod doctor;
pub mod documentation;
pub mod exec;
pub mod explain;
pub mod export;
mod fitted;
pub mod fly;
pub mod import;
pub mod loads;
pub mod machine;
pub mod measured;
pub mod ordered;
pub mod rate;
pub mod record;
pub mod recover;
pub mod report;
mod ros2_wish;
pub mod run;
pub mod runs;
pub mod scenario;
pub mod schedulability;
pub mod seal;
pub mod service;
pub mod show;
mod stopped;
pub mod subject;
mod sweep;
pub mod tiers;
pub mod try_fix;
pub mod tune;
mod unattended;
mod values;
pub mod verify;
pub mod watch;

pub use values::read as read_values;

use std::path::Path;
use wakepath_archive::Run;
use wakepath_directory::Directory;

/// A run as it is to be shown, or with every text exactly as it was written where JSON is asked
/// for.
fn opened(directory: &Path, json: bool) -> wakepath_archive::Result<Run> {
    match json {
        true => Run::open_exact(directory),
        false => Run::open(directory),
    }
}

/// [`opened`] in an open directory.
fn opened_in(directory: &Directory, json: bool) -> wakepath_archive::Result<Run> {
    match json {
        true => Run::open_exact_in(directory),
        false => Run::open_in(directory),
    }
}

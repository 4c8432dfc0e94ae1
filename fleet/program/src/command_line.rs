//! The command line as data.
//!
//! `verbs` implements the verbs.

mod archive;
mod boards;
mod looks;
#[cfg(feature = "questions")]
mod query;

pub use archive::*;
pub use boards::*;
use clap::{Parser, Subcommand};
pub use looks::*;
#[cfg(feature = "questions")]
pub use query::*;

/// The same measurement on many boards.
#[derive(Debug, Parser)]
#[command(
    name = "wakepath-fleet",
    version,
    about = "Measures with wakepath on many boards, over the system's OpenSSH, unattended.",
    after_help = "Exit codes: 0 passed, 1 error or invalid, 2 criterion not met, 3 undecided.\n\n\
                  Examples:\n  \
                  wakepath-fleet boards                                    which boards fleet.toml names\n  \
                  wakepath-fleet push --on all --program wakepath-aarch64  the program, once\n  \
                  wakepath-fleet run pi5-250hz --on tag=pi5                begins, and returns\n  \
                  wakepath-fleet fetch --wait                              what came of it\n  \
                  wakepath-fleet add --board pi5-07 RUN                    a run into the archive\n  \
                  wakepath-fleet query quantiles                           exact quantiles of all that is in it",
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// List the boards of the inventory.
    Boards(Boards),
    /// Put the right program on boards.
    Push(Push),
    /// Begin a scenario on boards.
    Run(Run),
    /// Do what the schedules require now: begin, fetch, add to the archive.
    Schedule(Schedule),
    /// Say how a job is on each board.
    Status(Status),
    /// Bring ended runs here.
    Fetch(Fetch),
    /// Plan, apply and take back changes to boards for the loop.
    Tune(Tune),
    /// Boot another kernel once, with a way back.
    Reboot(Reboot),
    /// Print the line that restricts a board's account to this.
    Authorize(Authorize),
    /// Add runs to the archive of a fleet.
    Add(Add),
    /// Remove expendable samples, and remains of stopped writers.
    Gc(Gc),
    /// See whether the archive is whole.
    Check(Check),
    /// Ask the archive in SQL, here or on a cluster.
    #[cfg(feature = "questions")]
    Query(Query),
    /// Report whether runs of one kind are later than runs of another.
    Regressions(Regressions),
    /// Find changes of a board's latencies, and of its settings at that time.
    Changes(Changes),
    /// Write the archive as pages to look at.
    Site(Site),
    /// Show those pages here, with the report of every run.
    Serve(Serve),
    /// Export for other systems.
    Export(Export),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        CommandLine::command().debug_assert();
    }
}

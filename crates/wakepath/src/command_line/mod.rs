//! The command line as data: one definition for help, completions and man pages. The verbs
//! themselves are in `verbs`.

mod analysis;
mod candidates;
mod criterion;
mod evidence;
mod first_page;
mod internal;
pub mod invocation;
mod machine;
mod measuring;
mod random_tasks;
mod recordings;
mod sweep;
mod tuning;

pub use analysis::*;
pub use candidates::{Kind, candidates};
use clap::{Parser, Subcommand};
pub use criterion::*;
pub use evidence::*;
pub use first_page::{every_command, first_page, visible};
pub use internal::*;
pub use machine::*;
pub use measuring::*;
pub use recordings::*;
use std::path::PathBuf;
pub use sweep::*;
pub use tuning::*;
use wakepath_console::{Printing, VERSION};

/// The one CPU of a loop.
fn one_cpu(text: &str) -> Result<u16, String> {
    text.trim().parse().map_err(|_| {
        let cpus = text.split([',', '-']).filter(|part| part.parse::<u16>().is_ok());
        match cpus.collect::<Vec<_>>()[..] {
            [first, _, ..] => format!(
                "the loop runs on one CPU: give one of them, such as {first}; a scenario (`wakepath \
                 run`) can have several tasks, each on its own"
            ),
            _ => "give the number of a CPU, such as 1".to_owned(),
        }
    })
}

/// The number of a process.
fn process(text: &str) -> Result<u32, String> {
    let named =
        || format!("give the number of a process, such as 1234; by its name: --comm {text}");
    text.trim().parse().map_err(|_| named())
}

/// Will this control loop hold on this machine?
#[derive(Debug, Parser)]
#[command(
    name = "wakepath",
    version = VERSION,
    about = "Measure whether a periodic control loop meets its timing on this Linux machine, and under which \
             scheduling policy, idle and under load.",
    after_help = "Exit codes: 0 passed, 1 error or invalid run, 2 criterion not met, 3 undecided.\n\n\
                  Examples:\n  \
                  wakepath check                        a 250 Hz loop, eight policies, 85 s\n  \
                  wakepath check --rate 1kHz --policy 'FIFO 80' --cpu 3\n  \
                  wakepath run pi5-250hz                a built-in experiment\n  \
                  wakepath run my-loop.toml --json > result.json\n  \
                  wakepath check --quick                an answer in twelve seconds of measuring\n  \
                  wakepath show                         the latest run; `wakepath runs` lists all",
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct CommandLine {
    /// How it prints.
    #[command(flatten)]
    pub printing: Printing,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure this machine's timing, idle and under load, with a verdict.
    Check(Check),
    /// Run a scenario: your own file, or a built-in one by name.
    Run(Run),
    /// Measure your own program, linked with the library, with a verdict.
    Record(Record),
    /// Find the highest rate this machine can sustain for a loop.
    Rate(Rate),
    /// List the runs here, the newest first.
    Runs(Runs),
    /// Show a run's verdict and summary (--histogram, --details).
    Show(Show),
    /// Write or open a run's report: one HTML file with all figures.
    Report(Report),
    /// Replay a run's timing through a simulated quadrotor.
    Fly(Fly),
    /// Bound a run's worst case, if the data allow it.
    Bound(Bound),
    /// Explain why cycles were late.
    Explain(Explain),
    /// Measure any running program, unchanged, and explain its late cycles.
    Watch(Watch),
    /// Start a program on given CPUs under a given policy.
    Exec(Exec),
    /// Check whether a set of tasks always meets its deadlines, overheads included.
    Schedulability(Schedulability),
    /// Compare runs: better, worse, equivalent or inconclusive.
    Compare(Compare),
    /// Write a run in another form: CSV, MCAP, JSON, OpenMetrics, Markdown or JUnit.
    Export(Export),
    /// Convert another tool's results into a run.
    Import(Import),
    /// Repair an interrupted run and list what was lost.
    Recover(Recover),
    /// Sign a run so that later changes can be detected.
    Seal(Seal),
    /// Verify a run's signature and that its files are unchanged.
    Verify(Verify),
    /// List, show and check scenarios.
    #[command(
        subcommand,
        after_help = "Examples:\n  \
                      wakepath scenario list\n  \
                      wakepath scenario show check > my-loop.toml\n  \
                      wakepath scenario check my-loop.toml\n  \
                      wakepath run my-loop.toml"
    )]
    Scenario(Scenario),
    /// Run a scenario on real kernels in virtual time, with the program wakepath-lab.
    #[command(disable_help_flag = true)]
    Lab {
        /// Its command and options; `wakepath lab --help` lists them.
        #[arg(
            value_name = "ARGUMENTS",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Repeat published experiments on this board, with the program wakepath-experiment.
    #[command(disable_help_flag = true)]
    Experiment {
        /// Its command and options; `wakepath experiment --help` lists them.
        #[arg(
            value_name = "ARGUMENTS",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        arguments: Vec<std::ffi::OsString>,
    },
    /// List the loads with the parts of the machine that each disturbs.
    Loads(Loads),
    /// Show which timing tiers a run meets, from an SPI line's 10 ns to a GPS's 200 ms.
    Tiers(Tiers),
    /// Describe this machine and your privileges on it.
    Machine(Machine),
    /// Diagnose this machine for real-time loops, with fixes.
    Doctor(Doctor),
    /// Plan, try, apply and revert changes to this machine for the loop.
    #[command(
        subcommand,
        after_help = "Examples:\n  \
                      wakepath tune plan --rate 1kHz --cpu 3\n  \
                      wakepath tune trial --rate 1kHz --cpu 3\n  \
                      wakepath tune apply --rate 1kHz --cpu 3\n  \
                      wakepath tune revert"
    )]
    Tune(Tune),
    /// Try one fix on your program, in turns without and with it.
    Try(Try),
    /// Show help for a command.
    Help {
        /// List every command.
        #[arg(short, long, conflicts_with = "command")]
        all: bool,
        /// The command, such as `check` or `tune trial`.
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Print completions for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Write the man pages.
    Man {
        /// Directory to write them to; it must exist.
        directory: PathBuf,
    },
    /// What wakepath starts itself as.
    #[command(hide = true, subcommand)]
    Internal(Internal),
}

impl Verb {
    /// Whether it does, or says whether it could do, what takes a capability. The others read,
    /// compute and start tools of the system.
    pub fn uses_capabilities(&self) -> bool {
        match self {
            Self::Check(_)
            | Self::Run(_)
            | Self::Record(_)
            | Self::Rate(_)
            | Self::Watch(_)
            | Self::Exec(_)
            | Self::Recover(_)
            | Self::Loads(_)
            | Self::Machine(_)
            | Self::Doctor(_)
            | Self::Tune(_)
            | Self::Try(_) => true,
            Self::Internal(process) => !matches!(process, Internal::Candidates { .. }),
            Self::Schedulability(_)
            | Self::Runs(_)
            | Self::Show(_)
            | Self::Report(_)
            | Self::Fly(_)
            | Self::Explain(_)
            | Self::Bound(_)
            | Self::Compare(_)
            | Self::Export(_)
            | Self::Import(_)
            | Self::Seal(_)
            | Self::Verify(_)
            | Self::Scenario(_)
            | Self::Tiers(_)
            | Self::Experiment { .. }
            | Self::Lab { .. }
            | Self::Help { .. }
            | Self::Completions { .. }
            | Self::Man { .. } => false,
        }
    }
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

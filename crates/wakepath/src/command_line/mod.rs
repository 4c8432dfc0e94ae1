//! The command line as data: one definition that help, completions and man pages come from. What a
//! verb does is in `verbs`.

mod analysis;
mod board_experiments;
mod evidence;
mod experiments;
mod internal;
mod laboratory;
mod machine;
mod measuring;
mod random_tasks;
mod recordings;
mod sweep;
mod tuning;

pub use analysis::*;
pub use board_experiments::*;
use clap::{Parser, Subcommand};
pub use evidence::*;
pub use experiments::*;
pub use internal::*;
pub use laboratory::*;
pub use machine::*;
pub use measuring::*;
pub use recordings::*;
use std::path::PathBuf;
pub use sweep::*;
pub use tuning::*;

/// Version with the commit that it was built from.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("WAKEPATH_COMMIT"),
    ")"
);

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
    about = "Finds out whether a periodic control loop keeps its timing on this Linux machine, under which \
             scheduling policy, idle and under load.",
    after_help = "Exit codes: 0 passed, 1 error or invalid run, 2 criterion not met, 3 undecided.\n\n\
                  Examples:\n  \
                  wakepath check                        a 250 Hz loop, eight policies, 85 s\n  \
                  wakepath check --rate 1kHz --policy 'FIFO 80' --cpu 3\n  \
                  wakepath run pi5-250hz                a built-in experiment\n  \
                  wakepath run my-loop.toml --json > result.json\n  \
                  wakepath check --quick                an answer in twelve seconds of measuring\n  \
                  wakepath show                         the latest run again; `wakepath runs` lists all",
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
    /// Measure a loop under the usual policies, idle and under load, and give a verdict.
    Check(Check),
    /// Run a scenario: a file, or a built-in one by name.
    Run(Run),
    /// Record the loops of a program of your own, idle and under load, and give a verdict.
    Record(Record),
    /// Find the highest rate that a loop keeps on this machine by its criterion.
    Rate(Rate),
    /// List the runs here: when, what, verdict, machine.
    Runs(Runs),
    /// Show a recorded run's answer; with `--details` everything, judged again.
    Show(Show),
    /// Write a recorded run's report: one HTML file with all figures.
    Report(Report),
    /// Fly a vehicle through a recorded run's instants.
    Fly(Fly),
    /// Bound the latency of a run beyond its largest value, or refuse and say why.
    Bound(Bound),
    /// Explain why the late cycles of a recorded run were late.
    Explain(Explain),
    /// Watch any program at work: its periods, its latencies, and what made it late.
    Watch(Watch),
    /// Start a program on the CPUs and under the policy you name, and show what took effect.
    Exec(Exec),
    /// Check whether a set of tasks always meets its deadlines, overheads included.
    Schedulability(Schedulability),
    /// Compare runs: what differs, and what got worse or better.
    Compare(Compare),
    /// Write a run in another form: CSV, MCAP, JSON, OpenMetrics, Markdown or JUnit.
    Export(Export),
    /// Turn what another tool measured into a run.
    Import(Import),
    /// Make an interrupted run readable and say what is missing.
    Recover(Recover),
    /// Seal a run: sign its files, so that any change, loss or addition shows.
    Seal(Seal),
    /// Check a run's seal: whose it is, and whether its files are still those that were sealed.
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
    /// Run a scenario on real kernels in virtual time, repeatable to the nanosecond.
    #[command(
        subcommand,
        after_help = "Examples:\n  \
                      wakepath lab run my-loop.toml --kernel debian:stock --kernel debian:rt\n  \
                      wakepath lab run my-loop.toml --kernel debian:rt --baseline latency.json\n  \
                      wakepath lab check latency.json --kernel ./bzImage"
    )]
    Lab(Lab),
    /// Repeat published experiments on this board, and set the figures beside the published ones.
    #[command(
        subcommand,
        after_help = "Examples:\n  \
                      wakepath experiment list\n  \
                      wakepath experiment run pi5-250hz --short\n  \
                      wakepath experiment page wakepath-runs/experiment-pi5-250hz"
    )]
    Experiment(Experiment),
    /// List the loads: what each disturbs, and whether it can run here.
    Loads(Loads),
    /// Say which timing tiers a run shows to be within reach, from an SPI line's 10 ns to a GPS's 200 ms.
    Tiers(Tiers),
    /// Show what this machine is and what this user may do on it.
    Machine(Machine),
    /// Check whether this machine is ready for the loop: what is bad, why, and what to do.
    Doctor(Doctor),
    /// Plan, apply and take back changes to this machine for the loop, and measure whether they help.
    #[command(
        subcommand,
        after_help = "Examples:\n  \
                      wakepath tune plan --rate 1kHz --cpu 3\n  \
                      wakepath tune trial --rate 1kHz --cpu 3\n  \
                      wakepath tune apply --rate 1kHz --cpu 3\n  \
                      wakepath tune revert"
    )]
    Tune(Tune),
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
            | Self::Experiment(_)
            | Self::Loads(_)
            | Self::Machine(_)
            | Self::Doctor(_)
            | Self::Tune(_)
            | Self::Internal(_) => true,
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
            | Self::Lab(_)
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

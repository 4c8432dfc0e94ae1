//! Words of the verbs that look at scenarios and at the machine, and the loop that they ask for.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// List, show and check scenarios.
#[derive(Debug, Subcommand)]
pub enum Scenario {
    /// List the built-in scenarios.
    List,
    /// Print a built-in scenario's file, to copy and change.
    #[command(
        after_help = "Exit codes: 0 printed, 1 there is none of this name.\n\nExample:\n  \
                            wakepath scenario show check > my-loop.toml"
    )]
    Show {
        /// Its name, as `wakepath scenario list` has it.
        #[arg(value_name = "SCENARIO")]
        name: String,
    },
    /// Check a scenario against its rules and this machine, and say how long it takes.
    #[command(
        after_help = "Exit codes: 0 right, 1 wrong: what, in which line, and what would be \
                            right.\n\nExamples:\n  \
                            wakepath scenario check my-loop.toml\n  \
                            wakepath scenario check pi5-250hz"
    )]
    Check {
        /// A file, or the name of a built-in scenario.
        scenario: String,
    },
    /// Print a scenario with a random task set of LITMUS^RT, by plugin and utilization.
    Tasks(super::random_tasks::RandomTasks),
    /// Print the JSON Schema of scenario files, for editors.
    #[command(after_help = "Example:\n  wakepath scenario schema > scenario.schema.json")]
    Schema,
}

/// List the loads with the parts of the machine that each disturbs.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 listed, 1 error.\n\nExamples:\n  \
                        wakepath loads\n  \
                        wakepath loads --json")]
pub struct Loads {
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Say which timing tiers a run shows to be within reach: BeaglePilot's, from an SPI line's 10 ns to a
/// GPS's 200 ms. A tier needs a loop that is awake within a tenth of it and done within it, but for 0.5 % of
/// the due times, with 95 % confidence.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 every tier that a thread can reach is reached, 1 error, 2 one is not, 3 undecided.\n\n\
                        Examples:\n  \
                        wakepath check --rate 1kHz && wakepath tiers\n  \
                        wakepath tiers --all\n  \
                        wakepath tiers @3 --json\n  \
                        wakepath tiers --drive gpiochip0:17 --read gpiochip0:27\n  \
                        wakepath tiers --drive gpiochip0:17 --read gpiochip0:27 --cpu 1"
)]
pub struct Tiers {
    /// The run: its directory, its number or a part of its name [default: the latest].
    pub run: Option<PathBuf>,
    /// Print each policy in each tier, with its reason.
    #[arg(short, long, conflicts_with = "json")]
    pub all: bool,
    /// GPIO line to drive, as `gpiochip0:17`.
    #[arg(long, value_name = "CHIP:LINE")]
    pub drive: Option<String>,
    /// GPIO line that it is wired to, as `gpiochip0:27`: there the edges are seen.
    #[arg(long, value_name = "CHIP:LINE")]
    pub read: Option<String>,
    /// Policy that the line is driven under, such as 'FIFO 80' [default: the run's that serves the tier of
    /// 1 ms best].
    #[arg(long, value_name = "POLICY", requires = "drive")]
    pub policy: Option<String>,
    /// CPU that it is driven on [default: the run's loop's].
    #[arg(long, value_name = "CPU", requires = "drive", value_parser = super::one_cpu)]
    pub cpu: Option<u16>,
    /// Edges of each half period; at least 598 on time are needed to reach a tier, and beyond 1024 some can be
    /// dropped.
    #[arg(long, value_name = "NUMBER", default_value_t = 1000, requires = "drive",
        value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub edges: u32,
    /// As root, allow a directory that another user owns or can write to.
    #[arg(long, requires = "drive")]
    pub trust_directory: bool,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Show this machine's facts and your rights on it.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 shown, 1 error.\n\nExamples:\n  \
                        wakepath machine\n  \
                        wakepath machine --json > machine.json")]
pub struct Machine {
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Diagnose this machine for real-time loops, with fixes.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 no serious problem, 1 error, 2 a serious problem (with --against: \
                        something changed), 3 none found, but a check that could be critical is unknown.\n\nExamples:\n  \
                        wakepath doctor --rate 1kHz --cpu 1\n  \
                        wakepath doctor --explain F3\n  \
                        wakepath doctor --against wakepath-runs/check-20260101T120000Z"
)]
pub struct Doctor {
    /// The loop.
    #[command(flatten)]
    pub subject: Subject,
    /// Print all checks, with source, reason and fix.
    #[arg(short, long, conflicts_with_all = ["explain", "against", "json"])]
    pub all: bool,
    /// Print everything about one check, such as `F3`.
    #[arg(long, value_name = "ID", conflicts_with = "against")]
    pub explain: Option<String>,
    /// Show what changed on this machine since a run that passed [default: the latest].
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "@1")]
    pub against: Option<PathBuf>,
    /// Read a recorded tree of /proc and /sys instead of this machine.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The loop that a machine is inspected or tuned for.
#[derive(Debug, Args)]
pub struct Subject {
    /// Rate of the loop, as for `check` [default: 250Hz].
    #[arg(short, long, value_name = "RATE", conflicts_with = "scenario")]
    pub rate: Option<String>,
    /// Scenario with the loop: a file or a built-in name.
    #[arg(long, value_name = "SCENARIO")]
    pub scenario: Option<String>,
    /// CPU of the loop [default: the scenario's or `check`'s].
    #[arg(short, long, value_name = "CPU", value_parser = super::one_cpu)]
    pub cpu: Option<u16>,
    /// Program with the loop, by name or process number.
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<String>,
}

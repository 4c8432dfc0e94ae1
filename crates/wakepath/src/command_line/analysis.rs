//! Words of the verb that analyses task sets.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Say whether a set of tasks always meets its deadlines: a bound on each response time by the
/// published analyses, with the overheads that a recorded run measured.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 schedulable, 1 error, 2 not schedulable, 3 not provable by the tests at hand.

A set by hand:
  policy = \"P-FP\"          # SCHED_FIFO, threads pinned; or G-FP, P-EDF, G-EDF, C-EDF

  [[tasks]]
  name = \"imu\"
  execution = \"3 ms\"       # the most CPU time of a job, without interrupts
  period = \"7 ms\"
  priority = 3             # the greater number first

Examples:
  wakepath schedulability tasks.toml
  wakepath schedulability tasks.toml --overheads wakepath-runs/check-20260101T120000Z
  wakepath schedulability tasks.toml --assign worst --output placed.toml
  wakepath schedulability tasks.toml --json | jq '.tasks[] | {name, response_ns}'")]
pub struct Schedulability {
    /// The task set.
    #[arg(value_name = "TASKS.toml")]
    pub tasks: PathBuf,
    /// A traced run of this machine whose overheads are put in; several, with different numbers of
    /// threads, are interpolated [default: those in the file, else none, and the answer says so].
    #[arg(long, value_name = "RUN")]
    pub overheads: Vec<PathBuf>,
    /// Which of the observed overheads counts.
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = TakenWord::Max)]
    pub taken: TakenWord,
    /// Find CPUs, and priorities under P-FP, for tasks that have none: put each on the first CPU
    /// on which it fits, the fullest (best) or the emptiest (worst).
    #[arg(long, value_name = "FIT", value_enum)]
    pub assign: Option<FitWord>,
    /// Write the task set with what was found.
    #[arg(long, value_name = "FILE", requires = "assign")]
    pub output: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Which value of an overhead's distribution counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TakenWord {
    /// The largest observed.
    Max,
    /// The 99.9th percentile.
    #[value(name = "p99.9")]
    P999,
    /// The 99th percentile.
    P99,
    /// The median.
    Median,
}

/// Which of the CPUs on which a task fits is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FitWord {
    /// The first.
    First,
    /// The fullest.
    Best,
    /// The emptiest.
    Worst,
}

//! Words of the verb that analyses task sets.

use super::SchedulabilitySweep;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Say whether a set of tasks always meets its deadlines: a bound on each response time by the
/// published analyses, with the overheads that a recorded run measured.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(
    after_help = "\
Exit codes: 0 schedulable, 1 error, 2 not schedulable, 3 not provable by the tests at hand.

Examples:
  wakepath schedulability tasks.toml
  wakepath schedulability tasks.toml --overheads wakepath-runs/check-1
  wakepath schedulability --from wakepath-runs/watch-1 --output tasks.toml",
    after_long_help = "\
Exit codes: 0 schedulable, 1 error, 2 not schedulable, 3 not provable by the tests at hand.

A set by hand:
  policy = \"P-FP\"          # SCHED_FIFO, threads pinned; or G-FP, P-EDF, G-EDF, C-EDF,
                           # SCHED_DEADLINE

  [[tasks]]
  name = \"imu\"
  execution = \"3 ms\"       # the most CPU time of a job, without interrupts
  period = \"7 ms\"
  priority = 3             # the greater number first

Examples:
  wakepath schedulability tasks.toml
  wakepath schedulability tasks.toml --overheads wakepath-runs/check-1
  wakepath schedulability --from wakepath-runs/watch-1 --output tasks.toml
  wakepath schedulability tasks.toml --machine wakepath-runs/check-1
  wakepath schedulability tasks.toml --assign worst --output placed.toml
  wakepath schedulability tasks.toml --json | jq '.tasks[].response_ns'"
)]
pub struct Schedulability {
    /// Something else than the answer for one set.
    #[command(subcommand)]
    pub experiment: Option<SchedulabilityExperiment>,
    /// The task set: its own file, a scenario with tasks, or a table of tasks that share one loop.
    #[arg(value_name = "TASKS.toml", required_unless_present = "from")]
    pub tasks: Option<PathBuf>,
    /// A recorded or watched run whose threads become the task set, as measured; the answer names
    /// every guess.
    #[arg(long, value_name = "RUN", conflicts_with = "tasks")]
    pub from: Option<PathBuf>,
    /// With --from: which quantile of the observed execution times counts, such as 0.9999
    /// [default: the largest].
    #[arg(hide_short_help = true, long, value_name = "QUANTILE", requires = "from", value_parser = between_0_and_1)]
    pub execution_quantile: Option<f64>,
    /// With --execution-quantile: take its upper bound with this confidence, such as 0.95.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "PROBABILITY",
        requires = "execution_quantile",
        value_parser = between_0_and_1
    )]
    pub execution_confidence: Option<f64>,
    /// A run on the tasks' machine: its CPUs, kernel and, if traced, overheads.
    #[arg(long, value_name = "RUN")]
    pub machine: Option<PathBuf>,
    /// Allow overheads from a machine other than the tasks' own.
    #[arg(hide_short_help = true, long)]
    pub other_machine: bool,
    /// A traced run or a run of cache-delay on this machine: its overheads are added (repeatable).
    #[arg(
        long,
        value_name = "RUN",
        long_help = "A traced run on this machine whose overheads to add, or a run of cache-delay; several with \
        different numbers of threads are interpolated [default: those in the file; the answer reports if there are none]"
    )]
    pub overheads: Vec<PathBuf>,
    /// Which of the observed overheads counts.
    #[arg(hide_short_help = true, long, value_name = "WHICH", value_enum, default_value_t = TakenWord::Max)]
    pub taken: TakenWord,
    /// Take only the overheads of this phase, such as idle or stress [default: all phases together].
    #[arg(hide_short_help = true, long, value_name = "PHASE")]
    pub overheads_phase: Option<String>,
    /// Find CPUs, and priorities under P-FP, for tasks that have none: put each on the first CPU
    /// on which it fits, the fullest (best) or the emptiest (worst).
    #[arg(long, value_name = "FIT", value_enum)]
    pub assign: Option<FitWord>,
    /// Write the task set with what was found or taken from a run.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write a scenario that carries the set out: `wakepath run` then measures what was promised, and
    /// compares each response with its bound.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// Write a systemd drop-in for each task (NAME.service.d/wakepath.conf) that gives its service
    /// priority and CPUs.
    #[arg(hide_short_help = true, long, value_name = "DIRECTORY")]
    pub units: Option<PathBuf>,
    /// Write the answer as one HTML file, with each task's worst window drawn.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

fn between_0_and_1(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("give a number between 0 and 1, such as 0.9999".into()),
    }
}

/// Questions about many task sets.
#[derive(Debug, Subcommand)]
pub enum SchedulabilityExperiment {
    /// Show what share of random task sets is schedulable at each utilization.
    Sweep(SchedulabilitySweep),
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

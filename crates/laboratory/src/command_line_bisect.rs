//! Command line of `wakepath lab bisect`.

use super::command_line::{LabEach, LabHost};
use clap::Args;
use std::path::PathBuf;

/// Find which kernel in a series lengthened a latency's path, and through which functions.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 found, 1 error, 3 nothing grew, or a kernel could not be measured.\n\n\
                  Example:\n  \
                  wakepath lab bisect my-loop.toml --good ./1 --bad debian:stock --directory b",
    after_long_help = "The kernels are a row, from good to bad: packages, files, or one kernel with other \
                  parameters each ('debian:stock preempt=none'). Both ends are measured, then the row is \
                  halved. Each kernel runs with several seeds: it is bad if more than half of them are \
                  nearer to the median of the bad end, and the ends must differ by an exact rank test \
                  over the seeds (p ≤ 5 %). At last the worst cycles on either side are compared \
                  function by function. Resume an interrupted bisection with the same \
                  command.\n\nExit codes: 0 found, 1 error, 3 nothing grew \
                  from the first to the last, or a kernel that could not be measured leaves it \
                  open.\n\nExamples:\n  \
                  wakepath lab bisect my-loop.toml --kernel ./1 --kernel ./2 --directory b\n  \
                  wakepath lab bisect my-loop.toml --good ./1 --bad debian:stock --directory b"
)]
pub struct LabBisect {
    /// A file, or the name of a built-in scenario (see `wakepath scenario list`).
    pub scenario: String,
    /// Last good kernel: the first of the series [default: the first --kernel].
    #[arg(long, value_name = "KERNEL")]
    pub good: Option<String>,
    /// Kernel between the two, in their order, as for `lab run` (repeatable).
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Vec<String>,
    /// Bad kernel: the last of the series [default: the last --kernel].
    #[arg(long, value_name = "KERNEL")]
    pub bad: Option<String>,
    /// Figure to compare; wake-up latencies cover the cycles that ran, as scheduled also the skipped due
    /// times.
    #[arg(hide_short_help = true, long, value_name = "COUNT", default_value = "latency-of-wake-ups-max", value_parser = ["latency-of-wake-ups-max", "latency-of-wake-ups-p99", "latency-of-wake-ups-median", "latency-as-scheduled-max", "latency-as-scheduled-p99", "response-max"])]
    pub count: String,
    /// Condition to compare it in, such as 'FIFO 80, stress' [default: the one in which it grew most].
    #[arg(hide_short_help = true, long, value_name = "CONDITION")]
    pub condition: Option<String>,
    /// Seed of every random number: each kernel is measured with each of at least three.
    #[arg(long, value_name = "NUMBER", default_values_t = [1, 2, 3])]
    pub seed: Vec<u64>,
    /// Memory, speed and first commands of each guest.
    #[command(flatten)]
    pub each: LabEach,
    /// Programs that run the guests.
    #[command(flatten)]
    pub host: LabHost,
    /// Directory of the runs and of the state between two starts.
    #[arg(long, value_name = "DIR")]
    pub directory: PathBuf,
}

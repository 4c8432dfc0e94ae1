//! Words of the verbs that measure loops: `check`, `run`, `rate`, `record`.

use super::{CriterionOptions, Live};
use clap::Args;
use std::path::PathBuf;
use wakepath_console::run_order::RunOrder;

/// Measure a loop under the usual policies, idle and under load, and give a verdict.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 passed, 1 error or invalid run, 2 criterion not met, 3 \
                        undecided.\n\nExamples:\n  \
                        wakepath check --quick\n  \
                        wakepath check --latency 100us --miss-fraction '0.1 %'\n  \
                        wakepath check --duration 10min --cpu 1\n  \
                        wakepath check --rate 1kHz --policy 'FIFO 80' --policy 'OTHER nice -19'"
)]
pub struct Check {
    /// Rate of the loop, such as `1kHz`.
    #[arg(short, long, value_name = "RATE", default_value = "250Hz")]
    pub rate: String,
    /// Time for the whole run, such as `100s` or `10min` [default: 85s; with --trace 200s].
    #[arg(short, long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Twelve seconds of measuring: an ordinary and a real-time policy, enough to decide, not to rely on.
    #[arg(
        long,
        conflicts_with = "duration",
        long_help = "Twelve seconds of measuring instead of --duration, 24 with --trace: one ordinary \
        and one real-time policy (or those of --policy), each idle and under load, once. Enough for a \
        verdict by the criterion at 250 Hz and above, but too short to catch rare stalls"
    )]
    pub quick: bool,
    /// CPU to run the loop on [default: the highest isolated CPU, else the highest].
    #[arg(short, long, value_name = "CPU", value_parser = super::one_cpu)]
    pub cpu: Option<u16>,
    /// Policy to measure instead of the eight (repeatable).
    #[arg(
        short,
        long,
        value_name = "POLICY",
        long_help = "Policy to measure instead of the eight; repeatable: 'OTHER nice -5', 'BATCH nice 0', IDLE, 'FIFO 80', 'RR 50', \
        'DEADLINE 400us' (its runtime in each period)"
    )]
    pub policy: Vec<String>,
    /// Also run a traced pass, to explain late cycles.
    #[arg(
        long,
        long_help = "Also run a traced pass of every condition, so that late cycles can be explained. \
        Only untraced cycles are judged; --duration covers both passes. Requires root or access to tracefs"
    )]
    pub trace: bool,
    /// Replay the timing through a simulated quadrotor too, and judge its flight.
    #[arg(hide_short_help = true, long)]
    pub flight: bool,
    /// The limits.
    #[command(flatten)]
    pub limits: CriterionOptions,
    /// How to show and where to put it.
    #[command(flatten)]
    pub output: Output,
}

/// Run a scenario.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 passed, 1 error or invalid run, 2 criterion not met, 3 \
                        undecided.\n\nExamples:\n  \
                        wakepath run pi5-250hz\n  \
                        wakepath run my-loop.toml --rate 1kHz --policy 'FIFO 80'\n  \
                        wakepath run my-loop.toml --directory results/monday\n  \
                        wakepath run my-loop.toml --for 5h33m --keep 4GiB --directory nightly\n  \
                        wakepath run --resume --directory nightly"
)]
pub struct Run {
    /// A file, or a built-in name (see `wakepath scenario list`).
    #[arg(required_unless_present = "resume")]
    pub scenario: Option<String>,
    /// Scale the whole run to this time, such as `60s`.
    #[arg(short, long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Another rate of its loop, such as `1kHz`.
    #[arg(
        short,
        long,
        value_name = "RATE",
        long_help = "Another rate of its loop, such as `1kHz`; limits in periods follow it"
    )]
    pub rate: Option<String>,
    /// Another CPU of its loop.
    #[arg(short, long, value_name = "CPU", value_parser = super::one_cpu)]
    pub cpu: Option<u16>,
    /// Task that --rate and --cpu change, where the scenario has several.
    #[arg(hide_short_help = true, long, value_name = "NAME")]
    pub task: Option<String>,
    /// Policy instead of the scenario's (repeatable).
    #[arg(short, long, value_name = "POLICY")]
    pub policy: Vec<String>,
    /// Also run a traced pass, as `trace = true` does.
    #[arg(long)]
    pub trace: bool,
    /// Unattended, for this time in all, such as `5h33m`: in rounds, with bounded memory and disk.
    #[arg(
        long = "for",
        value_name = "TIME",
        conflicts_with_all = ["duration", "stop_above"],
        long_help = "Unattended, for this time in all, such as `5h33m`. The scenario is measured in rounds, each a run \
        of its own. Counts, a histogram for each minute and the worst cycles of all rounds stay; of the samples those \
        of the last rounds. All rounds together are judged. Ctrl-C, a power cut or a reboot loses only the current round; \
        resume with --resume"
    )]
    pub whole: Option<String>,
    /// With --for: maximum length of a round.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "TIME",
        default_value = "10min",
        requires = "whole"
    )]
    pub round: String,
    /// With --for: disk space for samples; the oldest are deleted first.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "SIZE",
        default_value = "2GiB",
        requires = "whole"
    )]
    pub keep: String,
    /// With --for: number of worst cycles to keep for each condition.
    #[arg(hide_short_help = true, long, value_name = "COUNT", default_value_t = 100, requires = "whole",
          value_parser = clap::value_parser!(u16).range(..=1000))]
    pub worst: u16,
    /// Resume interrupted rounds [default: the latest].
    #[arg(
        long,
        conflicts_with_all = [
            "scenario", "whole", "duration", "rate", "cpu", "task", "policy", "trace", "stop_above", "latency",
            "miss_fraction", "criterion",
        ]
    )]
    pub resume: bool,
    /// The limits.
    #[command(flatten)]
    pub limits: CriterionOptions,
    /// How to show and where to put it.
    #[command(flatten)]
    pub output: Output,
}

/// Find the highest rate this machine can sustain for a loop, idle and under load: the loop of
/// `check` under one policy, or a scenario's. The search bisects; each step is a run.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 found, 1 error, \
                        2 not even the lowest rate is kept, 3 the rate above the answer is undecided.\n\nExamples:\n  \
                        wakepath rate\n  \
                        wakepath rate my-loop.toml --to 5kHz\n  \
                        wakepath rate my-tasks.toml --task control\n  \
                        wakepath rate --policy 'FIFO 80' --cpu 1 --from 500Hz --to 10kHz --block 60s")]
pub struct Rate {
    /// Scenario: a file or a built-in name [default: the loop of `check`].
    pub scenario: Option<String>,
    /// Task to search for, where the scenario has several; the others keep their rates.
    #[arg(long, value_name = "NAME", requires = "scenario")]
    pub task: Option<String>,
    /// Policy of the loop [default: FIFO 80, or the scenario's].
    #[arg(short, long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// CPU to run the loop on [default: the highest isolated CPU, else the highest].
    #[arg(short, long, value_name = "CPU", value_parser = super::one_cpu)]
    pub cpu: Option<u16>,
    /// Lowest rate to try.
    #[arg(long, value_name = "RATE", default_value = "100Hz")]
    pub from: String,
    /// Highest rate to try.
    #[arg(long, value_name = "RATE", default_value = "20kHz")]
    pub to: String,
    /// Time for each rate, idle and loaded.
    #[arg(long, value_name = "TIME", default_value = "20s")]
    pub block: String,
    /// The limits.
    #[command(flatten)]
    pub limits: CriterionOptions,
    /// Directory of the runs; those that are there already are not measured again [default:
    /// wakepath-runs/rate-TIME].
    #[arg(short = 'o', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// How to show it.
    #[command(flatten)]
    pub live: Live,
}

/// Record the loops of your own program, linked with the library, idle and under load. Its samples reach
/// wakepath's recorder through shared memory and are judged like any other run.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 passed, 1 error or invalid run, \
                        2 criterion not met, 3 undecided.\n\nExamples:\n  \
                        wakepath record -- ./my-loop\n  \
                        wakepath record --latency 200us --miss-fraction 0.1% -- ./my-loop --fast\n  \
                        wakepath record --policy OTHER --policy 'FIFO 80' --cpu 1 -- ./my-loop\n  \
                        wakepath record --idle --trace --duration 60s -- ./my-loop\n  \
                        wakepath record --service runs --keep 2GiB --metrics 9464 -- ./my-loop")]
pub struct Record {
    /// The limits.
    #[command(flatten)]
    pub limits: CriterionOptions,
    /// Policy instead of the program's own (repeatable).
    #[arg(short, long, value_name = "POLICY")]
    pub policy: Vec<String>,
    /// CPU of the loops [default: the program's own].
    #[arg(short, long, value_name = "CPU", value_parser = super::one_cpu)]
    pub cpu: Option<u16>,
    /// Time for the whole run.
    #[arg(short, long, value_name = "TIME", default_value = "60s")]
    pub duration: String,
    /// Without load.
    #[arg(long, conflicts_with = "loads")]
    pub idle: bool,
    /// Phases and loads of this scenario.
    #[arg(
        long,
        long_help = "Go through the phases of this scenario, with their loads: a file or a built-in name",
        value_name = "SCENARIO",
        default_value = "check"
    )]
    pub loads: String,
    /// Also run a traced pass, to explain late cycles.
    #[arg(
        long,
        long_help = "Measure everything once more with kernel events recorded, so that late cycles can be explained. \
        With --service: record the kernel's events into a ring while the loops run, and keep those \
        around the worst cycles; all latencies then include the cost of tracing"
    )]
    pub trace: bool,
    /// In the field: start a recorder that runs for as long as the program, and become the program.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = [
            "policy", "cpu", "duration", "idle", "loads", "directory", "stop_above", "details", "json", "no_tui",
        ],
        long_help = "In the field: start the recorder and become the program, with the same process number, as a \
        service's ExecStart. The recorder runs for as long as the program and writes into this directory: all \
        samples of the last hours, as runs; the worst cycles (kept indefinitely); a histogram for each minute. \
        Restarting the service continues in the same directory. `wakepath show DIR` shows the result"
    )]
    pub service: Option<PathBuf>,
    /// With --service: disk space for samples; the oldest are deleted first.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "SIZE",
        default_value = "2GiB",
        requires = "service"
    )]
    pub keep: String,
    /// With --service: number of worst cycles to keep for each loop.
    #[arg(hide_short_help = true, long, value_name = "COUNT", default_value_t = 100, requires = "service",
          value_parser = clap::value_parser!(u16).range(..=1000))]
    pub worst: u16,
    /// How to show and where to put it.
    #[command(flatten)]
    pub output: Output,
    /// The program and its arguments, after `--`.
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    pub command: Vec<std::ffi::OsString>,
}

/// How to show a run and where to put it.
#[derive(Debug, Args)]
pub struct Output {
    /// Run directory; must be empty or not exist [default: wakepath-runs/NAME-TIME].
    #[arg(short = 'o', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// As root, allow a directory that another user owns or can write to.
    #[arg(hide_short_help = true, long)]
    pub trust_directory: bool,
    /// Stop at the first wake-up latency above this, such as `200us`, and explain it.
    #[arg(
        long,
        value_name = "TIME",
        conflicts_with = "details",
        long_help = "Stop at the first wake-up latency above this time, such as `200us`, keep its \
        trace and explain it. All cycles are traced, so only this limit is judged: exit code 0 if no latency \
        exceeded it, 2 if one did, 3 if the run was interrupted. Requires root or access to tracefs"
    )]
    pub stop_above: Option<String>,
    /// On a kernel with LITMUS^RT, make each policy's plugin active while it is measured, and put back what was
    /// active.
    #[arg(hide_short_help = true, long)]
    pub switch_plugin: bool,
    /// Print everything: all figures of all conditions, every reason and caution.
    #[arg(hide_short_help = true, long, conflicts_with = "json")]
    pub details: bool,
    /// How to show it while it runs.
    #[command(flatten)]
    pub live: Live,
    /// The order, if a larger measurement gave it.
    #[arg(skip)]
    pub order: Option<Box<RunOrder>>,
}

impl Output {
    /// Of a run that is ordered: nothing but the live view is shown.
    pub fn of_a_part(order: RunOrder) -> Self {
        Self {
            directory: Some(order.run.directory.clone()),
            trust_directory: order.run.trust_directory,
            stop_above: None,
            switch_plugin: false,
            details: false,
            live: Live {
                json: true,
                no_tui: !order.part.is_shown,
                metrics: order.run.metrics.clone(),
            },
            order: Some(Box::new(order)),
        }
    }
}

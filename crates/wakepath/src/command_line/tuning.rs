//! Words of `tune`: plan, apply, trial, boot, unit.

use super::{CriterionOptions, Subject};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Plan, try, apply and revert changes to this machine for the loop.
#[derive(Debug, Subcommand)]
pub enum Tune {
    /// Show what to change and at what cost (--all: why, how to undo it, commands). Changes nothing.
    Plan(TunePlanShown),
    /// Apply the changes that need no reboot; a journal lets you revert them.
    Apply(TuneApply),
    /// Revert what `apply` changed, unless it was changed again since.
    #[command(
        after_help = "Exit codes: 0 all is as before, or nothing was applied; 1 error, or something \
                            could not be taken back.\n\nExample:\n  \
                            wakepath tune revert"
    )]
    Revert(TunePlace),
    /// Show what is applied and whether it is still in effect.
    #[command(
        after_help = "Exit codes: 0 all of it is in effect, or nothing is applied; 1 error; 2 \
                            something is not in effect.\n\nExample:\n  \
                            wakepath tune status"
    )]
    Status(TunePlace),
    /// Measure each step of the plan with and without it; revert what does not help.
    Trial(TuneTrial),
    /// Prepare a second boot entry with the plan's parameters, to be tried once.
    Boot(TuneBoot),
    /// Print a drop-in for the systemd unit of the loop's program.
    Unit(TuneUnit),
}

/// The loop of the plan.
#[derive(Debug, Args)]
pub struct TunePlan {
    /// The loop.
    #[command(flatten)]
    pub subject: Subject,
    /// Switch real-time throttling and the fair server off too: a loop that spins then locks up
    /// its CPU.
    #[arg(long)]
    pub no_throttling: bool,
    /// Plan for a tree of /proc and /sys instead of this machine.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Show a plan.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 shown, 1 error.\n\nExamples:\n  \
                        wakepath tune plan --rate 1kHz --cpu 1\n  \
                        wakepath tune plan --dry-run")]
pub struct TunePlanShown {
    /// The plan.
    #[command(flatten)]
    pub plan: TunePlan,
    /// Print everything: reasons, effects, costs, how to undo each step, and the commands.
    #[arg(short, long, conflicts_with_all = ["json", "dry_run"])]
    pub all: bool,
    /// Print the commands alone, step by step, as `apply --dry-run` does.
    #[arg(long, conflicts_with = "json")]
    pub dry_run: bool,
}

/// Carry out a plan.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 applied, 1 error (everything is taken back), 3 applied, but the \
                        kernel refused some changes.\n\nExamples:\n  \
                        wakepath tune plan --rate 1kHz --cpu 1\n  \
                        wakepath tune apply --rate 1kHz --cpu 1\n  \
                        wakepath tune revert"
)]
pub struct TuneApply {
    /// The plan.
    #[command(flatten)]
    pub plan: TunePlan,
    /// Only these steps, by name (repeatable).
    #[arg(long, value_name = "STEP")]
    pub step: Vec<String>,
    /// Don't ask.
    #[arg(long)]
    pub yes: bool,
    /// Show what would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Continue even if other programs (such as tuned) manage the same settings.
    #[arg(long)]
    pub despite_rivals: bool,
}

/// Where something was applied.
#[derive(Debug, Args)]
pub struct TunePlace {
    /// The tree that was tuned instead of this machine.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Measure what the plan's steps do.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 carried out, 1 error. Each run's own verdict is in the table.\n\n\
                        Example:\n  \
                        wakepath tune trial --rate 1kHz --cpu 1 --pairs 5 --block 60s"
)]
pub struct TuneTrial {
    /// The plan.
    #[command(flatten)]
    pub plan: TunePlan,
    /// Policy of the measured loop, if no scenario is given.
    #[arg(long, value_name = "POLICY", default_value = "FIFO 80")]
    pub policy: String,
    /// Only these steps, by name (repeatable).
    #[arg(long, value_name = "STEP")]
    pub step: Vec<String>,
    /// Pairs of runs for each step.
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub pairs: u32,
    /// Time for each run.
    #[arg(long, value_name = "TIME", default_value = "20s")]
    pub block: String,
    /// Directory of the runs.
    #[arg(long, value_name = "DIR", default_value = "wakepath-runs/trial")]
    pub directory: PathBuf,
    /// Print each step's reason and cost too.
    #[arg(short, long, conflicts_with = "json")]
    pub all: bool,
    /// The limits of the loop.
    #[command(flatten)]
    pub limits: CriterionOptions,
    /// Keep the steps that help.
    #[arg(long)]
    pub keep: bool,
    /// Don't ask.
    #[arg(long)]
    pub yes: bool,
}

/// Try one fix on your program: it runs in turns without and with the fix and is watched as `wakepath watch`
/// does. Nothing of the fix stays. Requires root or access to tracefs.
#[derive(Debug, Args)]
#[command(
    after_help = "Fixes: policy='FIFO 80'; cpu=1; slack (timer slack of 1 ns); malloc (glibc keeps its memory); \
                  rtprio=99, memlock=unlimited, rttime=unlimited (limits); FILE=VALUE, a file below /proc or /sys, such as \
                  /sys/fs/cgroup/robot/cpu.max=max\n\n\
                  Exit codes: 0 it helped, 1 error, 2 it did not help, 3 undecided.\n\nExamples:\n  \
                  wakepath try policy='FIFO 80' -- ./controller --fast\n  \
                  wakepath try malloc --for 10s --pairs 6 -- ./controller\n  \
                  wakepath try /proc/irq/24/smp_affinity_list=0 -- ./controller"
)]
pub struct Try {
    /// The fix, as `watch` and `explain` print it next to a cause.
    pub fix: String,
    /// Time for each turn.
    #[arg(long = "for", value_name = "TIME", default_value = "5s")]
    pub block: String,
    /// Pairs of turns, without and with.
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=100))]
    pub pairs: u32,
    /// The loop's thread [default: the most urgent one with a period].
    #[arg(long, value_name = "NAME")]
    pub thread: Option<String>,
    /// Directory of the runs; must be empty or not exist [default: wakepath-runs/try-TIME].
    #[arg(short = 'o', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// The program and its arguments, after `--`.
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    pub command: Vec<std::ffi::OsString>,
}

/// Prepare a second boot entry.
#[derive(Debug, Args)]
#[command(
    after_help = "The working entry stays as it is.\n\nExit codes: 0 prepared or removed, 1 error.\n\n\
                  Examples:\n  \
                  wakepath tune boot --rate 1kHz --cpu 1 --dry-run\n  \
                  wakepath tune boot --remove"
)]
pub struct TuneBoot {
    /// The plan.
    #[command(flatten)]
    pub plan: TunePlan,
    /// Remove the prepared entry.
    #[arg(long)]
    pub remove: bool,
    /// Don't ask.
    #[arg(long)]
    pub yes: bool,
    /// Show what would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// A drop-in for a unit.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 printed, 1 error.\n\nExample:\n  \
                        wakepath tune unit flyer.service --cpu 1 --policy 'FIFO 80'")]
pub struct TuneUnit {
    /// The unit, such as `flyer.service`.
    pub unit: String,
    /// CPU of the loop [default: as for `check`].
    #[arg(long, value_name = "CPU", value_parser = super::one_cpu)]
    pub cpu: Option<u16>,
    /// Policy of the loop, such as 'FIFO 80'; the unit's whole program gets it.
    #[arg(long, value_name = "POLICY", default_value = "FIFO 80")]
    pub policy: String,
}

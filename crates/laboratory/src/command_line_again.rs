//! Command line of the verbs that repeat a run and look into it: `window`, `sections`, `costs`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;
use wakepath_lab::cost::MODELS;

/// The cores with a cost model.
fn cost_models() -> PossibleValuesParser {
    PossibleValuesParser::new(MODELS.iter().map(|model| model.name))
}

/// Repeat a run and show which instructions its worst latencies consist of.
#[derive(Debug, Args)]
#[command(
    after_help = "The same guest is run again, with the emulator noting what it executes; nothing is \
                  added to the guest, and its samples must be the same to the nanosecond. The result \
                  is kept in the run directory (windows.json, and a .folded file for each \
                  window, for flamegraph.pl or speedscope); `wakepath report RUN` then draws it as \
                  flame graphs.\n\nExit codes: 0 found, 1 error.\n\nExamples:\n  \
                  wakepath lab window wakepath-runs/lab-1/debian-stock\n  \
                  wakepath lab window wakepath-runs/lab-1/debian-rt --cycle 3:217"
)]
pub struct LabWindow {
    /// Run directory of a guest of the laboratory, with one CPU.
    pub run: PathBuf,
    /// Cycle to examine, as SEGMENT:CYCLE (repeatable) [default: the worst of each condition].
    #[arg(long, value_name = "SEGMENT:CYCLE")]
    pub cycle: Vec<String>,
    /// Number of worst cycles of each condition.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, conflicts_with = "cycle", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub worst: u16,
    /// The repeated run.
    #[command(flatten)]
    pub again: LabAgain,
    /// Print the windows as JSON.
    #[arg(long)]
    pub json: bool,
}

/// A run to repeat.
#[derive(Debug, Args)]
pub struct LabAgain {
    /// The run's kernel, if it is no longer available by its former name.
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Option<String>,
    /// Wakepath that made the run in the guest [default: this one].
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// The emulator's program [default: the installed QEMU].
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub emulator: Option<PathBuf>,
    /// Longest time of the guest on this host, such as `10min` [default: by its work].
    #[arg(hide_short_help = true, long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// As root, allow a directory that another user owns or can write to.
    #[arg(hide_short_help = true, long)]
    pub trust_directory: bool,
}

/// Repeat a run and list every section of kernel code that could have delayed its loop.
#[derive(Debug, Args)]
#[command(
    after_help = "The same guest is run again, with the emulator noting where preemption and interrupts \
                  go off and on; nothing is added to the guest, and its samples must be the same to the \
                  nanosecond. For each condition under a real-time policy: the longest sections with \
                  their call stacks, the latency that a wake-up due at any instant would have had, and \
                  the bound that the sections compose. What `wakepath bound --sections` reads is left \
                  in the run directory (sections-CONDITION-PHASE.toml).\n\nExit codes: 0 sampled ≤ due \
                  at any instant ≤ bound, 1 error, 2 one of these does not hold.\n\nExamples:\n  \
                  wakepath lab sections wakepath-runs/lab-1/debian-rt\n  \
                  wakepath lab sections wakepath-runs/lab-1/debian-stock --json"
)]
pub struct LabSections {
    /// Run directory of a guest of the laboratory, with one CPU.
    pub run: PathBuf,
    /// The repeated run.
    #[command(flatten)]
    pub again: LabAgain,
    /// Print everything as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Repeat a run and work out what its cycles would cost on a core with published figures.
#[derive(Debug, Args)]
#[command(
    after_help = "The same guest is run again, with the emulator running a cost model: a cost for \
                  each class of instruction, caches with the addresses that the guest uses, string instructions by \
                  the lines that they touch. The run's own time stays as it is, and its samples must be the \
                  same to the nanosecond. Costs are not a machine's latencies, and judge nothing. They are kept \
                  in the run directory with the model's figures (costs-MODEL.json).\n\nExit codes: 0 found, 1 \
                  error.\n\nExamples:\n  \
                  wakepath lab costs wakepath-runs/lab-1/debian-rt --cost-model cortex-a76\n  \
                  wakepath lab costs wakepath-runs/lab-1/debian-stock --cost-model skylake"
)]
pub struct LabCosts {
    /// Run directory of a guest of the laboratory, with one CPU.
    pub run: PathBuf,
    /// Core with published figures.
    #[arg(long, value_name = "MODEL", value_parser = cost_models())]
    pub cost_model: String,
    /// The repeated run.
    #[command(flatten)]
    pub again: LabAgain,
    /// Print everything as JSON, including each cycle.
    #[arg(long)]
    pub json: bool,
}

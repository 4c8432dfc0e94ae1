//! Command line of `wakepath-experiment`.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use wakepath_console::{Printing, VERSION};

/// Repeat published experiments on this board and compare with the published figures.
#[derive(Debug, Parser)]
#[command(
    name = "wakepath-experiment",
    bin_name = "wakepath experiment",
    version = VERSION,
    after_help = "Examples:\n  \
                  wakepath experiment list\n  \
                  wakepath experiment run pi5-250hz --short\n  \
                  wakepath experiment page wakepath-runs/experiment-pi5-250hz",
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct CommandLine {
    /// Output.
    #[command(flatten)]
    pub printing: Printing,
    /// Command.
    #[command(subcommand)]
    pub verb: Experiment,
}

/// Commands of the experiments.
#[derive(Debug, Subcommand)]
pub enum Experiment {
    /// List the experiments with the length of a round and the booted kernel.
    #[command(after_help = "Examples:\n  \
                            wakepath experiment list\n  \
                            wakepath experiment list --json")]
    List {
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Measure an experiment on the booted kernel, round by round, and write its page.
    Run(ExperimentRun),
    /// Write the page of measured rounds, of one board or several.
    Page(ExperimentPage),
    /// Write the man pages of these commands.
    #[command(hide = true)]
    Man {
        /// Directory to write them to; it must exist.
        directory: PathBuf,
    },
    /// Candidates for the last word of a command line, for a shell's completion.
    #[command(hide = true)]
    Candidates {
        /// The words after the program's name.
        #[arg(last = true)]
        words: Vec<String>,
    },
}

/// Measure an experiment on the booted kernel, round by round, and write its page.
#[derive(Debug, Args)]
#[command(
    after_help = "A round is a run like any other (`wakepath show`, `wakepath report`). After Ctrl-C, a power cut or a \
                  reboot the same command with --resume measures what is missing; on another kernel it adds that \
                  kernel's rounds.\n\nExit codes: 0 all rounds were measured, whatever they show; 1 error.\n\n\
                  Examples:\n  \
                  wakepath experiment run pi5-250hz --short\n  \
                  wakepath experiment run beaglepilot\n  \
                  wakepath experiment run beaglepilot --resume\n  \
                  wakepath experiment run jetson-1khz --cpu 8 --directory qualification"
)]
pub struct ExperimentRun {
    /// Experiment, as `wakepath experiment list` has it.
    pub name: String,
    /// Three rounds of two and a half minutes at most. The page lists what is too rare to appear in them.
    #[arg(long)]
    pub short: bool,
    /// Rounds of each kernel [default: 10, with --short 3]. Fewer than an experiment's claims were registered for decide
    /// none.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: Option<u32>,
    /// Resume what was measured before: after an interruption, or on another kernel.
    #[arg(long)]
    pub resume: bool,
    /// CPU of the loop [default: the scenario's].
    #[arg(long)]
    pub cpu: Option<u16>,
    /// Record kernel events too, in passes of their own: claims about how the loop is woken need them.
    #[arg(long)]
    pub trace: bool,
    /// Directory of the rounds and of the page [default: wakepath-runs/experiment-NAME, with --short
    /// wakepath-runs/experiment-NAME-short].
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Print plain lines instead of the live view.
    #[arg(long)]
    pub no_tui: bool,
    /// Print findings and figures as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Write the page of measured rounds, of one board or several.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 written, 1 error.\n\nExamples:\n  \
                  wakepath experiment page wakepath-runs/experiment-beaglepilot\n  \
                  wakepath experiment page pi5/ orin/ --page boards")]
pub struct ExperimentPage {
    /// Directory of `experiment run`; several are set below each other.
    #[arg(required = true, value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Directory for the page and its figures [default: the first directory].
    #[arg(long, value_name = "DIR")]
    pub page: Option<PathBuf>,
    /// Print findings and figures as JSON.
    #[arg(long)]
    pub json: bool,
}

//! Words of `lab experiments`.

use clap::Args;
use std::path::PathBuf;

/// Repeat published experiments, and set the figures beside the published ones.
#[derive(Debug, Args)]
#[command(
    after_help = "An experiment whose runs lie in --directory already is not repeated: an interrupted \
                  command goes on where it was.\n\nExit codes: 0 all were repeated, whatever they \
                  found; 1 error.\n\nExamples:\n  \
                  wakepath lab experiments --list\n  \
                  wakepath lab experiments beaglepilot --directory experiments\n  \
                  wakepath lab experiments beaglepilot --cycles 200"
)]
pub struct LabExperiments {
    /// Experiment; more than one may be given [default: all].
    pub name: Vec<String>,
    /// List the experiments with their kernels, and repeat none.
    #[arg(long)]
    pub list: bool,
    /// Due times of each condition [default: the experiment's].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(20..=1_000_000))]
    pub cycles: Option<u64>,
    /// Directory of the runs, one for each experiment and guest [default:
    /// wakepath-runs/lab-experiments-TIME].
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Directory for the page and its figures [default: that of the runs].
    #[arg(long, value_name = "DIR")]
    pub page: Option<PathBuf>,
    /// Guests that run side by side [default: as many as this host has CPUs].
    #[arg(long, value_name = "NUMBER")]
    pub beside: Option<u16>,
    /// Time that each guest may take on this host, such as `10min` [default: by what it does].
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Wakepath that runs in the guests [default: this one].
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// The emulator's program [default: the installed QEMU, or one of Debian's].
    #[arg(long, value_name = "FILE")]
    pub emulator: Option<PathBuf>,
    /// Print findings and figures as JSON.
    #[arg(long)]
    pub json: bool,
}

//! Command line of `lab experiments`.

use clap::Args;
use std::path::PathBuf;

/// Repeat published experiments and compare with the published figures.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all were repeated, whatever they found; 1 error.\n\nExample:\n  \
                  wakepath lab experiments beaglepilot --directory experiments",
    after_long_help = "An experiment that has runs in --directory is not repeated: the same command \
                  resumes an interrupted one. Before the first guest it registers the \
                  claims in claims-EXPERIMENT.toml there, and those judge the runs.\n\nExit codes: 0 all were repeated, whatever they \
                  found; 1 error.\n\nExamples:\n  \
                  wakepath lab experiments --list\n  \
                  wakepath lab experiments beaglepilot --directory experiments\n  \
                  wakepath lab experiments beaglepilot --cycles 200\n  \
                  wakepath lab experiments --pages-only --directory experiments"
)]
pub struct LabExperiments {
    /// Experiment (repeatable) [default: all].
    pub name: Vec<String>,
    /// List the experiments with their kernels, and repeat none.
    #[arg(long)]
    pub list: bool,
    /// Print the index of the pages in a directory, and repeat none.
    ///
    /// Each page has an entry next to it, `EXPERIMENT.json`. The index of all entries is the `README.md` that every
    /// command writes next to its pages.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["list", "name"])]
    pub index: Option<PathBuf>,
    /// Due times of each condition [default: the experiment's].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(20..=1_000_000))]
    pub cycles: Option<u64>,
    /// Seeds, from 1: each guest runs with each. Fewer than an experiment's claims were registered for decide none.
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub seeds: u64,
    /// Kernel without a package.
    ///
    /// `xenomai=BZIMAGE` with Xenomai's Cobalt for beaglepilot,
    /// `litmus=BZIMAGE` with LITMUS^RT for litmus-16core; their claims are not measured without it.
    #[arg(long, value_name = "NAME=BZIMAGE")]
    pub kernel: Vec<String>,
    /// Directory of the runs, one for each experiment and guest [default:
    /// wakepath-runs/lab-experiments-TIME].
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Write the pages from the existing runs, and run none.
    #[arg(long)]
    pub pages_only: bool,
    /// Directory for the page and its figures [default: that of the runs].
    #[arg(long, value_name = "DIR")]
    pub page: Option<PathBuf>,
    /// Programs that run the guests.
    #[command(flatten)]
    pub host: super::command_line::LabHost,
    /// Print findings and figures as JSON.
    #[arg(long)]
    pub json: bool,
}

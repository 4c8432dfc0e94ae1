//! Command line of `wakepath lab hunt`.

use super::command_line::LabGuests;
use clap::{Args, value_parser};
use std::path::PathBuf;

/// Search for the programs that keep a kernel from preempting the longest.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the hunt ended or was stopped, 1 an error.\n\nExample:\n  \
                  wakepath lab hunt --kernel debian:rt --directory hunt --for 1h --as-root",
    after_long_help = "Programs are sequences of system calls. The hunt changes those that reached new kernel \
                  code or longer sections, and ends with the longest sections, each with its smallest \
                  program as text and as C. Crashes and warnings of the kernel are kept. Repeat the \
                  command to resume: the corpus in the directory survives Ctrl-C and kill -9.\n\nExit \
                  codes: 0 the hunt ended or was stopped, 1 an error.\n\nExamples:\n  \
                  wakepath lab hunt --kernel debian:rt --for 2h\n  \
                  wakepath lab hunt --kernel debian:rt --directory hunt --for 1h --as-root\n  \
                  wakepath lab hunt --kernel debian:stock --repeat hunt/finding-1.txt"
)]
pub struct LabHunt {
    /// The guest; a hunt has one kernel on one x86-64 CPU.
    #[command(flatten)]
    pub guests: LabGuests,
    /// Time to search; afterwards some minutes go into making the programs smaller.
    #[arg(long = "for", value_name = "TIME", default_value = "10min")]
    pub time: String,
    /// Directory of the corpus and the findings [default: wakepath-hunt/KERNEL].
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Run the programs as root; otherwise they have no privileges.
    #[arg(long)]
    pub as_root: bool,
    /// File with further calls, such as those of your driver; docs/advanced/lab.md has the format
    /// (repeatable).
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub calls: Vec<PathBuf>,
    /// Seed of the programs and of the guest.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "NUMBER",
        default_value_t = 1
    )]
    pub seed: u64,
    /// Programs of each branch of the booted guest.
    #[arg(hide_short_help = true, long, value_name = "NUMBER", default_value_t = 64, value_parser = value_parser!(u16).range(1..=1024))]
    pub programs: u16,
    /// Longest virtual time of a program.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "TIME",
        default_value = "30ms"
    )]
    pub limit: String,
    /// Number of the longest sections whose programs are made smaller.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "NUMBER",
        default_value_t = 5
    )]
    pub findings: usize,
    /// Run one program instead, and list its sections: a file, or the number of a program in the
    /// directory's corpus.
    #[arg(long, value_name = "PROGRAM")]
    pub repeat: Option<String>,
    /// Number of branches that repeat it; all must be the same to the instruction.
    #[arg(hide_short_help = true, long, value_name = "NUMBER", default_value_t = 2, value_parser = value_parser!(u32).range(2..), requires = "repeat")]
    pub branches: u32,
    /// Stop as soon as a section begins in this kernel function.
    #[arg(hide_short_help = true, long, value_name = "FUNCTION")]
    pub until: Option<String>,
    /// Use only new random programs, to compare with the guided search.
    #[arg(hide_short_help = true, long)]
    pub random: bool,
    /// Show all sections.
    #[arg(long)]
    pub all: bool,
    /// Print the result as JSON on standard output, for scripts.
    #[arg(hide_short_help = true, long)]
    pub json: bool,
}

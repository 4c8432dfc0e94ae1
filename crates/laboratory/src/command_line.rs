//! Command line of `wakepath-lab`: guests, runs, checks against a baseline.

pub use super::command_line_again::{LabAgain, LabCosts, LabSections, LabWindow};
pub use super::command_line_bisect::LabBisect;
pub use super::command_line_experiments::LabExperiments;
pub use super::command_line_hunt::LabHunt;
use clap::{Args, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use wakepath_console::{Printing, VERSION};
use wakepath_lab::Topology;

/// Run a scenario on real kernels in virtual time, repeatable to the nanosecond.
#[derive(Debug, Parser)]
#[command(
    name = "wakepath-lab",
    bin_name = "wakepath lab",
    version = VERSION,
    after_help = "Examples:\n  \
                  wakepath lab run my-loop.toml --kernel debian:stock --kernel debian:rt\n  \
                  wakepath lab run my-loop.toml --kernel debian:rt --baseline latency.json\n  \
                  wakepath lab check latency.json --kernel ./bzImage",
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct CommandLine {
    /// Output.
    #[command(flatten)]
    pub printing: Printing,
    /// Command.
    #[command(subcommand)]
    pub verb: Lab,
}

/// Commands of the laboratory.
#[derive(Debug, Subcommand)]
pub enum Lab {
    /// Boot each kernel in an emulator that counts instructions, run the scenario there, and compare.
    Run(LabRun),
    /// Repeat the run of a baseline, and list the paths that became longer.
    Check(LabCheck),
    /// Run a wakepath command in a guest, and bring back its files.
    Exec(LabExec),
    /// Find the first cycle at which two runs in virtual time differ.
    Diff(LabDiff),
    /// Repeat published experiments, and set the figures next to the published ones.
    Experiments(LabExperiments),
    /// Repeat a run and show which instructions its worst latencies consist of.
    Window(LabWindow),
    /// Repeat a run and list every section of kernel code that could have delayed its loop.
    Sections(LabSections),
    /// Repeat a run and work out what its cycles would cost on a core with published figures.
    Costs(LabCosts),
    /// Find which kernel in a series lengthened a latency's path, and through which functions.
    Bisect(LabBisect),
    /// Search for the programs that keep a kernel from preempting the longest.
    Hunt(LabHunt),
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
    /// An emulator that dies with the laboratory.
    #[command(hide = true, name = wakepath_lab::SUPERVISE)]
    SuperviseEmulator {
        /// Process that it dies with.
        parent: i32,
        /// The emulator and its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<OsString>,
    },
}

/// The guests of a laboratory: their kernels and machine.
#[derive(Debug, Args)]
pub struct LabGuests {
    /// Kernel: `debian:stock`, `debian:rt`, a package or a bzImage (repeatable).
    ///
    /// A package is `package:NAME[=VERSION]` (with `@RELEASE` after it, from another Debian release); a
    /// bzImage is given by its path. Its own parameters follow after a space, as in
    /// 'debian:stock preempt=full'.
    #[arg(long, value_name = "KERNEL", required = true)]
    pub kernel: Vec<String>,
    /// Further kernel parameters, such as `preempt=full`: each kernel also runs with these (repeatable).
    #[arg(hide_short_help = true, long, value_name = "PARAMETERS")]
    pub variant: Vec<String>,
    /// Architecture of the guests: `x86-64`, `aarch64` or `armv7`.
    ///
    /// A Raspberry Pi's is `aarch64`, a BeagleBone's `armv7`.
    #[arg(long, value_name = "NAME", default_value = "x86-64")]
    pub architecture: String,
    /// CPUs of each guest.
    ///
    /// Several take turns; docs/concepts/virtual-time.md has the cost.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=16))]
    pub cpus: u16,
    /// Topology of the CPUs, such as `sockets=2,cores=8` or `sockets=1,cores=4,threads=2` (x86-64
    /// alone): each socket is a NUMA node with its share of the memory.
    #[arg(hide_short_help = true, long, value_name = "TOPOLOGY")]
    pub topology: Option<Topology>,
    /// Memory, speed and first commands of each guest.
    #[command(flatten)]
    pub each: LabEach,
    /// Programs that run the guests.
    #[command(flatten)]
    pub host: LabHost,
}

/// Memory, speed and first commands of each guest of a laboratory.
#[derive(Debug, Args)]
pub struct LabEach {
    /// Wakepath command that each guest runs first, such as `tune apply --yes`, or a program or script
    /// of this host by its path; it must end with 0 unless you put a dash in front (repeatable).
    #[arg(
        hide_short_help = true,
        long,
        value_name = "COMMAND",
        allow_hyphen_values = true
    )]
    pub before: Vec<String>,
    /// Additions to each guest.
    #[command(flatten)]
    pub added: LabAdded,
    /// Virtual nanoseconds for each instruction, or a board's name.
    ///
    /// 1, 2, 4 … 1024, or a board, for as many times a desktop's 1 as its core is slower:
    /// `raspberry-pi-5`, `jetson-orin`, `raspberry-pi-4`, `beaglebone`.
    #[arg(hide_short_help = true, long, value_name = "NS", default_value = "1", value_parser = wakepath_lab::ns_per_instruction)]
    pub ns_per_instruction: u32,
    /// Memory of each guest in MiB.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "MIB",
        default_value_t = 1024
    )]
    pub memory: u32,
}

/// Additions to a laboratory's guests.
#[derive(Debug, Args)]
pub struct LabAdded {
    /// Kernel module that each guest loads first, after the modules that it depends on, with its
    /// parameters, such as 'dummy numdummies=2' (repeatable).
    #[arg(hide_short_help = true, long, value_name = "MODULE")]
    pub module: Vec<String>,
    /// Directory of the kernels' modules, such as /lib/modules or the target of `make modules_install`
    /// [default: for a package, the package's own].
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    pub modules: Option<String>,
    /// File or directory of this host and its place in each guest; a program brings its libraries
    /// (repeatable).
    #[arg(hide_short_help = true, long, value_name = "HOST=GUEST")]
    pub file: Vec<String>,
    /// Value written into each guest's kernel first, such as /proc/sys/vm/swappiness=10 (repeatable).
    #[arg(hide_short_help = true, long, value_name = "PATH=VALUE")]
    pub init_write: Vec<String>,
    /// Disk of each guest, mounted on /disk: the time of each request and the highest rate, such as
    /// 'latency=8ms,rate=2MiB/s'.
    #[arg(hide_short_help = true, long, value_name = "DISK")]
    pub disk: Option<String>,
}

/// Use of this host by a laboratory's guests; none of it changes their counts.
#[derive(Debug, Clone, Args)]
pub struct LabHost {
    /// Guests to run at the same time [default: one for each CPU of this host].
    #[arg(hide_short_help = true, short, long, value_name = "NUMBER")]
    pub jobs: Option<u16>,
    /// Longest time of each guest on this host, such as `10min` [default: by its work].
    #[arg(hide_short_help = true, long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Wakepath that runs in the guests [default: the one next to `wakepath-lab`, or on PATH; for another
    /// architecture, the one next to that or in the target directory it was built in].
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// The emulator's program [default: the installed QEMU; if that is too old, one
    /// fetched from Debian].
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub emulator: Option<PathBuf>,
    /// As root, allow a directory that another user owns or can write to.
    #[arg(hide_short_help = true, long)]
    pub trust_directory: bool,
}

/// Boot each kernel in an emulator that counts instructions, run the scenario in it, compare.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 every guest ran its scenario, 1 one of them did not, or an error.\n\n\
                  Example:\n  \
                  wakepath lab run pi5-250hz --kernel debian:stock --kernel debian:rt",
    after_long_help = "Exit codes: 0 every guest ran its scenario, 1 one of them did not, or an error. \
                  Virtual time judges no criterion: no such run ever passes.\n\nExamples:\n  \
                  wakepath lab run pi5-250hz --kernel debian:stock --kernel debian:rt\n  \
                  wakepath lab run my-loop.toml --kernel debian:stock --variant preempt=full\n  \
                  wakepath lab run my-loop.toml --kernel ./bzImage --seed 1 --seed 2 --seed 3\n  \
                  wakepath lab run my-loop.toml --kernel debian:rt --cpus 2 --variant isolcpus=1"
)]
pub struct LabRun {
    /// Scenario file or built-in scenario.
    ///
    /// `wakepath scenario list` has the names.
    pub scenario: String,
    /// The guests.
    #[command(flatten)]
    pub guests: LabGuests,
    /// Seed of every random number (repeatable).
    ///
    /// One seed is one sample, so give several.
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub seed: Vec<u64>,
    /// Virtual time of the whole run, such as `20s`: scales the scenario.
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Also run a traced pass, so that late cycles can be explained.
    #[arg(long)]
    pub trace: bool,
    /// Write the counts into this file, for `lab check`.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Directory of the runs [default: wakepath-runs/lab-NAME-TIME].
    ///
    /// It has one for each guest, and must be empty or not exist.
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Print the result as JSON on standard output, for scripts.
    #[arg(hide_short_help = true, long)]
    pub json: bool,
}

/// Repeat the run of a baseline, and list the paths that became longer.
#[derive(Debug, Args)]
#[command(
    after_help = "The baseline holds all that was asked for: scenario, kernels, variants, seeds. A \
                  kernel in place of the baseline's is what a test of that kernel is.\n\nExit codes: \
                  0 nothing takes longer, 1 error, 2 something does.\n\nExamples:\n  \
                  wakepath lab run my-loop.toml --kernel debian:rt --baseline latency.json\n  \
                  wakepath lab check latency.json\n  \
                  wakepath lab check latency.json --kernel ./bzImage --allow 2"
)]
pub struct LabCheck {
    /// File that `lab run --baseline` wrote.
    pub baseline: PathBuf,
    /// Kernel instead of the baseline's; give as many as the baseline has, in its order.
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Vec<String>,
    /// Directory of the modules of these kernels, in place of the baseline's.
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    pub modules: Option<String>,
    /// Tolerated growth of a count, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    pub allow: f64,
    /// Write the new counts into the baseline.
    #[arg(long)]
    pub write: bool,
    /// Programs that run the guests.
    #[command(flatten)]
    pub host: LabHost,
    /// Directory of the runs [default: wakepath-runs/lab-NAME-TIME].
    ///
    /// It has one for each guest, and must be empty or not exist.
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Print the changes as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Run a wakepath command in a guest, and bring back its files.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all commands ended with 0; 1 error; otherwise the command's.\n\n\
                  Example:\n  \
                  wakepath lab exec --kernel debian:rt -- machine --json",
    after_long_help = "The command runs as root in /tmp of a guest that has nothing but memory; files \
                  that it leaves in /tmp come back with --directory. With one guest its output is this \
                  command's, its exit code too.\n\nExit codes: 0 all commands ended with 0; 1 \
                  error; otherwise the command's.\n\nExamples:\n  \
                  wakepath lab exec --kernel debian:rt -- machine --json\n  \
                  wakepath lab exec --kernel debian:rt --cpus 2 -- doctor --cpu 1\n  \
                  wakepath lab exec --kernel debian:rt --before 'tune apply --yes' -- doctor\n  \
                  wakepath lab exec --kernel debian:rt -- /usr/bin/cyclictest -p 90 -l 1000 -q"
)]
pub struct LabExec {
    /// The guests.
    #[command(flatten)]
    pub guests: LabGuests,
    /// Directory for the files.
    ///
    /// It has one for each guest, and must be empty or not exist.
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Wakepath command with its arguments, or a program of this host by its path.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Find the first cycle at which two runs in virtual time differ.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 the same to the nanosecond, 1 error, 2 they part.\n\nExample:\n  \
                        wakepath lab diff monday/debian-rt tuesday/debian-rt"
)]
pub struct LabDiff {
    /// A run directory.
    pub first: PathBuf,
    /// Another.
    pub second: PathBuf,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        CommandLine::command().debug_assert();
    }
}

//! The command line as data: one definition for help, completions and man pages. The verbs
//! themselves are in `verbs`.

mod analysis;
mod criterion;
mod evidence;
mod first_page;
mod foreign_program;
mod internal;
pub mod invocation;
mod live;
mod machine;
mod measuring;
mod random_tasks;
mod recordings;
mod sweep;
mod tuning;

pub use analysis::*;
use clap::{Parser, Subcommand};
pub use criterion::*;
pub use evidence::*;
pub use first_page::{every_command, first_page, visible};
pub use foreign_program::*;
pub use internal::*;
pub use live::Live;
pub use machine::*;
pub use measuring::*;
pub use recordings::*;
use std::path::PathBuf;
pub use sweep::*;
pub use tuning::*;
use wakepath_console::{Printing, VERSION};

/// The one CPU of a loop.
fn one_cpu(text: &str) -> Result<u16, String> {
    text.trim().parse().map_err(|_| {
        let cpus = text.split([',', '-']).filter(|part| part.parse::<u16>().is_ok());
        match cpus.collect::<Vec<_>>()[..] {
            [first, _, ..] => format!(
                "the loop runs on one CPU: give one of them, such as {first}; a scenario (`wakepath \
                 run`) can have several tasks, each on its own"
            ),
            _ => "give the number of a CPU, such as 1".to_owned(),
        }
    })
}

/// The number of a process.
fn process(text: &str) -> Result<u32, String> {
    let named =
        || format!("give the number of a process, such as 1234; by its name: --comm {text}");
    text.trim().parse().map_err(|_| named())
}

/// Will this control loop hold on this machine?
#[derive(Debug, Parser)]
#[command(
    name = "wakepath",
    version = VERSION,
    about = "Measure whether a periodic control loop meets its timing on this Linux machine, and under which \
             scheduling policy, idle and under load.",
    after_help = "Exit codes: 0 passed, 1 error or invalid run, 2 criterion not met, 3 undecided.\n\n\
                  Examples:\n  \
                  wakepath check                        a 250 Hz loop, eight policies, 85 s\n  \
                  wakepath check --rate 1kHz --policy 'FIFO 80' --cpu 1\n  \
                  wakepath run pi5-250hz                a built-in experiment\n  \
                  wakepath run my-loop.toml --json > result.json\n  \
                  wakepath check --quick                an answer in twelve seconds of measuring\n  \
                  wakepath show                         the latest run; `wakepath runs` lists all",
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct CommandLine {
    /// How it prints.
    #[command(flatten)]
    pub printing: Printing,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure this machine's timing, idle and under load, with a verdict.
    Check(Check),
    /// Run a scenario: your own file, or a built-in one by name.
    Run(Run),
    /// Measure your own program, linked with the library, with a verdict.
    ///
    /// The program links wakepath-rt (Rust) or wakepath.h (C, C++). It is started once just to list its loops, and exits
    /// before the first cycle. Then it is started for each policy in each phase: twice if the scenario repeats its phases,
    /// and once more with --trace. All that it prints goes to program.log in the run directory.
    Record(Record),
    /// Find the highest rate this machine can sustain for a loop.
    ///
    /// The criterion's limits in periods follow the rate; those of `check` are all shares of the period. The search
    /// resumes if --directory names it again.
    Rate(Rate),
    /// List the runs here, the newest first.
    Runs(Runs),
    /// Show a run's verdict and summary (--histogram, --details).
    Show(Show),
    /// Write or open a run's report: one HTML file with all figures.
    Report(Report),
    /// Replay a run's timing through a simulated quadrotor.
    Fly(Fly),
    /// Bound a run's worst case, if the data allow it.
    ///
    /// A probability of 1e-6 is that of any one cycle. At 1 kHz an hour has 3.6 million cycles, so 3.6 of them exceed the
    /// bound on average, alone or in clusters. It is not a failure rate: a late cycle does not lose a vehicle (see wakepath
    /// fly).
    Bound(Bound),
    /// Explain why cycles were late.
    Explain(Explain),
    /// Measure any running program, unchanged, and explain its late cycles.
    Watch(Watch),
    /// Start a program on given CPUs under a given policy.
    Exec(Exec),
    /// Check whether a set of tasks always meets its deadlines, overheads included.
    Schedulability(Schedulability),
    /// Compare runs: better, worse, equivalent or inconclusive.
    Compare(Compare),
    /// Write a run in another form: CSV, MCAP, JSON, OpenMetrics, Markdown or JUnit.
    Export(Export),
    /// Convert another tool's results into a run.
    ///
    /// The form of a file is known by its content. Forms: cyclictest (any text of it without -v), cyclictest-verbose
    /// (text of -v), rt-tests-json (--json of cyclictest, cyclicdeadline, oslat, signaltest, ptsematest, svsematest,
    /// pmqtest, sigwaittest), cyclicdeadline, oslat, signaltest, rt-tests-pairs (text of ptsematest, svsematest,
    /// pmqtest, sigwaittest), rteval (summary.xml), stress-ng (--cyclic), timerlat and osnoise (rtla … hist), timerlat-
    /// top, xenomai-latency, latmus (-g), jitterdebugger (results.json), jitterdebugger-raw (samples.raw),
    /// jitterdebugger-text, perf (perf.data of `perf record -e sched:sched_waking -e sched:sched_switch -a`), csv (a
    /// table with a line for each cycle, such as `wakepath export --format csv` writes), ftrace (the kernel's file
    /// trace, or text of trace-cmd report, perf script or systrace), timerlat-tracer, osnoise-tracer, hwlat-tracer and
    /// wakeup-tracer (their text), trace-cmd (trace.dat), perf-sched (text of `perf sched timehist`), lttng (the
    /// directory of a kernel trace), ros2 (the directory of `ros2 trace`), ros2-control (`ros2 topic echo
    /// /controller_manager/statistics/full`).
    Import(Import),
    /// Repair an interrupted run and list what was lost.
    Recover(Recover),
    /// Sign a run so that later changes can be detected.
    Seal(Seal),
    /// Verify a run's signature and that its files are unchanged.
    Verify(Verify),
    /// List, show and check scenarios.
    #[command(
        subcommand,
        after_help = "Examples:\n  \
                      wakepath scenario list\n  \
                      wakepath scenario show check > my-loop.toml\n  \
                      wakepath scenario check my-loop.toml\n  \
                      wakepath run my-loop.toml"
    )]
    Scenario(Scenario),
    /// Run a scenario on real kernels in virtual time, with the program wakepath-lab.
    #[command(disable_help_flag = true)]
    Lab {
        /// Its command and options; `wakepath lab --help` lists them.
        #[arg(
            value_name = "ARGUMENTS",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        arguments: Vec<std::ffi::OsString>,
    },
    /// Repeat published experiments on this board, with the program wakepath-experiment.
    #[command(disable_help_flag = true)]
    Experiment {
        /// Its command and options; `wakepath experiment --help` lists them.
        #[arg(
            value_name = "ARGUMENTS",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        arguments: Vec<std::ffi::OsString>,
    },
    /// List the loads with the parts of the machine that each disturbs.
    Loads(Loads),
    /// Show which timing tiers a run meets, from an SPI line's 10 ns to a GPS's 200 ms.
    ///
    /// With --drive and --read, a loop drives a GPIO line at half periods from 10 ms to 10 µs, and the kernel dates the
    /// edges on a second line that you have wired to it. The line is low at first and at last; connect nothing else to it.
    /// The result is stored with the run (pin.json), and shown with its tiers from then on.
    Tiers(Tiers),
    /// Describe this machine and your privileges on it.
    Machine(Machine),
    /// Diagnose this machine for real-time loops, with fixes.
    Doctor(Doctor),
    /// Plan, try, apply and revert changes to this machine for the loop.
    #[command(
        subcommand,
        after_help = "Examples:\n  \
                      wakepath tune plan --rate 1kHz --cpu 1\n  \
                      wakepath tune trial --rate 1kHz --cpu 1\n  \
                      wakepath tune apply --rate 1kHz --cpu 1\n  \
                      wakepath tune revert"
    )]
    Tune(Tune),
    /// Try one fix on your program, in turns without and with it.
    Try(Try),
    /// Show help for a command.
    Help {
        /// List every command.
        #[arg(short, long, conflicts_with = "command")]
        all: bool,
        /// The command, such as `check` or `tune trial`.
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Print completions for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Write the man pages.
    Man {
        /// Directory to write them to; it must exist.
        directory: PathBuf,
    },
    /// What wakepath starts itself as.
    #[command(hide = true, subcommand)]
    Internal(Internal),
}

impl Verb {
    /// Whether it does, or says whether it could do, what takes a capability. The others read,
    /// compute and start tools of the system.
    pub fn uses_capabilities(&self) -> bool {
        match self {
            Self::Check(_)
            | Self::Run(_)
            | Self::Record(_)
            | Self::Rate(_)
            | Self::Watch(_)
            | Self::Exec(_)
            | Self::Recover(_)
            | Self::Loads(_)
            | Self::Machine(_)
            | Self::Doctor(_)
            | Self::Tune(_)
            | Self::Try(_) => true,
            Self::Internal(process) => !matches!(process, Internal::Candidates { .. }),
            Self::Schedulability(_)
            | Self::Runs(_)
            | Self::Show(_)
            | Self::Report(_)
            | Self::Fly(_)
            | Self::Explain(_)
            | Self::Bound(_)
            | Self::Compare(_)
            | Self::Export(_)
            | Self::Import(_)
            | Self::Seal(_)
            | Self::Verify(_)
            | Self::Scenario(_)
            | Self::Tiers(_)
            | Self::Experiment { .. }
            | Self::Lab { .. }
            | Self::Help { .. }
            | Self::Completions { .. }
            | Self::Man { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        CommandLine::command().debug_assert();
    }

    /// Lines of a screen; the last is for the prompt.
    const SCREEN: usize = 39;

    /// The commands below this one whose short help is too long.
    fn too_long(command: &clap::Command, path: &str) -> Vec<String> {
        let below = command.get_subcommands().filter(|of| !of.is_hide_set());
        let of_each = below.flat_map(|of| {
            let path = format!("{path} {}", of.get_name());
            let help = of.clone().term_width(80).render_help().to_string();
            let lines = help.lines().count();
            let own = (lines > SCREEN).then(|| format!("{path} -h: {lines} lines\n{help}"));
            own.into_iter()
                .chain(too_long(of, &path))
                .collect::<Vec<_>>()
        });
        of_each.collect()
    }

    #[test]
    fn the_short_help_of_every_command_fits_one_screen() {
        let mut command = CommandLine::command();
        command.build();
        let wrong = too_long(&command, "wakepath");
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

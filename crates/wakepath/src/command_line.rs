//! The command line as data: one definition that help, completions and man pages come from. What a
//! verb does is in `verbs`.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Version with the commit that it was built from.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("WAKEPATH_COMMIT"),
    ")"
);

/// Will this control loop hold on this machine?
#[derive(Debug, Parser)]
#[command(
    name = "wakepath",
    version = VERSION,
    about = "Measures whether a periodic control loop holds on this Linux machine: under which \
             scheduling policy, idle and under proven load.",
    after_help = "Exit codes: 0 passed, 1 error or invalid run, 2 criterion not met, 3 undecided.\n\n\
                  Examples:\n  \
                  wakepath check                        a 250 Hz loop, eight policies, 100 s\n  \
                  wakepath check --rate 1kHz --policy 'FIFO 80' --cpu 3\n  \
                  wakepath run pi5-250hz                a built-in experiment\n  \
                  wakepath run my-loop.toml --json > result.json\n  \
                  wakepath show wakepath-runs/check-…   a recorded run, judged again",
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure a loop under the usual policies, idle and under load, and give a verdict.
    Check(Check),
    /// Carry out a scenario: a file, or a built-in one by name.
    Run(Run),
    /// Show a recorded run and judge it again.
    Show(Show),
    /// Write a recorded run's report: one HTML file with all figures.
    Report(Report),
    /// Fly a vehicle through a recorded run's instants.
    Fly(Fly),
    /// Say why a recorded run's late cycles were late.
    Explain(Explain),
    /// Watch a program that was not written for wakepath: its periods, latencies, and why.
    Watch(Watch),
    /// Start a program on the right CPUs under the right policy, and say what is in effect.
    Exec(Exec),
    /// Compare runs: what differs, and what got worse or better.
    Compare(Compare),
    /// Write a run in another form: CSV, JSON, OpenMetrics or Markdown.
    Export(Export),
    /// Make a run of what another tool measured.
    Import(Import),
    /// Make an interrupted run readable and say what is missing.
    Recover(Recover),
    /// List, show and check scenarios.
    #[command(subcommand)]
    Scenario(Scenario),
    /// Run a scenario on real kernels in virtual time, repeatable to the nanosecond.
    #[command(subcommand)]
    Lab(Lab),
    /// Show what this machine is and what this user may do on it.
    Machine(Machine),
    /// Check whether this machine is ready for the loop: what is bad, why, and what to do.
    Doctor(Doctor),
    /// Plan, apply and take back changes of this machine for the loop, and measure whether they help.
    #[command(subcommand)]
    Tune(Tune),
    /// Print the completions of a shell.
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

/// Measure a loop under the usual policies, idle and under load, and give a verdict.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 passed, 1 error or invalid run, 2 criterion not met, 3 \
                        undecided.\n\nExamples:\n  \
                        wakepath check\n  \
                        wakepath check --duration 10min --cpu 3\n  \
                        wakepath check --rate 1kHz --policy 'FIFO 80' --policy 'OTHER nice -19'"
)]
pub struct Check {
    /// Rate of the loop, such as `250Hz` or `1kHz`.
    #[arg(long, value_name = "RATE", default_value = "250Hz")]
    pub rate: String,
    /// Time for the whole run, such as `100s` or `10min`.
    #[arg(long, value_name = "TIME", default_value = "100s")]
    pub duration: String,
    /// CPU of the loop [default: the highest, an isolated one if there is any].
    #[arg(long, value_name = "CPU")]
    pub cpu: Option<u16>,
    /// Policy to measure instead of the eight; may be given more than once.
    #[arg(
        long,
        value_name = "POLICY",
        long_help = "Policy to measure instead of the eight; may \
        be given more than once: 'OTHER nice -5', 'BATCH nice 0', IDLE, 'FIFO 80', 'RR 50', \
        'DEADLINE 400us' (its runtime in each period)"
    )]
    pub policy: Vec<String>,
    /// Measure everything once more with kernel events recorded: twice the time, or half the cycles.
    #[arg(
        long,
        long_help = "Measure every condition once more with kernel events recorded, so that late \
        cycles can be explained. Conditions are judged by the untraced part; the time is shared \
        between the two. Needs root or a tracefs that this user may use"
    )]
    pub trace: bool,
    /// How to show and where to put it.
    #[command(flatten)]
    pub output: Output,
}

/// Carry out a scenario.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 passed, 1 error or invalid run, 2 criterion not met, 3 \
                        undecided.\n\nExamples:\n  \
                        wakepath run pi5-250hz\n  \
                        wakepath run my-loop.toml --directory results/monday"
)]
pub struct Run {
    /// A file, or the name of a built-in scenario (see `wakepath scenario list`).
    pub scenario: String,
    /// Scale the scenario to this time for the whole run, such as `60s`.
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Measure everything once more with kernel events recorded, as `trace = true` does.
    #[arg(long)]
    pub trace: bool,
    /// How to show and where to put it.
    #[command(flatten)]
    pub output: Output,
}

/// How to show a run and where to put it.
#[derive(Debug, Args)]
pub struct Output {
    /// Run directory; must be empty or not exist [default: wakepath-runs/NAME-TIME].
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Print the result as JSON on standard output, for scripts.
    #[arg(long)]
    pub json: bool,
    /// Plain lines instead of the live view, also on a terminal.
    #[arg(long)]
    pub no_tui: bool,
}

/// Show a recorded run and judge it again.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: as those of the run itself.\n\nExample:\n  \
                        wakepath show wakepath-runs/check-20260101T120000Z")]
pub struct Show {
    /// The run directory.
    pub run: PathBuf,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Write the report of a recorded run: one HTML file that needs no network and no other file.
#[derive(Debug, Args)]
#[command(
    after_help = "`check` and `run` write report.html into the run directory by themselves.\n\nExit \
                        codes: 0 written (whatever the verdict), 1 error.\n\nExamples:\n  \
                        wakepath report wakepath-runs/check-20260101T120000Z\n  \
                        wakepath report RUN --output report.html --svg figures\n  \
                        wakepath report MONDAY TUESDAY --output both.html"
)]
pub struct Report {
    /// The run directory; several make one file with a chapter each.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Where to write it [default: report.html in the run directory].
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write each figure into this directory too, as SVG.
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
}

/// Fly a vehicle through a recorded run's instants: what the timing that really was would have done
/// to it, beside the flight without latency, and what would lose it.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 flown and the run's flight criterion met (or none given), 1 \
                        error, 2 not met, 3 undecided.\n\nExamples:\n  \
                        wakepath fly wakepath-runs/check-20260101T120000Z\n  \
                        wakepath fly RUN --vehicle crazyflie --sample release --missed zero\n  \
                        wakepath fly RUN --vehicle my-drone.toml --json > flights.json"
)]
pub struct Fly {
    /// The run directory.
    pub run: PathBuf,
    /// What flies: `hummingbird`, `crazyflie` or a vehicle file [default: the run's own, else
    /// hummingbird].
    #[arg(long, value_name = "VEHICLE")]
    pub vehicle: Option<String>,
    /// When the state was latched: `wake` (by the loop when it wakes) or `release` (by the sensor
    /// at the due time) [default: the run's own, else wake].
    #[arg(long, value_name = "WHEN")]
    pub sample: Option<String>,
    /// What the rotors do while a command is missing: `hold` or `zero` [default: the run's own,
    /// else hold].
    #[arg(long, value_name = "WHAT")]
    pub missed: Option<String>,
    /// What becomes of a job that runs into the next due time: `skip`, `queue` or `kill` [default:
    /// the run's own, else skip].
    #[arg(long, value_name = "WHAT")]
    pub overrun: Option<String>,
    /// What the vehicle follows: `circle`, `hover` or `step` [default: the run's own, else
    /// circle].
    #[arg(long, value_name = "WAY")]
    pub trajectory: Option<String>,
    /// Seed of the torque noise and the kicks [default: the run's own, else 0].
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Say why a recorded run's late cycles were late: causes ranked, the worst cycles, the way from
/// the due time to the first instruction. The run must hold kernel events.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 explained, 1 error.\n\nExamples:\n  \
                        wakepath explain wakepath-runs/check-20260101T120000Z\n  \
                        wakepath explain RUN --cycle 812 --segment 3\n  \
                        wakepath explain RUN --perfetto run.perfetto-trace")]
pub struct Explain {
    /// The run directory.
    pub run: PathBuf,
    /// Show one cycle, by its number, as a timeline.
    #[arg(long, value_name = "NUMBER")]
    pub cycle: Option<u64>,
    /// The segment of that cycle [default: all that have such a cycle].
    #[arg(long, value_name = "NUMBER", requires = "cycle")]
    pub segment: Option<u32>,
    /// How many of the worst cycles of each condition to show.
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub worst: usize,
    /// Latency above which a cycle is late, such as `200us` [default: the run's criterion, else
    /// the 99.9th percentile].
    #[arg(long, value_name = "TIME")]
    pub threshold: Option<String>,
    /// Write a timeline for ui.perfetto.dev.
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Watch a program that was not written for wakepath, without changing it: which of its threads are
/// periodic and how exactly, their wake-up latency from the timer's expiry, run time, preemptions,
/// policy in effect, and why late activations were late. Needs root or a tracefs that this user may
/// use.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 watched, 1 error, 3 no periodic thread was seen.\n\nExamples:\n  \
                        wakepath watch -p 1234 --for 60s\n  \
                        wakepath watch --comm px4 --for 60s --latency 200us\n  \
                        wakepath watch --for 20s -- ./controller --fast\n  \
                        wakepath watch -- wakepath exec --policy 'FIFO 80' --cpu 1 -- ./controller"
)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub struct Watch {
    /// The process of this number, with all its threads.
    #[arg(short = 'p', long = "pid", value_name = "PID", group = "what")]
    pub pid: Option<u32>,
    /// All processes of this name, and all threads of this name.
    #[arg(long, value_name = "NAME", group = "what")]
    pub comm: Option<String>,
    /// A program that is started now, with all that it starts, behind `--`.
    #[arg(last = true, value_name = "COMMAND", group = "what")]
    pub command: Vec<std::ffi::OsString>,
    /// How long, such as `60s`; a program that was started is ended then [default: until the
    /// program ends, or Ctrl-C].
    #[arg(long = "for", value_name = "TIME")]
    pub duration: Option<String>,
    /// CPUs to be traced, such as `1` or `2-3` [default: those that its threads may use].
    #[arg(long, value_name = "CPUS")]
    pub cpu: Option<String>,
    /// Policy that the program is meant to have; a periodic thread with another one is invalid.
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// Latency above which an activation is late, such as `200us` [default: the 99.9th percentile of
    /// each thread].
    #[arg(long, value_name = "TIME")]
    pub latency: Option<String>,
    /// How many of the worst activations of each thread to show.
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    pub worst: usize,
    /// Run directory; must be empty or not exist [default: wakepath-runs/watch-NAME-TIME].
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Print the threads' figures as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Start a program on the right CPUs under the right policy: both set, read back and said on
/// standard error, with what the program can't inherit. Then this process becomes the program.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: those of the program; 1 where it is not started.\n\nExamples:\n  \
                        wakepath exec --policy 'FIFO 80' --cpu 1 -- ./controller --fast\n  \
                        wakepath exec --policy 'DEADLINE 400us/4ms/4ms' --reset-on-fork -- ./loop\n  \
                        wakepath exec --policy 'OTHER nice -10' --cpu 2-3 --quiet -- ./planner"
)]
pub struct Exec {
    /// Policy of the program: 'FIFO 80', 'RR 50', 'OTHER nice -5', 'BATCH nice 0', IDLE,
    /// 'DEADLINE 400us/4ms/4ms' (runtime, deadline, period).
    #[arg(long, value_name = "POLICY")]
    pub policy: String,
    /// CPUs that it may run on, such as `1` or `2-3,6` [default: those that this process may].
    #[arg(long, value_name = "CPUS")]
    pub cpu: Option<String>,
    /// Its other threads and processes begin as OTHER nice 0 instead of under its policy.
    #[arg(long)]
    pub reset_on_fork: bool,
    /// Say nothing unless something is wrong.
    #[arg(long)]
    pub quiet: bool,
    /// The program and its arguments, behind `--`.
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    pub command: Vec<std::ffi::OsString>,
}

/// Compare runs: what differs in machine, kernel and scenario, and what got worse or better beyond
/// doubt. The replicate is the run: give several for each side.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing regressed and evidence enough, 1 error or an invalid run, \
                        2 regressed, 3 inconclusive.\n\nExamples:\n  \
                        wakepath compare before after --output before-and-after.html\n  \
                        wakepath compare --base a1 --base a2 --base a3 b1 b2 b3 --margin 5us\n  \
                        wakepath compare old-*/ --against new-*/ --metric p99.9 --metric misses"
)]
pub struct Compare {
    /// Run directories: the base first, then what is held against it.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// A run of the base; may be given more than once. All others are then held against them.
    #[arg(long, value_name = "RUN", conflicts_with = "against")]
    pub base: Vec<PathBuf>,
    /// Runs held against the base; all others are then the base.
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub against: Vec<PathBuf>,
    /// The largest difference that does not matter: a share of the base's median run, such as
    /// `10%`, or a time, such as `5us` [default: 10%].
    #[arg(long, value_name = "MARGIN")]
    pub margin: Option<String>,
    /// What to compare: `median`, `p99`, `p99.9`, `max` or `misses`; may be given more than once
    /// [default: all].
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,
    /// The runs of the two sides were measured in turn: compare them pair by pair.
    #[arg(long)]
    pub interleaved: bool,
    /// Compare runs that are not comparable, with a warning.
    #[arg(long)]
    pub force: bool,
    /// Write it as one HTML file, with the distributions over each other.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write each of its figures as an SVG file into this directory.
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Print it as JSON, with the distributions to be drawn over each other.
    #[arg(long)]
    pub json: bool,
}

/// Write a run in another form on standard output.
#[derive(Debug, Args)]
#[command(
    after_help = "The samples as Parquet are in the run directory itself: samples.parquet.\n\n\
                        Exit codes: 0 written, 1 error.\n\nExamples:\n  \
                        wakepath export RUN --format csv > samples.csv\n  \
                        wakepath export RUN --format markdown >> $GITHUB_STEP_SUMMARY"
)]
pub struct Export {
    /// The run directory.
    pub run: PathBuf,
    /// `csv` (every sample), `json` (as `show --json`), `openmetrics` or `markdown`.
    #[arg(long, value_name = "FORMAT")]
    pub format: String,
}

/// Make a run of what another tool measured, marked with what it lacks. It can be shown and
/// compared; it may fail but never pass, for what was not recorded can't be judged.
#[derive(Debug, Args)]
#[command(
    after_help = "Forms: cyclictest (text of -h or -H), cyclictest-json, cyclictest-verbose (text of -v), \
                        timerlat and osnoise (text of rtla … hist), jitterdebugger (results.json), \
                        jitterdebugger-raw (samples.raw), perf (perf.data of `perf record -e \
                        sched:sched_waking -e sched:sched_switch -a`).\n\n\
                        Exit codes: 0 imported, 1 error.\n\nExamples:\n  \
                        wakepath import cyclictest-json result.json --directory monday\n  \
                        wakepath import cyclictest hist.txt --period 1ms --policy 'FIFO 80' \
                        --directory monday\n  \
                        wakepath import perf perf.data --thread my-loop --period 4ms --policy \
                        'FIFO 80' --directory monday"
)]
pub struct Import {
    /// The form of the files.
    pub form: String,
    /// The files: one, or repetitions of one measurement.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Run directory to make; must be empty or not exist.
    #[arg(long, value_name = "DIR")]
    pub directory: PathBuf,
    /// Period of the tool's loop, such as `1ms`, where the file does not say it.
    #[arg(long, value_name = "TIME")]
    pub period: Option<String>,
    /// Policy it ran under, such as `FIFO 80`, where the file does not say it.
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// The loop's thread, by number or name, where the file has all threads of a machine (perf).
    #[arg(long, value_name = "THREAD")]
    pub thread: Vec<String>,
    /// The numbers of cyclictest's text are nanoseconds (its option -N), which it does not say.
    #[arg(long)]
    pub nanoseconds: bool,
    /// Latency above which a cycle is late, such as `200us` [default: the period].
    #[arg(long, value_name = "TIME")]
    pub latency: Option<String>,
    /// Tolerated share of late cycles, such as `0.1%` [default: none].
    #[arg(long, value_name = "SHARE")]
    pub miss_fraction: Option<String>,
}

/// Make an interrupted run readable and say what is missing.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  wakepath recover wakepath-runs/check-20260101T120000Z")]
pub struct Recover {
    /// The run directory.
    pub run: PathBuf,
}

/// List, show and check scenarios.
#[derive(Debug, Subcommand)]
pub enum Scenario {
    /// List the built-in scenarios.
    List,
    /// Print a built-in scenario's file, to copy and change.
    Show {
        /// Its name.
        name: String,
    },
    /// Check a scenario file against its rules and this machine, and say how long it would run.
    Check {
        /// A file, or the name of a built-in scenario.
        scenario: String,
    },
    /// Print the JSON Schema of scenario files, for editors.
    Schema,
}

/// Run a scenario on real kernels in virtual time, repeatable to the nanosecond.
#[derive(Debug, Subcommand)]
pub enum Lab {
    /// Boot each kernel in an emulator that counts instructions, run the scenario in it, compare.
    Run(LabRun),
    /// Make the run of a baseline once more, and say what takes longer than it did.
    Check(LabCheck),
    /// Run a command of wakepath's in a guest, and bring back what it wrote.
    Exec(LabExec),
    /// Find the first cycle at which two runs in virtual time part.
    Diff(LabDiff),
}

/// The guests of a laboratory: which kernels, on what machine.
#[derive(Debug, Args)]
pub struct LabGuests {
    /// Kernel: `debian:stock`, `debian:rt`, `package:NAME[=VERSION]` or the path of a bzImage; may
    /// be given more than once.
    #[arg(long, value_name = "KERNEL", required = true)]
    pub kernel: Vec<String>,
    /// Further parameters of the kernels, such as `preempt=full`: each kernel is also run with
    /// these; may be given more than once.
    #[arg(long, value_name = "PARAMETERS")]
    pub variant: Vec<String>,
    /// Architecture of the guests: `x86-64` or `aarch64`; the second needs `--program`.
    #[arg(long, value_name = "NAME", default_value = "x86-64")]
    pub architecture: String,
    /// CPUs of each guest. More than one take turns: docs/concepts/virtual-time.md says what that
    /// costs.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=16))]
    pub cpus: u16,
    /// Command of wakepath's that each guest runs first, such as `tune apply --yes`, or a program of
    /// this host by its path; must end with 0 unless a dash stands before it; may be given more than
    /// once.
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true)]
    pub before: Vec<String>,
    /// Virtual nanoseconds that pass with each instruction: 1, 2, 4 … 1024.
    #[arg(long, value_name = "NS", default_value_t = 1)]
    pub ns_per_instruction: u32,
    /// Memory of each guest in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    pub memory: u32,
    /// Guests that run side by side [default: as many as this host has CPUs].
    #[arg(long, value_name = "NUMBER")]
    pub beside: Option<u16>,
    /// Time that each guest may take on this host, such as `10min` [default: by what it does].
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Wakepath that runs in the guests [default: this one].
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// The emulator's program [default: the installed QEMU, or one of Debian's, fetched, where that
    /// is too old].
    #[arg(long, value_name = "FILE")]
    pub emulator: Option<PathBuf>,
}

/// Boot each kernel in an emulator that counts instructions, run the scenario in it, compare.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 every guest ran its scenario, 1 one of them did not, or an error. \
                  Virtual time judges no criterion: no run of it is ever passed.\n\nExamples:\n  \
                  wakepath lab run pi5-250hz --duration 20s --kernel debian:stock --kernel \
                  debian:rt\n  \
                  wakepath lab run my-loop.toml --kernel debian:stock --variant preempt=full \
                  --variant 'preempt=full threadirqs'\n  \
                  wakepath lab run my-loop.toml --kernel ./bzImage --seed 1 --seed 2 --seed 3\n  \
                  wakepath lab run my-loop.toml --kernel debian:rt --cpus 2 --variant \
                  'isolcpus=1 nohz_full=1 rcu_nocbs=1 irqaffinity=0'"
)]
pub struct LabRun {
    /// A file, or the name of a built-in scenario (see `wakepath scenario list`).
    pub scenario: String,
    /// The guests.
    #[command(flatten)]
    pub guests: LabGuests,
    /// Seed of every random number; one seed is one sample, so give several.
    #[arg(long, value_name = "NUMBER", default_value = "1")]
    pub seed: Vec<u64>,
    /// Scale the scenario to this virtual time for the whole run, such as `20s`.
    #[arg(long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Measure everything once more with kernel events recorded, so that late cycles are explained.
    #[arg(long)]
    pub trace: bool,
    /// Write what was counted into this file, for `lab check`.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Directory of the runs, one for each guest; must be empty or not exist [default:
    /// wakepath-runs/lab-NAME-TIME].
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Print the result as JSON on standard output, for scripts.
    #[arg(long)]
    pub json: bool,
}

/// Make the run of a baseline once more, and say what takes longer than it did.
#[derive(Debug, Args)]
#[command(
    after_help = "The baseline holds all that was asked for: scenario, kernels, variants, seeds. A \
                  kernel in place of the baseline's is what a test of that kernel is.\n\nExit codes: \
                  0 nothing takes longer, 1 error, 2 something does.\n\nExamples:\n  \
                  wakepath lab run my-loop.toml --kernel debian:rt --trace --baseline latency.json\n  \
                  wakepath lab check latency.json\n  \
                  wakepath lab check latency.json --kernel ./bzImage --allow 2"
)]
pub struct LabCheck {
    /// File that `lab run --baseline` wrote.
    pub baseline: PathBuf,
    /// Kernel in place of the baseline's; as many as the baseline has, in its order.
    #[arg(long, value_name = "KERNEL")]
    pub kernel: Vec<String>,
    /// Share by which a count may grow, in percent.
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    pub allow: f64,
    /// Write what was counted now into the baseline.
    #[arg(long)]
    pub write: bool,
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
    /// Directory of the runs, one for each guest; must be empty or not exist [default:
    /// wakepath-runs/lab-NAME-TIME].
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Print the changes as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Run a command of wakepath's in a guest, and bring back what it wrote.
#[derive(Debug, Args)]
#[command(
    after_help = "The command runs as root in /tmp of a guest that has nothing but memory; what it \
                  leaves in /tmp comes back with --directory. With one guest its output is this \
                  command's, its exit code too.\n\nExit codes: 0 all commands ended with 0; 1 \
                  error; else the command's.\n\nExamples:\n  \
                  wakepath lab exec --kernel debian:rt -- machine --json\n  \
                  wakepath lab exec --kernel debian:rt --cpus 2 -- doctor --cpu 1\n  \
                  wakepath lab exec --kernel debian:stock --cpus 2 --before 'tune apply --cpu 1 \
                  --yes' --before 'tune revert' -- tune status\n  \
                  wakepath lab exec --kernel debian:rt -- /usr/bin/cyclictest -m -p 90 -l 1000 -q"
)]
pub struct LabExec {
    /// The guests.
    #[command(flatten)]
    pub guests: LabGuests,
    /// Directory for what comes back, with one inside for each guest; must be empty or not exist.
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Verb of wakepath's with its arguments, or a program of this host by its path.
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Find the first cycle at which two runs in virtual time part.
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

/// Show what this machine is and what this user may do on it.
#[derive(Debug, Args)]
pub struct Machine {
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Check whether this machine is ready for the loop: what is bad, why, and what to do.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing notable or grave is bad, 1 error, 2 something is (with \
                        --against: something changed), 3 nothing is, but something that could be \
                        grave is unknown.\n\nExamples:\n  \
                        wakepath doctor --rate 1kHz --cpu 3\n  \
                        wakepath doctor --explain F3\n  \
                        wakepath doctor --against wakepath-runs/check-20260101T120000Z"
)]
pub struct Doctor {
    /// The loop.
    #[command(flatten)]
    pub subject: Subject,
    /// Say everything about one check, such as `F3`.
    #[arg(long, value_name = "ID", conflicts_with = "against")]
    pub explain: Option<String>,
    /// Say what changed on this machine since a run that passed.
    #[arg(long, value_name = "RUN")]
    pub against: Option<PathBuf>,
    /// Read a recorded tree of /proc and /sys instead of this machine.
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Plan, apply and take back changes of this machine for the loop.
#[derive(Debug, Subcommand)]
pub enum Tune {
    /// Say what to change, why, at which cost, and how it is taken back. Changes nothing.
    Plan(TunePlan),
    /// Carry out what can be changed while the machine runs; a journal allows taking it back.
    Apply(TuneApply),
    /// Take back what `apply` changed, as far as it is still as it was written.
    Revert(TunePlace),
    /// Say what is applied, and whether it is still in effect.
    Status(TunePlace),
    /// Measure each step of the plan without and with it, and take back what does not help.
    Trial(TuneTrial),
    /// Prepare a second boot entry with the plan's parameters, to be tried once.
    Boot(TuneBoot),
    /// Print a drop-in for the systemd unit of the loop's program.
    Unit(TuneUnit),
}

/// What the plan is for.
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

/// Carry out a plan.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 applied, 1 error (everything is taken back), 3 applied, but the \
                        kernel refused some changes.\n\nExamples:\n  \
                        wakepath tune plan --rate 1kHz --cpu 3\n  \
                        wakepath tune apply --rate 1kHz --cpu 3\n  \
                        wakepath tune revert"
)]
pub struct TuneApply {
    /// What the plan is for.
    #[command(flatten)]
    pub plan: TunePlan,
    /// Only these steps, by name; may be given more than once.
    #[arg(long, value_name = "STEP")]
    pub step: Vec<String>,
    /// Don't ask.
    #[arg(long)]
    pub yes: bool,
    /// Say what would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Go on although other programs write the same settings.
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
                        wakepath tune trial --rate 1kHz --cpu 3 --policy 'FIFO 80' --pairs 5 --block 60s"
)]
pub struct TuneTrial {
    /// What the plan is for.
    #[command(flatten)]
    pub plan: TunePlan,
    /// Policy of the loop that is measured; with --scenario, the scenario's count.
    #[arg(long, value_name = "POLICY", default_value = "FIFO 80")]
    pub policy: String,
    /// Only these steps, by name; may be given more than once.
    #[arg(long, value_name = "STEP")]
    pub step: Vec<String>,
    /// Pairs of runs, without and with, for each step.
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub pairs: u32,
    /// Time for each run.
    #[arg(long, value_name = "TIME", default_value = "20s")]
    pub block: String,
    /// Directory of the runs.
    #[arg(long, value_name = "DIR", default_value = "wakepath-runs/trial")]
    pub directory: PathBuf,
    /// Leave applied what helps.
    #[arg(long)]
    pub keep: bool,
    /// Don't ask.
    #[arg(long)]
    pub yes: bool,
}

/// Prepare a second boot entry.
#[derive(Debug, Args)]
pub struct TuneBoot {
    /// What the plan is for.
    #[command(flatten)]
    pub plan: TunePlan,
    /// Take the prepared entry back.
    #[arg(long)]
    pub remove: bool,
    /// Don't ask.
    #[arg(long)]
    pub yes: bool,
    /// Say what would be written, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// A drop-in for a unit.
#[derive(Debug, Args)]
pub struct TuneUnit {
    /// The unit, such as `flyer.service`.
    pub unit: String,
    /// CPU of the loop [default: as for `check`].
    #[arg(long, value_name = "CPU")]
    pub cpu: Option<u16>,
    /// Policy of the loop, such as 'FIFO 80'; the unit's whole program gets it.
    #[arg(long, value_name = "POLICY", default_value = "FIFO 80")]
    pub policy: String,
}

/// The loop that a machine is inspected or tuned for.
#[derive(Debug, Args)]
pub struct Subject {
    /// Rate of the loop, such as `250Hz`; its criterion is that of `wakepath check` [default:
    /// 250Hz].
    #[arg(long, value_name = "RATE", conflicts_with = "scenario")]
    pub rate: Option<String>,
    /// Scenario whose loop and criterion are meant: a file, or a built-in one by name.
    #[arg(long, value_name = "SCENARIO")]
    pub scenario: Option<String>,
    /// CPU of the loop [default: the scenario's, else the highest, an isolated one if there is any].
    #[arg(long, value_name = "CPU")]
    pub cpu: Option<u16>,
    /// The program that the loop is in, by name or process number, if it runs.
    #[arg(long, value_name = "PROGRAM")]
    pub program: Option<String>,
}

/// What wakepath starts itself as. Not for people: arguments may change at any time.
#[derive(Debug, Subcommand)]
pub enum Internal {
    /// The measured loop's process.
    Loop {
        /// Process that it dies with.
        parent: i32,
        /// Descriptor of the shared memory.
        shared: i32,
    },
    /// The recorder.
    Recorder {
        /// Process that it works for.
        parent: i32,
        /// Descriptor of the shared memory.
        shared: i32,
        /// The run directory.
        directory: PathBuf,
    },
    /// The probe.
    Probe {
        /// Process that it works for.
        parent: i32,
        /// Descriptor of the shared memory, which it leaves alone.
        shared: i32,
        /// The run directory.
        directory: PathBuf,
    },
    /// The loads' supervisor.
    LoadSupervisor,
    /// The first process of a laboratory's guest.
    LabGuest,
    /// The laboratory's emulator.
    LabEmulator {
        /// Process that it dies with.
        parent: i32,
        /// The emulator and its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<std::ffi::OsString>,
    },
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

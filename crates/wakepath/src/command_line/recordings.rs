//! Words of the verbs that read recordings, import other tools' files, or repair runs.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// List the runs below `wakepath-runs` here, the latest first. Every verb that takes a run takes its
/// number, a part of its name or its directory [default: the latest].
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 listed, 1 error.\n\nExamples:\n  \
                        wakepath runs\n  \
                        wakepath runs --json | jq -r '.runs[] | select(.verdict == \"failed\").name'")]
pub struct Runs {
    /// Print them as JSON.
    #[arg(short, long)]
    pub json: bool,
}

/// Show a recorded run's answer in one screen, or everything that it says, judged again.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: those of the run itself.\n\nExamples:\n  \
                        wakepath show\n  \
                        wakepath show --histogram\n  \
                        wakepath show @2 --details\n  \
                        wakepath show wakepath-runs/check-20260101T120000Z --json")]
pub struct Show {
    /// The run: its directory, its number such as `@1` in `wakepath runs`, or a part of its name [default: the
    /// latest].
    pub run: Option<PathBuf>,
    /// Print everything: all figures of all conditions, every reason and caution.
    #[arg(long, conflicts_with = "json")]
    pub details: bool,
    /// Print the latencies of one policy as a histogram, with the limit.
    #[arg(long, conflicts_with_all = ["json", "details"])]
    pub histogram: bool,
    /// With --histogram: the policy [default: the recommended one, else the one nearest to passing].
    #[arg(short, long, value_name = "POLICY", requires = "histogram")]
    pub policy: Option<String>,
    /// Print it as JSON.
    #[arg(short, long)]
    pub json: bool,
}

/// Write the report of a recorded run: one HTML file that needs no network and no other file.
#[derive(Debug, Args)]
#[command(
    after_help = "`check`, `run` and `record` write report.html into the run directory themselves.\n\nExit \
                        codes: 0 written (whatever the verdict), 1 error.\n\nExamples:\n  \
                        wakepath report --open\n  \
                        wakepath report RUN --output report.html --svg figures\n  \
                        wakepath report RUN --customer 'Field Robotics' --author 'J. Doe' --pdf\n  \
                        wakepath report MONDAY TUESDAY --output both.html"
)]
pub struct Report {
    /// The run: its directory, its number such as `@1` in `wakepath runs`, or a part of its name; several make
    /// one file with a chapter each [default: the latest].
    #[arg(value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Open it in the browser.
    #[arg(long)]
    pub open: bool,
    /// Where to write it [default: report.html in the run directory].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Title of the report [default: the scenario's name].
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Customer name shown on the report.
    #[arg(long, value_name = "NAME")]
    pub customer: Option<String>,
    /// Author shown on the report.
    #[arg(long, value_name = "NAME")]
    pub author: Option<String>,
    /// Write a PDF next to the page, too, with an installed Chromium.
    #[arg(long)]
    pub pdf: bool,
    /// As root, allow a directory that another user owns or can write to.
    #[arg(long)]
    pub trust_directory: bool,
    /// Write each figure into this directory too, as SVG.
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
}

/// Replay a recorded run's timing through a simulated quadrotor, next to a flight without latency, and
/// find what would lose it.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 flown and the run's flight criterion met (or none given), 1 \
                        error, 2 not met, 3 undecided.\n\nExamples:\n  \
                        wakepath fly\n  \
                        wakepath fly RUN --vehicle crazyflie --sample release --missed zero\n  \
                        wakepath fly RUN --vehicle my-drone.toml --json > flights.json"
)]
pub struct Fly {
    /// The run: its directory, its number such as `@1` in `wakepath runs`, or a part of its name [default: the
    /// latest].
    pub run: Option<PathBuf>,
    /// What flies: `hummingbird`, `crazyflie` or a vehicle file [default: the run's own, else
    /// hummingbird].
    #[arg(long, value_name = "VEHICLE")]
    pub vehicle: Option<String>,
    /// When the state was latched: `wake` (by the loop when it wakes) or `release` (by the sensor
    /// at the due time) [default: the run's own, else wake].
    #[arg(long, value_name = "WHEN")]
    pub sample: Option<String>,
    /// Rotors' behaviour while a command is missing: `hold` or `zero` [default: the run's own,
    /// else hold].
    #[arg(long, value_name = "WHAT")]
    pub missed: Option<String>,
    /// What becomes of a job that runs into the next due time: `skip`, `queue` or `kill` [default:
    /// the run's own, else skip].
    #[arg(long, value_name = "WHAT")]
    pub overrun: Option<String>,
    /// Trajectory of the vehicle: `circle`, `hover` or `step` [default: the run's own, else
    /// circle].
    #[arg(long, value_name = "WAY")]
    pub trajectory: Option<String>,
    /// Seed of the torque noise and the kicks [default: the run's own, else 0].
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Show every condition with every figure, next to the flight without latency.
    #[arg(short, long)]
    pub all: bool,
    /// Print it as JSON.
    #[arg(short, long)]
    pub json: bool,
}

/// Explain why a recorded run's late cycles were late: the condition that lost most time, with its
/// causes ranked, its worst cycle and a fix. The run must hold kernel events (--trace).
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 explained, 1 error.\n\nExamples:\n  \
                        wakepath explain\n  \
                        wakepath explain --all\n  \
                        wakepath explain @2 --cycle 812 --segment 3\n  \
                        wakepath explain RUN --perfetto run.perfetto-trace")]
pub struct Explain {
    /// The run: its directory, its number such as `@1` in `wakepath runs`, or a part of its name [default: the
    /// latest].
    pub run: Option<PathBuf>,
    /// Show one cycle, by its number, as a timeline.
    #[arg(long, value_name = "NUMBER")]
    pub cycle: Option<u64>,
    /// The segment of that cycle [default: all that have such a cycle].
    #[arg(long, value_name = "NUMBER", requires = "cycle")]
    pub segment: Option<u32>,
    /// Print all conditions, with their causes, worst cycles and time by stretch; with --cycle, all of its pieces.
    #[arg(short, long)]
    pub all: bool,
    /// Policy to explain [default: the one that lost most time to late cycles].
    #[arg(short, long, value_name = "POLICY", conflicts_with_all = ["cycle", "all"])]
    pub policy: Option<String>,
    /// With --all or --json: number of worst cycles of each condition; fewer if they are very long.
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    pub worst: usize,
    /// Latency above which a cycle is late, such as `200us` [default: the run's criterion, else
    /// the 99.9th percentile].
    #[arg(long, value_name = "TIME")]
    pub latency: Option<String>,
    /// Write a timeline for ui.perfetto.dev.
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Print it as JSON.
    #[arg(short, long)]
    pub json: bool,
}

/// Print each condition's largest value, the probability with which any one cycle exceeds it, and a bound
/// for the probability asked for if the run is no more than ten times too short for it.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 a bound for every condition, within the criterion if it limits that time; 1 error; 2 a \
bound is above the criterion's limit; 3 refused for a condition.

Examples:
  wakepath bound
  wakepath bound @2 --policy 'FIFO 80' --phase stress --exceed 1e-5 --details
  wakepath bound RUN --metric execution --json | jq '.conditions[].answer'")]
pub struct Bound {
    /// The run: its directory, its number such as `@1` in `wakepath runs`, or a part of its name [default: the
    /// latest].
    pub run: Option<PathBuf>,
    /// Which time of a cycle.
    #[arg(long, value_name = "METRIC", value_enum, default_value_t = BoundMetricWord::Latency)]
    pub metric: BoundMetricWord,
    /// Probability of exceeding the bound: of any one cycle, such as `1e-6`, or of any cycle of an hour of
    /// flight, such as `1e-3/h`.
    #[arg(
        long,
        value_name = "PROBABILITY",
        default_value = "1e-6",
        allow_hyphen_values = true
    )]
    pub exceed: String,
    /// Only conditions under this policy, or of this task, as the table calls them.
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// Only conditions of this phase.
    #[arg(long, value_name = "PHASE")]
    pub phase: Option<String>,
    /// Compose a bound of the longest sections of kernel code that a tracer saw, given in this file.
    #[arg(long, value_name = "FILE")]
    pub sections: Option<PathBuf>,
    /// Show every condition and every gate that refuses one.
    #[arg(short, long)]
    pub all: bool,
    /// Show every gate with its statistic, every test, and the level that fitted tails estimate.
    #[arg(long)]
    pub details: bool,
    /// Print it as JSON.
    #[arg(short, long)]
    pub json: bool,
}

/// Which time of a cycle is bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BoundMetricWord {
    /// First instruction less due time.
    Latency,
    /// End of the work less first instruction.
    Execution,
    /// End of the work less due time.
    Response,
}

/// Compare runs: better, worse, equivalent or inconclusive, with the differences in machine, kernel and
/// scenario. Give several runs for each side: the run is the unit that is repeated.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 nothing regressed and evidence enough, 1 error or an invalid run, \
                        2 regressed, 3 inconclusive.\n\nExamples:\n  \
                        wakepath compare before after --output before-and-after.html\n  \
                        wakepath compare --base a1 --base a2 --base a3 b1 b2 b3 --margin 5us\n  \
                        wakepath compare old-*/ --against new-*/ --metric p99.9 --metric misses"
)]
pub struct Compare {
    /// Runs, by directory, number or a part of the name: the base first, then what is held against
    /// it; one alone is the base of the latest [default: the one before the latest, and the latest].
    #[arg(value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// A run of the base (repeatable). All others are then held against them.
    #[arg(long, value_name = "RUN", conflicts_with = "against")]
    pub base: Vec<PathBuf>,
    /// Runs held against the base; all others are then the base.
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub against: Vec<PathBuf>,
    /// The largest difference that does not matter: a share of the base's median run, such as
    /// `10%`, or a time, such as `5us` [default: 10%].
    #[arg(long, value_name = "MARGIN")]
    pub margin: Option<String>,
    /// Figure to compare: `median`, `p99`, `p99.9`, `max` or `misses` (repeatable) [default: all].
    #[arg(long, value_name = "METRIC")]
    pub metric: Vec<String>,
    /// The runs of the two sides were measured in turn: compare them pair by pair.
    #[arg(long)]
    pub interleaved: bool,
    /// Print all figures, and how they were compared.
    #[arg(long, conflicts_with = "json")]
    pub details: bool,
    /// Compare runs that are not comparable, with a warning.
    #[arg(long)]
    pub force: bool,
    /// Write it as one HTML file, with distributions.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write each of its figures as an SVG file into this directory.
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Print it as JSON, with distributions.
    #[arg(short, long)]
    pub json: bool,
}

/// Write a run in another form on standard output.
#[derive(Debug, Args)]
#[command(
    after_help = "The samples as Parquet are in the run directory itself: samples.parquet.\n\n\
                        Exit codes: 0 written, 1 error.\n\nExamples:\n  \
                        wakepath export RUN --format csv > samples.csv\n  \
                        wakepath export RUN --format mcap > run.mcap\n  \
                        wakepath export RUN --format markdown >> $GITHUB_STEP_SUMMARY\n  \
                        wakepath export RUN --format junit > wakepath.xml\n  \
                        wakepath export RUN --format openmetrics > wakepath.prom"
)]
pub struct Export {
    /// The run: its directory, its number such as `@1` in `wakepath runs`, or a part of its name [default: the
    /// latest].
    pub run: Option<PathBuf>,
    /// `csv` (every sample), `mcap` (every sample, for Foxglove and PlotJuggler), `json` (as `show --json`), `openmetrics`, `markdown` or `junit`.
    #[arg(long, value_name = "FORMAT", value_enum, hide_possible_values = true)]
    pub format: ExportFormat,
}

/// Form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Every sample as a line.
    Csv,
    /// Every sample, for Foxglove and PlotJuggler.
    Mcap,
    /// As `show --json`.
    Json,
    /// For Prometheus.
    #[value(name = "openmetrics")]
    OpenMetrics,
    /// A table for a page.
    Markdown,
    /// A test report for CI.
    #[value(name = "junit")]
    JUnit,
}

/// Make a run of another tool's results, with a list of the data that they lack. It can be shown and
/// compared. It can fail but never pass, because unrecorded data can't be judged.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 imported, 1 error.\n\nExamples:\n  \
                        wakepath import result.json --directory monday\n  \
                        wakepath import hist.txt.gz --period 1ms --policy 'FIFO 80' --directory monday\n  \
                        ssh robot cat hist.txt | wakepath import - --period 1ms --policy 'FIFO 80'\n  \
                        wakepath import perf.data --thread my-loop --period 4ms --policy 'FIFO 80'\n  \
                        wakepath import log.csv --columns due=ref_us,start=wake_us --policy OTHER\n  \
                        wakepath import ~/.ros/tracing/SESSION --policy OTHER --chain /image:/motor")]
pub struct Import {
    /// The files, packed or not: one, or repetitions of one measurement. A directory means its
    /// files, `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Form of the files, if their content fits several.
    #[arg(hide_short_help = true, long, value_name = "FORM")]
    pub form: Option<String>,
    /// Run directory to make; must be empty or not exist [default: wakepath-runs/TOOL-TIME].
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// As root, allow a directory that another user owns or can write to.
    #[arg(hide_short_help = true, long)]
    pub trust_directory: bool,
    /// Period of the tool's loop, such as `1ms`, where the file does not say it.
    #[arg(long, value_name = "TIME")]
    pub period: Option<String>,
    /// Policy it ran under, such as `FIFO 80`, where the file does not say it.
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// The loop's thread, by number or name, where the file has all threads of a machine (perf,
    /// ftrace, trace-cmd).
    #[arg(hide_short_help = true, long, value_name = "THREAD")]
    pub thread: Vec<String>,
    /// Columns of a table (csv): `due,start,end`, each followed by `=NAME` where the
    /// file names it differently; in the file's order if it has no names, `-` for one to skip.
    #[arg(hide_short_help = true, long, value_name = "COLUMNS")]
    pub columns: Option<String>,
    /// Unit of times in columns whose names do not end in _ns, _us, _ms or _s.
    #[arg(hide_short_help = true, long, value_name = "UNIT")]
    pub unit: Option<String>,
    /// The numbers of cyclictest's text are nanoseconds (its option -N), which it does not say.
    #[arg(hide_short_help = true, long)]
    pub nanoseconds: bool,
    /// Latency above which a cycle is late, such as `200us` [default: the period].
    #[arg(long, value_name = "TIME")]
    pub latency: Option<String>,
    /// Tolerated share of late cycles, such as `0.1%` [default: none].
    #[arg(long, value_name = "SHARE")]
    pub miss_fraction: Option<String>,
    /// Any limits of a scenario's [criterion], separated by commas.
    #[arg(hide_short_help = true, long, value_name = "CRITERION")]
    pub criterion: Option<String>,
    /// Of ROS 2: a chain of callbacks, from a topic to a topic or node, such as `/image:/motor` (repeatable).
    #[arg(hide_short_help = true, long, value_name = "FROM:TO")]
    pub chain: Vec<String>,
    /// With --chain: end-to-end latency above which a message counts, such as `40ms`.
    #[arg(hide_short_help = true, long, value_name = "TIME", requires = "chain")]
    pub limit: Option<String>,
    /// Of ROS 2: number of late runs of each callback to explain [default: 3].
    #[arg(hide_short_help = true, long, value_name = "COUNT")]
    pub worst: Option<usize>,
    /// Of ROS 2: print everything: all figures of the callbacks, and each hop of a chain.
    #[arg(hide_short_help = true, short, long, conflicts_with = "json")]
    pub all: bool,
    /// Of ROS 2: print the callbacks and chains as JSON.
    #[arg(hide_short_help = true, long)]
    pub json: bool,
}

/// Make an interrupted run readable and say what is missing.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 recovered, or complete already; 1 error; 3 there is no run in \
                        it: nothing was recorded, or a watch saw no period.\n\nExample:\n  \
                        wakepath recover wakepath-runs/check-20260101T120000Z"
)]
pub struct Recover {
    /// The run: its directory, its number such as `@1` in `wakepath runs`, or a part of its name [default: the
    /// latest].
    pub run: Option<PathBuf>,
    /// As root, allow a directory that another user owns or can write to.
    #[arg(long)]
    pub trust_directory: bool,
}

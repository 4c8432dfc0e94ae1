//! What other latency tools wrote, read into one shape: histograms or samples of threads, and what
//! the tool did not record. Pure: it is given bytes, and neither writes runs nor judges them.

mod bytes;
mod choice;
mod csv;
mod ctf;
mod cyclictest_histogram;
mod cyclictest_json;
mod cyclictest_verbose;
mod ftrace;
mod histogram_lines;
mod imported;
mod jitterdebugger;
mod json;
mod kernel_events;
mod perf_data;
mod ros2;
mod ros2_control;
mod rtla;
mod trace_dat;
mod wakeups;

pub use imported::{Histogram, Imported, KernelTrace, Place, Row, Samples, Thread, Values};

/// Forms that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// cyclictest's histogram text: `cyclictest -h 400 -q > FILE`, or `-H`.
    Cyclictest,
    /// cyclictest's JSON: `cyclictest --json=FILE`.
    CyclictestJson,
    /// cyclictest's samples as text: `cyclictest -v > FILE`.
    CyclictestVerbose,
    /// `rtla timerlat hist > FILE`.
    Timerlat,
    /// `rtla osnoise hist > FILE`.
    Osnoise,
    /// jitterdebugger's `results.json`.
    Jitterdebugger,
    /// jitterdebugger's `samples.raw`.
    JitterdebuggerRaw,
    /// perf's file with the scheduler's events.
    Perf,
    /// A table with a line for each cycle, such as `wakepath export --format csv` writes.
    Csv,
    /// ftrace's text: the kernel's file `trace`.
    Ftrace,
    /// trace-cmd's `trace.dat`.
    TraceCmd,
    /// A directory that `ros2 trace` made: LTTng's streams of a program's tracepoints.
    Ros2,
    /// Statistics of ros2_control's controller manager, as `ros2 topic echo` writes them.
    Ros2Control,
}

/// A file of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its path within the directory.
    pub path: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What the user says of a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// The period in nanoseconds; it goes before what the file says.
    pub period_ns: Option<u64>,
    /// Whether the numbers of cyclictest's texts are nanoseconds (`-N`), which they do not say.
    pub nanoseconds: bool,
    /// The threads that are wanted of a file that has all, by number or name.
    pub threads: &'a [&'a str],
    /// What the columns of a table are, as given on the command line: `due`, `start=t_wake_us`.
    pub columns: &'a [&'a str],
    /// The unit of times in columns whose names tell none.
    pub unit: Option<Unit>,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// Every unit with its sign.
    pub const ALL: [(&'static str, Self); 4] = [
        ("ns", Self::Nanoseconds),
        ("us", Self::Microseconds),
        ("ms", Self::Milliseconds),
        ("s", Self::Seconds),
    ];

    /// The unit of a sign, such as `us`.
    pub fn of_sign(sign: &str) -> Option<Self> {
        let known = Self::ALL.into_iter().find(|(known, _)| *known == sign);
        known.map(|(_, unit)| unit)
    }

    /// How many powers of ten a nanosecond is below it.
    fn digits(self) -> i32 {
        match self {
            Self::Nanoseconds => 0,
            Self::Microseconds => 3,
            Self::Milliseconds => 6,
            Self::Seconds => 9,
        }
    }
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 13] = [
        Self::Cyclictest,
        Self::CyclictestJson,
        Self::CyclictestVerbose,
        Self::Timerlat,
        Self::Osnoise,
        Self::Jitterdebugger,
        Self::JitterdebuggerRaw,
        Self::Perf,
        Self::Csv,
        Self::Ftrace,
        Self::TraceCmd,
        Self::Ros2,
        Self::Ros2Control,
    ];

    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cyclictest => "cyclictest",
            Self::CyclictestJson => "cyclictest-json",
            Self::CyclictestVerbose => "cyclictest-verbose",
            Self::Timerlat => "timerlat",
            Self::Osnoise => "osnoise",
            Self::Jitterdebugger => "jitterdebugger",
            Self::JitterdebuggerRaw => "jitterdebugger-raw",
            Self::Perf => "perf",
            Self::Csv => "csv",
            Self::Ftrace => "ftrace",
            Self::TraceCmd => "trace-cmd",
            Self::Ros2 => "ros2",
            Self::Ros2Control => "ros2-control",
        }
    }

    /// The form of a word.
    ///
    /// # Errors
    /// For a word that is none of [`Form::ALL`].
    pub fn of_word(word: &str) -> Result<Self, UnknownForm> {
        Self::ALL
            .into_iter()
            .find(|form| form.word() == word)
            .ok_or_else(|| UnknownForm(word.to_owned()))
    }

    /// Whether a file of this form does not say whether its numbers are micro- or nanoseconds.
    pub fn leaves_unit_open(self) -> bool {
        matches!(self, Self::Cyclictest | Self::CyclictestVerbose)
    }

    /// Whether a file of this form has all threads of a machine, of which some are wanted.
    pub fn has_all_threads(self) -> bool {
        matches!(self, Self::Perf | Self::Ftrace | Self::TraceCmd)
    }

    /// Whether it is a directory's form, read with [`Form::read_directory`].
    pub fn is_directory(self) -> bool {
        self == Self::Ros2
    }

    /// Reads a directory of this form, all files of it.
    ///
    /// # Errors
    /// The first file that is not as the tool writes it.
    pub fn read_directory(self, parts: &[Part]) -> Result<Imported, ImportError> {
        match self {
            Self::Ros2 => ros2::read(parts),
            other => Err(ImportError::whole(format!(
                "is a directory; {} reads a file",
                other.word()
            ))),
        }
    }

    /// Reads a file of this form.
    ///
    /// # Errors
    /// The first thing that is not as the tool writes it, with its line.
    pub fn read(self, bytes: &[u8], asked: &Asked<'_>) -> Result<Imported, ImportError> {
        let unit_ns = if asked.nanoseconds { 1 } else { 1_000 };
        match self {
            Self::Cyclictest => cyclictest_histogram::read(text(bytes)?, unit_ns),
            Self::CyclictestJson => cyclictest_json::read(text(bytes)?),
            Self::CyclictestVerbose => {
                cyclictest_verbose::read(text(bytes)?, asked.period_ns, unit_ns)
            }
            Self::Timerlat => rtla::timerlat(text(bytes)?),
            Self::Osnoise => rtla::osnoise(text(bytes)?),
            Self::Jitterdebugger => jitterdebugger::results(text(bytes)?),
            Self::JitterdebuggerRaw => jitterdebugger::samples(bytes, asked.period_ns),
            Self::Perf => perf_data::read(bytes, asked),
            Self::Csv => csv::read(text(bytes)?, asked),
            Self::Ftrace => ftrace::read(text(bytes)?, asked),
            Self::TraceCmd => trace_dat::read(bytes, asked),
            Self::Ros2 => Err(ImportError::whole(
                "is a file; give the directory that `ros2 trace` made",
            )),
            Self::Ros2Control => ros2_control::read(text(bytes)?, asked),
        }
    }
}

/// A word that is no form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no form that can be imported; there are {all}",
    all = Form::ALL.map(Form::word).join(", ")
)]
pub struct UnknownForm(pub String);

/// Not as the tool writes it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{why}", line.map_or(String::new(), |line| format!("{line}: ")))]
pub struct ImportError {
    /// Line from 1; `None` where a file has no lines or none of them is to blame.
    pub line: Option<usize>,
    /// What is wrong and what would be right.
    pub why: String,
}

impl ImportError {
    pub(crate) fn at(line: usize, why: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            why: why.into(),
        }
    }

    pub(crate) fn whole(why: impl Into<String>) -> Self {
        Self {
            line: None,
            why: why.into(),
        }
    }
}

/// A day at 100 kHz: more values in one file are a broken file.
pub(crate) const MOST_VALUES: u64 = 1 << 40;

fn text(bytes: &[u8]) -> Result<&str, ImportError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        ImportError::at(line, "is no text")
    })
}

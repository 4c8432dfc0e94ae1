//! Output of other latency tools, read into one form: histograms or samples of threads, and the data that
//! the tool did not record. Pure: the caller passes bytes; this crate neither writes runs nor judges them.

mod bytes;
mod choice;
mod clock;
mod command;
mod csv;
mod ctf;
mod cyclictest_text;
mod cyclictest_verbose;
mod decode;
mod due_times;
mod events;
mod form;
mod ftrace;
mod hackbench;
mod histogram_lines;
mod imported;
mod jitterdebugger;
mod json;
mod kernel_events;
mod latency_lines;
mod latmus_plot;
mod lttng;
mod oslat;
mod packed;
mod pairs_text;
mod perf_data;
mod perf_latency;
mod perf_sched;
mod ros2;
mod ros2_control;
mod rt_tests_json;
mod rteval;
mod rtla;
mod status_lines;
mod status_text;
mod stress_ng;
mod trace_dat;
mod tracers;
mod wakeups;

pub use form::{Form, UnknownForm, Unrecognized, Use};
pub use imported::{
    Histogram, Imported, KernelTrace, Place, Ros2Calls, Row, Samples, ScheduledBy, TOO_MANY_BINS,
    Thread, Values,
};
pub use packed::unpacked;
pub use wakepath_timeline::Measured;

/// A file of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its path within the directory.
    pub path: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// The user's information about a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// The period in nanoseconds, which no file states otherwise.
    pub period_ns: Option<u64>,
    /// Whether the numbers of cyclictest's texts are nanoseconds (`-N`), which they do not say.
    pub nanoseconds: bool,
    /// The threads that are wanted of a file that has all, by number or name.
    pub threads: &'a [&'a str],
    /// Roles of a table's columns, as given on the command line: `due`, `start=t_wake_us`.
    pub columns: &'a [&'a str],
    /// The unit of times in columns whose names tell none.
    pub unit: Option<Unit>,
}

impl Asked<'_> {
    /// The unit of cyclictest's numbers, in nanoseconds.
    pub(crate) fn unit_ns(&self) -> i64 {
        if self.nanoseconds { 1 } else { 1_000 }
    }
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

/// Not as the tool writes it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{why}", line.map_or(String::new(), |line| format!("{line}: ")))]
pub struct ImportError {
    /// Line from 1; `None` where a file has no lines or none of them is to blame.
    pub line: Option<usize>,
    /// The fault and the correction.
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

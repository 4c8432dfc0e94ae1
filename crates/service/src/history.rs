//! The history: one line of JSON for each minute and event, behind its check sum, appended and never rewritten.
//! A kill or a power cut can leave a torn last line, which is known by its check sum and left out.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};
use wakepath_directory::Directory;
use wakepath_statistics::LatencyHistogram;

/// What a file of the history is called, before its month.
const PREFIX: &str = "history-";
/// What the file of a round is called, before its number.
const ROUND: &str = "history-round-";
/// Lines that wait for a disk without room; then the oldest go.
const MOST_WAITING: usize = 2_000;

/// What a loop bears: the criterion as it is for its period. Times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Bears {
    /// A due time is missed when its cycle wakes later than this after it.
    pub latency_ns: Option<u64>,
    /// And when its work ends later than this after it.
    pub deadline_ns: Option<u64>,
    /// Tolerated share of due times missed.
    pub miss_fraction: f64,
    /// The bound on the miss probability asked for where none is tolerated.
    pub evidence: f64,
    /// One-sided confidence.
    pub confidence: f64,
    /// Tolerated misses in a row.
    pub consecutive_misses: Option<u64>,
    /// Tolerated time from the end of a cycle to the end of the next.
    pub outage_ns: Option<u64>,
}

/// What happened, with its time in nanoseconds since 1970.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Entry {
    /// A program was started.
    Started {
        /// When.
        at_ns: u64,
        /// Its command line.
        command: Vec<String>,
        /// Its process.
        process: u32,
        /// The boot it is of.
        boot: String,
        /// Version of the recorder.
        version: String,
    },
    /// The recorder had died while the program ran, and was started again.
    Resumed {
        /// When.
        at_ns: u64,
    },
    /// A loop has come.
    LoopBegan {
        /// When.
        at_ns: u64,
        /// Its name.
        name: String,
        /// Its period in nanoseconds.
        period_ns: u64,
        /// The policy of its thread, read back.
        policy: String,
        /// What it bears.
        bears: Bears,
    },
    /// Up to a minute of a loop.
    Minute(Box<Minute>),
    /// A loop has ended.
    LoopEnded {
        /// When.
        at_ns: u64,
        /// Its name.
        name: String,
        /// Why.
        how: String,
        /// Whether its program ended or gave it up while it ran.
        died: bool,
    },
    /// Rounds of a scenario are measured from now on: by a new command, or by one that goes on.
    RoundsBegan {
        /// When.
        at_ns: u64,
        /// The command line that they all have.
        command: Vec<String>,
    },
    /// A round is measured, and all before this since the last one is of it.
    RoundEnded {
        /// When.
        at_ns: u64,
        /// Its number, from 1.
        number: u32,
        /// How many there are to be.
        of: u32,
    },
    /// What a round shows of a loop beside its counts.
    RoundJudged {
        /// When it began.
        at_ns: u64,
        /// The loop.
        name: String,
        /// What it is.
        #[serde(flatten)]
        finding: RoundFinding,
    },
    /// Something to be known.
    Note {
        /// When.
        at_ns: u64,
        /// One line.
        text: String,
    },
    /// The program ended, and all that was in its rings is on disk.
    Ended {
        /// When.
        at_ns: u64,
    },
    /// Of a later version. Never written.
    #[serde(other)]
    Unknown,
}

/// What a round shows of a loop beside its counts, with the reason in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "finding", content = "why", rename_all = "kebab-case")]
pub enum RoundFinding {
    /// Its samples are no evidence, and none of them is counted.
    Invalid(String),
    /// It breaks the criterion by more than counts, such as in the vehicle's flight.
    Failed(String),
    /// It leaves something open that counts do not show.
    Undecided(String),
}

/// What the cycles of a loop came to, of which the first and the last are due in the same minute.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Minute {
    /// The loop.
    pub name: String,
    /// Where its first cycle was due, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The segment with its samples; it may be gone by now.
    pub segment: String,
    /// The cycle of that segment after the last one.
    pub to_cycle: u64,
    /// Cycles that ran and are recorded.
    pub executed: u64,
    /// Due times at which none ran.
    pub skipped: u64,
    /// Due times missed, those skipped included.
    pub missed: u64,
    /// Cycles that ran, or may have, and are not recorded.
    pub lost: u64,
    /// Most misses in a row so far.
    pub longest_run: u64,
    /// Most misses in a cluster so far.
    pub largest_cluster: u64,
    /// Longest time from the end of a cycle to the end of the next.
    pub outage_ns: u64,
    /// Sum of the latencies, early ones counted as 0.
    pub sum_ns: u64,
    /// Least latency.
    pub min_ns: i64,
    /// Largest latency.
    pub max_ns: i64,
    /// Largest response time.
    pub max_response_ns: i64,
    /// The histogram of the latencies: for each bin with something in it how far its lower edge lies above the
    /// one before (the first: above 0), and its count.
    pub bins: Vec<i64>,
}

impl Minute {
    /// Takes in a histogram.
    pub(crate) fn put(&mut self, histogram: &LatencyHistogram) {
        self.min_ns = histogram.min().unwrap_or(0);
        self.max_ns = histogram.max().unwrap_or(0);
        let mut before = 0_i64;
        for (low, _, count) in histogram.occupied() {
            // What is far below 0 is counted together; its least value is kept beside.
            let low = low.max(self.min_ns.min(0));
            self.bins.push(low - before);
            self.bins.push(count.cast_signed());
            before = low;
        }
    }

    /// Adds its latencies up; smallest and largest stay exact.
    pub fn add_to(&self, histogram: &mut LatencyHistogram) {
        let mut low = 0_i64;
        let pairs = self.bins.as_chunks::<2>().0;
        for (number, [step, count]) in pairs.iter().enumerate() {
            low = low.saturating_add(*step);
            let mut count = count.max(&0).cast_unsigned();
            if number == 0 && count > 0 {
                histogram.record(self.min_ns);
                count -= 1;
            }
            if number + 1 == pairs.len() && count > 0 {
                histogram.record(self.max_ns);
                count -= 1;
            }
            histogram.record_many(low, count);
        }
    }
}

/// Appends to the history.
#[derive(Debug)]
pub struct HistoryWriter {
    directory: Directory,
    file: Option<(String, File)>,
    waiting: Vec<String>,
    /// Lines that were given up because the disk had no room for too long.
    given_up: u64,
}

impl HistoryWriter {
    /// Of this directory.
    pub fn new(directory: &Directory) -> Self {
        Self {
            directory: directory.clone(),
            file: None,
            waiting: Vec::new(),
            given_up: 0,
        }
    }

    /// Appends an entry; where the disk takes nothing it waits in memory for the next.
    ///
    /// # Errors
    /// The system's.
    pub fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let text = serde_json::to_string(entry)?;
        self.waiting.push(line(&text));
        if self.waiting.len() > MOST_WAITING {
            self.waiting.remove(0);
            self.given_up += 1;
        }
        self.flush()
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// The system's.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let name = file_of(now_ns());
        if self.file.as_ref().is_none_or(|(of, _)| *of != name) {
            if !self.directory.holds(&name) {
                self.directory.create_new(&name, 0o644)?;
            }
            self.file = Some((name.clone(), self.directory.open_to_append(&name)?));
            // Behind a line that a kill or a full disk has torn.
            if !self.waiting[0].starts_with('\n') {
                self.waiting[0].insert(0, '\n');
            }
        }
        if self.given_up > 0 {
            let note = Entry::Note {
                at_ns: now_ns(),
                text: format!(
                    "{} lines of the history found no room on the disk",
                    self.given_up
                ),
            };
            self.waiting.push(line(&serde_json::to_string(&note)?));
            self.given_up = 0;
        }
        let Some((_, file)) = &mut self.file else {
            return Ok(());
        };
        // One by one: what is written is written once.
        while let Some(next) = self.waiting.first() {
            if let Err(error) = file.write_all(next.as_bytes()) {
                self.file = None;
                return Err(error);
            }
            self.waiting.remove(0);
        }
        Ok(())
    }

    /// Waits until the disk has it.
    ///
    /// # Errors
    /// The system's.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file
            .as_ref()
            .map_or(Ok(()), |(_, file)| file.sync_data())
    }
}

fn line(text: &str) -> String {
    format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()))
}

/// All that a round came to, put in place in one piece.
///
/// # Errors
/// The system's; nothing of it is in the history then.
pub(crate) fn put_round(directory: &Directory, number: u32, entries: &[Entry]) -> io::Result<()> {
    let mut text = String::new();
    for entry in entries {
        text += &line(&serde_json::to_string(entry)?);
    }
    directory.put(&format!("{ROUND}{number:06}.log"), text.as_bytes())
}

/// The number of the last round in the history; 0 where there is none.
pub(crate) fn last_round(directory: &Directory) -> io::Result<u32> {
    let names = directory.names()?;
    let numbers = names.iter().filter_map(|name| {
        let digits = name.strip_prefix(ROUND)?.strip_suffix(".log")?;
        digits.parse::<u32>().ok()
    });
    Ok(numbers.max().unwrap_or(0))
}

/// The file of an instant.
fn file_of(at_ns: u64) -> String {
    let month: String = written(at_ns).chars().take(7).collect();
    format!("{PREFIX}{month}.log")
}

/// RFC 3339 in UTC.
pub(crate) fn written(at_ns: u64) -> String {
    let at = SystemTime::UNIX_EPOCH + Duration::from_nanos(at_ns);
    humantime::format_rfc3339_millis(at).to_string()
}

/// Since 1970.
pub(crate) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// Reads the whole history in its order; returns how many lines are damaged. `wants` sees each line before it is
/// understood.
///
/// # Errors
/// The system's.
pub fn read_history(
    directory: &Path,
    wants: impl Fn(&str) -> bool,
    mut each: impl FnMut(Entry),
) -> io::Result<u64> {
    let mut names: Vec<_> = std::fs::read_dir(directory)?
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(PREFIX) && name.ends_with(".log"))
        .collect();
    names.sort();
    let mut damaged = 0;
    for name in names {
        let mut reader = BufReader::new(File::open(directory.join(name))?);
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if reader.read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
            if bytes == b"\n" {
                continue;
            }
            match understood(&bytes, &wants) {
                Some(Some(entry)) => each(entry),
                Some(None) => {}
                None => damaged += 1,
            }
        }
    }
    Ok(damaged)
}

/// `None` where it is damaged, nothing within where nobody wants it.
fn understood(line: &[u8], wants: &impl Fn(&str) -> bool) -> Option<Option<Entry>> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    if u32::from_str_radix(sum, 16).ok()? != crc32fast::hash(text.as_bytes()) {
        return None;
    }
    if !wants(text) {
        return Some(None);
    }
    serde_json::from_str(text).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_directory::Trust;

    #[test]
    fn a_histogram_comes_back_with_its_counts_and_its_extremes() {
        let mut histogram = LatencyHistogram::new();
        for value in [-9_000_000, -5_000, -3, 0, 17, 17, 5_003, 5_004, 812_345] {
            histogram.record(value);
        }
        let mut minute = Minute::default();
        minute.put(&histogram);
        let mut back = LatencyHistogram::new();
        minute.add_to(&mut back);
        assert_eq!(back, histogram);
        minute.add_to(&mut back);
        assert_eq!((back.count(), back.max()), (18, Some(812_345)));
    }

    #[test]
    fn a_torn_line_is_counted_and_the_rest_is_read() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::make(place.path(), Trust::Any).unwrap();
        let note = |text: &str| Entry::Note {
            at_ns: 1,
            text: text.into(),
        };
        let mut writer = HistoryWriter::new(&directory);
        writer.append(&note("before")).unwrap();
        let name = file_of(now_ns());
        let mut file = directory.open_to_append(&name).unwrap();
        file.write_all(b"0123abcd {\"what\":\"no").unwrap();
        HistoryWriter::new(&directory)
            .append(&note("after"))
            .unwrap();
        let mut found = Vec::new();
        let damaged = read_history(place.path(), |_| true, |entry| found.push(entry)).unwrap();
        assert_eq!((damaged, found), (1, vec![note("before"), note("after")]));
    }
}

//! The history: one line of JSON for each minute and event, after its checksum.
//!
//! Lines are appended and never rewritten. A kill or a power cut can leave a torn last line, whose
//! checksum is wrong and which is left out.

mod entry;

pub use entry::{Entry, Minute, RoundFinding};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};
use wakepath_directory::Directory;

/// Prefix of a history file's name, before the month.
const PREFIX: &str = "history-";
/// Prefix of a round's file name, before the number.
const ROUND: &str = "history-round-";
/// Longest line to read: a minute with all its counts takes some kilobytes.
const MOST_LINE_BYTES: u64 = 1 << 20;
/// Lines that wait for a disk without room; then the oldest go.
const MOST_WAITING: usize = 2_000;

/// Appends to the history.
#[derive(Debug)]
pub struct HistoryWriter {
    directory: Directory,
    file: Option<(String, File)>,
    waiting: Vec<String>,
    /// Lines that were dropped because the disk was full for too long.
    given_up: u64,
}

impl HistoryWriter {
    /// For this directory.
    pub fn new(directory: &Directory) -> Self {
        Self {
            directory: directory.clone(),
            file: None,
            waiting: Vec::new(),
            given_up: 0,
        }
    }

    /// Appends an entry; if the disk fails it waits in memory for the next attempt.
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

    /// Writes the waiting lines.
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
            // After a line that a kill or a full disk has torn.
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
        // Removed one by one, so that nothing is written twice after an error.
        while let Some(next) = self.waiting.first() {
            if let Err(error) = file.write_all(next.as_bytes()) {
                self.file = None;
                return Err(error);
            }
            self.waiting.remove(0);
        }
        Ok(())
    }

    /// Waits until the disk has them.
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

/// Adds all entries of a round in one step.
///
/// # Errors
/// The system's; the history then has none of them.
pub(crate) fn put_round(directory: &Directory, number: u32, entries: &[Entry]) -> io::Result<()> {
    let mut text = String::new();
    for entry in entries {
        text += &line(&serde_json::to_string(entry)?);
    }
    directory.put(&format!("{ROUND}{number:06}.log"), text.as_bytes())
}

/// The number of the last round in the history; 0 if there is none.
pub(crate) fn last_round(directory: &Directory) -> io::Result<u32> {
    let names = directory.names()?;
    let numbers = names.iter().filter_map(|name| {
        let digits = name.strip_prefix(ROUND)?.strip_suffix(".log")?;
        digits.parse::<u32>().ok()
    });
    Ok(numbers.max().unwrap_or(0))
}

/// The file for a time.
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

/// Reads the whole history in order; returns the number of damaged lines. `wants` sees each line
/// before it is parsed.
///
/// # Errors
/// The system's.
pub fn read_history(
    directory: &Path,
    wants: impl Fn(&str) -> bool,
    mut each: impl FnMut(Entry),
) -> io::Result<u64> {
    let directory = Directory::to_read(directory)?;
    let mut names = directory.names()?;
    names.retain(|name| name.starts_with(PREFIX) && name.ends_with(".log"));
    names.sort_unstable();
    let mut damaged = 0;
    for name in names {
        // A name that can't be opened as a file holds no history.
        let Ok(file) = directory.open(&name) else {
            damaged += 1;
            continue;
        };
        let mut reader = BufReader::new(file);
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let mut line = reader.by_ref().take(MOST_LINE_BYTES);
            if line.read_until(b'\n', &mut bytes)? == 0 {
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

/// `None` if the line is damaged, `Some(None)` if `wants` rejects it.
fn understood(line: &[u8], wants: &impl Fn(&str) -> bool) -> Option<Option<Entry>> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    if u32::from_str_radix(sum, 16).ok()? != crc32fast::hash(text.as_bytes()) {
        return None;
    }
    if !wants(text) {
        return Some(None);
    }
    serde_json::from_slice(text.as_bytes()).ok().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_directory::Trust;
    use wakepath_statistics::LatencyHistogram;

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

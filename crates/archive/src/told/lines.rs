//! The log of the user's loops: a line of JSON for each line and value, up to a limit.
//!
//! The lines are already formatted.

use crate::durable::{open, sync_file, to_read};
use crate::error::{ArchiveError, Result};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use wakepath_directory::{Directory, NewFile};
use wakepath_timeline::one_line;

/// Name of the file in a run directory.
pub const LINES_NAME: &str = "loop-log.jsonl";
/// Most bytes of a line that we write.
const LONGEST: u64 = 64 * 1024;

/// A line, or a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoopLine {
    /// Segment of the run.
    pub segment: u32,
    /// The loop's thread within the run.
    pub thread: u16,
    /// Its cycle; the next one if none was running.
    pub cycle: u64,
    /// When, in nanoseconds on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// Its content.
    #[serde(flatten)]
    pub said: LineSaid,
}

/// Content of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineSaid {
    /// A line.
    Text(String),
    /// A value.
    Value {
        /// Its name.
        name: String,
        /// The value; JSON can't express values that aren't numbers.
        #[serde(deserialize_with = "number_or_none")]
        is: f64,
    },
}

fn number_or_none<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

/// Writes the file.
pub struct LinesWriter {
    file: NewFile,
    path: PathBuf,
    pending: Vec<u8>,
    bytes: u64,
    most_bytes: u64,
    left_out: u64,
}

impl LinesWriter {
    /// Creates the file in a run directory, with at most `most_bytes`.
    ///
    /// # Errors
    /// [`ArchiveError::DiskFull`], [`ArchiveError::Io`].
    pub fn create_in(directory: &Directory, most_bytes: u64) -> Result<Self> {
        let path = directory.path_of(LINES_NAME);
        let file = directory
            .create_anew(LINES_NAME)
            .map_err(|e| ArchiveError::io("create the loop's log", &path, e))?;
        Ok(Self {
            file,
            path,
            pending: Vec::new(),
            bytes: 0,
            most_bytes,
            left_out: 0,
        })
    }

    /// Appends a line; beyond the bound it is left out and counted.
    ///
    /// # Errors
    /// As [`LinesWriter::flush`].
    pub fn append(&mut self, line: &LoopLine) -> Result<()> {
        let before = self.pending.len();
        // Numbers and texts: nothing that JSON could refuse.
        let _ = serde_json::to_writer(&mut self.pending, line);
        self.pending.push(b'\n');
        if self.bytes + self.pending.len() as u64 > self.most_bytes {
            self.pending.truncate(before);
            self.left_out += 1;
            // The log ends here: a shorter line after it would hide that one is missing.
            self.most_bytes = 0;
            return Ok(());
        }
        if self.pending.len() > 1 << 16 {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes pending lines.
    ///
    /// # Errors
    /// [`ArchiveError::DiskFull`], [`ArchiveError::Io`].
    pub fn flush(&mut self) -> Result<()> {
        self.bytes += self.pending.len() as u64;
        let outcome = self.file.write_all(&self.pending);
        self.pending.clear();
        outcome.map_err(|e| ArchiveError::io("write the loop's log", &self.path, e))
    }

    /// [`LinesWriter::flush`], and waits for the disk.
    ///
    /// # Errors
    /// As [`LinesWriter::flush`].
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        sync_file(&mut self.file, &self.path)
    }

    /// Number of lines left out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// Passes the lines of a run to `each`, with each text reduced to one line. False if the file is
/// cut short or damaged; the lines before that are passed on. Nothing if a run has no file.
///
/// # Errors
/// [`ArchiveError::Io`].
pub fn read_lines(directory: &Path, mut each: impl FnMut(LoopLine)) -> Result<bool> {
    let directory = to_read(directory)?;
    let Some(file) = open(&directory, LINES_NAME, "open the loop's log")? else {
        return Ok(true);
    };
    let path = directory.path_of(LINES_NAME);
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut bounded = std::io::Read::take(&mut file, LONGEST);
        let count = bounded
            .read_until(b'\n', &mut line)
            .map_err(|e| ArchiveError::io("read the loop's log", &path, e))?;
        if count == 0 {
            return Ok(true);
        }
        let is_whole = line.last() == Some(&b'\n');
        match serde_json::from_slice::<LoopLine>(&line) {
            Ok(mut found) if is_whole => {
                match &mut found.said {
                    LineSaid::Text(text) | LineSaid::Value { name: text, .. } => {
                        *text = one_line(text);
                    }
                }
                each(found);
            }
            _ => return Ok(false),
        }
    }
}

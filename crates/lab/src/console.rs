//! A guest's console: a file that the emulator writes, read as it grows.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use wakepath_guest::sending::is_data;
use wakepath_timeline::one_line;

/// The console's file, read as it grows.
pub(crate) struct Console {
    path: PathBuf,
    read: u64,
    partial: Vec<u8>,
    lines: Vec<String>,
}

impl Console {
    /// For a file that might not exist yet.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            read: 0,
            partial: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Passes new lines to `each`.
    pub(crate) fn read(&mut self, mut each: impl FnMut(&str)) {
        let new = File::open(&self.path).and_then(|mut file| {
            let mut new = Vec::new();
            file.seek(SeekFrom::Start(self.read))?;
            file.read_to_end(&mut new)?;
            Ok(new)
        });
        // Before the emulator has created it there is nothing to read.
        let Ok(new) = new else { return };
        self.read += new.len() as u64;
        self.partial.extend(new);
        while let Some(end) = self.partial.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            let line = plain(&String::from_utf8_lossy(&line));
            if !line.is_empty() && !is_data(&line) {
                each(&line);
                self.lines.push(line);
            }
        }
    }

    /// Its complete lines so far, without data lines.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The last that was written, whole or not.
    pub(crate) fn last(&self) -> String {
        let partial = plain(&String::from_utf8_lossy(&self.partial));
        match (partial.is_empty(), self.lines.last()) {
            (false, _) => partial,
            (true, Some(line)) => line.clone(),
            (true, None) => "the console is empty".into(),
        }
    }
}

/// A console's line without characters that move a terminal's cursor.
fn plain(line: &str) -> String {
    one_line(line.trim())
}

//! Output and files of a command that has ended.

use super::processes::{marked, words};
use super::{LONGEST, Place, not_run};
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};
use wakepath_archive::{Run, State};
use wakepath_timeline::Sample;

/// An ended command and its place.
pub struct Finished {
    pub status: ExitStatus,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub complaints: String,
    pub took: Duration,
    /// The run directory, if it was a run.
    pub directory: PathBuf,
    pub place: Place,
}

impl Finished {
    /// Exit code; `None` when a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Asserts the exit code; shows the output if it differs.
    #[track_caller]
    pub fn assert_code(&self, expected: i32) {
        assert_eq!(self.code(), Some(expected), "{}", self.said());
    }

    /// Ends a test of a watch as not run if this machine can't be watched.
    pub fn skip_unless_watched(&self, what: &str) {
        self.skip_if("can't watch", what);
    }

    /// Ends a test of probes as not run if this machine can't be watched, or not by them.
    pub fn skip_unless_probed(&self, what: &str) {
        self.skip_unless_watched(what);
        self.skip_if("no uprobe_events", what);
    }

    fn skip_if(&self, complaint: &str, what: &str) {
        if self.complaints.contains(complaint) {
            not_run(what, self.complaints.trim());
        }
    }

    /// Asserts that it refused: this exit code, one line that holds all of `parts`, and nothing else.
    #[track_caller]
    pub fn assert_refused(&self, code: i32, parts: &[&str]) {
        self.assert_code(code);
        assert_eq!(self.output, "", "{}", self.said());
        assert_eq!(self.complaints.lines().count(), 1, "{}", self.said());
        for part in parts {
            let is_said = self.complaints.contains(part);
            assert!(is_said, "no {part:?}: {}", self.said());
        }
    }

    /// All that it said, for a failed assertion.
    pub fn said(&self) -> String {
        format!(
            "{}\n--- standard output\n{}\n--- standard error\n{}",
            self.status, self.output, self.complaints
        )
    }

    /// Standard output as the JSON that it has to be, whole.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.output)
            .unwrap_or_else(|error| panic!("{error}: {}", self.said()))
    }

    /// The last lines of standard error that are errors of the program itself.
    pub fn errors(&self) -> Vec<&str> {
        let lines = self.complaints.lines();
        lines
            .filter(|line| line.starts_with("wakepath: "))
            .collect()
    }

    /// The recording, whatever its state.
    #[track_caller]
    pub fn run(&self) -> Run {
        Run::open(&self.directory).unwrap_or_else(|error| panic!("{error}\n{}", self.said()))
    }

    /// Samples of a segment's first thread.
    #[track_caller]
    pub fn samples(&self, segment: u32) -> Vec<Sample> {
        self.run().samples(segment, 0).unwrap()
    }

    /// Asserts that the recording is whole and finished.
    #[track_caller]
    pub fn assert_archive_is_complete(&self) {
        let run = self.run();
        assert_eq!(*run.state(), State::Finished);
        assert_eq!(run.check().unwrap(), [], "{}", self.said());
        assert!(self.directory.join("manifest.json").is_file());
        assert!(self.directory.join("samples.parquet").is_file());
    }

    /// Asserts that no process of it is left: a command that ends in order has waited for them all.
    #[track_caller]
    pub fn assert_nobody_is_left(&self) {
        let left = self.left();
        assert!(left.is_empty(), "left: {left:?}: {}", self.said());
    }

    /// Waits until no process is left of a command that was ended without order. Its recorder writes the rest and
    /// waits for the disk, and who is killed needs its CPU once more: how long both take is the machine's affair.
    #[track_caller]
    pub fn wait_until_nobody_is_left(&self) {
        let begun = Instant::now();
        let mut left = self.left();
        while !left.is_empty() {
            let is_stuck = begun.elapsed() > LONGEST;
            assert!(!is_stuck, "left after {LONGEST:?}: {left:?}");
            std::thread::sleep(Duration::from_millis(20));
            left = self.left();
        }
    }

    /// The command lines of its processes. One that ends while it is looked at has none any more.
    fn left(&self) -> Vec<Vec<String>> {
        let lines = marked(self.place.mark()).into_iter().map(words);
        lines
            .filter(|line| line.iter().any(|word| !word.is_empty()))
            .collect()
    }

    /// The directory's files and their contents, to see whether anything changed.
    pub fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(&self.directory).unwrap().flatten();
        let mut files: Vec<_> = entries
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| (entry.path(), std::fs::read(entry.path()).unwrap()))
            .collect();
        files.sort();
        files
    }
}

//! The corpus on disk: a line of JSON for each entry and for each branch, appended at once, so that a
//! killed hunt loses at most the line that it was writing.

use super::corpus::{Corpus, Entry};
use super::section::Section;
use crate::{HuntError, LabError, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use wakepath_guest::hunt::parse;

/// Name of the file in a hunt's directory.
const NAME: &str = "corpus.jsonl";
/// Version of the file.
const VERSION: u32 = 3;

/// The guests that a corpus belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    version: u32,
    /// The kernel as the user named it.
    pub kernel: String,
    /// Digest of its file.
    pub kernel_sha256: String,
    /// Whether programs run as root.
    pub as_root: bool,
    /// Instructions that take a virtual nanosecond, inverted.
    pub ns_per_instruction: u32,
}

impl Subject {
    /// A subject of this version.
    pub fn new(kernel: &str, sha256: &str, as_root: bool, ns_per_instruction: u32) -> Self {
        Self {
            version: VERSION,
            kernel: kernel.to_owned(),
            kernel_sha256: sha256.to_owned(),
            as_root,
            ns_per_instruction,
        }
    }
}

/// Effort so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Effort {
    /// Branches.
    pub branches: u64,
    /// Programs.
    pub programs: u64,
    /// Time, in milliseconds.
    pub milliseconds: u64,
}

#[derive(Serialize, Deserialize)]
enum Line {
    Subject(Subject),
    Entry {
        program: String,
        sections: Vec<Section>,
        cost: u64,
        is_confirmed: bool,
    },
    Effort(Effort),
}

/// The open file.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens the journal of a directory, and reads the corpus and the effort so far.
    ///
    /// # Errors
    /// [`HuntError::OtherHunt`] if it belongs to other guests.
    pub fn open(directory: &Path, subject: &Subject) -> Result<(Self, Corpus, Effort)> {
        let path = directory.join(NAME);
        let text = match std::fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(LabError::io("read", &path, error)),
        };
        let other = |why: String| {
            LabError::from(HuntError::OtherHunt {
                path: path.clone(),
                why,
            })
        };
        // The last line of a killed hunt can be cut short.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let (mut corpus, mut effort) = (Corpus::default(), Effort::default());
        for (number, line) in whole.lines().enumerate() {
            let wrong = || other(format!("line {} is not one of a hunt's", number + 1));
            match serde_json::from_str(line).map_err(|_| wrong())? {
                Line::Subject(of) if of == *subject => {}
                Line::Subject(of) => return Err(other(differs(&of, subject))),
                Line::Entry {
                    program,
                    sections,
                    cost,
                    is_confirmed,
                } => {
                    let program = parse(&program).map_err(|_| wrong())?;
                    corpus.keep(Entry::new(program, sections, cost, is_confirmed));
                }
                Line::Effort(more) => {
                    effort.branches += more.branches;
                    effort.programs += more.programs;
                    effort.milliseconds += more.milliseconds;
                }
            }
        }
        let failed = |action| {
            let path = path.clone();
            move |error| LabError::io(action, &path, error)
        };
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(failed("open"))?;
        file.set_len(whole.len() as u64).map_err(failed("cut"))?;
        let mut journal = Self {
            file,
            path: path.clone(),
        };
        if whole.is_empty() {
            journal.add(&Line::Subject(subject.clone()))?;
        }
        Ok((journal, corpus, effort))
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn entry(&mut self, entry: &Entry) -> Result<()> {
        self.add(&Line::Entry {
            program: entry.program.to_string(),
            sections: entry.sections.clone(),
            cost: entry.cost,
            is_confirmed: entry.is_confirmed,
        })
    }

    /// Adds effort.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn effort(&mut self, more: Effort) -> Result<()> {
        self.add(&Line::Effort(more))
    }

    fn add(&mut self, line: &Line) -> Result<()> {
        let mut text = serde_json::to_string(line).expect("plain data is JSON");
        text.push('\n');
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| LabError::io("write", &self.path, error))
    }
}

fn differs(of: &Subject, subject: &Subject) -> String {
    match of.as_root == subject.as_root && of.kernel_sha256 == subject.kernel_sha256 {
        false if of.kernel_sha256 != subject.kernel_sha256 => {
            format!("a hunt of another kernel ({})", of.kernel)
        }
        false if of.as_root => "a hunt as root (`--as-root`)".into(),
        false => "a hunt without `--as-root`".into(),
        true => format!("a hunt of {} with other options", of.kernel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(length: u64) -> Section {
        Section {
            began: "a".into(),
            ended: "b".into(),
            length,
            call: None,
        }
    }

    #[test]
    fn a_corpus_is_read_back_without_the_line_that_a_kill_cut_short() {
        let place = tempfile::tempdir().unwrap();
        let subject = Subject::new("debian:rt", "abc", false, 1);
        let program = parse("r0 = write(1, \"a\\n\", 2)\n").unwrap();
        let (mut journal, ..) = Journal::open(place.path(), &subject).unwrap();
        let kept = Entry::new(program.clone(), vec![section(9_000)], 70, true);
        journal.entry(&kept).unwrap();
        let one = Effort {
            branches: 1,
            programs: 40,
            milliseconds: 2_000,
        };
        journal.effort(one).unwrap();
        journal.effort(one).unwrap();
        drop(journal);
        let path = place.path().join(NAME);
        let mut text = std::fs::read_to_string(&path).unwrap();
        let whole = text.len();
        text += "{\"Entry\":{\"program\":\"r0 = du";
        std::fs::write(&path, text).unwrap();
        let (mut journal, corpus, effort) = Journal::open(place.path(), &subject).unwrap();
        let entry = &corpus.entries()[0];
        assert_eq!((&entry.program, entry.cost), (&program, 70));
        assert!(entry.is_confirmed);
        assert_eq!(corpus.longest()[0].section, section(9_000));
        assert_eq!(
            (effort.branches, effort.programs, effort.milliseconds),
            (2, 80, 4_000)
        );
        assert_eq!(std::fs::metadata(&path).unwrap().len(), whole as u64);
        journal.effort(one).unwrap();
        assert_eq!(Journal::open(place.path(), &subject).unwrap().2.branches, 3);
    }

    #[test]
    fn the_corpus_of_another_kernel_or_another_user_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let subject = |kernel, root| Subject::new("k", kernel, root, 1);
        Journal::open(place.path(), &subject("a", false)).unwrap();
        let said = |of: &Subject| Journal::open(place.path(), of).unwrap_err().to_string();
        assert!(said(&subject("b", false)).contains("a hunt of another kernel (k)"));
        assert!(said(&subject("a", true)).contains("without `--as-root`"));
    }
}

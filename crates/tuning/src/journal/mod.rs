//! The journal: each change with the earlier value, on disk before the change is made.
//!
//! It is in `/run/wakepath`, which a reboot clears together with the settings it could restore.

mod error;

pub use error::{Damage, JournalError};

use crate::Action;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use wakepath_directory::Private;

const PLACE: &[&str] = &["run", "wakepath"];
const NAME: &str = "journal";
const VERSION: u32 = 2;
/// A plan has some hundred changes; a file much longer is not a journal.
const LARGEST: u64 = 16 << 20;

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// The first line.
    Began {
        /// The journal's format version.
        version: u32,
        /// The boot that the settings belong to.
        boot_id: String,
    },
    /// A change about to be made.
    Intended {
        /// Number of the change, from 0.
        number: usize,
        /// The step that it belongs to.
        step: String,
        /// The change.
        action: Action,
        /// The value before.
        before: String,
    },
    /// Written and read back.
    Done {
        /// Number of the change.
        number: usize,
    },
    /// The kernel refused it; nothing has changed.
    Refused {
        /// Number of the change.
        number: usize,
        /// The kernel's error.
        why: String,
    },
    /// Taken back.
    Reverted {
        /// Number of the change.
        number: usize,
    },
    /// The plan is completely applied.
    Complete,
}

/// A change as the journal knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Record {
    /// The step.
    pub step: String,
    /// The change.
    pub action: Action,
    /// The value before.
    pub before: String,
    /// Whether it was refused, and why.
    pub refused: Option<String>,
    /// Whether it was read back as written.
    pub done: bool,
    /// Whether it was taken back already.
    pub reverted: bool,
}

/// The parsed lines of a journal. Pure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// The boot in which the journal was created.
    pub boot_id: String,
    /// The changes.
    pub records: Vec<Record>,
    /// Whether the plan was completely applied.
    pub complete: bool,
}

/// The journal of one application.
#[derive(Debug)]
pub struct Journal {
    directory: Private,
    path: PathBuf,
    /// Its parsed lines.
    pub history: History,
    file: File,
}

impl Journal {
    /// Creates a journal; fails if one exists.
    ///
    /// # Errors
    /// If its directory can't be trusted, or a journal exists.
    pub fn begin(top: &Path, boot_id: &str) -> Result<Self, JournalError> {
        let directory = Private::make(top, PLACE)?;
        let path = directory.path_of(NAME);
        let made = directory.create_new(NAME, 0o600);
        let file = match made.and_then(|_| directory.open_to_append(NAME)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(JournalError::Exists { path });
            }
            Err(error) => return Err(JournalError::io(&path, error)),
        };
        let mut journal = Self {
            directory,
            path,
            history: History::default(),
            file,
        };
        journal.append(&Entry::Began {
            version: VERSION,
            boot_id: boot_id.to_owned(),
        })?;
        let lasting = journal.directory.sync();
        lasting.map_err(|error| JournalError::io(&journal.path, error))?;
        Ok(journal)
    }

    /// Opens the existing journal; none if there is none. An incomplete last line is ignored: its
    /// writer was killed before it made the change.
    ///
    /// # Errors
    /// If its directory can't be trusted or another line is damaged.
    pub fn open(top: &Path) -> Result<Option<Self>, JournalError> {
        let directory = Private::make(top, PLACE)?;
        let path = directory.path_of(NAME);
        let failed = |error| JournalError::io(&path, error);
        let file = match directory.open_to_append(NAME) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let found = file.metadata().map_err(failed)?;
        // A second name elsewhere would be written and cut through.
        if found.nlink() != 1 {
            return Err(JournalError::Damaged {
                path,
                line: 1,
                why: Damage::NoPlainFile,
            });
        }
        // Read in part, it would be cut to that part.
        if found.len() > LARGEST {
            return Err(JournalError::Damaged {
                path,
                line: 1,
                why: Damage::TooLong,
            });
        }
        let mut text = String::new();
        (&file)
            .take(LARGEST)
            .read_to_string(&mut text)
            .map_err(failed)?;
        // The incomplete line must not run into the next one.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).map_err(failed)?;
        match History::parse(&text[..whole]) {
            Ok(history) => Ok(Some(Self {
                directory,
                path,
                history,
                file,
            })),
            Err((line, why)) => Err(JournalError::Damaged { path, line, why }),
        }
    }

    /// Adds a line and waits until it is on the disk.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn append(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let mut line = serde_json::to_string(entry)
            .map_err(|error| JournalError::io(&self.path, Error::other(error)))?;
        line.push('\n');
        self.file
            .write_all(line.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|error| JournalError::io(&self.path, error))?;
        // Our own entries are valid.
        let _ = self.history.take(entry.clone());
        Ok(())
    }

    /// Removes it: everything is as before.
    ///
    /// # Errors
    /// When it can't be removed.
    pub fn remove(self) -> Result<(), JournalError> {
        self.directory
            .remove(NAME)
            .and_then(|()| self.directory.sync())
            .map_err(|error| JournalError::io(&self.path, error))
    }

    /// The journal's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl History {
    /// Reads whole lines.
    ///
    /// # Errors
    /// The number of the first line, from 1, that can't be so, and why.
    pub fn parse(text: &str) -> Result<Self, (usize, Damage)> {
        let mut history = Self::default();
        for (position, line) in text.lines().enumerate() {
            let number = position + 1;
            let entry =
                serde_json::from_slice(line.as_bytes()).map_err(|error| (number, error.into()))?;
            let first = matches!(entry, Entry::Began { .. });
            if first != (position == 0) {
                return Err((number, Damage::Beginning));
            }
            history.take(entry).map_err(|why| (number, why))?;
        }
        Ok(history)
    }

    fn take(&mut self, entry: Entry) -> Result<(), Damage> {
        let count = self.records.len();
        let unknown = |number| Damage::UnknownChange { number, count };
        match entry {
            Entry::Began { version, boot_id } => {
                if version != VERSION {
                    return Err(Damage::Version(version));
                }
                self.boot_id = boot_id;
            }
            Entry::Intended {
                number,
                step,
                action,
                before,
            } => {
                if number != count {
                    return Err(Damage::OutOfTurn {
                        number,
                        expected: count,
                    });
                }
                self.records.push(Record {
                    step,
                    action,
                    before,
                    refused: None,
                    done: false,
                    reverted: false,
                });
            }
            Entry::Done { number } => {
                let record = self.records.get_mut(number);
                record.ok_or_else(|| unknown(number))?.done = true;
            }
            Entry::Refused { number, why } => {
                let record = self.records.get_mut(number);
                record.ok_or_else(|| unknown(number))?.refused = Some(why);
            }
            Entry::Reverted { number } => {
                let record = self.records.get_mut(number);
                record.ok_or_else(|| unknown(number))?.reverted = true;
            }
            Entry::Complete => self.complete = true,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_change_is_read_and_written_alike() {
        let text = include_str!("../../tests/journals/every-kind.journal");
        let history = History::parse(text).unwrap();
        assert_eq!((history.records.len(), history.complete), (7, true));
        assert!(history.records[6].reverted && history.records[2].refused.is_some());
        for line in text.lines() {
            let entry: Entry = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&entry).unwrap(), line);
        }
    }
}

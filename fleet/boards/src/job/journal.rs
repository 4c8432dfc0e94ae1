//! The controller's records: a directory for each job, a file for each board, replaced as a whole.
//! One controller works on a job at a time.

use super::Record;
use crate::inventory::is_name;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A fleet's directory on the controller.
#[derive(Debug, Clone)]
pub struct Journal {
    directory: PathBuf,
}

/// Faults of a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A system error.
    #[error("{place}: {1}", place = .0.display())]
    Io(PathBuf, io::Error),
    /// A record that can't be read.
    #[error("{place}: no record of wakepath-fleet: {1}", place = .0.display())]
    Record(PathBuf, serde_json::Error),
    /// Two at once.
    #[error("{place}: another wakepath-fleet works on this job; wait for it to end", place = .0.display())]
    InUse(PathBuf),
    /// No job is there.
    #[error("{place}: no job here; start one with `wakepath-fleet run SCENARIO --on TERMS`", place = .0.display())]
    NoJob(PathBuf),
    /// No job of that name is there.
    #[error("{0}: no such job; there are {1}")]
    NoSuchJob(String, String),
}

impl Journal {
    /// In a directory, which need not be there yet.
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
        }
    }

    /// Directory of a job's run on a board.
    pub fn run_of(&self, record: &Record) -> PathBuf {
        self.directory
            .join("runs")
            .join(&record.job)
            .join(&record.board)
    }

    fn job(&self, job: &str) -> PathBuf {
        self.directory.join("jobs").join(job)
    }

    /// The jobs, the latest last.
    ///
    /// # Errors
    /// If there is none.
    pub fn jobs(&self) -> Result<Vec<String>, JournalError> {
        let place = self.directory.join("jobs");
        let entries = match fs::read_dir(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(JournalError::NoJob(self.directory.clone()));
            }
            entries => entries.map_err(|error| JournalError::Io(place.clone(), error))?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| JournalError::Io(place.clone(), error))?;
            let made = entry
                .metadata()
                .and_then(|data| data.created().or(data.modified()));
            if let Some(name) = entry.file_name().to_str().filter(|name| is_name(name)) {
                found.push((made.ok(), name.to_owned()));
            }
        }
        found.sort();
        if found.is_empty() {
            Err(JournalError::NoJob(self.directory.clone()))
        } else {
            Ok(found.into_iter().map(|(_, name)| name).collect())
        }
    }

    /// The job with that name, or the latest one.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(&self, name: Option<&str>) -> Result<String, JournalError> {
        let mut jobs = self.jobs()?;
        match name {
            None => Ok(jobs.pop().expect("a job")),
            Some(name) if jobs.iter().any(|job| job == name) => Ok(name.to_owned()),
            Some(name) => Err(JournalError::NoSuchJob(name.into(), jobs.join(", "))),
        }
    }

    /// Locks a job, until the file is closed or its holder dies.
    ///
    /// # Errors
    /// If another process works on it.
    pub fn hold(&self, job: &str) -> Result<File, JournalError> {
        let place = self.job(job);
        let io = |error| JournalError::Io(place.clone(), error);
        fs::create_dir_all(&place).map_err(io)?;
        let file = File::create(place.join("lock")).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(JournalError::InUse(place)),
            Err(TryLockError::Error(error)) => Err(io(error)),
        }
    }

    /// Locks out other passes over the schedules, until the file is closed or its holder dies; none
    /// if another pass holds the lock.
    ///
    /// # Errors
    /// The system's.
    pub fn alone(&self) -> Result<Option<File>, JournalError> {
        let io = |error| JournalError::Io(self.directory.clone(), error);
        fs::create_dir_all(&self.directory).map_err(io)?;
        let file = File::create(self.directory.join("schedule.lock")).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(io(error)),
        }
    }

    fn archived(&self, record: &Record) -> PathBuf {
        self.job(&record.job)
            .join(format!("{}.archived", record.board))
    }

    /// Whether a run was noted as added to the archive of its schedule.
    pub fn is_archived(&self, record: &Record) -> bool {
        self.archived(record).exists()
    }

    /// Notes that it was. Without the note it is added again, which changes nothing.
    ///
    /// # Errors
    /// The system's.
    pub fn mark_archived(&self, record: &Record) -> Result<(), JournalError> {
        let path = self.archived(record);
        File::create(&path).map_err(|error| JournalError::Io(path.clone(), error))?;
        Ok(())
    }

    /// All records of a job, by the boards' names.
    ///
    /// # Errors
    /// Records that can't be read.
    pub fn records(&self, job: &str) -> Result<Vec<Record>, JournalError> {
        let place = self.job(job);
        let io = |error| JournalError::Io(place.clone(), error);
        let mut found = Vec::new();
        let entries = match fs::read_dir(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            entries => entries.map_err(io)?,
        };
        for entry in entries {
            let path = entry.map_err(io)?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let bytes = fs::read(&path).map_err(|error| JournalError::Io(path.clone(), error))?;
            let record: Record = serde_json::from_slice(&bytes)
                .map_err(|error| JournalError::Record(path.clone(), error))?;
            found.push(record);
        }
        found.sort_by(|a, b| a.board.cmp(&b.board));
        Ok(found)
    }

    /// Writes a record atomically: an interruption leaves the old one or the new one.
    ///
    /// # Errors
    /// The system's.
    pub fn put(&self, record: &Record) -> Result<(), JournalError> {
        let place = self.job(&record.job);
        let io = |error| JournalError::Io(place.clone(), error);
        fs::create_dir_all(&place).map_err(io)?;
        let path = place.join(format!("{}.json", record.board));
        let new = place.join(format!(".{}.new", record.board));
        let write = || {
            let mut file = File::create(&new)?;
            file.write_all(&serde_json::to_vec_pretty(record)?)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            File::open(&place)?.sync_all()
        };
        write().map_err(io)
    }
}

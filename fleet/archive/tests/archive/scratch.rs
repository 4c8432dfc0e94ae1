//! A directory of the test's own, with an archive and runs in it.

use std::path::{Path, PathBuf};
use wakepath_directory::Trust;
use wakepath_fleet_archive::{Board, DirectoryStore, SealTerms, add};
use wakepath_fleet_made_up::MadeUp;

pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// An archive, created if missing.
    pub fn store(&self) -> DirectoryStore {
        DirectoryStore::make(&self.path().join("archive"), Trust::Any).unwrap()
    }

    /// Writes a run next to the archive.
    pub fn run(&self, run: &MadeUp) -> PathBuf {
        let directory = self.path().join(&run.run_id);
        run.write(&directory);
        directory
    }

    /// Writes a run and adds it.
    pub fn added(&self, run: &MadeUp) -> PathBuf {
        let directory = self.run(run);
        add(&self.store(), &directory, &board(), &nobody()).unwrap();
        directory
    }

    /// All files of the archive but the lock, by name.
    pub fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.path().join("archive")];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path)
                } else {
                    found.push(path.display().to_string())
                }
            }
        }
        found.retain(|name| !name.ends_with("/.lock"));
        found.sort_unstable();
        found
    }
}

pub fn board() -> Board {
    Board::new("pi5-07").unwrap()
}

/// Terms that trust no seals. The day is that on which generated runs are sealed.
pub fn nobody() -> SealTerms {
    SealTerms {
        trust: None,
        now: wakepath_evidence::instant(wakepath_fleet_made_up::SEALED).unwrap(),
    }
}

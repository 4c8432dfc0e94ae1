//! A directory of a test's own, and the mark of the processes that are started from there.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory that goes with the value.
pub struct Place {
    path: PathBuf,
    mark: String,
}

impl Place {
    /// A new one, in the temporary directory: an unprivileged user must be able to get there.
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mark = format!("wakepath-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(&mark);
        std::fs::create_dir(&path).unwrap();
        Self { path, mark }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The value of `WAKEPATH_TEST` in every process started from here.
    pub fn mark(&self) -> &str {
        &self.mark
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

//! Callbacks and chains of ROS 2 as a file in the run directory: an imported trace is not kept, and a watched one takes
//! a while to read.

use super::Ros2Figures;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use wakepath_archive::read_legible;
use wakepath_directory::Directory;

/// Callbacks and chains of each trace.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ros2File {
    /// Version of this form.
    pub version: u32,
    /// One for each trace.
    pub traces: Vec<Ros2Figures>,
}

/// Why the file can't be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Ros2FileError {
    /// The system refuses it.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// It has another content.
    #[error(
        "{path}: not a list of callbacks: {error}; remove it to get a report without callbacks"
    )]
    Form {
        /// The file.
        path: String,
        /// The fault.
        error: serde_json::Error,
    },
    /// It has a later form.
    #[error("{path}: written by a newer wakepath; remove it to get a report without callbacks")]
    Newer {
        /// The file.
        path: String,
    },
}

impl Ros2File {
    /// Name of the file in a run directory.
    pub const NAME: &'static str = "callbacks.json";
    /// Version that this program writes.
    pub const VERSION: u32 = 1;

    /// The file of these traces; none without one.
    pub fn new(traces: Vec<Ros2Figures>) -> Option<Self> {
        (!traces.is_empty()).then_some(Self {
            version: Self::VERSION,
            traces,
        })
    }

    /// Writes it whole or not at all.
    ///
    /// # Errors
    /// [`Ros2FileError::Io`].
    pub fn write(&self, directory: &Directory) -> Result<(), Ros2FileError> {
        let text = serde_json::to_string(self).map_err(io::Error::from);
        text.and_then(|text| directory.put(Self::NAME, (text + "\n").as_bytes()))
            .map_err(|error| Ros2FileError::Io {
                path: directory.path_of(Self::NAME).display().to_string(),
                error,
            })
    }

    /// The traces of a run, each text one line, even for a foreign run; empty without the file.
    ///
    /// # Errors
    /// [`Ros2FileError`].
    pub fn read(run: &Path) -> Result<Vec<Ros2Figures>, Ros2FileError> {
        let path = run.join(Self::NAME).display().to_string();
        let read = Directory::to_read(run).and_then(|run| run.read(Self::NAME));
        let text = match read {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Vec::new()),
            Err(error) => return Err(Ros2FileError::Io { path, error }),
        };
        match read_legible::<Self>(&text) {
            Err(error) => Err(Ros2FileError::Form { path, error }),
            Ok(found) if found.version > Self::VERSION => Err(Ros2FileError::Newer { path }),
            Ok(found) => Ok(found.traces),
        }
    }
}

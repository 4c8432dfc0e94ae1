//! Figures of a watch or an import as files of the run directory: an imported trace is not kept, and a watched one takes
//! a while to read.

use super::{Ros2Figures, ThreadChain};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use wakepath_archive::read_legible;
use wakepath_directory::Directory;

/// Figures with a file of their own.
pub trait KeptFigures: Serialize + DeserializeOwned {
    /// Name of the file in a run directory.
    const FILE: &'static str;
    /// Its form, which another version of wakepath may not have.
    const VERSION: u32;
    /// Its content, in a word.
    const CONTENT: &'static str;

    /// Writes them whole or not at all; no file without any.
    ///
    /// # Errors
    /// [`KeptFiguresError::Io`].
    fn keep(all: &[Self], directory: &Directory) -> Result<(), KeptFiguresError> {
        if all.is_empty() {
            return Ok(());
        }
        let file = Written {
            version: Self::VERSION,
            figures: all,
        };
        let text = serde_json::to_string(&file).map_err(io::Error::from);
        text.and_then(|text| directory.put(Self::FILE, (text + "\n").as_bytes()))
            .map_err(|error| KeptFiguresError::Io {
                path: directory.path_of(Self::FILE).display().to_string(),
                error,
            })
    }

    /// Those of a run, each text one line, even for a foreign run; empty without the file.
    ///
    /// # Errors
    /// [`KeptFiguresError`].
    fn kept(run: &Path) -> Result<Vec<Self>, KeptFiguresError> {
        let path = run.join(Self::FILE).display().to_string();
        let read = Directory::to_read(run).and_then(|run| run.read(Self::FILE));
        let text = match read {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Vec::new()),
            Err(error) => return Err(KeptFiguresError::Io { path, error }),
        };
        let content = Self::CONTENT;
        match read_legible::<Read<Self>>(&text) {
            Err(error) => Err(KeptFiguresError::Form {
                path,
                content,
                error,
            }),
            Ok(found) if found.version > Self::VERSION => {
                Err(KeptFiguresError::Newer { path, content })
            }
            Ok(found) => Ok(found.figures),
        }
    }
}

impl KeptFigures for Ros2Figures {
    const FILE: &'static str = "callbacks.json";
    const VERSION: u32 = 1;
    const CONTENT: &'static str = "callbacks";
}

impl KeptFigures for ThreadChain {
    const FILE: &'static str = "chains.json";
    const VERSION: u32 = 1;
    const CONTENT: &'static str = "chains";
}

#[derive(Serialize)]
struct Written<'a, T> {
    version: u32,
    figures: &'a [T],
}

#[derive(Deserialize)]
struct Read<T> {
    version: u32,
    figures: Vec<T>,
}

/// Why a file of figures can't be written or read.
#[derive(Debug, thiserror::Error)]
pub enum KeptFiguresError {
    /// The system refuses it.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// It has another content.
    #[error("{path}: not a list of {content}: {error}; remove it to continue without {content}")]
    Form {
        /// The file.
        path: String,
        /// Its content.
        content: &'static str,
        /// The fault.
        error: serde_json::Error,
    },
    /// It has a later form.
    #[error("{path}: written by a newer wakepath; remove it to continue without {content}")]
    Newer {
        /// The file.
        path: String,
        /// Its content.
        content: &'static str,
    },
}

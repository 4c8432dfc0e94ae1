//! Writes and removes a prepared entry's files.
//!
//! Only a boot loader's files, only if unchanged, and only inside the tree, whatever links it
//! contains.

use super::{BootChange, BootError, NewFile, unfit};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use wakepath_directory::{Directory, DirectoryError, beneath};

/// A boot loader's file: its directory, held open, and its name in it.
struct BootFile {
    directory: Directory,
    name: String,
}

impl BootFile {
    /// Finds it; `None` if its directory is missing. Other files than a boot loader's are never
    /// written or removed, whatever a stored copy lists.
    fn find(path: &str, top: &Path) -> Result<Option<Self>, BootError> {
        let relative = Path::new(path.trim_start_matches('/'));
        let plain = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let is_boot_file = plain && ["boot", "efi"].iter().any(|top| relative.starts_with(top));
        let name = relative.file_name().and_then(|name| name.to_str());
        let (true, Some(above), Some(name)) = (is_boot_file, relative.parent(), name) else {
            return Err(unfit(path, "is not a boot loader's file"));
        };
        match beneath(top, above) {
            Ok(directory) => Ok(Some(Self {
                directory,
                name: name.to_owned(),
            })),
            Err(DirectoryError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                Ok(None)
            }
            Err(error) => Err(unfit(path, error.to_string())),
        }
    }

    /// Its content; `None` if it doesn't exist.
    fn text(&self) -> std::io::Result<Option<String>> {
        match self.directory.read(&self.name) {
            Ok(bytes) => bytes
                .map(String::from_utf8)
                .transpose()
                .map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error)),
            // A link, or anything else that isn't a file.
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                Err(std::io::Error::new(error.kind(), "not a plain file"))
            }
            Err(error) => Err(error),
        }
    }
}

/// Writes the files: temporary name, sync, rename, sync of the directory. A file that is not as
/// `prepare` saw it, or a link, is refused.
///
/// # Errors
/// The first file that can't be written.
pub fn write(change: &BootChange, top: &Path) -> Result<Vec<PathBuf>, BootError> {
    let mut written = Vec::new();
    for file in &change.files {
        let told = |error: std::io::Error| unfit(&file.path, error.to_string());
        let found = BootFile::find(&file.path, top)?;
        let found = found.ok_or_else(|| unfit(&file.path, "its directory is not there"))?;
        match (&file.before, found.text().map_err(told)?) {
            (None, None) => {}
            (Some(before), Some(now)) if now.trim_end() == before.trim_end() => {}
            _ => {
                return Err(unfit(
                    &file.path,
                    "changed since it was read; left unchanged",
                ));
            }
        }
        found
            .directory
            .put(&found.name, file.content.as_bytes())
            .map_err(told)?;
        written.push(found.directory.path_of(&found.name));
    }
    Ok(written)
}

/// Removes or restores the files if they are still as written.
///
/// # Errors
/// The first file that was changed or can't be restored.
pub fn remove(change: &BootChange, top: &Path) -> Result<(), BootError> {
    for file in change.files.iter().rev() {
        let told = |error: std::io::Error| unfit(&file.path, error.to_string());
        let Some(found) = BootFile::find(&file.path, top)? else {
            continue;
        };
        let Some(now) = found.text().map_err(told)? else {
            continue;
        };
        match &file.before {
            _ if now != file.content => {
                return Err(unfit(&file.path, "changed since; left unchanged"));
            }
            None => found
                .directory
                .remove(&found.name)
                .and_then(|()| found.directory.sync())
                .map_err(told)?,
            Some(before) => {
                let restored = BootChange {
                    files: vec![NewFile {
                        path: file.path.clone(),
                        content: format!("{}\n", before.trim_end()),
                        before: Some(now),
                    }],
                    ..change.clone()
                };
                write(&restored, top)?;
            }
        }
    }
    Ok(())
}

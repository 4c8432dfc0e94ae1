//! Writing a prepared entry's files and taking them back: only what belongs to a boot loader, and only
//! as it was looked at.

use super::{BootChange, BootError, NewFile, unfit};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where it really lies. What does not belong to a boot loader is not for us to write or remove,
/// whatever a kept copy says.
fn boot_file(path: &str, directory: &Path) -> Result<PathBuf, BootError> {
    let relative = Path::new(path.trim_start_matches('/'));
    let plain = relative
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    match plain && ["boot", "efi"].iter().any(|top| relative.starts_with(top)) {
        true => Ok(directory.join(relative)),
        false => Err(unfit(path, "is no boot loader's file")),
    }
}

/// Writes the files: temporary name, sync, rename, sync of the directory. A file that is not as
/// `prepare` saw it, or a link, is refused.
///
/// # Errors
/// The first file that can't be written.
pub fn write(change: &BootChange, directory: &Path) -> Result<Vec<PathBuf>, BootError> {
    let mut written = Vec::new();
    for file in &change.files {
        let path = boot_file(&file.path, directory)?;
        let told = |error: std::io::Error| unfit(&file.path, error.to_string());
        let now = match std::fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => return Err(unfit(&file.path, "not a plain file")),
            Ok(_) => Some(std::fs::read_to_string(&path).map_err(told)?),
            Err(_) => None,
        };
        match (&file.before, now) {
            (None, None) => {}
            (Some(before), Some(now)) if now.trim_end() == before.trim_end() => {}
            _ => return Err(unfit(&file.path, "is not as it was looked at; left alone")),
        }
        let temporary = path.with_extension("wakepath-new");
        let mut new = File::options()
            .write(true)
            .create_new(true)
            .open(&temporary)
            .map_err(told)?;
        let done = new
            .write_all(file.content.as_bytes())
            .and_then(|()| new.sync_all())
            .and_then(|()| std::fs::rename(&temporary, &path));
        if let Err(error) = done {
            // The half-written file is ours.
            let _ = std::fs::remove_file(&temporary);
            return Err(told(error));
        }
        if let Some(parent) = path.parent() {
            File::open(parent)
                .and_then(|parent| parent.sync_all())
                .map_err(told)?;
        }
        written.push(path);
    }
    Ok(written)
}

/// Takes the files back where they are still as they were written.
///
/// # Errors
/// The first that is not, or can't be restored.
pub fn remove(change: &BootChange, directory: &Path) -> Result<(), BootError> {
    for file in change.files.iter().rev() {
        let path = boot_file(&file.path, directory)?;
        let told = |error: std::io::Error| unfit(&file.path, error.to_string());
        let now = match std::fs::read_to_string(&path) {
            Ok(now) => now,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(told(error)),
        };
        match &file.before {
            _ if now != file.content => {
                return Err(unfit(&file.path, "somebody has changed it; left as it is"));
            }
            None => std::fs::remove_file(&path).map_err(told)?,
            Some(before) => {
                let restored = BootChange {
                    files: vec![NewFile {
                        path: file.path.clone(),
                        content: format!("{}\n", before.trim_end()),
                        before: Some(now),
                    }],
                    ..change.clone()
                };
                write(&restored, directory)?;
            }
        }
    }
    Ok(())
}

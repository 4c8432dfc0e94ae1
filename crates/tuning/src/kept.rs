//! State that survives a reboot: the prepared boot entry.
//!
//! It is in `/var/lib/wakepath`, which belongs to wakepath. This module doesn't parse the content.

use crate::journal::JournalError;
use std::io::{Error, ErrorKind, Read, Write};
use std::path::Path;
use wakepath_directory::Private;

const PLACE: &[&str] = &["var", "lib", "wakepath"];
const NAME: &str = "boot.json";
/// Copies of some boot files; a file much longer is something else.
const LARGEST: u64 = 4 << 20;

/// Its path below a root directory.
pub const KEPT_PATH: &str = "/var/lib/wakepath/boot.json";

/// Keeps a text, on the disk before this returns.
///
/// # Errors
/// When the directory can't be trusted, something is kept already, or the text is longer than could
/// be read back. Nothing is kept then.
pub fn keep(top: &Path, text: &str) -> Result<(), JournalError> {
    let directory = Private::make(top, PLACE)?;
    let path = directory.path_of(NAME);
    if text.len() as u64 > LARGEST {
        return Err(too_long(&path));
    }
    let mut file = match directory.create_new(NAME, 0o600) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(JournalError::Kept { path });
        }
        Err(error) => return Err(JournalError::io(&path, error)),
    };
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync())
        .and_then(|()| directory.sync());
    written.map_err(|error| {
        let _ = directory.remove(NAME);
        JournalError::io(&path, error)
    })
}

fn too_long(path: &Path) -> JournalError {
    let mebibytes = LARGEST >> 20;
    JournalError::io(path, Error::other(format!("longer than {mebibytes} MiB")))
}

/// The stored state; none if there is none. Creates no directory.
///
/// # Errors
/// If the directory can't be trusted, or the file can't be read.
pub fn kept(top: &Path) -> Result<Option<String>, JournalError> {
    if !top.join(KEPT_PATH.trim_start_matches('/')).exists() {
        return Ok(None);
    }
    let directory = Private::make(top, PLACE)?;
    let path = directory.path_of(NAME);
    let failed = |error| JournalError::io(&path, error);
    let file = match directory.open(NAME) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let mut text = String::new();
    file.take(LARGEST + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if text.len() as u64 > LARGEST {
        Err(too_long(&path))
    } else {
        Ok(Some(text))
    }
}

/// Removes it.
///
/// # Errors
/// When it can't be removed.
pub fn forget(top: &Path) -> Result<(), JournalError> {
    let directory = Private::make(top, PLACE)?;
    directory
        .remove(NAME)
        .and_then(|()| directory.sync())
        .map_err(|error| JournalError::io(&directory.path_of(NAME), error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn one_text_is_kept_and_forgotten() {
        let top = tempfile::tempdir().unwrap();
        assert!(kept(top.path()).unwrap().is_none());
        assert!(!top.path().join("var").exists());
        keep(top.path(), "a").unwrap();
        assert!(matches!(
            keep(top.path(), "b"),
            Err(JournalError::Kept { .. })
        ));
        assert_eq!(kept(top.path()).unwrap().as_deref(), Some("a"));
        forget(top.path()).unwrap();
        assert!(kept(top.path()).unwrap().is_none());
    }

    #[test]
    fn what_could_not_be_read_back_whole_is_neither_kept_nor_read() {
        let top = tempfile::tempdir().unwrap();
        let most = "x".repeat(LARGEST as usize);
        keep(top.path(), &most).unwrap();
        assert_eq!(
            kept(top.path()).unwrap().map(|text| text.len()),
            Some(most.len())
        );
        forget(top.path()).unwrap();
        assert!(keep(top.path(), &(most.clone() + "x")).is_err());
        assert!(kept(top.path()).unwrap().is_none());
        keep(top.path(), "").unwrap();
        std::fs::write(top.path().join(&KEPT_PATH[1..]), most + "x").unwrap();
        assert!(kept(top.path()).is_err());
    }

    #[test]
    fn links_are_not_followed() {
        let top = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(top.path().join("var/lib")).unwrap();
        let own = top.path().join("var/lib/wakepath");
        symlink(elsewhere.path(), &own).unwrap();
        assert!(keep(top.path(), "a").is_err());
        std::fs::write(elsewhere.path().join(NAME), "theirs").unwrap();
        assert!(kept(top.path()).is_err());
        std::fs::remove_file(&own).unwrap();
        keep(top.path(), "a").unwrap();
        forget(top.path()).unwrap();
        symlink(elsewhere.path().join(NAME), own.join(NAME)).unwrap();
        assert!(kept(top.path()).is_err() && keep(top.path(), "a").is_err());
        let theirs = std::fs::read_to_string(elsewhere.path().join(NAME)).unwrap();
        assert_eq!(theirs, "theirs");
    }
}

//! Every file in a directory and below, with its size and its SHA-256.
//!
//! It doesn't interpret them. A link, a pipe or a name that isn't text is refused, because it has
//! no lasting content.

use crate::error::DirectoryError;
use crate::regular::regular;
use rustix::fs::{CWD, Mode, OFlags, openat};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Greatest depth of our own directories.
const DEEPEST: usize = 8;

/// More files than this are an accident.
const MOST_FILES: usize = 100_000;

/// A file of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentFile {
    /// Its name, from the directory on, with `/` between directories.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// Every file in a directory and below it, ordered by name, except the top-level file `but`.
///
/// # Errors
/// [`DirectoryError::NotPlain`] for anything but plain files; the system's.
pub fn content(directory: &Path, but: &str) -> Result<Vec<ContentFile>, DirectoryError> {
    let mut found = Vec::new();
    look(directory, "", but, 0, &mut found)?;
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Every directory below that holds nothing, in the order of their names, each with `/` at its end: no
/// file of [`content`] shows it.
///
/// # Errors
/// As [`content`].
pub fn empty_directories(directory: &Path) -> Result<Vec<String>, DirectoryError> {
    let mut found = Vec::new();
    let mut open = vec![(directory.to_owned(), String::new())];
    while let Some((path, below)) = open.pop() {
        let failed = |error| DirectoryError::io("list the directory", path.clone(), error);
        let mut is_empty = true;
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            is_empty = false;
            if entry.file_type().map_err(failed)?.is_dir() {
                let name = entry.file_name().to_string_lossy().into_owned();
                open.push((entry.path(), format!("{below}{name}/")));
            }
        }
        if open.len() > MOST_FILES || below.matches('/').count() > DEEPEST + 1 {
            let why = "too many directories";
            return Err(DirectoryError::NotPlain { path, why });
        }
        if is_empty && !below.is_empty() {
            found.push(below);
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn look(
    directory: &Path,
    below: &str,
    but: &str,
    depth: usize,
    found: &mut Vec<ContentFile>,
) -> Result<(), DirectoryError> {
    let failed = |error| DirectoryError::io("list the directory", directory, error);
    let held = File::open(directory).map_err(failed)?;
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let refused = |why| DirectoryError::NotPlain {
            path: path.clone(),
            why,
        };
        let name = entry.file_name();
        let name = name
            .to_str()
            .ok_or_else(|| refused("its name is not text"))?;
        if below.is_empty() && name == but {
            continue;
        }
        let name = match below {
            "" => name.to_owned(),
            below => format!("{below}/{name}"),
        };
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            if depth == DEEPEST {
                return Err(refused("a directory too deep"));
            }
            look(&path, &name, but, depth + 1, found)?;
            continue;
        }
        if !kind.is_file() {
            return Err(refused(if kind.is_symlink() {
                "it is a link, and its target can change"
            } else {
                "it is a pipe, a socket or a device"
            }));
        }
        if found.len() == MOST_FILES {
            return Err(refused("too many files"));
        }
        // The file might have been replaced by a link or a pipe by now.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened = openat(CWD, &path, flags, Mode::empty()).map_err(io::Error::from);
        let file = opened
            .and_then(|file| regular(file, &held))
            .map_err(|error| DirectoryError::io("read", path.clone(), error))?;
        let bytes = file.metadata().map_err(failed)?.len();
        found.push(ContentFile {
            name,
            bytes,
            sha256: sha256(file)
                .map_err(|error| DirectoryError::io("read", path.clone(), error))?,
        });
    }
    Ok(())
}

fn sha256(mut file: File) -> io::Result<String> {
    let (mut digest, mut piece) = (Sha256::new(), vec![0; 256 * 1024]);
    loop {
        match file.read(&mut piece)? {
            0 => break,
            length => digest.update(&piece[..length]),
        }
    }
    let digest = digest.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_are_named_and_what_is_no_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path();
        fs::create_dir(place.join("figures")).unwrap();
        for (name, text) in [
            ("b", "abc"),
            ("figures/a", ""),
            ("seal", "x"),
            ("figures/seal", "abc"),
        ] {
            fs::write(place.join(name), text).unwrap();
        }
        let found = content(place, "seal").unwrap();
        let names: Vec<_> = found
            .iter()
            .map(|file| (file.name.as_str(), file.bytes))
            .collect();
        assert_eq!(names, [("b", 3), ("figures/a", 0), ("figures/seal", 3)]);
        // FIPS 180-4's example.
        assert!(found[0].sha256.starts_with("ba7816bf8f01cfea"));

        fs::create_dir_all(place.join("figures/empty")).unwrap();
        fs::create_dir(place.join("added")).unwrap();
        assert_eq!(content(place, "seal").unwrap(), found);
        assert_eq!(
            empty_directories(place).unwrap(),
            ["added/", "figures/empty/"]
        );

        std::os::unix::fs::symlink("b", place.join("link")).unwrap();
        let said = content(place, "seal").unwrap_err().to_string();
        assert!(said.contains("link: no plain file: it is a link"), "{said}");
    }
}

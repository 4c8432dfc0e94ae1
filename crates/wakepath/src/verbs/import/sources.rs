//! The files to be imported, read and remembered by their digest. What stands in them is the crate
//! `wakepath-import`'s to say.

use super::Failure;
use crate::command_line::Import;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;
use wakepath_archive::FileRecord;
use wakepath_import::{Asked, Form, ImportError, Imported, Part};

/// More bytes than any such file has.
const MOST_BYTES: u64 = 2 << 30;
/// Files of a directory, and how deep they lie, at most.
const MOST_PARTS: usize = 4096;
const DEEPEST: usize = 8;

/// All files of an import.
///
/// # Errors
/// The first file that can't be read, or is not of the form, with its line.
pub(super) fn read(
    arguments: &Import,
    form: Form,
    asked: &Asked<'_>,
) -> Result<(Vec<Imported>, Vec<FileRecord>), Failure> {
    let (mut files, mut sources) = (Vec::new(), Vec::new());
    for path in &arguments.files {
        // The form says it in better words than the system.
        let other = match form.is_directory() {
            true if path.is_file() => form.read(&[], asked).err(),
            false if path.is_dir() => form.read_directory(&[]).err(),
            _ => None,
        };
        if let Some(error) = other {
            return Err(at(path, &error).into());
        }
        if form.is_directory() {
            let parts = parts(path)?;
            let read = form.read_directory(&parts);
            files.push(read.map_err(|error| at(path, &error))?);
            sources.extend(
                parts
                    .iter()
                    .map(|part| record(Path::new(&part.path), &part.bytes)),
            );
            continue;
        }
        let bytes = whole(path)?;
        let read = form.read(&bytes, asked);
        files.push(read.map_err(|error| at(path, &error))?);
        sources.push(record(path, &bytes));
    }
    Ok((files, sources))
}

/// All files of a directory and those below, by path. No link is followed.
fn parts(directory: &Path) -> Result<Vec<Part>, Failure> {
    let shown = |path: &Path, why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let mut parts = Vec::new();
    let mut bytes = 0;
    let mut open = vec![(directory.to_path_buf(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| shown(&folder, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| shown(&folder, &error))?;
            let path = entry.path();
            let about = entry.metadata().map_err(|error| shown(&path, &error))?;
            if about.is_dir() && depth < DEEPEST {
                // Of the index beside the streams nothing is needed.
                if entry.file_name() != "index" {
                    open.push((path, depth + 1));
                }
                continue;
            }
            if !about.is_file() {
                continue;
            }
            bytes += about.len();
            if parts.len() == MOST_PARTS || bytes > MOST_BYTES {
                let why = format!("more than {MOST_PARTS} files or 2 GiB: give one trace of it");
                return Err(shown(directory, &why).into());
            }
            let below = path.strip_prefix(directory).unwrap_or(&path);
            parts.push(Part {
                path: below.to_string_lossy().into_owned(),
                bytes: whole(&path)?,
            });
        }
    }
    parts.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(parts)
}

fn at(path: &Path, error: &ImportError) -> String {
    let shown = path.display();
    match error.line {
        Some(_) => format!("{shown}:{error}"),
        None => format!("{shown}: {error}"),
    }
}

fn whole(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = std::fs::metadata(path).and_then(|about| match about.len() > MOST_BYTES {
        true => Err(std::io::Error::other("longer than 2 GiB")),
        false => std::fs::read(path),
    });
    read.map_err(|error| format!("{}: {error}", path.display()).into())
}

fn record(path: &Path, bytes: &[u8]) -> FileRecord {
    let name = path.file_name().unwrap_or_default();
    FileRecord {
        name: name.to_string_lossy().into_owned(),
        bytes: bytes.len() as u64,
        sha256: Sha256::digest(bytes)
            .iter()
            .fold(String::new(), |mut text, byte| {
                // Writing to a String can't fail.
                let _ = write!(text, "{byte:02x}");
                text
            }),
    }
}

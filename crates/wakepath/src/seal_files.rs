//! Files that a seal covers, and files of keys.

use std::path::Path;
use wakepath_directory::{DirectoryError, content};
use wakepath_evidence::{FileDigest, SEAL_NAME};
use wakepath_timeline::one_line;

/// A key is short.
const MOST_KEY_BYTES: u64 = 64 << 10;

/// All files of a run but its seal.
pub fn digests(place: &Path) -> Result<Vec<FileDigest>, DirectoryError> {
    let files = content(place, SEAL_NAME)?.into_iter();
    let files = files.map(|file| FileDigest {
        name: file.name,
        sha256: file.sha256,
    });
    Ok(files.collect())
}

/// A key, a certificate or a trust file.
pub fn text_of(path: &Path) -> Result<String, String> {
    let failed = |error: &dyn std::fmt::Display| {
        let path = path.display();
        one_line(&format!("{path}: {error}"))
    };
    let data = path.metadata().map_err(|error| failed(&error))?;
    if !data.is_file() || data.len() > MOST_KEY_BYTES {
        return Err(failed(&format!(
            "no file of at most {MOST_KEY_BYTES} bytes"
        )));
    }
    std::fs::read_to_string(path).map_err(|error| failed(&error))
}

//! Checks a sealed run's files against its seal.
//!
//! A run that differs from its seal is not opened, regardless of the signer; `wakepath verify` checks who
//! is trusted.

use std::io::Read;

use wakepath_directory::{Directory, content};
use wakepath_evidence::{FileDigest, MOST_SEAL_BYTES, SEAL_NAME, disagreements};

use crate::durable::open;
use crate::error::{ArchiveError, Result};

/// Refuses changes that would break a run's seal: an additional or changed file.
///
/// # Errors
/// [`ArchiveError::Sealed`].
pub fn may_add(directory: &Directory) -> Result<()> {
    if directory.holds(SEAL_NAME) {
        Err(ArchiveError::Sealed {
            path: directory.path().to_owned(),
        })
    } else {
        Ok(())
    }
}

/// # Errors
/// [`ArchiveError::SealBroken`]; I/O errors. A run without a seal is as good as its digests.
pub(crate) fn check(directory: &Directory) -> Result<()> {
    let path = directory.path_of(SEAL_NAME);
    let Some(file) = open(directory, SEAL_NAME, "open the seal")? else {
        return Ok(());
    };
    let broken = |findings| ArchiveError::SealBroken {
        path: directory.path().to_owned(),
        findings,
    };
    let mut seal = Vec::new();
    file.take(MOST_SEAL_BYTES + 1)
        .read_to_end(&mut seal)
        .map_err(|e| ArchiveError::io("read the seal", &path, e))?;
    if seal.len() as u64 > MOST_SEAL_BYTES {
        return Err(broken(vec!["it is too long for a seal".to_owned()]));
    }
    let files = content(directory.path(), SEAL_NAME).map_err(|e| broken(vec![e.to_string()]))?;
    let files: Vec<FileDigest> = files
        .into_iter()
        .map(|file| FileDigest {
            name: file.name,
            sha256: file.sha256,
        })
        .collect();
    let found = disagreements(&seal, &files).map_err(|e| broken(vec![e.to_string()]))?;
    if found.is_empty() {
        Ok(())
    } else {
        Err(broken(found.iter().map(ToString::to_string).collect()))
    }
}

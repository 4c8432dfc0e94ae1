//! SHA-256 of bytes and files, in hexadecimal.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{ArchiveError, Result};

pub(crate) fn sha256_of_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// SHA-256 of a user's file, in hexadecimal digits.
///
/// # Errors
/// [`ArchiveError::Io`] if it can't be read.
pub fn sha256_of_file(path: &Path) -> Result<String> {
    let file = File::open(path).map_err(|e| ArchiveError::io("read", path, e))?;
    sha256_of_open(file, path)
}

/// SHA-256 of an open file's content; `path` is for messages.
pub(crate) fn sha256_of_open(mut file: File, path: &Path) -> Result<String> {
    let failed = |e| ArchiveError::io("read", path, e);
    let mut digest = Sha256::new();
    let mut piece = vec![0; 256 * 1024];
    loop {
        match file.read(&mut piece).map_err(failed)? {
            0 => return Ok(hexadecimal(&digest.finalize())),
            length => digest.update(&piece[..length]),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_digest_is_the_published_test_vector() {
        // FIPS 180-4 example: SHA-256 of "abc".
        assert_eq!(
            super::sha256_of_bytes(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}

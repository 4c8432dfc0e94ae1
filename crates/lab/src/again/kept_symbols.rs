//! A booted kernel's list of functions (/proc/kallsyms), cached with the downloads.
//!
//! Without address randomisation the list is the same at every boot.

use crate::cache::Cache;
use crate::{LabError, Result};
use std::fs;
use std::path::{Path, PathBuf};
use wakepath_guest::sha256_hex;

/// The guest's list of functions.
pub const KALLSYMS: &str = "/proc/kallsyms";

const LIST: &str = "kallsyms";
const DIGEST: &str = "kallsyms.sha256";

fn name(kernel_sha256: &str) -> String {
    format!("symbols-{kernel_sha256}")
}

fn read(place: &Path) -> Option<String> {
    let list = fs::read(place.join(LIST)).ok()?;
    let digest = fs::read_to_string(place.join(DIGEST)).ok()?;
    (sha256_hex(&list) == digest).then(|| String::from_utf8_lossy(&list).into_owned())
}

/// The list of the kernel with this digest, if it is kept and undamaged.
///
/// # Errors
/// When the cache has no place.
pub fn kept_symbols(cache: &Cache, kernel_sha256: &str) -> Result<Option<String>> {
    Ok(read(&cache.place("")?.join(name(kernel_sha256))))
}

/// Keeps the list of that kernel.
///
/// # Errors
/// When the cache can't be written.
pub fn keep_symbols(cache: &Cache, kernel_sha256: &str, list: &str) -> Result<PathBuf> {
    let make = |place: &Path| {
        for (file, bytes) in [(LIST, list), (DIGEST, &sha256_hex(list.as_bytes()))] {
            let path = place.join(file);
            fs::write(&path, bytes).map_err(|e| LabError::io("write", &path, e))?;
        }
        Ok(())
    };
    cache.directory(&name(kernel_sha256), |place| read(place).is_some(), make)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_kept_for_its_kernel_and_a_damaged_one_is_not_believed() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::at(root.path());
        assert_eq!(kept_symbols(&cache, "abc").unwrap(), None);
        let place = keep_symbols(&cache, "abc", "ffffffff81000000 T a\n").unwrap();
        let kept = kept_symbols(&cache, "abc").unwrap().unwrap();
        assert_eq!(kept, "ffffffff81000000 T a\n");
        assert_eq!(kept_symbols(&cache, "abd").unwrap(), None);
        fs::write(place.join(LIST), "ffffffff81000000 T b\n").unwrap();
        assert_eq!(kept_symbols(&cache, "abc").unwrap(), None);
    }
}

//! Checks that an archive is intact: every object of every run exists and matches its name.
//!
//! It reads everything and repairs nothing.

use crate::catalogue::Catalogue;
use crate::error::{FleetArchiveError, Result};
use crate::name::hexadecimal;
use crate::store::Store;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};

/// Differences from the archive as written, a line each; none for an intact archive.
///
/// # Errors
/// The system's, if something exists and can't be read.
pub fn check(store: &dyn Store, catalogue: &Catalogue) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut known = BTreeSet::new();
    for record in &catalogue.records {
        let is_retired = catalogue.retired.contains(&record.run_id);
        for (name, goes) in record.objects() {
            if (is_retired && goes) || !known.insert(name.clone()) {
                continue;
            }
            let path = store.path_of(&name);
            let Some(file) = store.open(&name)? else {
                problems.push(format!(
                    "run {}: {} is missing",
                    record.run_id,
                    path.display()
                ));
                continue;
            };
            let digest = digest_of(file).map_err(FleetArchiveError::io("read", &path))?;
            if !name.ends_with(&digest) {
                let path = path.display();
                problems.push(format!("run {}: {path} was altered", record.run_id));
            }
        }
    }
    Ok(problems)
}

fn digest_of(mut file: File) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hexadecimal(digest.finalize())),
            count => digest.update(&buffer[..count]),
        }
    }
}

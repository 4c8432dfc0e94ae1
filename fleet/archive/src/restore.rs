//! Restores a run's files to a directory, as they were when it was added.
//!
//! For programs that read runs but no archives.

use crate::add::{Checked, read_bounded};
use crate::catalogue::Catalogue;
use crate::error::{FleetArchiveError, Result};
use crate::record::{LONGEST_RECORD, RunRecord, object_name, seal_name};
use crate::store::Store;
use std::fs::File;
use std::io;
use std::path::{Component, Path};
use wakepath_evidence::SEAL_NAME;

/// Puts a run's files into an existing, empty directory.
///
/// # Errors
/// [`FleetArchiveError::Damaged`] if one is missing, retired or altered; the system's.
pub fn restore(store: &dyn Store, all: &Catalogue, record: &RunRecord, into: &Path) -> Result<()> {
    for file in &record.files {
        let name = object_name(&file.sha256);
        let path = store.path_of(&name);
        let Some(object) = store.open(&name)? else {
            let is_retired = all.retired.contains(&record.run_id);
            let why = if is_retired && file.role.is_by_retention() {
                "was taken by retention"
            } else {
                "is missing"
            };
            return Err(FleetArchiveError::damaged(&path, why));
        };
        // The author of the record chose the name.
        let is_below = |part| matches!(part, Component::Normal(_));
        if !Path::new(&file.name).components().all(is_below) {
            let why = format!("is called {:?}, which leads elsewhere", file.name);
            return Err(FleetArchiveError::damaged(&path, why));
        }
        let to = into.join(&file.name);
        if let Some(above) = to.parent() {
            std::fs::create_dir_all(above).map_err(FleetArchiveError::io("make", above))?;
        }
        let mut written = File::create_new(&to).map_err(FleetArchiveError::io("create", &to))?;
        io::copy(&mut Checked::new(object, file), &mut written)
            .map_err(FleetArchiveError::io("read", &path))?;
    }
    let seals = all.sealed.get(&record.run_id).into_iter().flatten();
    if let Some(digest) = seals.last() {
        let name = seal_name(&record.run_id, digest);
        if let Some(seal) = store.open(&name)? {
            let path = store.path_of(&name);
            let bytes =
                read_bounded(seal, LONGEST_RECORD).map_err(FleetArchiveError::io("read", &path))?;
            let to = into.join(SEAL_NAME);
            std::fs::write(&to, bytes).map_err(FleetArchiveError::io("write", &to))?;
        }
    }
    Ok(())
}

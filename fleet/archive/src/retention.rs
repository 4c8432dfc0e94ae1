//! Removes expendable files from an archive.
//!
//! Samples older than a given day, unless a seal needs them; remains of killed writers; objects
//! that no record names. Records, histograms, worst cycles, manifests, explanations and seals are
//! kept forever.

use crate::catalogue::catalogue;
use crate::error::{FleetArchiveError, Result};
use crate::name::is_sha256;
use crate::record::{RETIRED, RUNS, SEALS, object_name};
use crate::store::{Hold, Store};
use std::collections::BTreeSet;

/// The files to keep.
#[derive(Debug, Clone, Default)]
pub struct Retention {
    /// Samples of runs that began before this day, `2026-11-24`, can be removed; without a day
    /// none.
    samples_before: Option<String>,
}

impl Retention {
    /// Keeps everything, or everything except samples from before a day.
    ///
    /// # Errors
    /// [`FleetArchiveError::Day`].
    pub fn new(samples_before: Option<&str>) -> Result<Self> {
        match samples_before {
            Some(day) if !is_day(day) => Err(FleetArchiveError::Day {
                day: day.to_owned(),
            }),
            day => Ok(Self {
                samples_before: day.map(str::to_owned),
            }),
        }
    }
}

/// Files that were removed, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Runs that lose their samples.
    pub runs: Vec<String>,
    /// Runs as old, that keep them for their seal.
    pub kept_for_seal: Vec<String>,
    /// Objects that nothing needs any more, with those of `runs`.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that killed writers left.
    pub partials: u64,
}

/// Removes expendable files; with `dry`, only lists them.
///
/// # Errors
/// [`FleetArchiveError::Damaged`] for a record that can't be read: its needs are unknown, so
/// nothing is removed; the system's.
pub fn sweep(store: &dyn Store, retention: &Retention, dry: bool) -> Result<Swept> {
    let _held = store.hold(if dry { Hold::Reading } else { Hold::Alone })?;
    let mut swept = Swept::default();
    let mut catalogue = catalogue(store)?;
    if let Some(day) = &retention.samples_before {
        for record in &catalogue.records {
            let began = record.started.get(..10);
            if !began.is_some_and(|began| is_day(began) && began < day.as_str()) {
                continue;
            }
            if catalogue.sealed.contains_key(&record.run_id) {
                swept.kept_for_seal.push(record.run_id.clone());
            } else if !catalogue.retired.contains(&record.run_id) {
                swept.runs.push(record.run_id.clone());
            }
        }
    }
    for run in &swept.runs {
        // The mark comes first, so that a reader that finds no samples finds the reason.
        if !dry {
            store.place(&format!("{RETIRED}/{run}"), &mut &b""[..])?;
        }
        catalogue.retired.insert(run.clone());
    }
    let mut needed = BTreeSet::new();
    for record in &catalogue.records {
        let is_retired = catalogue.retired.contains(&record.run_id);
        let objects = record.objects();
        needed.extend(
            objects
                .filter(|(_, goes)| !(is_retired && *goes))
                .map(|(name, _)| name),
        );
    }
    let mut folders: Vec<String> = [RUNS, SEALS, RETIRED, "tables"].map(str::to_owned).into();
    for prefix in 0..=255_u8 {
        let folder = format!("objects/{prefix:02x}");
        for name in store.names(&folder)? {
            let object = format!("{folder}/{name}");
            if needed.contains(&object) {
                continue;
            }
            if !is_sha256(&name) || object != object_name(&name) {
                let path = store.path_of(&object);
                return Err(FleetArchiveError::damaged(
                    &path,
                    "is not an object of an archive",
                ));
            }
            swept.bytes += store.length(&object)?.unwrap_or(0);
            swept.objects += 1;
            if !dry {
                store.remove(&object)?;
            }
        }
        folders.push(folder);
    }
    // The next query makes them again.
    for table in store.names("tables")? {
        if !dry {
            store.remove(&format!("tables/{table}"))?;
        }
    }
    for folder in folders {
        for partial in store.partials(&folder)? {
            swept.partials += 1;
            if !dry {
                store.remove(&partial)?;
            }
        }
    }
    Ok(swept)
}

/// Whether a text is a day as in `2026-11-24`, so that texts are ordered as days are.
fn is_day(text: &str) -> bool {
    let form = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(form)
}

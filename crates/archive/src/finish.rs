//! Turns a run's log into Parquet and a manifest.
//!
//! After any interruption the log or the finished archive exists, and repeating the conversion
//! gives the same result.
//!
//! The order makes it safe: both files are written under temporary names and synced, the samples
//! are read back and compared, both are renamed, the directory is synced, and only then the log is
//! removed. The manifest in its place shows that the conversion is complete.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use wakepath_directory::Directory;
use wakepath_timeline::Sample;

use crate::digest::sha256_of_open;
use crate::durable::{holds, open, remove, rename, sync_directory, to_write};
use crate::error::{ArchiveError, Result};
use crate::lock;
use crate::log::LOG_NAME;
use crate::manifest::{FileRecord, MANIFEST_NAME, Manifest};
use crate::samples::{PARQUET_NAME, ParquetSamples, ParquetWriter, ROWS_PER_GROUP};
use crate::survey::{Survey, survey};
use crate::virtual_time::EMULATOR_NAME;

const PARQUET_PARTIAL: &str = "samples.parquet.partial";
const MANIFEST_PARTIAL: &str = "manifest.json.partial";
/// Name under which a log with damage in it is kept after recovery.
const DAMAGED_LOG: &str = "samples.log.damaged";

/// Files that an interrupted recording or conversion can leave next to the log, which nothing uses.
const LEFT_OVER: [&str; 4] = [
    crate::log::RESERVE_NAME,
    crate::log::LOG_ANEW,
    PARQUET_PARTIAL,
    MANIFEST_PARTIAL,
];

/// A point of the conversion after which a test lets it stop, as a power cut would.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    SamplesWritten,
    ManifestWritten,
    SamplesInPlace,
    ManifestInPlace,
    LogRemoved,
}

/// Finishes a run that ended normally: `samples.log` becomes `samples.parquet` and
/// `manifest.json`. On a finished run it only verifies the files.
///
/// # Errors
/// [`ArchiveError::NotEnded`] for a run that was cut short or whose log is damaged,
/// [`ArchiveError::InUse`] while it is recorded, [`ArchiveError::Inconsistent`] for a log that
/// contradicts itself, [`ArchiveError::Altered`] for a finished run whose files are not as they
/// were, [`ArchiveError::DiskFull`] (the log stays) and other I/O errors.
pub fn finish(directory: &Path) -> Result<Manifest> {
    finish_until(directory, None)
}

/// [`finish`] that stops after a step.
#[doc(hidden)]
pub fn finish_until(directory: &Path, stop: Option<Step>) -> Result<Manifest> {
    finish_steps(&to_write(directory)?, stop)
}

/// [`finish`] in an open directory.
///
/// # Errors
/// As [`finish`].
pub fn finish_in(directory: &Directory) -> Result<Manifest> {
    finish_steps(directory, None)
}

fn finish_steps(directory: &Directory, stop: Option<Step>) -> Result<Manifest> {
    let Some(log) = lock_log(directory)? else {
        return finished(directory);
    };
    let survey = survey(directory)?;
    if let Some(missing) = &survey.manifest.recovered {
        if let Some(why) = &missing.contradictions.first {
            return Err(ArchiveError::Inconsistent {
                path: directory.path_of(LOG_NAME),
                why: why.clone(),
            });
        }
        let why = if !missing.end_recorded {
            "its last event is missing".to_owned()
        } else if let Some(tail) = missing.damage.tail {
            tail.to_string()
        } else if let Some(gap) = missing.damage.gaps.first() {
            gap.to_string()
        } else if missing.segments_without_end.is_empty() {
            format!(
                "segments {:?} have no start",
                missing.segments_without_start
            )
        } else {
            format!("segments {:?} have no end", missing.segments_without_end)
        };
        return Err(ArchiveError::NotEnded {
            path: directory.path().to_owned(),
            why,
        });
    }
    convert(directory, log, survey, stop)
}

/// Opens and locks the log; `None` if there is none.
pub(crate) fn lock_log(directory: &Directory) -> Result<Option<File>> {
    let path = directory.path_of(LOG_NAME);
    let Some(file) = open(directory, LOG_NAME, "open the log")? else {
        return Ok(None);
    };
    lock::exclusive(&file, &path)?;
    // The previous holder of the lock might have finished the run and removed the log.
    let links = file
        .metadata()
        .map_err(|e| ArchiveError::io("look at", &path, e))?
        .nlink();
    Ok((links > 0).then_some(file))
}

/// The manifest of a run that has no log, if its files are as they were.
pub(crate) fn finished(directory: &Directory) -> Result<Manifest> {
    if !holds(directory, MANIFEST_NAME) {
        return Err(ArchiveError::NotARun {
            path: directory.path().to_owned(),
        });
    }
    let manifest = Manifest::read_in(directory)?;
    let problems = manifest.verify_in(directory)?;
    if problems.is_empty() {
        Ok(manifest)
    } else {
        Err(ArchiveError::Altered {
            path: directory.path().to_owned(),
            problems,
        })
    }
}

/// Writes the archive from a surveyed log whose lock is `log`.
pub(crate) fn convert(
    directory: &Directory,
    log: File,
    mut survey: Survey,
    stop: Option<Step>,
) -> Result<Manifest> {
    let reached = |step| {
        if stop != Some(step) {
            return Ok(());
        }
        let asked = io::Error::other("stopped by a test");
        Err(ArchiveError::io(
            "continue after a step",
            directory.path(),
            asked,
        ))
    };
    let run_id = survey.manifest.run_id.clone();
    if holds(directory, MANIFEST_NAME)
        && let Ok(manifest) = finished(directory)
    {
        // An earlier conversion was stopped just before the log went.
        if manifest.run_id != run_id {
            let why = format!(
                "its log is of run {run_id}, its manifest of {}",
                manifest.run_id
            );
            return Err(ArchiveError::Inconsistent {
                path: directory.path().to_owned(),
                why,
            });
        }
        dispose_of_log(directory, &manifest)?;
        return Ok(manifest);
    }
    let written = write_samples(directory, &mut survey).and_then(|()| {
        reached(Step::SamplesWritten)?;
        let mut manifest = survey.manifest;
        if let Some(missing) = &mut manifest.recovered
            && (missing.damage.is_corruption()
                || missing.samples_without_segment > 0
                || missing.contradictions.blocks > 0)
        {
            missing.kept_log = Some(DAMAGED_LOG.to_owned());
        }
        manifest.files = vec![file_record(directory, PARQUET_PARTIAL, PARQUET_NAME)?];
        for name in beside_samples(directory)? {
            manifest.files.push(file_record(directory, &name, &name)?);
        }
        if manifest.virtual_time.is_some() && holds(directory, EMULATOR_NAME) {
            let record = file_record(directory, EMULATOR_NAME, EMULATOR_NAME)?;
            manifest.files.push(record);
        }
        directory
            .write_synced(MANIFEST_PARTIAL, &manifest.to_bytes())
            .map_err(|e| ArchiveError::io("write", &directory.path_of(MANIFEST_PARTIAL), e))?;
        Ok(manifest)
    });
    let manifest = match written {
        Err(error @ ArchiveError::DiskFull { .. }) => {
            // The space is worth more than a partial file that the next attempt rewrites; failing
            // to remove it doesn't change the error.
            let _ = (
                remove(directory, PARQUET_PARTIAL),
                remove(directory, MANIFEST_PARTIAL),
            );
            return Err(error);
        }
        other => other?,
    };
    reached(Step::ManifestWritten)?;
    rename(directory, PARQUET_PARTIAL, PARQUET_NAME)?;
    reached(Step::SamplesInPlace)?;
    rename(directory, MANIFEST_PARTIAL, MANIFEST_NAME)?;
    sync_directory(directory)?;
    reached(Step::ManifestInPlace)?;
    dispose_of_log(directory, &manifest)?;
    drop(log);
    reached(Step::LogRemoved)?;
    Ok(manifest)
}

/// Removes the remains of a run without any records: an empty log, and half-written files. Other
/// files stay.
///
/// # Errors
/// [`ArchiveError::InUse`] while a process records the run; [`ArchiveError::Inconsistent`], and
/// nothing removed, if something was recorded after all; I/O errors.
pub fn discard_in(directory: &Directory) -> Result<()> {
    let Some(_log) = lock_log(directory)? else {
        return Ok(());
    };
    match survey(directory) {
        Err(ArchiveError::NothingRecorded { .. }) => {}
        Err(other) => return Err(other),
        Ok(_) => {
            return Err(ArchiveError::Inconsistent {
                path: directory.path_of(LOG_NAME),
                why: "something was recorded; nothing is removed".to_owned(),
            });
        }
    }
    for name in LEFT_OVER {
        remove(directory, name)?;
    }
    remove(directory, LOG_NAME)?;
    sync_directory(directory)
}

/// Removes the log of a run that can be made again, such as an import, and half-written files. A
/// finished run stays.
///
/// # Errors
/// [`ArchiveError::InUse`] while another process writes it; I/O errors.
pub fn withdraw_in(directory: &Directory) -> Result<()> {
    let log = lock_log(directory)?;
    if log.is_none() || holds(directory, MANIFEST_NAME) {
        return Ok(());
    }
    for name in LEFT_OVER {
        remove(directory, name)?;
    }
    remove(directory, PARQUET_NAME)?;
    remove(directory, LOG_NAME)?;
    sync_directory(directory)
}

/// Removes the log, or puts a damaged one aside as evidence.
fn dispose_of_log(directory: &Directory, manifest: &Manifest) -> Result<()> {
    // The log is removed last: as long as it exists, all of this is repeated.
    for name in LEFT_OVER {
        remove(directory, name)?;
    }
    match manifest
        .recovered
        .as_ref()
        .and_then(|missing| missing.kept_log.as_ref())
    {
        Some(name) => rename(directory, LOG_NAME, name)?,
        None => remove(directory, LOG_NAME)?,
    }
    sync_directory(directory)
}

/// Writes the samples by segment, thread and cycle, reads them back and compares.
fn write_samples(directory: &Directory, survey: &mut Survey) -> Result<()> {
    let path = directory.path_of(PARQUET_PARTIAL);
    let (columns, run_id) = (survey.columns, &survey.manifest.run_id);
    let mut writer = ParquetWriter::create(directory, PARQUET_PARTIAL, columns, run_id)?;
    let mut logged = Fingerprint::default();
    for (&(segment, thread), offsets) in &survey.blocks {
        let mut group: Vec<Sample> = Vec::new();
        for &offset in offsets {
            group.extend(survey.reader.samples_at(offset)?);
            while group.len() >= ROWS_PER_GROUP {
                writer.write(segment, thread, &group[..ROWS_PER_GROUP])?;
                logged.add(segment, thread, &group[..ROWS_PER_GROUP]);
                group.drain(..ROWS_PER_GROUP);
            }
        }
        if !group.is_empty() {
            writer.write(segment, thread, &group)?;
            logged.add(segment, thread, &group);
        }
    }
    writer.finish()?;
    if fingerprint_of(directory, &survey.manifest)? != logged {
        let why = "the samples read back differ from the log's; the log is kept".to_owned();
        return Err(ArchiveError::Inconsistent { path, why });
    }
    Ok(())
}

/// Count and checksum of samples in order.
#[derive(Default, Debug, PartialEq, Eq)]
struct Fingerprint {
    count: u64,
    crc: u32,
}

impl Fingerprint {
    fn add(&mut self, segment: u32, thread: u16, samples: &[Sample]) {
        let mut hasher = crc32fast::Hasher::new_with_initial(self.crc);
        for sample in samples {
            hasher.update(&segment.to_le_bytes());
            hasher.update(&thread.to_le_bytes());
            hasher.update(&sample.to_bytes());
        }
        self.count += samples.len() as u64;
        self.crc = hasher.finalize();
    }
}

fn fingerprint_of(directory: &Directory, manifest: &Manifest) -> Result<Fingerprint> {
    let file = ParquetSamples::open(directory, PARQUET_PARTIAL)?;
    let mut found = Fingerprint::default();
    for (index, group) in file.groups().iter().enumerate() {
        let (segment, thread) = (group.segment, group.thread);
        let record =
            manifest
                .thread(segment, thread)
                .ok_or_else(|| ArchiveError::NoSuchThread {
                    path: directory.path_of(PARQUET_PARTIAL),
                    segment,
                    thread,
                })?;
        found.add(segment, thread, &file.read(index, record.due)?);
    }
    Ok(found)
}

/// Additional files in the run directory: traces by segment, then the loops' telemetry and log.
fn beside_samples(directory: &Directory) -> Result<Vec<String>> {
    let names = directory
        .names()
        .map_err(|e| ArchiveError::io("list the run directory", directory.path(), e))?;
    let sorted = |segment_of: fn(&str) -> Option<u32>| {
        let mut segments: Vec<u32> = names.iter().filter_map(|name| segment_of(name)).collect();
        segments.sort_unstable();
        segments.into_iter()
    };
    let traces = sorted(crate::trace::segment_of).map(crate::trace_name);
    let told = sorted(crate::told::segment_of).map(crate::told_name);
    let lines = names.iter().filter(|name| *name == crate::LINES_NAME);
    Ok(traces.chain(told).chain(lines.cloned()).collect())
}

fn file_record(directory: &Directory, now: &str, later: &str) -> Result<FileRecord> {
    let path = directory.path_of(now);
    let failed = |e| ArchiveError::io("look at", &path, e);
    let file = directory.open(now).map_err(failed)?;
    Ok(FileRecord {
        name: later.to_owned(),
        bytes: file.metadata().map_err(failed)?.len(),
        sha256: sha256_of_open(file, &path)?,
    })
}

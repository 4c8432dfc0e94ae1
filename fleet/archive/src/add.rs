//! Adds a run: checks it, computes what queries need, stores its objects and then its record.
//!
//! The run counts as untrusted input. Adding it again, by anyone, changes nothing.

use crate::error::{FleetArchiveError, Result};
use crate::facts::facts_of;
use crate::gathered::{Gathered, gather};
use crate::name::{Board, hexadecimal, is_plain, is_sha256};
use crate::record::{
    ConditionRow, FORMAT, Kept, LONGEST_RECORD, Role, RunRecord, object_name, record_name,
    seal_name,
};
use crate::seals::{SealTerms, Standing, standing};
use crate::store::{Hold, Placed, Store};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use wakepath_archive::{MANIFEST_NAME, PARQUET_NAME, Run, State};
use wakepath_assess::Assessment;
use wakepath_directory::content;
use wakepath_evidence::{MOST_SEAL_BYTES, SEAL_NAME};

/// Longest manifest, seal or explanation of a run that is read.
const LONGEST_TEXT: u64 = 64 << 20;

/// Most files of a run.
const MOST_FILES: usize = 10_000;

/// Files of a run that its manifest can omit.
const BESIDE: [(&str, Role); 3] = [
    (MANIFEST_NAME, Role::Manifest),
    (SEAL_NAME, Role::Seal),
    ("explanation.json", Role::Explanation),
];

/// Result of adding a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Its name.
    pub run_id: String,
    /// Whether it was added; otherwise it was there already.
    pub is_new: bool,
    /// Result of checking its seal.
    pub standing: Standing,
}

/// Adds the run in a directory, measured on `board`. A run without a seal is accepted, one with a
/// wrong seal is not.
///
/// # Errors
/// [`FleetArchiveError::Refused`] for a run that is incomplete, differs from its seal, or is
/// unsuitable for an archive; [`FleetArchiveError::Another`] if another run has its name; the
/// system's. Nothing was added then.
pub fn add(store: &dyn Store, directory: &Path, board: &Board, terms: &SealTerms) -> Result<Added> {
    let refused = |why: String| FleetArchiveError::Refused {
        path: directory.to_owned(),
        why,
    };
    plain_files(directory)?;
    let run = Run::open(directory)?;
    match run.state() {
        State::Finished => {}
        State::BeingWritten { by } => return Err(refused(format!("it is being written by {by}"))),
        State::NotFinished => {
            return Err(refused(
                "it has no end; complete it with `wakepath recover RUN`".to_owned(),
            ));
        }
    }
    let run_id = run.manifest.run_id.clone();
    if !is_plain(&run_id) {
        return Err(refused(format!(
            "its name, {run_id:?}, is none of wakepath's"
        )));
    }
    if let Some(imported) = &run.manifest.imported
        && !imported.histograms.is_empty()
    {
        return Err(refused(format!(
            "it was imported ({}) and holds another tool's bins, no samples; answers here are exact, and bins \
             have no sums",
            imported.form
        )));
    }
    let gathered = gather(&run)?;
    let assessment = Assessment::new(&run).map_err(|source| FleetArchiveError::Assessment {
        path: directory.to_owned(),
        source,
    })?;
    agree(&gathered, &assessment).map_err(refused)?;
    let files = files_of(&run, directory)?;
    let seal = seal_of(directory)?;
    let stands = |files: &[Kept]| match &seal {
        Some(seal) => standing(seal, files, board.name(), terms),
        None => Standing::Unsealed,
    };
    let standing = stands(&files);
    if let Standing::Wrong(_) = standing {
        return Err(refused(standing.to_string()));
    }
    let (seals, files): (Vec<Kept>, Vec<Kept>) =
        files.into_iter().partition(|file| file.role == Role::Seal);
    let histograms = gathered.histograms;
    let record = RunRecord {
        format: FORMAT,
        run_id: run_id.clone(),
        board: board.name().to_owned(),
        started: run.manifest.started.clone(),
        outcome: assessment.outcome.to_string(),
        facts: facts_of(&run.manifest),
        histograms: hexadecimal(Sha256::digest(&histograms)),
        conditions: conditions_of(&assessment),
        threads: gathered.rows,
        outliers: gathered.outliers,
        files,
    };
    let name = record_name(&run_id);
    let bytes = record.to_bytes();
    if bytes.len() as u64 > LONGEST_RECORD {
        return Err(refused("it has too many threads and conditions".to_owned()));
    }

    // Nobody sweeps until the record is there.
    let _held = store.hold(Hold::Together)?;
    let there = read_record(store, &run_id)?;
    let added = |is_new| Added {
        run_id: run_id.clone(),
        is_new,
        standing: standing.clone(),
    };
    if let Some(there) = &there {
        same(there, &record, directory)?;
        if seals.is_empty() {
            return Ok(added(false));
        }
        // Other files that its seal names were never added, and a record is not written again.
        if let wrong @ Standing::Wrong(_) = stands(&there.files) {
            return Err(refused(format!("{wrong} when the run was added")));
        }
    }
    // A seal added after its run needs all of the run's files again.
    for file in record.files.iter().chain(&seals) {
        let path = directory.join(&file.name);
        let opened = File::open(&path).map_err(FleetArchiveError::io("read", &path))?;
        let name = match file.role {
            Role::Seal => seal_name(&run_id, &file.sha256),
            _ => object_name(&file.sha256),
        };
        store.place(&name, &mut Checked::new(opened, file))?;
    }
    if there.is_some() {
        return Ok(added(false));
    }
    store.place(&object_name(&record.histograms), &mut &histograms[..])?;
    match store.place(&name, &mut &bytes[..])? {
        Placed::New => Ok(added(true)),
        Placed::WasThere => {
            let there = read_record(store, &run_id)?;
            let there = there.ok_or_else(|| {
                FleetArchiveError::damaged(&store.path_of(&name), "vanished while it was read")
            })?;
            same(&there, &record, directory)?;
            Ok(added(false))
        }
    }
}

/// Reads a run's record; `None` if there is none.
///
/// # Errors
/// [`FleetArchiveError::Damaged`]; the system's.
pub(crate) fn read_record(store: &dyn Store, run_id: &str) -> Result<Option<RunRecord>> {
    let name = record_name(run_id);
    let path = store.path_of(&name);
    let Some(file) = store.open(&name)? else {
        return Ok(None);
    };
    let bytes = read_bounded(file, LONGEST_RECORD).map_err(FleetArchiveError::io("read", &path))?;
    RunRecord::from_bytes(&bytes, run_id, &path).map(Some)
}

pub(crate) fn read_bounded(file: File, longest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        Err(io::Error::other(format!(
            "it is longer than {longest} bytes"
        )))
    } else {
        Ok(bytes)
    }
}

/// Whether a run that is there is this one: the same manifest, on the same board.
fn same(there: &RunRecord, record: &RunRecord, path: &Path) -> Result<()> {
    let manifest = |record: &RunRecord| {
        let mut files = record.files.iter();
        files
            .find(|file| file.role == Role::Manifest)
            .map(|file| file.sha256.clone())
    };
    let how = if manifest(there) != manifest(record) {
        "with other samples or facts".to_owned()
    } else if there.board != record.board {
        format!("from board {} and not {}", there.board, record.board)
    } else {
        return Ok(());
    };
    Err(FleetArchiveError::Another {
        path: path.to_owned(),
        run_id: record.run_id.clone(),
        how,
    })
}

/// Refuses links and anything but plain files before reading, and texts that are too long.
fn plain_files(directory: &Path) -> Result<()> {
    let listed = std::fs::read_dir(directory).map_err(FleetArchiveError::io("read", directory))?;
    for (number, entry) in listed.enumerate() {
        let entry = entry.map_err(FleetArchiveError::io("read", directory))?;
        let path = entry.path();
        let found =
            std::fs::symlink_metadata(&path).map_err(FleetArchiveError::io("look at", &path))?;
        let refused = |why: &str| FleetArchiveError::Refused {
            path: path.clone(),
            why: why.to_owned(),
        };
        if number >= MOST_FILES {
            return Err(refused("the run has more than 10 000 files"));
        }
        if !found.is_file() && !found.is_dir() {
            return Err(refused("it is not a plain file; a link leads elsewhere"));
        }
        let is_text = BESIDE.iter().any(|(name, _)| entry.file_name() == *name);
        if is_text && found.len() > LONGEST_TEXT {
            return Err(refused("it is longer than 64 MB"));
        }
    }
    Ok(())
}

/// The run's seal.
fn seal_of(directory: &Path) -> Result<Option<Vec<u8>>> {
    let path = directory.join(SEAL_NAME);
    let failed = FleetArchiveError::io("read", &path);
    match File::open(&path).and_then(|file| read_bounded(file, MOST_SEAL_BYTES)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// The run's files: those of its manifest, whose digests were just checked, and the additional
/// ones, because a seal names all of them.
fn files_of(run: &Run, directory: &Path) -> Result<Vec<Kept>> {
    let mut files: Vec<Kept> = run
        .manifest
        .files
        .iter()
        .map(|file| Kept {
            name: file.name.clone(),
            role: match &*file.name {
                PARQUET_NAME => Role::Samples,
                _ => Role::Other,
            },
            bytes: file.bytes,
            sha256: file.sha256.clone(),
        })
        .collect();
    if let Some(odd) = files.iter().find(|file| !is_sha256(&file.sha256)) {
        return Err(FleetArchiveError::Refused {
            path: directory.to_owned(),
            why: format!("its manifest gives no SHA-256 of {:?}", odd.name),
        });
    }
    for file in content(directory, "")? {
        let beside = BESIDE.iter().find(|(name, _)| *name == file.name);
        let role = beside.map(|(_, role)| *role);
        match files.iter_mut().find(|known| known.name == file.name) {
            Some(known) => known.role = role.unwrap_or(known.role),
            None => files.push(Kept {
                name: file.name,
                role: role.unwrap_or(Role::Other),
                bytes: file.bytes,
                sha256: file.sha256,
            }),
        }
    }
    Ok(files)
}

/// Compares the counts made here with the verdict's: the two count the samples independently.
fn agree(gathered: &Gathered, assessment: &Assessment) -> std::result::Result<(), String> {
    for judgement in &assessment.conditions {
        let name = &judgement.name;
        let mine = gathered.rows.iter().filter(|row| {
            !row.traced
                && row.phase == name.phase
                && name
                    .policy
                    .is_none_or(|policy| row.policy == policy.to_string())
                && name.task.as_ref().is_none_or(|task| *task == row.name)
        });
        let (mut executed, mut skipped) = (0, 0);
        for row in mine {
            executed += row.executed;
            skipped += row.skipped;
        }
        let cycles = &judgement.cycles;
        if (
            cycles.executed as i64,
            cycles.skipped.map_or(skipped, |of| {
                let gaps = of.saturating_add(cycles.lost).saturating_add(cycles.unseen);
                gaps.min(i64::MAX as u64) as i64
            }),
        ) != (executed, skipped)
        {
            return Err(format!(
                "condition {}: {executed} cycles and {skipped} skipped were counted, and {} and {} judged",
                name.phase,
                cycles.executed,
                cycles.skipped.unwrap_or(0)
            ));
        }
    }
    Ok(())
}

fn conditions_of(assessment: &Assessment) -> Vec<ConditionRow> {
    let whole = |count: u64| count.min(i64::MAX as u64) as i64;
    let row = |judgement: &wakepath_verdict::Judgement| {
        let scheduled = judgement.cycles.latency_as_scheduled.as_ref();
        let at = |parts| {
            let quantiles = &scheduled?.quantiles;
            let found = quantiles.iter().find(|q| q.parts_per_million == parts)?;
            found.value
        };
        ConditionRow {
            phase: judgement.name.phase.clone(),
            policy: judgement
                .name
                .policy
                .map_or(String::new(), |p| p.to_string()),
            task: judgement.name.task.clone().unwrap_or_default(),
            outcome: judgement.outcome.to_string(),
            due: whole(judgement.cycles.scheduled),
            missed: whole(judgement.cycles.missed().unwrap_or(0)),
            skipped: whole(judgement.cycles.skipped.unwrap_or(0)),
            latency_limit_ns: assessment.criterion.latency_ns.map(whole),
            // Tasks have their own periods as deadlines.
            deadline_ns: (judgement.name.task.is_none())
                .then(|| whole(assessment.criterion.deadline_ns)),
            p50_ns: at(500_000),
            p999_ns: at(999_000),
            max_ns: scheduled.map(|found| found.max),
        }
    };
    assessment.conditions.iter().map(row).collect()
}

/// A file that must match its digest, or reading it fails, because it can change between two
/// readings.
pub(crate) struct Checked<'a> {
    file: io::Take<File>,
    digest: Sha256,
    read: u64,
    expected: &'a Kept,
}

impl<'a> Checked<'a> {
    pub(crate) fn new(file: File, expected: &'a Kept) -> Self {
        Self {
            file: file.take(expected.bytes + 1),
            digest: Sha256::new(),
            read: 0,
            expected,
        }
    }
}

impl Read for Checked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.digest.update(&buffer[..count]);
        self.read += count as u64;
        let is_end = count == 0 && !buffer.is_empty();
        if is_end {
            let found = hexadecimal(self.digest.clone().finalize());
            if self.read != self.expected.bytes || found != self.expected.sha256 {
                return Err(io::Error::other("it changed while it was read"));
            }
        }
        Ok(count)
    }
}

//! All that an archive holds at one moment, and the tables that engines are given: runs, threads,
//! conditions and outliers out of the records, histograms and samples as the objects that they are.

use crate::add::read_record;
use crate::error::{FleetArchiveError, Result};
use crate::facts::FACTS;
use crate::name::{hexadecimal, is_sha256, run_number};
use crate::record::{RETIRED, RUNS, Role, RunRecord, SEALS, object_name};
use crate::rows::Rows;
use crate::store::Store;
use crate::table::{Column, Kind, read_latencies, to_parquet};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Content of an archive at one time, without runs added later.
pub struct Catalogue {
    /// Every run, by name.
    pub records: Vec<RunRecord>,
    /// Runs that have a seal, each with its seals' digests. Whether one is good is another question:
    /// [`Catalogue::standings`].
    pub sealed: BTreeMap<String, Vec<String>>,
    /// Runs whose samples retention took.
    pub retired: BTreeSet<String>,
}

/// Segment and thread to latencies in nanoseconds with their counts, by minutes.
pub type Latencies = BTreeMap<(i64, i64), Vec<(i64, i64)>>;

/// A file with the samples of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplesFile {
    /// The run's number.
    pub run: i64,
    /// Its path.
    pub path: PathBuf,
}

/// A table made of the records, for engines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedTable {
    /// Its name.
    pub name: &'static str,
    /// Its columns, in the order of the file.
    pub columns: Vec<(&'static str, Kind)>,
    /// The file.
    pub path: PathBuf,
}

/// Reads all records of an archive.
///
/// # Errors
/// [`FleetArchiveError::Damaged`] for a record that our writers can't have written, and for two
/// runs with one number; the system's.
pub fn catalogue(store: &dyn Store) -> Result<Catalogue> {
    // Marks and seals first: the record of a run that is retired or sealed during this exists
    // already.
    let marked = store.names(RETIRED)?;
    let mut sealed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in store.names(SEALS)? {
        let known = name.split_once("..");
        if let Some((run, digest)) = known.filter(|(_, digest)| is_sha256(digest)) {
            let seals = sealed.entry(run.to_owned()).or_default();
            seals.push(digest.to_owned());
        }
    }
    let mut records = Vec::new();
    let mut numbers = BTreeMap::new();
    for name in store.names(RUNS)? {
        let path = store.path_of(&format!("{RUNS}/{name}"));
        let Some(run_id) = name.strip_suffix(".json") else {
            return Err(FleetArchiveError::damaged(
                &path,
                "is not a record of a run",
            ));
        };
        // A record is never removed.
        let record = read_record(store, run_id)?
            .ok_or_else(|| FleetArchiveError::damaged(&path, "vanished while it was read"))?;
        if let Some(other) = numbers.insert(run_number(run_id), run_id.to_owned()) {
            return Err(FleetArchiveError::damaged(
                &path,
                format!("has the number of run {other}: no table can tell the two apart"),
            ));
        }
        records.push(record);
    }
    let retired = marked.into_iter().filter(|run| !sealed.contains_key(run));
    Ok(Catalogue {
        retired: retired.collect(),
        records,
        sealed,
    })
}

impl Catalogue {
    /// The same without some runs.
    pub fn without(mut self, is_left_out: impl Fn(&str) -> bool) -> Self {
        self.records.retain(|record| !is_left_out(&record.run_id));
        self
    }

    /// Writes the tables made of the records (`runs`, `threads`, `conditions`, `outliers`) to the
    /// archive, named by the digest of the archive's content, so that a cluster reads the same
    /// files. Returns their places.
    ///
    /// # Errors
    /// The system's.
    pub fn place_tables(&self, store: &dyn Store) -> Result<Vec<PlacedTable>> {
        let mut digest = Sha256::new();
        for record in &self.records {
            digest.update(record.to_bytes());
        }
        for run in self
            .sealed
            .keys()
            .chain([&"\n".to_owned()])
            .chain(&self.retired)
        {
            digest.update(run);
            digest.update(b"\n");
        }
        let digest = hexadecimal(digest.finalize());
        let mut placed = Vec::new();
        for (name, columns) in self.tables() {
            let bytes = to_parquet(&columns)?;
            let file = format!("tables/{digest}.{name}.parquet");
            store.place(&file, &mut &bytes[..])?;
            let kinds = columns.iter();
            placed.push(PlacedTable {
                name,
                columns: kinds.map(|(name, values)| (*name, values.kind())).collect(),
                path: store.path_of(&file),
            });
        }
        Ok(placed)
    }

    /// The objects with histograms, one for each run.
    ///
    /// # Errors
    /// [`FleetArchiveError::Damaged`] if one isn't available; the system's.
    pub fn histograms(&self, store: &dyn Store) -> Result<Vec<PathBuf>> {
        let object = |record: &RunRecord| store.bring(&object_name(&record.histograms));
        self.records.iter().map(object).collect()
    }

    /// The objects with samples, of those runs whose samples are kept.
    ///
    /// # Errors
    /// As [`Self::histograms`].
    pub fn samples(&self, store: &dyn Store) -> Result<Vec<SamplesFile>> {
        let mut files = Vec::new();
        for record in &self.records {
            if self.retired.contains(&record.run_id) {
                continue;
            }
            let samples = record.files.iter().filter(|f| f.role == Role::Samples);
            for file in samples {
                files.push(SamplesFile {
                    run: run_number(&record.run_id),
                    path: store.bring(&object_name(&file.sha256))?,
                });
            }
        }
        Ok(files)
    }

    /// The latencies of one run: segment and thread to value and count, over the cycles that ran.
    ///
    /// # Errors
    /// [`FleetArchiveError::Damaged`]; the system's.
    pub fn latencies(&self, store: &dyn Store, record: &RunRecord) -> Result<Latencies> {
        let name = object_name(&record.histograms);
        let path = store.path_of(&name);
        let missing = || FleetArchiveError::damaged(&path, "is missing");
        let file = store.open(&name)?.ok_or_else(missing)?;
        read_latencies(file).map_err(|error| FleetArchiveError::damaged(&path, error.to_string()))
    }

    /// Every table made of the records, with its columns.
    fn tables(&self) -> [(&'static str, Vec<Column>); 4] {
        [
            ("runs", self.runs()),
            ("threads", self.threads()),
            ("conditions", self.conditions()),
            ("outliers", self.outliers()),
        ]
    }

    fn runs(&self) -> Vec<Column> {
        let rows = Rows::new(&self.records, std::slice::from_ref);
        let mut columns = vec![
            rows.run(),
            rows.texts("run_id", |r| r.run_id.clone()),
            rows.texts("board", |r| r.board.clone()),
            rows.texts("started", |r| r.started.clone()),
            rows.texts("outcome", |r| r.outcome.clone()),
            rows.flags("sealed", |r| self.sealed.contains_key(&r.run_id)),
            rows.flags("has_samples", |r| !self.retired.contains(&r.run_id)),
        ];
        for name in FACTS {
            columns.push(rows.texts(name, |r| r.facts.get(name).cloned().unwrap_or_default()));
        }
        columns
    }

    fn threads(&self) -> Vec<Column> {
        let rows = Rows::new(&self.records, |record| &record.threads);
        vec![
            rows.run(),
            rows.integers("segment", |row| row.segment),
            rows.integers("thread", |row| row.thread),
            rows.texts("name", |row| row.name.clone()),
            rows.texts("phase", |row| row.phase.clone()),
            rows.integers("repetition", |row| row.repetition),
            rows.texts("policy", |row| row.policy.clone()),
            rows.flags("traced", |row| row.traced),
            rows.integers("period_ns", |row| row.period_ns),
            rows.integers("first_cycle", |row| row.first_cycle),
            rows.integers("end_cycle", |row| row.end_cycle),
            rows.integers("expected", |row| row.expected),
            rows.integers("recorded", |row| row.recorded),
            rows.perhaps("lost", |row| row.lost),
            rows.integers("executed", |row| row.executed),
            rows.integers("skipped", |row| row.skipped),
            rows.integers("latency_sum_ns", |row| row.latency_sum_ns),
            rows.integers("skipped_sum_ns", |row| row.skipped_sum_ns),
            rows.integers("execution_sum_ns", |row| row.execution_sum_ns),
            rows.integers("response_sum_ns", |row| row.response_sum_ns),
        ]
    }

    fn conditions(&self) -> Vec<Column> {
        let rows = Rows::new(&self.records, |record| &record.conditions);
        vec![
            rows.run(),
            rows.texts("phase", |row| row.phase.clone()),
            rows.texts("policy", |row| row.policy.clone()),
            rows.texts("task", |row| row.task.clone()),
            rows.texts("outcome", |row| row.outcome.clone()),
            rows.integers("due", |row| row.due),
            rows.integers("missed", |row| row.missed),
            rows.integers("skipped", |row| row.skipped),
            rows.perhaps("latency_limit_ns", |row| row.latency_limit_ns),
            rows.perhaps("deadline_ns", |row| row.deadline_ns),
            rows.perhaps("p50_ns", |row| row.p50_ns),
            rows.perhaps("p999_ns", |row| row.p999_ns),
            rows.perhaps("max_ns", |row| row.max_ns),
        ]
    }

    fn outliers(&self) -> Vec<Column> {
        let rows = Rows::new(&self.records, |record| &record.outliers);
        vec![
            rows.run(),
            rows.integers("segment", |row| row.segment),
            rows.integers("thread", |row| row.thread),
            rows.integers("cycle", |row| row.cycle),
            rows.integers("latency_ns", |row| row.latency_ns),
            rows.integers("execution_ns", |row| row.execution_ns),
            rows.integers("response_ns", |row| row.response_ns),
        ]
    }
}

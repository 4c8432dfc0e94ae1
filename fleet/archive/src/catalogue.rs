//! All that an archive holds at one moment, and the tables that engines are given: runs, threads,
//! conditions and outliers out of the records, histograms and samples as the objects that they are.

use crate::add::read_record;
use crate::error::{FleetArchiveError, Result};
use crate::facts::FACTS;
use crate::name::{hexadecimal, is_sha256, run_number};
use crate::record::{RETIRED, RUNS, Role, RunRecord, SEALS, object_name};
use crate::store::Store;
use crate::table::{Column, Values, read_latencies, to_parquet};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What an archive held when it was looked at. Runs that are added later are not in it.
pub struct Catalogue {
    /// Every run, by name.
    pub records: Vec<RunRecord>,
    /// Runs that have a seal, each with its seals' digests. Whether one is good is another question:
    /// [`Catalogue::standings`].
    pub sealed: BTreeMap<String, Vec<String>>,
    /// Runs whose samples retention took.
    pub retired: BTreeSet<String>,
}

/// Segment and thread to latencies in nanoseconds and how often each was seen, by minutes.
pub type Latencies = BTreeMap<(i64, i64), Vec<(i64, i64)>>;

/// A file with the samples of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SamplesFile {
    /// The run's number.
    pub run: i64,
    /// Where it is.
    pub path: PathBuf,
}

/// Reads all records of an archive.
///
/// # Errors
/// [`FleetArchiveError::Damaged`] for a record that no writer of ours can have written, and for two runs
/// of one number; the system's.
pub fn catalogue(store: &dyn Store) -> Result<Catalogue> {
    // Marks and seals first: a run that is retired or sealed meanwhile has its record for long.
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
            return Err(FleetArchiveError::damaged(&path, "is no record of a run"));
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

    /// The tables made of the records, by name, as Parquet: `runs`, `threads`, `conditions`, `outliers`.
    ///
    /// # Errors
    /// None that a record of ours gives rise to.
    pub fn tables(&self) -> Result<Vec<(&'static str, Vec<u8>)>> {
        Ok(vec![
            ("runs", to_parquet(&self.runs())?),
            ("threads", to_parquet(&self.threads())?),
            ("conditions", to_parquet(&self.conditions())?),
            ("outliers", to_parquet(&self.outliers())?),
        ])
    }

    /// Puts the tables into the archive, under the digest of all that is in it, so that a cluster reads
    /// the same files; where they are.
    ///
    /// # Errors
    /// The system's.
    pub fn place_tables(&self, store: &dyn Store) -> Result<Vec<(&'static str, PathBuf)>> {
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
        for (name, bytes) in self.tables()? {
            let file = format!("tables/{digest}.{name}.parquet");
            store.place(&file, &mut &bytes[..])?;
            placed.push((name, store.path_of(&file)));
        }
        Ok(placed)
    }

    /// The objects with histograms, one for each run.
    pub fn histograms(&self, store: &dyn Store) -> Vec<PathBuf> {
        let object = |record: &RunRecord| store.path_of(&object_name(&record.histograms));
        self.records.iter().map(object).collect()
    }

    /// The objects with samples, of those runs whose samples are kept.
    pub fn samples(&self, store: &dyn Store) -> Vec<SamplesFile> {
        let mut files = Vec::new();
        for record in &self.records {
            if self.retired.contains(&record.run_id) {
                continue;
            }
            let samples = record.files.iter().filter(|f| f.role == Role::Samples);
            files.extend(samples.map(|file| SamplesFile {
                run: run_number(&record.run_id),
                path: store.path_of(&object_name(&file.sha256)),
            }));
        }
        files
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

    fn runs(&self) -> Vec<Column> {
        let texts = |of: &dyn Fn(&RunRecord) -> String| {
            Values::Texts(self.records.iter().map(of).collect())
        };
        let flags =
            |of: &dyn Fn(&RunRecord) -> bool| Values::Flags(self.records.iter().map(of).collect());
        let numbers = self.records.iter().map(|r| run_number(&r.run_id));
        let mut columns = vec![
            ("run", Values::Integers(numbers.collect())),
            ("run_id", texts(&|r| r.run_id.clone())),
            ("board", texts(&|r| r.board.clone())),
            ("started", texts(&|r| r.started.clone())),
            ("outcome", texts(&|r| r.outcome.clone())),
            ("sealed", flags(&|r| self.sealed.contains_key(&r.run_id))),
            ("has_samples", flags(&|r| !self.retired.contains(&r.run_id))),
        ];
        for name in FACTS {
            let fact = |r: &RunRecord| r.facts.get(name).cloned().unwrap_or_default();
            columns.push((name, texts(&fact)));
        }
        columns
    }

    fn threads(&self) -> Vec<Column> {
        let rows = self.rows(|record| &record.threads);
        let texts = |of: fn(&crate::ThreadRow) -> &String| {
            Values::Texts(rows.iter().map(|(_, row)| of(row).clone()).collect())
        };
        let whole = |of: fn(&crate::ThreadRow) -> i64| {
            Values::Integers(rows.iter().map(|(_, row)| of(row)).collect())
        };
        vec![
            (
                "run",
                Values::Integers(rows.iter().map(|(run, _)| *run).collect()),
            ),
            ("segment", whole(|row| row.segment)),
            ("thread", whole(|row| row.thread)),
            ("name", texts(|row| &row.name)),
            ("phase", texts(|row| &row.phase)),
            ("repetition", whole(|row| row.repetition)),
            ("policy", texts(|row| &row.policy)),
            (
                "traced",
                Values::Flags(rows.iter().map(|(_, row)| row.traced).collect()),
            ),
            ("period_ns", whole(|row| row.period_ns)),
            ("first_cycle", whole(|row| row.first_cycle)),
            ("end_cycle", whole(|row| row.end_cycle)),
            ("expected", whole(|row| row.expected)),
            ("recorded", whole(|row| row.recorded)),
            (
                "lost",
                Values::IntegersOrNone(rows.iter().map(|(_, row)| row.lost).collect()),
            ),
            ("executed", whole(|row| row.executed)),
            ("skipped", whole(|row| row.skipped)),
            ("latency_sum_ns", whole(|row| row.latency_sum_ns)),
            ("skipped_sum_ns", whole(|row| row.skipped_sum_ns)),
            ("execution_sum_ns", whole(|row| row.execution_sum_ns)),
            ("response_sum_ns", whole(|row| row.response_sum_ns)),
        ]
    }

    fn conditions(&self) -> Vec<Column> {
        let rows = self.rows(|record| &record.conditions);
        let texts = |of: fn(&crate::ConditionRow) -> &String| {
            Values::Texts(rows.iter().map(|(_, row)| of(row).clone()).collect())
        };
        let whole = |of: fn(&crate::ConditionRow) -> i64| {
            Values::Integers(rows.iter().map(|(_, row)| of(row)).collect())
        };
        let perhaps = |of: fn(&crate::ConditionRow) -> Option<i64>| {
            Values::IntegersOrNone(rows.iter().map(|(_, row)| of(row)).collect())
        };
        vec![
            (
                "run",
                Values::Integers(rows.iter().map(|(run, _)| *run).collect()),
            ),
            ("phase", texts(|row| &row.phase)),
            ("policy", texts(|row| &row.policy)),
            ("task", texts(|row| &row.task)),
            ("outcome", texts(|row| &row.outcome)),
            ("due", whole(|row| row.due)),
            ("missed", whole(|row| row.missed)),
            ("skipped", whole(|row| row.skipped)),
            ("latency_limit_ns", perhaps(|row| row.latency_limit_ns)),
            ("deadline_ns", perhaps(|row| row.deadline_ns)),
            ("p50_ns", perhaps(|row| row.p50_ns)),
            ("p999_ns", perhaps(|row| row.p999_ns)),
            ("max_ns", perhaps(|row| row.max_ns)),
        ]
    }

    fn outliers(&self) -> Vec<Column> {
        let rows = self.rows(|record| &record.outliers);
        let whole = |of: fn(&crate::Outlier) -> i64| {
            Values::Integers(rows.iter().map(|(_, row)| of(row)).collect())
        };
        vec![
            (
                "run",
                Values::Integers(rows.iter().map(|(run, _)| *run).collect()),
            ),
            ("segment", whole(|row| row.segment)),
            ("thread", whole(|row| row.thread)),
            ("cycle", whole(|row| row.cycle)),
            ("latency_ns", whole(|row| row.latency_ns)),
            ("execution_ns", whole(|row| row.execution_ns)),
            ("response_ns", whole(|row| row.response_ns)),
        ]
    }

    /// Rows of all runs, each with its run's number.
    fn rows<T>(&self, of: fn(&RunRecord) -> &Vec<T>) -> Vec<(i64, &T)> {
        let mut rows = Vec::new();
        for record in &self.records {
            let number = run_number(&record.run_id);
            rows.extend(of(record).iter().map(|row| (number, row)));
        }
        rows
    }
}

//! The tables for queries, and their files: the same for every engine.

use crate::error::Result;
use crate::text::Text;
use serde::Serialize;
use std::path::PathBuf;
use wakepath_fleet_archive::{Catalogue, Kind, Store};

/// A file of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TableFile {
    pub path: PathBuf,
    /// The run's number, if the file doesn't contain it: for samples, which are the run's own file.
    pub run: Option<i64>,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Table {
    pub name: &'static str,
    pub columns: Vec<(&'static str, Kind)>,
    pub files: Vec<TableFile>,
}

/// Counts and sums over all judged threads, from the archive's records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TotalCounts {
    /// Judged due times.
    pub due: i64,
    /// Those of them at which a cycle ran, of runs whose samples are kept.
    pub sampled: i64,
}

/// All tables of an archive at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    pub(crate) all: Vec<Table>,
    pub(crate) totals: TotalCounts,
}

impl Tables {
    /// The tables of an archive for a query. Histograms and samples that it does not use are not
    /// fetched.
    ///
    /// # Errors
    /// The archive's.
    pub fn new(store: &dyn Store, catalogue: &Catalogue, asked: &Text) -> Result<Self> {
        let made = catalogue.place_tables(store)?;
        let mut all = Vec::new();
        for table in made {
            all.push(Table {
                name: table.name,
                columns: table.columns,
                files: vec![TableFile {
                    path: table.path,
                    run: None,
                }],
            });
        }
        if asked.asks("hist") {
            all.push(histograms(store, catalogue)?);
        }
        if asked.asks_samples() {
            all.push(samples(store, catalogue)?);
        }
        Ok(Self {
            all,
            totals: totals(catalogue),
        })
    }
}

fn integers(names: &[&'static str]) -> Vec<(&'static str, Kind)> {
    names.iter().map(|name| (*name, Kind::Integer)).collect()
}

fn histograms(store: &dyn Store, catalogue: &Catalogue) -> Result<Table> {
    let mut columns = integers(&["run", "segment", "thread", "minute"]);
    columns.extend([("metric", Kind::Text), ("exact", Kind::Flag)]);
    columns.extend(integers(&["upper_ns", "samples", "sum_ns"]));
    let files = catalogue.histograms(store)?.into_iter();
    Ok(Table {
        name: "hist",
        columns,
        files: files.map(|path| TableFile { path, run: None }).collect(),
    })
}

fn samples(store: &dyn Store, catalogue: &Catalogue) -> Result<Table> {
    let files = catalogue.samples(store)?.into_iter();
    Ok(Table {
        name: "samples",
        columns: integers(&[
            "segment",
            "thread",
            "cycle",
            "latency_ns",
            "execution_ns",
            "work_ns",
            "cpu_time_ns",
            "involuntary_switches",
            "cpu",
            "flags",
            "run",
        ]),
        files: files
            .map(|file| TableFile {
                path: file.path,
                run: Some(file.run),
            })
            .collect(),
    })
}

fn totals(catalogue: &Catalogue) -> TotalCounts {
    let mut totals = TotalCounts::default();
    for record in &catalogue.records {
        let has_samples = !catalogue.retired.contains(&record.run_id);
        for row in record.threads.iter().filter(|row| !row.traced) {
            totals.due = totals.due.saturating_add(row.executed + row.skipped);
            if has_samples {
                totals.sampled = totals.sampled.saturating_add(row.executed);
            }
        }
    }
    totals
}

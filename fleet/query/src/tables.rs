//! The tables that a question may ask, and which files hold each: the same for every engine.

use crate::error::Result;
use serde::Serialize;
use std::path::PathBuf;
use wakepath_fleet_archive::{Catalogue, Kind, Store};

/// A file of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TableFile {
    pub path: PathBuf,
    /// The run's number, where the file does not say it: in samples, which are the run's own file.
    pub run: Option<i64>,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Table {
    pub name: &'static str,
    pub columns: Vec<(&'static str, Kind)>,
    pub files: Vec<TableFile>,
}

/// Counts and sums over all threads that judge, as the archive's records say.
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
    /// The tables of an archive as it is now.
    ///
    /// # Errors
    /// The archive's.
    pub fn of(store: &dyn Store, catalogue: &Catalogue) -> Result<Self> {
        let made = catalogue.place_tables(store)?;
        let integers = |names: &[&'static str]| names.iter().map(|n| (*n, Kind::Integer)).collect();
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
        let whole = |path| TableFile { path, run: None };
        let mut columns: Vec<_> = integers(&["run", "segment", "thread", "minute"]);
        columns.extend([("metric", Kind::Text), ("exact", Kind::Flag)]);
        columns.extend::<Vec<_>>(integers(&["upper_ns", "samples", "sum_ns"]));
        all.push(Table {
            name: "hist",
            columns,
            files: catalogue.histograms(store).into_iter().map(whole).collect(),
        });
        let samples = catalogue.samples(store).into_iter();
        all.push(Table {
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
            files: samples
                .map(|file| TableFile {
                    path: file.path,
                    run: Some(file.run),
                })
                .collect(),
        });
        Ok(Self {
            all,
            totals: totals(catalogue),
        })
    }
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

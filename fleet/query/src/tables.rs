//! The tables that a question may ask, and which files hold each: the same for every engine.

use crate::error::Result;
use serde::Serialize;
use std::path::PathBuf;
use wakepath_fleet_archive::{Catalogue, Store};

/// The kinds of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Integer,
    Text,
    Flag,
}

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

const RUNS: [&str; 23] = [
    "run_id",
    "board",
    "started",
    "outcome",
    "machine",
    "cpu_model",
    "microcode",
    "architecture",
    "kernel",
    "kernel_version",
    "kernel_configuration",
    "command_line",
    "boot_id",
    "preemption",
    "isolated_cpus",
    "governor",
    "clock_source",
    "rt_runtime_us",
    "scenario",
    "scenario_sha256",
    "tool",
    "ending",
    "time",
];

impl Tables {
    /// The tables of an archive as it is now.
    ///
    /// # Errors
    /// The archive's.
    pub fn of(store: &dyn Store, catalogue: &Catalogue) -> Result<Self> {
        let made = catalogue.place_tables(store)?;
        let integers = |names: &[&'static str]| names.iter().map(|n| (*n, Kind::Integer)).collect();
        let mut all = Vec::new();
        for (name, path) in made {
            let mut columns: Vec<(&'static str, Kind)> = vec![("run", Kind::Integer)];
            match name {
                "runs" => {
                    columns.extend(RUNS.map(|name| (name, Kind::Text)));
                    columns.extend([("sealed", Kind::Flag), ("has_samples", Kind::Flag)]);
                }
                "threads" => {
                    columns.extend([("name", Kind::Text), ("phase", Kind::Text)]);
                    columns.extend([("policy", Kind::Text), ("traced", Kind::Flag)]);
                    columns.extend::<Vec<_>>(integers(&[
                        "segment",
                        "thread",
                        "repetition",
                        "period_ns",
                        "first_cycle",
                        "end_cycle",
                        "expected",
                        "recorded",
                        "lost",
                        "executed",
                        "skipped",
                        "latency_sum_ns",
                        "skipped_sum_ns",
                        "execution_sum_ns",
                        "response_sum_ns",
                    ]));
                }
                "conditions" => {
                    columns.extend([("phase", Kind::Text), ("policy", Kind::Text)]);
                    columns.extend([("task", Kind::Text), ("outcome", Kind::Text)]);
                    columns.extend::<Vec<_>>(integers(&[
                        "due",
                        "missed",
                        "skipped",
                        "latency_limit_ns",
                        "deadline_ns",
                        "p50_ns",
                        "p999_ns",
                        "max_ns",
                    ]));
                }
                _ => columns.extend::<Vec<_>>(integers(&[
                    "segment",
                    "thread",
                    "cycle",
                    "latency_ns",
                    "execution_ns",
                    "response_ns",
                ])),
            }
            let files = vec![TableFile { path, run: None }];
            all.push(Table {
                name,
                columns,
                files,
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

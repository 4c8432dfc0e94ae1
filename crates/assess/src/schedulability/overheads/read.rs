//! Overheads that runs recorded: read from the files next to them, each for its number of threads.

use super::{ALL, KnownOverheads, SHORTEST_TICK_PERIOD_NS, between};
use crate::cache_delays::cache_delays;
use crate::schedulability::delay_table::DelayTable;
use crate::schedulability::machine::identity_of;
use std::path::PathBuf;
use wakepath_archive::{Run, read_legible};
use wakepath_explain::{Distribution, OverheadCosts, OverheadTable};
use wakepath_schedulability::overheads::Costs;

/// Which value of a measured distribution is taken as the cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The largest that was observed.
    Maximum,
    /// The 99.9th percentile, where a thousand were seen.
    P999,
    /// The 99th percentile, where a hundred were seen.
    P99,
    /// The median.
    Median,
}

impl Taken {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Maximum => "the largest observed",
            Self::P999 => "the 99.9th percentile",
            Self::P99 => "the 99th percentile",
            Self::Median => "the median",
        }
    }

    fn time(self, distribution: &Distribution) -> Option<u64> {
        let value = match self {
            Self::Maximum => distribution.max,
            Self::P999 => distribution.p999,
            Self::P99 => distribution.p99,
            Self::Median => distribution.median,
        };
        value.map(|value| u64::try_from(value).unwrap_or(0))
    }
}

/// Why a run's overheads are unavailable.
#[derive(Debug, thiserror::Error)]
pub enum OverheadsError {
    /// The run was not traced.
    #[error(
        "{0}: holds no overheads; measure it with --trace, as root, which writes them next to the run, or \
         give a run of the scenario cache-delay for those of caches"
    )]
    NotTraced(PathBuf),
    /// The file is not what it should be.
    #[error("{path}: {source}; give another traced run, or measure again with --trace")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: serde_json::Error,
    },
    /// The file can't be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: std::io::Error,
    },
    /// No such phase was traced.
    #[error("{run}: no overheads of a phase {phase}; {there}")]
    NoSuchPhase {
        /// The run.
        run: PathBuf,
        /// The phase asked for.
        phase: String,
        /// What there is.
        there: String,
    },
    /// Runs of different machines.
    #[error(
        "{first} and {other} were measured on different machines; give runs of the machine that the \
         tasks will run on"
    )]
    TwoMachines {
        /// One of them.
        first: PathBuf,
        /// The other.
        other: PathBuf,
    },
}

impl KnownOverheads {
    /// Those that recorded runs tell, in all of their phases or in one, each for its number of
    /// threads; between them the costs are
    /// interpolated, and they never fall as tasks are added.
    ///
    /// # Errors
    /// [`OverheadsError`].
    pub fn of_runs(
        runs: &[Run],
        taken: Taken,
        phase: Option<&str>,
    ) -> Result<Self, OverheadsError> {
        let mut known = Self::none();
        known.source = format!("measured: {} of each", taken.word());
        if let Some(phase) = phase {
            known.source += &format!(" in the phase {phase}");
        }
        let (delays, said) = DelayTable::of_runs(runs, taken);
        let mut tick_seen = false;
        for run in runs {
            if identity_of(run) != identity_of(&runs[0]) {
                return Err(OverheadsError::TwoMachines {
                    first: runs[0].directory().to_owned(),
                    other: run.directory().to_owned(),
                });
            }
            let table = match table_of(run) {
                Ok(table) => costs_in(table, phase, run)?,
                // A run that measures cache delays records no other overheads, and need not be traced.
                Err(OverheadsError::NotTraced(_)) if Self::tells_cache_delays(run) => continue,
                Err(error) => return Err(error),
            };
            if known.points.is_empty() {
                known.unknown.retain(|name| [ALL[7], ALL[8]].contains(name));
            }
            let mut cost = |distribution: &Distribution, name: &'static str| {
                let value = taken.time(distribution);
                if value.is_none() && !known.unknown.contains(&name) {
                    known.unknown.push(name);
                }
                value.unwrap_or(0)
            };
            let mut costs = Costs {
                event_ns: cost(&table.timer_lateness, ALL[0]),
                release_ns: cost(&table.release, ALL[1]),
                scheduling_ns: cost(&table.scheduling, ALL[2]),
                switch_ns: cost(&table.context_switch, ALL[3]),
                ipi_ns: cost(&table.ipi, ALL[4]),
                tick_ns: cost(&table.tick, ALL[5]),
                ..Costs::default()
            };
            if costs.tick_ns > 0 {
                costs.tick_period_ns = SHORTEST_TICK_PERIOD_NS;
                tick_seen = true;
            }
            let threads = run
                .manifest
                .segments
                .iter()
                .map(|segment| segment.threads.len())
                .max()
                .unwrap_or(1);
            known.points.push((threads, costs));
        }
        if let (true, Some(_), Some(run)) = (known.points.is_empty(), phase, runs.first()) {
            return Err(OverheadsError::NotTraced(run.directory().to_owned()));
        }
        if !delays.is_empty() {
            known.unknown.retain(|name| *name != ALL[8]);
            known.cache_delays = delays;
            known.source += &said;
        }
        if tick_seen {
            known.source += "; a tick each 1 ms, the most often that Linux has them";
        }
        known.points.sort_by_cached_key(|(threads, _)| *threads);
        let mut highest = Costs::default();
        for (_, costs) in &mut known.points {
            highest = larger_of(&highest, costs);
            *costs = highest;
        }
        Ok(known)
    }

    /// Whether a run measured what is lost of the caches, and not only what measuring takes.
    pub fn tells_cache_delays(run: &Run) -> bool {
        let found = cache_delays(run);
        found.iter().any(|one| one.working_set_bytes > 0)
    }
}

/// Observations in all phases, or in one.
fn costs_in(
    table: OverheadTable,
    phase: Option<&str>,
    run: &Run,
) -> Result<OverheadCosts, OverheadsError> {
    let Some(wanted) = phase else {
        return Ok(table.all);
    };
    let there: Vec<String> = table.phases.iter().map(|one| one.phase.clone()).collect();
    let found = table.phases.into_iter().find(|one| one.phase == wanted);
    found
        .map(|one| one.costs)
        .ok_or_else(|| OverheadsError::NoSuchPhase {
            run: run.directory().to_owned(),
            phase: wanted.to_owned(),
            there: if there.is_empty() {
                "its overheads were not recorded separately: measure again with --trace".to_owned()
            } else {
                format!("give one of: {}", there.join(", "))
            },
        })
}

fn table_of(run: &Run) -> Result<OverheadTable, OverheadsError> {
    let path = run.directory().join(OverheadTable::FILE_NAME);
    let text = match run.read_beside(OverheadTable::FILE_NAME) {
        Ok(Some(text)) => text,
        Ok(None) => {
            return Err(OverheadsError::NotTraced(run.directory().to_owned()));
        }
        Err(source) => return Err(OverheadsError::Read { path, source }),
    };
    read_legible(&text).map_err(|source| OverheadsError::Damaged { path, source })
}

fn larger_of(a: &Costs, b: &Costs) -> Costs {
    between(a, b, u64::max)
}

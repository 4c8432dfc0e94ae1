//! Runs against runs: their differences, and findings about their timing. The
//! replicate is the run, not the sample: samples of one run share its boot, its memory layout and
//! its hour. It measures nothing and changes no run.

mod cores;
mod differences;
mod figures;
mod findings;
mod metric;
mod threads;
mod words;

pub use differences::{Difference, Weight};
pub use figures::{Bin, QuantileFigure, RunFigures};
pub use findings::{Adjusted, Finding, MetricComparison, median};
pub use metric::{Margin, Metric, UnknownMetric};

use crate::error::AssessmentError;
use crate::identity::{RunIdentity, identity};
use differences::Subject;
use figures::{Measured, figures};
use serde::Serialize;
use wakepath_archive::Run;
use wakepath_scenario::Criterion;
use wakepath_verdict::ConditionName;

/// Probability of a false finding that is accepted: the usual one in twenty.
pub const ALPHA: f64 = 0.05;

/// Terms of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOrder {
    /// Differences within it don't matter.
    pub margin: Margin,
    /// Compared metrics; the fewer, the fewer runs are needed.
    pub metrics: Vec<Metric>,
    /// Compare runs that are not comparable, with a warning.
    pub force: bool,
    /// The k-th run of one side was measured next to the k-th of the other.
    pub interleaved: bool,
}

/// Why runs are not compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A run can't be read.
    #[error(transparent)]
    Assessment(#[from] AssessmentError),
    /// A side has no run.
    #[error("nothing to compare with: give runs for both sides")]
    EmptySide,
    /// One run twice.
    #[error("{first} and {second} are the same run ({run_id}): give two different runs")]
    SameRun {
        /// The first directory.
        first: String,
        /// The second.
        second: String,
        /// Their name.
        run_id: String,
    },
    /// The runs measured something else.
    #[error("not comparable: {}; --force compares them anyway", reasons.join("; "))]
    NotComparable {
        /// Each with both values.
        reasons: Vec<String>,
    },
    /// No condition is in every run.
    #[error("no condition (policy and phase) is in all of these runs: {}", runs.join("; "))]
    NothingInCommon {
        /// Each with what was measured in it.
        runs: Vec<String>,
    },
    /// They were not measured in turn.
    #[error("--interleaved: {why}")]
    NotInterleaved {
        /// What does not fit.
        why: String,
    },
}

/// Two sides of runs, compared.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The finding on the whole: the most serious of all.
    pub finding: Finding,
    /// Runs of the one side.
    pub base: Vec<RunIdentity>,
    /// Runs of the other.
    pub against: Vec<RunIdentity>,
    /// Differences between the sides.
    pub differences: Vec<Difference>,
    /// Why the runs are not comparable, where `--force` compared them all the same.
    pub forced: Vec<String>,
    /// Cautions for the reader.
    pub cautions: Vec<String>,
    /// How early the timers of real-time cores are on each side, where a loop ran on one.
    pub gravity: Option<String>,
    /// Whether runs were compared pair by pair.
    pub interleaved: bool,
    /// The margin within which differences don't matter.
    pub margin: Margin,
    /// Accepted probability of a false finding.
    pub alpha: f64,
    /// Wake-up latency above which a due time is missed, by the base's criterion, in nanoseconds.
    pub latency_limit_ns: Option<i64>,
    /// Every condition that is in all runs.
    pub conditions: Vec<ConditionComparison>,
    /// Number of runs a side that would decide one metric alone among all compared; `None` if there
    /// are enough.
    pub runs_needed: Option<u64>,
}

/// One condition on both sides.
#[derive(Debug, Clone, Serialize)]
pub struct ConditionComparison {
    /// Which condition.
    pub name: ConditionName,
    /// Figures of each run of the base.
    pub base: Vec<RunFigures>,
    /// Figures of each run held against it.
    pub against: Vec<RunFigures>,
    /// Due times over which maxima were taken: the fewest of all runs.
    pub equal_count: u64,
    /// Finding of each metric.
    pub metrics: Vec<MetricComparison>,
    /// Wake-up latencies over all due times and runs of the base, for drawing; bins up to 0.8 %
    /// wide.
    pub base_distribution: Vec<Bin>,
    /// The same of the other side.
    pub against_distribution: Vec<Bin>,
}

impl Comparison {
    /// Compares `against` with `base`.
    ///
    /// # Errors
    /// As [`CompareError`] says.
    pub fn new(base: &[Run], against: &[Run], order: &CompareOrder) -> Result<Self, CompareError> {
        if base.is_empty() || against.is_empty() {
            return Err(CompareError::EmptySide);
        }
        refuse_the_same(base, against)?;
        let (mut base, mut against) = (in_time(base), in_time(against));
        if order.interleaved {
            check_turns(&base, &against)?;
        }
        let subjects = |runs: &mut Vec<&Run>| -> Result<Vec<Subject>, AssessmentError> {
            runs.iter().map(|run| Subject::new(run)).collect()
        };
        let (first, second) = (subjects(&mut base)?, subjects(&mut against)?);
        let differences = first[0].differences_from(&second[0]);
        let forced = reasons_against(&first, &second, &differences);
        if !forced.is_empty() && !order.force {
            return Err(CompareError::NotComparable { reasons: forced });
        }
        // One criterion for all: what counts as a miss must not differ between sides.
        let criterion = first[0].scenario.criterion.clone();
        let shortest_ns = first[0].scenario.period_ns;
        let measured = |runs: &[&Run], subjects: &[Subject]| -> Result<Vec<_>, AssessmentError> {
            let pairs = runs.iter().zip(subjects);
            let figures_of = |(run, of): (&&Run, &Subject)| {
                let shortest = (shortest_ns, of.scenario.period_ns);
                let criterion = with_own_deadline(&criterion, shortest);
                let measured = figures(run, &of.scenario, &criterion)?;
                Ok(named_as_in(&first[0], of, measured))
            };
            pairs.map(figures_of).collect()
        };
        let mut conditions = paired_up(measured(&base, &first)?, measured(&against, &second)?);
        if conditions.is_empty() {
            let runs = base.iter().chain(&against);
            return Err(CompareError::NothingInCommon {
                runs: runs.map(|run| measured_in(run)).collect(),
            });
        }
        let runs_needed = findings::judge(&mut conditions, order, &criterion);
        let finding = Finding::gravest(conditions.iter().flat_map(|c| &c.metrics));
        let all = || base.iter().chain(&against).copied();
        let mut cautions: Vec<String> = all().filter_map(incomplete).collect();
        cautions.extend(differences::cautions(&differences, &first, &second));
        cautions.extend(left_out(&conditions, all()));
        cautions.extend(threads_left_out(&first, &second, &conditions));
        Ok(Self {
            finding,
            base: base.iter().map(|run| identity(run)).collect(),
            against: against.iter().map(|run| identity(run)).collect(),
            differences,
            forced,
            cautions,
            gravity: cores::told(&first, &second),
            interleaved: order.interleaved,
            margin: order.margin,
            alpha: ALPHA,
            latency_limit_ns: criterion.latency_ns.and_then(|ns| i64::try_from(ns).ok()),
            conditions,
            runs_needed,
        })
    }

    /// Exit code of the command: 0 nothing regressed and evidence enough, 1 invalid, 2 regressed,
    /// 3 inconclusive.
    pub fn exit_code(&self) -> u8 {
        self.finding.exit_code()
    }
}

fn refuse_the_same(base: &[Run], against: &[Run]) -> Result<(), CompareError> {
    let all: Vec<&Run> = base.iter().chain(against).collect();
    for (place, first) in all.iter().enumerate() {
        for second in &all[place + 1..] {
            if first.manifest.run_id == second.manifest.run_id {
                return Err(CompareError::SameRun {
                    first: first.directory().display().to_string(),
                    second: second.directory().display().to_string(),
                    run_id: first.manifest.run_id.clone(),
                });
            }
        }
    }
    Ok(())
}

/// In the order of their starts: RFC 3339 in UTC sorts as text.
fn in_time(runs: &[Run]) -> Vec<&Run> {
    let mut runs: Vec<&Run> = runs.iter().collect();
    runs.sort_by(|a, b| a.manifest.started.cmp(&b.manifest.started));
    runs
}

/// Whether the k-th run of each side were measured next to each other, pair after pair.
fn check_turns(base: &[&Run], against: &[&Run]) -> Result<(), CompareError> {
    let refused = |why: String| Err(CompareError::NotInterleaved { why });
    if base.len() != against.len() {
        return refused(format!(
            "{} runs against {}: alternating measurements give equal numbers",
            base.len(),
            against.len()
        ));
    }
    let start = |run: &Run| run.manifest.started.clone();
    let pairs: Vec<_> = base
        .iter()
        .zip(against)
        .map(|(a, b)| (start(a), start(b)))
        .collect();
    for (earlier, later) in pairs.iter().zip(pairs.iter().skip(1)) {
        let end = earlier.0.clone().max(earlier.1.clone());
        let begin = later.0.clone().min(later.1.clone());
        if end > begin {
            return refused(format!(
                "a run started at {end} should come before those of {begin}: the sides did not alternate"
            ));
        }
    }
    Ok(())
}

/// Why the runs should not be compared: the sides measured different things, or the runs of one
/// side are no repetitions of each other.
fn reasons_against(base: &[Subject], against: &[Subject], between: &[Difference]) -> Vec<String> {
    let forbids = between.iter().filter(|d| d.weight == Weight::Forbids);
    let mut reasons: Vec<String> = forbids.map(ToString::to_string).collect();
    for side in [base, against] {
        for other in &side[1..] {
            let apart = side[0].differences_from(other);
            let named = apart
                .iter()
                .filter(|d| d.weight != Weight::Note)
                .map(|difference| {
                    format!(
                        "{} and {} are not repetitions of each other: {difference}",
                        side[0].directory, other.directory
                    )
                });
            reasons.extend(named);
        }
    }
    reasons
}

/// A deadline of one period is written as the shortest period of its own run, and means that of the other run there:
/// `shortest`, both in nanoseconds.
fn with_own_deadline(criterion: &Criterion, shortest: (u64, u64)) -> Criterion {
    let mut own = criterion.clone();
    if own.deadline_ns == shortest.0 {
        own.deadline_ns = shortest.1;
    }
    own
}

/// The conditions of a run with the names that their threads have in the first; those of threads that are not in both
/// are left out.
fn named_as_in(first: &Subject, of: &Subject, measured: OfRun) -> OfRun {
    let Some(names) = first.names_in(of) else {
        return measured;
    };
    let renamed = measured.into_iter().filter_map(|mut found| {
        let name = names.get(found.name.task.as_deref()?)?;
        found.name.task = Some((*name).to_owned());
        Some(found)
    });
    renamed.collect()
}

/// Threads of observed programs that are not compared, and those that have another name in another run.
fn threads_left_out(
    base: &[Subject],
    against: &[Subject],
    compared: &[ConditionComparison],
) -> Vec<String> {
    let first = &base[0];
    let is_compared = |name: &str| {
        compared
            .iter()
            .any(|of| of.name.task.as_deref() == Some(name))
    };
    let mut left_out = Vec::new();
    let mut renamed = Vec::new();
    for of in base.iter().chain(against) {
        let Some((names, threads)) = first.names_in(of).zip(of.threads.as_ref()) else {
            continue;
        };
        let other_name = |name: &str| names.get(name).copied().filter(|name| is_compared(name));
        let own = threads.left_out(|name| other_name(name).is_some());
        left_out.extend(own.map(|names| format!("{names} of {}", of.directory)));
        let others = names
            .iter()
            .filter(|(own, name)| own != name && is_compared(name));
        renamed.extend(others.map(|(own, name)| {
            format!(
                "{own} of {} is compared as {name} of {}",
                of.directory, first.directory
            )
        }));
    }
    if !left_out.is_empty() {
        renamed.push(format!(
            "threads left out: {}; the runs don't have the same number of threads with that name and period",
            left_out.join("; ")
        ));
    }
    renamed
}

type OfRun = Vec<Measured>;

/// The conditions that every run has, side by side, in the order of the first run.
fn paired_up(mut base: Vec<OfRun>, mut against: Vec<OfRun>) -> Vec<ConditionComparison> {
    let names: Vec<ConditionName> = base[0].iter().map(|found| found.name.clone()).collect();
    let mut conditions = Vec::new();
    for name in names {
        let take = |side: &mut [OfRun]| -> Option<Vec<Measured>> {
            let one = |run: &mut OfRun| {
                let place = run.iter().position(|found| found.name == name)?;
                Some(run.remove(place))
            };
            side.iter_mut().map(one).collect()
        };
        let (Some(first), Some(second)) = (take(&mut base), take(&mut against)) else {
            continue;
        };
        let counts = first
            .iter()
            .chain(&second)
            .map(|found| found.figures.due_times);
        let equal_count = counts.min().unwrap_or(0);
        let distribution = |side: &[Measured]| figures::merged(side);
        let (base_distribution, against_distribution) =
            (distribution(&first), distribution(&second));
        let shown = |side: Vec<Measured>| -> Vec<RunFigures> {
            side.into_iter()
                .map(|found| found.over_equal_counts(equal_count))
                .collect()
        };
        conditions.push(ConditionComparison {
            name,
            base: shown(first),
            against: shown(second),
            equal_count,
            metrics: Vec::new(),
            base_distribution,
            against_distribution,
        });
    }
    conditions
}

/// Number of conditions named if none is in common.
const NAMED: usize = 3;

/// A run with the conditions that were measured in it.
fn measured_in(run: &Run) -> String {
    let mut names: Vec<String> = Vec::new();
    for segment in &run.manifest.segments {
        let name = format!("{}, {}", segment.condition, segment.phase);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let measured = match (names.is_empty(), more) {
        (true, _) => "nothing".to_owned(),
        (_, 0) => names.join(" and "),
        (_, more) => format!("{} and {more} more", names.join(", and ")),
    };
    format!("{} measured {measured}", run.directory().display())
}

fn incomplete(run: &Run) -> Option<String> {
    let first = run.shortfalls().into_iter().next()?;
    Some(format!("{}: {first}", run.directory().display()))
}

/// Conditions of some runs that are not in all of them.
fn left_out<'a>(
    compared: &[ConditionComparison],
    runs: impl Iterator<Item = &'a Run>,
) -> Option<String> {
    let mut missing: Vec<String> = Vec::new();
    for run in runs {
        for segment in &run.manifest.segments {
            let known = compared.iter().any(|condition| {
                let policy = condition.name.policy.map(|policy| policy.to_string());
                condition.name.phase == segment.phase
                    && policy.is_none_or(|policy| policy == segment.condition)
            });
            let name = format!("{}, {}", segment.condition, segment.phase);
            if !known && !missing.contains(&name) {
                missing.push(name);
            }
        }
    }
    (!missing.is_empty()).then(|| format!("not measured in every run: {}", missing.join("; ")))
}

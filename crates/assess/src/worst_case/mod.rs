//! Statements about the largest values of a run, condition by condition: those that hold without theory,
//! the gates, and a bound only if all of them pass. The theory is in wakepath-extremes; this module
//! supplies the values and their limits.

mod composed;
mod order;
mod provenance;
mod recorded;
mod series;

pub use composed::{Composed, ComposedError};
pub use order::{BoundMetric, BoundOrder, Exceed, ExceedError};
pub use recorded::RecordedSections;

use crate::conditions::{ConditionSegments, group};
use crate::error::AssessmentError;
use crate::identity::{RunIdentity, identity, scenario_of};
use crate::imported;
use provenance::Provenance;
use serde::Serialize;
use series::{Series, read};
use wakepath_archive::Run;
use wakepath_extremes::{
    Answer, Examined, Gate, GateName, Observed, Question, Tail, examine, tails,
};
use wakepath_scenario::Scenario;
use wakepath_statistics::due_times_needed;
use wakepath_timeline::condition_label;

/// Why a run's largest values allow no statement.
#[derive(Debug, thiserror::Error)]
pub enum BoundsError {
    /// The run can't be read.
    #[error(transparent)]
    Assessment(#[from] AssessmentError),
    /// No condition is the one asked for.
    #[error("{directory}: no condition {asked}; there are {there}")]
    NoSuchCondition {
        /// The run directory.
        directory: String,
        /// The request.
        asked: String,
        /// The conditions of the run.
        there: String,
    },
    /// No value was recorded.
    #[error("{directory}: no cycle was recorded after the warm-up, so there is no largest value")]
    NoValues {
        /// The run directory.
        directory: String,
    },
}

impl From<wakepath_archive::ArchiveError> for BoundsError {
    fn from(error: wakepath_archive::ArchiveError) -> Self {
        Self::Assessment(error.into())
    }
}

/// Statements about the largest values of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Bounds {
    /// Version of this form.
    pub version: u32,
    /// Which run.
    pub run: RunIdentity,
    /// Of which time.
    pub metric: BoundMetric,
    /// The probability asked for.
    pub exceed: Exceed,
    /// One-sided confidence of every bound.
    pub confidence: f64,
    /// Each condition, thread by thread.
    pub conditions: Vec<Bounded>,
    /// The bound composed of the longest sections of code that keep the loop from running; `None`:
    /// they were not given.
    pub composed: Option<Composed>,
    /// The bounds composed of the run's own sections, if none were given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<RecordedSections>,
}

/// Statements about one thread in one condition. Times in nanoseconds.
#[derive(Debug, Clone, Serialize)]
pub struct Bounded {
    /// The phase.
    pub phase: String,
    /// The policy, the task, or both.
    pub label: String,
    /// The thread, where several ran side by side.
    pub thread: Option<String>,
    /// Whether it ran under a real-time policy.
    #[serde(skip)]
    pub real_time: bool,
    /// The loop's period.
    pub period_ns: u64,
    /// The probability asked for: that any one cycle exceeds the level.
    pub exceed_per_cycle: f64,
    /// Cycles of one hour.
    pub cycles_per_hour: f64,
    /// The criterion's limit for this time, if any.
    pub limit_ns: Option<u64>,
    /// Cycles after which the largest value observed is itself the bound.
    pub cycles_needed: Option<u64>,
    /// The findings and the answer.
    #[serde(flatten)]
    pub examined: Examined,
    /// Fitted tails, from the lowest threshold, with the level that each estimates. No bound follows from them.
    pub tails: Vec<Tail>,
}

impl Bounded {
    /// The bound, if there is one.
    pub fn bound_ns(&self) -> Option<u64> {
        match &self.examined.answer {
            Answer::Observed => u64::try_from(self.examined.observed.largest).ok(),
            Answer::Extended(extended) => Some(extended.bound.ceil() as u64),
            Answer::Refused => None,
        }
    }

    /// Whether the bound is above what the criterion allows.
    pub fn is_above_limit(&self) -> bool {
        let both = self.bound_ns().zip(self.limit_ns);
        both.is_some_and(|(bound, limit)| bound > limit)
    }

    /// How long a run takes after which no theory is needed, in seconds.
    pub fn seconds_needed(&self) -> Option<f64> {
        Some(self.cycles_needed? as f64 * self.period_ns as f64 / 1e9)
    }

    /// Cycles of an hour that exceed the level on average.
    pub fn exceeding_per_hour(&self) -> f64 {
        self.exceed_per_cycle * self.cycles_per_hour
    }
}

impl Bounds {
    /// Examines every condition that the order asks for.
    ///
    /// # Errors
    /// [`BoundsError`].
    pub fn new(run: &Run, order: &BoundOrder) -> Result<Self, BoundsError> {
        let scenario = scenario_of(run)?;
        let directory = || run.directory().display().to_string();
        let all: Vec<ConditionSegments<'_>> = group(&run.manifest, &scenario)
            .into_iter()
            .filter(|condition| condition.never_started().is_none())
            .collect();
        let name = |condition: &ConditionSegments<'_>| {
            condition_label(condition.policy.as_ref(), condition.task.as_deref())
        };
        let asked_for =
            |condition: &&ConditionSegments<'_>| order.wants(&name(condition), &condition.phase);
        let wanted: Vec<&ConditionSegments<'_>> = all.iter().filter(asked_for).collect();
        if wanted.is_empty() && !all.is_empty() {
            let there = all.iter().map(|c| format!("{}, {}", name(c), c.phase));
            return Err(BoundsError::NoSuchCondition {
                directory: directory(),
                asked: order.asked(),
                there: there.collect::<Vec<_>>().join("; "),
            });
        }
        let mut conditions = Vec::new();
        for condition in wanted {
            bound_condition(run, &scenario, condition, order, &mut conditions)?;
        }
        if conditions.is_empty() {
            return Err(BoundsError::NoValues {
                directory: directory(),
            });
        }
        let bounds = Self {
            version: 1,
            run: identity(run),
            metric: order.metric,
            exceed: order.exceed,
            confidence: scenario.criterion.confidence,
            conditions,
            composed: None,
            recorded: Vec::new(),
        };
        Ok(bounds.with_recorded(run, order))
    }

    /// Exit code of the command: 2 where a bound is above what the criterion allows or a composed one
    /// below what was observed, 3 where an estimate was refused, else 0.
    pub fn exit_code(&self) -> u8 {
        let refused = |one: &Bounded| one.examined.answer == Answer::Refused;
        let recorded = self.recorded.iter().filter_map(|one| one.composed.as_ref());
        let mut composed = self.composed.iter().chain(recorded);
        match () {
            () if composed.any(|composed| composed.contradicted_by_ns.is_some()) => 2,
            () if self.conditions.iter().any(Bounded::is_above_limit) => 2,
            () if self.conditions.iter().any(refused) => 3,
            () => 0,
        }
    }

    /// The condition with the largest value observed.
    pub fn largest(&self) -> Option<&Bounded> {
        let all = self.conditions.iter();
        all.max_by_key(|condition| condition.examined.observed.largest)
    }
}

fn bound_condition(
    run: &Run,
    scenario: &Scenario,
    condition: &ConditionSegments<'_>,
    order: &BoundOrder,
    found: &mut Vec<Bounded>,
) -> Result<(), BoundsError> {
    let mut threads: Vec<u16> = condition
        .threads
        .iter()
        .map(|(_, thread)| thread.thread)
        .collect();
    threads.sort_unstable();
    threads.dedup();
    let criterion = condition.criterion(&scenario.criterion);
    let histogram = imported::counted(&run.manifest, condition);
    let mut all = Vec::new();
    for &number in &threads {
        let parts: Vec<_> = condition
            .threads
            .iter()
            .copied()
            .filter(|(_, thread)| thread.thread == number)
            .collect();
        let series = match histogram {
            Some(_) => Series::default(),
            None => read(run, &parts, order.metric)?,
        };
        let Some((_, thread)) = parts.first() else {
            continue;
        };
        all.push((*thread, series));
    }
    let provenance = Provenance::new(run, scenario, condition, all.iter().map(|(_, one)| one));
    for (thread, series) in all {
        let period_ns = thread.due.period_ns;
        let exceed = order.exceed.per_cycle(period_ns);
        let question = Question {
            exceed,
            confidence: criterion.confidence,
        };
        let examined = match &histogram {
            Some(counted) => Some(of_histogram(counted.count, counted.max_ns, &question)),
            None => of_series(&series, provenance.gate(&series, order.metric), &question),
        };
        let Some(examined) = examined else { continue };
        let own_words = run.manifest.imported.is_none();
        let observed = examined.observed;
        found.push(Bounded {
            phase: condition.phase.clone(),
            label: condition_label(condition.policy.as_ref(), condition.task.as_deref()),
            thread: (threads.len() > 1).then(|| thread.name.clone()),
            real_time: condition
                .policy
                .as_ref()
                .is_some_and(|policy| policy.is_real_time()),
            period_ns,
            exceed_per_cycle: exceed,
            cycles_per_hour: 3.6e12 / period_ns.max(1) as f64,
            limit_ns: match order.metric {
                BoundMetric::Latency => criterion.latency_ns,
                BoundMetric::Response => own_words.then_some(criterion.deadline_ns),
                BoundMetric::Execution => None,
            },
            cycles_needed: due_times_needed(
                0,
                0,
                1.0 / observed.extremal_index,
                exceed,
                question.confidence,
            ),
            examined,
            tails: tails(&series.values, &question),
        });
    }
    Ok(())
}

/// Skipped due times count with what they suffered, though no value was measured there.
fn of_series(series: &Series, gate: Gate, question: &Question) -> Option<Examined> {
    let mut examined = examine(&series.values, gate, question)?;
    if let Some(suffered) = series.longest_suffered_ns {
        let Observed {
            count,
            largest,
            extremal_index,
            confidence,
            exceeded_at_most,
            ..
        } = examined.observed;
        let widened = Observed::new(
            count + series.tally.skipped,
            largest.max(suffered),
            extremal_index,
            confidence,
        );
        examined.observed = Observed {
            exceeded_at_most: widened
                .exceeded_at_most
                .filter(|_| exceeded_at_most.is_some()),
            ..widened
        };
    }
    Some(examined)
}

/// A histogram has no order: clusters and drift can't be seen in it.
fn of_histogram(count: u64, largest: i64, question: &Question) -> Examined {
    Examined {
        observed: Observed::new(count, largest, 1.0, question.confidence),
        gates: vec![Gate::failed(
            GateName::Order,
            "an imported histogram has no order, so clusters and drift can't be seen; it shows only how \
             often the largest value is exceeded if cycles are independent",
            "import samples with their times, such as `cyclictest -v` prints, or measure with wakepath",
        )],
        cautions: vec!["the probability for the largest value assumes independent cycles".into()],
        tests: Vec::new(),
        answer: Answer::Refused,
    }
}

//! Effect of the measured timing on a flight: a vehicle flown through every condition's recorded
//! timing, compared with the flight without latency. Computed from the recording alone.

mod figures;
mod instants;
mod order;
mod parallel;

use crate::conditions::ConditionSegments;
use crate::controllers::{self, ControllerFile};
use crate::error::AssessmentError;
use crate::identity::{RunIdentity, identity, scenario_of};
use crate::judged::{JudgedConditions, judged_conditions};
use crate::run_outcome::run_outcome;
use figures::figures;
use instants::NotFlown;
use parallel::Piece;
use serde::Serialize;
use std::num::NonZeroUsize;
use wakepath_archive::{ArchiveError, Run};
use wakepath_flight::Trajectory;
use wakepath_flight::replay::{FlightReport, Part, PartFlown, Schedule, Settings, fly_part, join};
use wakepath_flight::search::{
    Brink, Distance, Terms, largest_sustained_latency, most_consecutive_misses,
};
use wakepath_scenario::FlightCriterion;
use wakepath_verdict::{
    ConditionName, FlightFinding, Judgement, Outcome, Overall, flight_findings, overall,
};

pub use figures::loss_text;
pub use order::{FlightOrder, can_be_met};

/// Why a run can't be flown.
#[derive(Debug, thiserror::Error)]
pub enum FlightsError {
    /// The run can't be assessed.
    #[error(transparent)]
    Assessment(#[from] AssessmentError),
    /// No condition has instants to fly.
    #[error("{directory}: can't simulate a flight: {why}")]
    Nothing {
        /// The run directory.
        directory: String,
        /// The obstacle in the first condition.
        why: String,
    },
}

/// A run flown through, condition by condition.
#[derive(Debug, Clone, Serialize)]
pub struct Flights {
    /// Which run.
    pub run: RunIdentity,
    /// The verdict on the flights; `None` without a criterion.
    pub outcome: Option<Outcome>,
    /// The controllers of the user's own that the run had at work. One that is not real-time lends
    /// its instants to no statement about what must hold.
    pub controllers: Vec<ControllerFile>,
    /// What bears on the run as a whole.
    pub remarks: Vec<String>,
    /// The result of each policy; `None` without a criterion.
    pub overall: Option<Overall>,
    /// The flights.
    #[serde(flatten)]
    pub flown: FlownConditions,
}

/// The conditions of a run, flown.
#[derive(Debug, Clone, Serialize)]
pub struct FlownConditions {
    /// The vehicle's name.
    pub vehicle: String,
    /// What its owner should know of it.
    pub warnings: Vec<String>,
    /// The vehicle and its settings, the explicit choices included.
    pub settings: Settings,
    /// The criterion for the flights.
    pub criterion: Option<FlightCriterion>,
    /// Each condition.
    pub conditions: Vec<FlownCondition>,
    /// Disturbances that would lose the vehicle, one search per period; empty without a search.
    pub searches: Vec<Search>,
}

/// One condition, flown or not.
#[derive(Debug, Clone, Serialize)]
pub struct FlownCondition {
    /// Which condition.
    pub name: ConditionName,
    /// Figures next to those of the ideal flight; `None` if it was not flown.
    pub flight: Option<FlightReport>,
    /// Findings by criterion; the reason if it was not flown.
    pub findings: Vec<FlightFinding>,
    /// Distance from losing the vehicle, if searched for.
    pub distance: Option<Distance>,
}

/// What would lose the vehicle at a period.
#[derive(Debug, Clone, Serialize)]
pub struct Search {
    /// The disturbance that it was searched with.
    pub terms: Terms,
    /// The sustained latency, in nanoseconds.
    pub latency: Brink,
    /// The number of consecutive misses.
    pub misses: Brink,
    /// The same without the rotors' drag, where a condition is near its delay margin.
    pub without_rotor_drag: Option<Brinks>,
}

/// What loses a vehicle.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Brinks {
    /// The sustained latency, in nanoseconds.
    pub latency: Brink,
    /// The number of consecutive misses.
    pub misses: Brink,
}

impl Flights {
    /// Flies every condition of `run` on at most `workers` threads; the figures don't depend on the number.
    /// `done` receives the number of finished pieces and their total.
    ///
    /// # Errors
    /// When the run can't be read, or holds nothing that can be flown.
    pub fn new(
        run: &Run,
        order: &FlightOrder,
        workers: NonZeroUsize,
        done: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Self, FlightsError> {
        let scenario = scenario_of(run)?;
        let JudgedConditions {
            segments,
            judgements,
            not_measured,
            changes,
            ..
        } = judged_conditions(run, &scenario, false)?;
        let flown = fly_all(run, order, &segments, &judgements, workers, done)
            .map_err(AssessmentError::from)?;
        let identity = identity(run);
        if flown.conditions.iter().all(|one| one.flight.is_none()) {
            let found = flown.conditions.iter().flat_map(|one| &one.findings);
            let mut why = found.map(|finding| match finding {
                FlightFinding::NotFlown { why } => why.clone(),
                other => other.to_string(),
            });
            let never = not_measured.first().map(|one| one.reason.clone());
            return Err(FlightsError::Nothing {
                directory: identity.directory,
                why: why
                    .next()
                    .or(never)
                    .unwrap_or_else(|| "it holds no samples".into()),
            });
        }
        let mut flights = Self {
            run: identity,
            outcome: None,
            controllers: controllers::files(&scenario),
            remarks: vec![],
            overall: None,
            flown,
        };
        if flights.flown.criterion.is_some() {
            let alone: Vec<Judgement> = judgements
                .into_iter()
                .filter_map(|judgement| {
                    let flown = flights.flown.get(&judgement.name)?;
                    let judgement = judgement.with_flight(flown.findings.clone());
                    Some(judgement.by_flight_alone())
                })
                .collect();
            let overall = overall(scenario.criterion.policies, &alone);
            let (outcome, remarks) = run_outcome(run, &overall, &not_measured, &changes)?;
            flights.outcome = Some(outcome);
            flights.remarks = remarks;
            flights.overall = Some(overall);
        }
        Ok(flights)
    }

    /// Exit code of the command that shows it: 0 without a criterion.
    pub fn exit_code(&self) -> u8 {
        self.outcome.map_or(0, Outcome::exit_code)
    }
}

impl FlownConditions {
    /// The condition of that name, if its instants are the controller's.
    pub fn get(&self, name: &ConditionName) -> Option<&FlownCondition> {
        self.conditions.iter().find(|flown| flown.name == *name)
    }
}

/// Flies the conditions whose verdict a flight enters, and lets it enter.
pub(crate) fn judge_flights(
    run: &Run,
    order: &FlightOrder,
    segments: &[ConditionSegments<'_>],
    judgements: &mut Vec<Judgement>,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<FlownConditions, ArchiveError> {
    let workers = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let flown = fly_all(run, order, segments, judgements, workers, done)?;
    *judgements = std::mem::take(judgements)
        .into_iter()
        .map(|judgement| match flown.get(&judgement.name) {
            Some(one) if judgement.outcome != Outcome::Invalid => {
                let findings = one.findings.clone();
                judgement.with_flight(findings)
            }
            _ => judgement,
        })
        .collect();
    Ok(flown)
}

/// What comes out of one piece of work.
enum Done {
    Part(PartFlown),
    Latency(Brink),
    Misses(Brink),
}

fn fly_all(
    run: &Run,
    order: &FlightOrder,
    segments: &[ConditionSegments<'_>],
    judgements: &[Judgement],
    workers: NonZeroUsize,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Result<FlownConditions, ArchiveError> {
    let choices = order.settings.choices;
    let mut schedules: Vec<(ConditionName, Result<Schedule, NotFlown>)> = vec![];
    for (condition, judgement) in segments.iter().zip(judgements) {
        if order.task.is_some() && condition.task != order.task {
            continue;
        }
        // A recording that can't be trusted says nothing about a flight either.
        let schedule = match judgement.outcome {
            Outcome::Invalid => Err(NotFlown::Invalid),
            _ => instants::schedule(run, condition, choices)?,
        };
        schedules.push((judgement.name.clone(), schedule));
    }
    let flyable = || schedules.iter().filter_map(|(_, s)| s.as_ref().ok());
    let mut periods: Vec<u64> = flyable().map(Schedule::period_ns).collect();
    periods.sort_unstable();
    periods.dedup();

    // The searches first: they are the longest pieces.
    let (vehicle, settings) = (&order.vehicle, &order.settings);
    let searched: &[u64] = if order.search { &periods } else { &[] };
    let all_terms: Vec<Terms> = searched.iter().map(|&of| terms(settings, of)).collect();
    let needed: Vec<Vec<Part>> = flyable().map(|of| Part::needed(vehicle, of)).collect();
    // Searched for again without drag where a flight is: the terms with the vehicle to search for.
    let is_near = needed.iter().any(|parts| parts.len() > Part::ALL.len());
    let without_drag = vehicle.without_rotor_drag().filter(|_| is_near);
    let twice = || {
        let again = without_drag
            .iter()
            .flat_map(|without| all_terms.iter().map(move |of| (without, of)));
        all_terms.iter().map(move |of| (vehicle, of)).chain(again)
    };
    let searches = twice().flat_map(|(vehicle, terms)| -> [Piece<'_, Done>; 2] {
        [
            Box::new(move || Done::Latency(largest_sustained_latency(vehicle, terms))),
            Box::new(move || Done::Misses(most_consecutive_misses(vehicle, terms))),
        ]
    });
    let flights = flyable().zip(&needed).flat_map(|(schedule, needed)| {
        needed.iter().map(move |&part| -> Piece<'_, Done> {
            Box::new(move || Done::Part(fly_part(vehicle, schedule, settings, part)))
        })
    });
    let results = parallel::all(searches.chain(flights).collect(), workers, done);
    let (mut latencies, mut misses, mut parts) = (vec![], vec![], vec![]);
    for result in results {
        match result {
            Done::Latency(brink) => latencies.push(brink),
            Done::Misses(brink) => misses.push(brink),
            Done::Part(part) => parts.push(part),
        }
    }
    let found = latencies.into_iter().zip(misses);
    let mut brinks: Vec<Brinks> = found
        .map(|(latency, misses)| Brinks { latency, misses })
        .collect();
    let again = brinks.split_off(all_terms.len());
    let mut again = again.into_iter();
    let searches: Vec<Search> = all_terms
        .iter()
        .zip(brinks)
        .map(|(terms, Brinks { latency, misses })| Search {
            terms: terms.clone(),
            latency,
            misses,
            without_rotor_drag: again.next(),
        })
        .collect();
    let mut parts = parts.as_slice();
    let mut flights = flyable()
        .zip(&needed)
        .map(|(schedule, needed)| {
            let (own, others) = parts.split_at(needed.len());
            parts = others;
            join(vehicle, schedule, settings, own)
        })
        .collect::<Vec<FlightReport>>()
        .into_iter();
    let conditions = schedules
        .into_iter()
        .map(|(name, schedule)| match schedule {
            Ok(_) => flown_condition(name, flights.next(), order, &searches),
            Err(why) => FlownCondition {
                name,
                flight: None,
                findings: vec![FlightFinding::NotFlown {
                    why: why.to_string(),
                }],
                distance: None,
            },
        })
        .collect();
    Ok(FlownConditions {
        vehicle: vehicle.name.clone(),
        warnings: vehicle.warnings().iter().map(ToString::to_string).collect(),
        settings: settings.clone(),
        criterion: order.criterion,
        conditions,
        searches,
    })
}

fn flown_condition(
    name: ConditionName,
    flight: Option<FlightReport>,
    order: &FlightOrder,
    searches: &[Search],
) -> FlownCondition {
    let findings = flight.as_ref().zip(order.criterion.as_ref());
    let found = findings.map(|(report, criterion)| flight_findings(&figures(report), criterion));
    let distance = flight.as_ref().and_then(|report| {
        let period = report.timing.period_ns;
        let search = searches.iter().find(|one| one.terms.period_ns == period)?;
        Some(Distance::new(
            &report.timing,
            &search.latency,
            &search.misses,
        ))
    });
    FlownCondition {
        name,
        findings: found.unwrap_or_default(),
        flight,
        distance,
    }
}

/// What losses are searched for with.
fn terms(settings: &Settings, period_ns: u64) -> Terms {
    Terms {
        trajectory: settings.trajectory.clone(),
        // Nothing disturbs a vehicle that hovers in still air; then noise has to.
        noise: match settings.trajectory {
            Trajectory::Hover { .. } => Some(settings.noise),
            _ => None,
        },
        kick_rad_s: settings.sweep.rate_rad_s,
        missed: settings.choices.missed,
        ..Terms::new(period_ns)
    }
}

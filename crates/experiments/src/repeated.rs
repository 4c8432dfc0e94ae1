//! A repeated experiment: the assessed figures of each guest's run that the page needs.

use super::{Cell, Claims, Experiment, Figure, Guest, OVER_POLICIES};
use serde::Serialize;
use wakepath_archive::{KernelLatency, VirtualTime};
use wakepath_assess::{Assessment, Picture};
use wakepath_explain::{ConditionExplanation, Explanation};
use wakepath_report::Figures;
use wakepath_statistics::DistributionSummary;
use wakepath_timeline::duration::length;
use wakepath_verdict::{Judgement, Outcome, Reason};

/// An experiment with the runs of its guests.
#[derive(Debug)]
pub struct Repeated {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// The claims that were registered before its first run.
    pub claims: Claims,
    /// The outcome of a second run of one of its guests.
    pub second_run: SecondRun,
    /// A run for each of its guests with each seed, or in each round, in the order of the guests,
    /// then of the seeds or rounds. For a board only of the kernels that it has booted.
    pub guests: Vec<GuestRun>,
}

/// The outcome of a second run of a guest with the same seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondRun {
    /// There is none: on a board, or not yet.
    None,
    /// The same samples.
    Same,
    /// Other samples, as guests with several CPUs may have.
    Differs {
        /// The guest's name.
        guest: &'static str,
        /// Cycles with another latency.
        cycles: u64,
        /// Cycles compared.
        of: u64,
        /// The largest difference of a latency, in nanoseconds.
        largest_ns: u64,
    },
}

impl SecondRun {
    /// As a page or a terminal says it; `None` if it repeated.
    pub fn in_words(self) -> Option<String> {
        match self {
            Self::Same => None,
            Self::None => Some("no guest ran twice to show that it repeats".to_owned()),
            Self::Differs {
                guest,
                cycles,
                of,
                largest_ns,
            } => Some(format!(
                "a second run of {guest} with the first seed differs in {cycles} of {of} latencies, by up to {}: guests with \
                 several CPUs are not promised to repeat, and these figures will not come out to the nanosecond again",
                length(largest_ns)
            )),
        }
    }
}

/// One guest's run.
#[derive(Debug)]
pub struct GuestRun {
    /// Which guest.
    pub guest: Guest,
    /// Version of the wakepath that measured.
    pub wakepath: String,
    /// The virtual time that it is in; `None` on a board.
    pub virtual_time: Option<VirtualTime>,
    /// The board, its kernel and the date, in words; empty in the laboratory, because its page must
    /// not contain a date or a host.
    pub board: Vec<String>,
    /// Its conditions, in the order in which they were measured.
    pub conditions: Vec<Measured>,
    /// Its conditions as they are drawn.
    pub pictures: Vec<Picture>,
    /// The figures of its report.
    pub figures: Figures,
    /// Reasons why its cycles were late, if it was traced.
    pub explanation: Option<Explanation>,
    /// The guest kernel's own measurements, if available.
    pub kernel_latency: Vec<KernelLatency>,
    /// SHA-256 of the file with all its samples; `None` on a board, where runs can't be reproduced.
    pub samples_sha256: Option<String>,
}

/// One condition's figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Phase of the scenario.
    pub phase: String,
    /// Policy as in tables, with the thread if each is judged individually.
    pub policy: String,
    /// Due times.
    pub scheduled: u64,
    /// Due times at which no cycle ran.
    pub skipped: u64,
    /// Wake-up latency over the cycles that ran, in nanoseconds, as cyclictest and timerlat publish it.
    pub latency_of_wake_ups: Option<DistributionSummary>,
    /// Wake-up latency over all due times, skipped ones included, in nanoseconds.
    pub latency_as_scheduled: Option<DistributionSummary>,
    /// Execution time over the cycles that ran, in nanoseconds.
    pub execution: Option<DistributionSummary>,
    /// Response time over the cycles that ran, in nanoseconds.
    pub response: Option<DistributionSummary>,
    /// Reason why its figures are no evidence, if they aren't: a load without proof of work, another policy
    /// than requested. No claim on latencies or times uses it.
    pub invalid: Option<String>,
    /// The same of its traced segments, whose samples are in none of the figures above. No claim on kernel
    /// events uses it.
    pub invalid_while_traced: Option<String>,
}

/// Whether each condition has the same number of due times in all runs in which it is evidence: one
/// that could not run has none.
fn are_of_one_length(runs: &[&GuestRun]) -> bool {
    let conditions = |run: &GuestRun| run.conditions.len();
    let most = runs.iter().map(|run| conditions(run)).max().unwrap_or(0);
    let of = |at: usize| {
        let all = runs.iter().map(move |run| &run.conditions[at]);
        all.filter(|one| one.invalid.is_none())
            .map(|one| one.scheduled)
    };
    runs.iter().all(|run| conditions(run) == most)
        && (0..most).all(|at| of(at).min() == of(at).max())
}

/// The most serious reasons why a condition's segments are no evidence: of those without tracing, and of the
/// traced ones.
fn invalid(judged: &Judgement) -> [Option<String>; 2] {
    let reasons = judged.reasons.iter();
    let (traced, untraced): (Vec<&Reason>, Vec<&Reason>) = reasons
        .filter(|reason| reason.bearing() == Outcome::Invalid)
        .partition(|reason| matches!(reason, Reason::WhileTraced { .. }));
    [untraced, traced].map(|all| all.first().map(ToString::to_string))
}

impl GuestRun {
    /// The needed data of a guest's run.
    pub fn new(
        guest: Guest,
        assessment: &Assessment,
        pictures: Vec<Picture>,
        explanation: Option<Explanation>,
        kernel_latency: Vec<KernelLatency>,
    ) -> Self {
        let conditions = assessment.conditions.iter().map(|judged| {
            let policy = judged.name.policy.map(|policy| policy.to_string());
            let parts: Vec<String> = policy.into_iter().chain(judged.name.task.clone()).collect();
            let [invalid, invalid_while_traced] = invalid(judged);
            Measured {
                phase: judged.name.phase.clone(),
                policy: parts.join(", "),
                scheduled: judged.cycles.scheduled,
                skipped: judged.cycles.skipped.unwrap_or(0),
                latency_of_wake_ups: judged.cycles.latency_as_executed.clone(),
                latency_as_scheduled: judged.cycles.latency_as_scheduled.clone(),
                execution: judged.cycles.execution.clone(),
                response: judged.cycles.response.clone(),
                invalid,
                invalid_while_traced,
            }
        });
        Self {
            guest,
            wakepath: assessment.run.wakepath.clone(),
            virtual_time: assessment.virtual_time.clone(),
            board: Vec::new(),
            conditions: conditions.collect(),
            figures: Figures::new(assessment, &pictures, None),
            pictures,
            explanation,
            kernel_latency,
            samples_sha256: None,
        }
    }

    /// Largest error of a latency relative to the guest's own, in virtual nanoseconds: a turn of
    /// its CPUs. `None` if several take turns of unknown length. On a board there are no turns.
    pub fn may_be_off_ns(&self) -> Option<f64> {
        match &self.virtual_time {
            None => Some(0.0),
            Some(time) if time.cpus == 1 => Some(0.0),
            Some(time) => time.turn_ns.map(|ns| ns as f64),
        }
    }

    /// How many times longer a path can take while its other CPUs work: they all take turns. On a board none.
    pub fn may_be_slowed(&self) -> f64 {
        let time = self.virtual_time.as_ref();
        time.map_or(1.0, |time| f64::from(time.cpus.max(1)))
    }

    /// A condition by phase and policy.
    pub fn condition(&self, phase: &str, policy: &str) -> Option<&Measured> {
        let mut all = self.conditions.iter();
        all.find(|one| one.phase == phase && one.policy == policy)
    }

    /// Why that condition's cycles were late.
    pub fn explained(&self, phase: &str, policy: &str) -> Option<&ConditionExplanation> {
        let mut all = self.explanation.as_ref()?.conditions.iter();
        all.find(|one| one.phase == phase && one.condition == policy)
    }
}

impl Measured {
    /// A figure, in nanoseconds; none for a condition that is no evidence.
    fn evident(&self, figure: Figure) -> Option<f64> {
        self.invalid.is_none().then(|| self.figure(figure))?
    }

    /// A figure, in nanoseconds.
    pub fn figure(&self, figure: Figure) -> Option<f64> {
        let of_wake_ups = self.latency_of_wake_ups.as_ref();
        let as_scheduled = self.latency_as_scheduled.as_ref();
        Some(match figure {
            Figure::Min => of_wake_ups?.min as f64,
            Figure::Mean => of_wake_ups?.mean,
            Figure::Max => of_wake_ups?.max as f64,
            Figure::MaxAsScheduled => as_scheduled?.max as f64,
            Figure::MeanExecution => self.execution.as_ref()?.mean,
            // A skipped due time had no response; its lateness is used instead.
            Figure::MaxResponse => {
                let ran = self.response.as_ref()?.max;
                ran.max(as_scheduled?.max) as f64
            }
        })
    }
}

impl GuestRun {
    /// A figure of a phase under a policy, in nanoseconds; of all policies
    /// the smallest or the largest.
    pub fn figure(&self, phase: &str, policy: &str, figure: Figure) -> Option<f64> {
        if policy != OVER_POLICIES {
            return self.condition(phase, policy)?.evident(figure);
        }
        let all = self.conditions.iter().filter(|one| one.phase == phase);
        let mut all = all.map(|one| one.evident(figure));
        let first = all.next()??;
        match figure {
            Figure::Min => all.try_fold(first, |least, one| Some(least.min(one?))),
            Figure::Max | Figure::MaxAsScheduled | Figure::MaxResponse => {
                all.try_fold(first, |most, one| Some(most.max(one?)))
            }
            // An average of policies is nobody's.
            Figure::Mean | Figure::MeanExecution => None,
        }
    }
}

/// Reasons why rounds are not replicates of each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unlike {
    /// Their due times differ in number.
    #[error(
        "its rounds of {guest} differ in length; measure each length in a directory of its own"
    )]
    Lengths {
        /// [`Guest::name`].
        guest: &'static str,
    },
    /// They were measured on different boards.
    #[error(
        "its rounds are of two machines, {one} and {other}; measure each board in a directory of its own, and give \
         both to `wakepath experiment page`"
    )]
    Machines {
        /// A board.
        one: String,
        /// Another.
        other: String,
    },
}

impl Repeated {
    /// Combines rounds of one board.
    ///
    /// # Errors
    /// If they are not replicates of each other.
    pub fn of_rounds(
        experiment: &'static Experiment,
        claims: Claims,
        guests: Vec<GuestRun>,
    ) -> Result<Self, Unlike> {
        let mut machines = guests.iter().map(|round| round.board.first());
        let first = machines.next().flatten();
        if let Some(other) = machines.find(|one| *one != first) {
            let told = |board: Option<&String>| board.cloned().unwrap_or_default();
            return Err(Unlike::Machines {
                one: told(first),
                other: told(other),
            });
        }
        for guest in experiment.guests {
            let runs = guests.iter().filter(|run| run.guest.name == guest.name);
            if !are_of_one_length(&runs.collect::<Vec<_>>()) {
                return Err(Unlike::Lengths { guest: guest.name });
            }
        }
        Ok(Self {
            experiment,
            claims,
            second_run: SecondRun::None,
            guests,
        })
    }

    /// The runs of a guest, one for each seed or round.
    pub fn runs_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a GuestRun> {
        self.guests.iter().filter(move |run| run.guest.name == name)
    }

    /// Each guest's first run, which drawings and single causes come from.
    pub fn first_runs(&self) -> impl Iterator<Item = &GuestRun> {
        self.kernels().filter_map(|name| self.runs_of(name).next())
    }

    /// The names of all kernels of the table, those last that a user gives.
    pub fn kernels(&self) -> impl Iterator<Item = &'static str> {
        let given = self.experiment.given.iter().map(|given| given.name);
        let guests = self.experiment.guests.iter().map(|guest| guest.name);
        guests.chain(given)
    }

    /// A figure of a cell over all due times, in nanoseconds, with each seed or in each round.
    pub fn figures(&self, cell: Cell<'_>, figure: Figure) -> Option<Vec<f64>> {
        let runs = self.runs_of(cell.guest);
        let found = runs.map(|run| run.figure(cell.phase, cell.policy, figure));
        let found: Option<Vec<f64>> = found.collect();
        found.filter(|found| !found.is_empty())
    }

    /// The policies of a phase, in the order in which they were measured.
    pub fn policies(&self, phase: &str) -> Vec<&str> {
        let mut found = Vec::new();
        for one in self.guests.iter().flat_map(|run| &run.conditions) {
            if one.phase == phase && !found.contains(&&*one.policy) {
                found.push(&*one.policy);
            }
        }
        found
    }
}

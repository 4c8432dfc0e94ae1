//! The analysis of a task set together with where its overheads come from: what `wakepath
//! schedulability` answers. It computes no bound itself; wakepath-schedulability does.

mod delay_table;
mod executions;
mod from_run;
mod machine;
mod overheads;
mod published;
mod sweep;
mod throttling;

pub use executions::{ExecutionLack, Which, measured_execution};
pub use from_run::{FromRunError, set_of_run};
pub use machine::{MachineError, RunMachine};
pub use overheads::{KnownOverheads, OverheadsError, Taken};
pub use published::PublishedOverheads;
pub use sweep::{
    NotOneSweep, Sweep, SweptDistribution, SweptOverheads, SweptPlan, SweptPoint, SweptShare,
};

use serde::Serialize;
use serde_json::{Value, json};
use wakepath_scenario::TaskSet;
use wakepath_scenario::units::format_size;
use wakepath_schedulability::sched_deadline::{Admission, Parameters, Refused, admission};
use wakepath_schedulability::{
    Analysis, EndToEnd, Limits, Method, NotAnalysed, Outcome, Question, Refuted, What, Window,
    analyse, arithmetic, end_to_end, limits, worst_window,
};
use wakepath_timeline::duration::exact;

/// A task set's answer.
#[derive(Debug, Clone)]
pub struct Schedulability {
    /// The input.
    pub set: TaskSet,
    /// The bounds.
    pub analysis: Analysis,
    /// How far each task is from its limit, in the set's order.
    pub limits: Vec<Limits>,
    /// From end to end, in the order of the set's chains; `None`: no bound.
    pub chains: Vec<Option<EndToEnd>>,
    /// Under SCHED_DEADLINE the kernel's answer for each root domain: its first CPU, and the tasks
    /// in it by place.
    pub admissions: Vec<(u16, Vec<usize>, Admission)>,
    /// Costs that were put in, and which of them are not known.
    pub overheads: KnownOverheads,
}

impl Schedulability {
    /// Analyses a set with what is known of the overheads.
    ///
    /// # Errors
    /// [`NotAnalysed`].
    pub fn new(mut set: TaskSet, overheads: KnownOverheads) -> Result<Self, NotAnalysed> {
        set.notes.extend(throttling::notes(&set));
        set.notes.extend(without_working_set(&set, &overheads));
        set.notes.extend(beyond_measured(&set, &overheads));
        let question = Question {
            tasks: &set.tasks,
            method: set.method,
            cpus: set.cpus,
            overheads: Some(&overheads),
        };
        let analysis = analyse(&question)?;
        let limits = limits(&question)?;
        let chains: Result<Vec<_>, _> = set
            .chains
            .iter()
            .map(|chain| end_to_end(&set.tasks, &analysis, chain))
            .collect();
        Ok(Self {
            chains: chains?,
            admissions: admissions(&set, &analysis),
            analysis,
            limits,
            overheads,
            set,
        })
    }

    /// The worst window of each task that has one.
    ///
    /// # Errors
    /// [`NotAnalysed`].
    pub fn windows(&self) -> Result<Vec<Window>, NotAnalysed> {
        let question = Question {
            tasks: &self.set.tasks,
            method: self.set.method,
            cpus: self.set.cpus,
            overheads: Some(&self.overheads),
        };
        let windows: Result<Vec<_>, _> = (0..self.set.tasks.len())
            .map(|task| worst_window(&question, &self.analysis, task))
            .collect();
        Ok(windows?.into_iter().flatten().collect())
    }

    /// The outcome with what the kernel doesn't admit and chains that are not shown to be in time.
    pub fn outcome(&self) -> Outcome {
        if !self.admitted() && self.analysis.outcome == Outcome::Schedulable {
            return Outcome::NotProvable;
        }
        let late = self
            .set
            .chains
            .iter()
            .zip(&self.chains)
            .any(|(chain, found)| {
                chain.deadline_ns.is_some_and(|deadline_ns| {
                    found.is_none_or(|found| found.latency_ns > deadline_ns)
                })
            });
        if late {
            self.analysis.outcome.clone().and(Outcome::NotProvable)
        } else {
            self.analysis.outcome.clone()
        }
    }

    /// Whether the kernel admits every thread; true under any other policy than SCHED_DEADLINE.
    pub fn admitted(&self) -> bool {
        self.admissions
            .iter()
            .all(|(_, _, admission)| admission.admitted())
    }

    /// As the exit code of the command: 0 schedulable, 2 not, 3 not provable by the tests at hand.
    pub fn exit_code(&self) -> u8 {
        match self.outcome() {
            _ if !self.admitted() => 2,
            Outcome::Schedulable => 0,
            Outcome::NotSchedulable(_) => 2,
            Outcome::NotProvable => 3,
        }
    }

    /// The part of all CPUs that the tasks' execution takes, 0 to 1 and above.
    pub fn utilization(&self) -> f64 {
        arithmetic::utilization(&self.set.tasks).as_f64() / f64::from(self.set.cpus)
    }

    /// The outcome in one word.
    pub fn word(&self) -> &'static str {
        match self.outcome() {
            _ if !self.admitted() => "not schedulable",
            Outcome::Schedulable => "schedulable",
            Outcome::NotSchedulable(_) => "not schedulable",
            Outcome::NotProvable => "not provable",
        }
    }
}

impl Serialize for Schedulability {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tasks: Vec<Value> = (0..self.set.tasks.len())
            .map(|place| self.task(place))
            .collect();
        json!({
            "version": 1,
            "outcome": self.word(),
            "refuted_by": self.refuted(),
            "policy": self.set.method.to_string(),
            "cpus": self.set.cpus,
            "utilization": self.utilization(),
            "tasks": tasks,
            "chains": self.chains_json(),
            "sched_deadline": self.verdicts(),
            "notes": self.set.notes,
            "overheads": self.overheads.to_json(),
        })
        .serialize(serializer)
    }
}

impl Schedulability {
    fn task(&self, place: usize) -> Value {
        let (task, answer) = (&self.set.tasks[place], &self.analysis.tasks[place]);
        let name = |task: usize| self.set.tasks[task].name.as_str();
        let made_of: Vec<Value> = answer
            .bound
            .made_of
            .iter()
            .map(|part| {
                let (what, of, jobs) = match &part.what {
                    What::Own { earlier } => ("execution", None, Some(earlier + 1)),
                    What::Suspension => ("suspension", None, None),
                    What::Jitter => ("jitter", None, None),
                    What::Blocking => ("blocking", None, None),
                    What::Preemption { by, jobs } => ("preemption", Some(name(*by)), Some(*jobs)),
                    What::Interference { by } => ("interference", Some(name(*by)), None),
                    What::Reservation { name, budgets } => {
                        ("reservation", Some(name.as_str()), Some(*budgets))
                    }
                    What::Overhead(name) => ("overhead", Some(*name), None),
                    What::BeforeDue => ("before due", None, None),
                };
                json!({"what": what, "of": of, "jobs": jobs, "ns": part.signed_ns() as i64})
            })
            .collect();
        json!({
            "name": task.name,
            "response_ns": answer.bound.response_ns,
            "deadline_ns": answer.bound.deadline_ns,
            "schedulable": answer.schedulable,
            "slack_ns": answer.bound.slack_ns(),
            "tardiness_ns": answer.tardiness_ns,
            "priority": (task.priority > 0).then_some(task.priority),
            "cpu": task.cpu,
            "sched_deadline": answer.parameters.map(|asked| json!({
                "runtime_ns": asked.runtime_ns,
                "deadline_ns": asked.deadline_ns,
                "period_ns": asked.period_ns,
            })),
            "longest_execution_ns": self.limits[place].longest_execution_ns,
            "shortest_period_ns": self.limits[place].shortest_period_ns,
            "made_of": made_of,
        })
    }

    fn chains_json(&self) -> Vec<Value> {
        let chains = self.set.chains.iter().zip(&self.chains);
        chains
            .map(|(chain, found)| {
                let names = chain.tasks.iter().map(|&place| &self.set.tasks[place].name);
                json!({
                    "name": chain.name,
                    "tasks": names.collect::<Vec<_>>(),
                    "latency_ns": found.map(|found| found.latency_ns),
                    "reaction_ns": found.map(|found| found.reaction_ns),
                    "deadline_ns": chain.deadline_ns,
                    "holds": chain.deadline_ns.map(|deadline_ns| {
                        found.is_some_and(|found| found.latency_ns <= deadline_ns)
                    }),
                })
            })
            .collect()
    }

    /// SCHED_DEADLINE's three verdicts apart; `None` under any other policy.
    fn verdicts(&self) -> Option<Value> {
        if !matches!(self.set.method, Method::Deadline(_)) {
            return None;
        }
        let share = |bandwidth: u64| bandwidth as f64 / f64::from(1 << 20);
        let domains = self.admissions.iter().map(|(cpu, places, admission)| {
            let refused = admission.refused.iter().map(|(place, why)| {
                json!({
                    "task": self.set.tasks[places[*place]].name,
                    "why": refused_words(*why),
                })
            });
            json!({
                "first_cpu": cpu,
                "admitted": admission.admitted(),
                "bandwidth": share(admission.needed),
                "limit": admission.limit.map(share),
                "refused": refused.collect::<Vec<_>>(),
            })
        });
        Some(json!({
            "admitted": self.admitted(),
            "root_domains": domains.collect::<Vec<_>>(),
            "proved_hard": self.analysis.outcome == Outcome::Schedulable,
            "bounded_tardiness": self.tardiness_bounded(),
        }))
    }

    /// Whether a bound is known for how late every task can be, 0 included.
    pub fn tardiness_bounded(&self) -> bool {
        let known = |task: &wakepath_schedulability::TaskAnswer| {
            task.schedulable || task.tardiness_ns.is_some()
        };
        self.analysis.tasks.iter().all(known)
    }

    fn refuted(&self) -> Option<Value> {
        if !self.admitted() {
            return Some(json!({"by": "admission"}));
        }
        let Outcome::NotSchedulable(refuted) = &self.analysis.outcome else {
            return None;
        };
        let name = |task: &usize| self.set.tasks[*task].name.as_str();
        Some(match refuted {
            Refuted::Overload => json!({"by": "overload"}),
            Refuted::Response { task } => json!({"by": "response", "task": name(task)}),
            Refuted::Demand {
                length_ns,
                needed_ns,
            } => json!({"by": "demand", "length_ns": length_ns, "needed_ns": needed_ns}),
            Refuted::Played {
                task,
                deadline_ns,
                offsets_ns,
            } => {
                let offsets = offsets_ns
                    .iter()
                    .map(|(task, ns)| json!({"task": name(task), "offset_ns": ns}));
                json!({
                    "by": "simulation",
                    "task": name(task),
                    "deadline_ns": deadline_ns,
                    "first_releases": offsets.collect::<Vec<_>>(),
                })
            }
        })
    }
}

/// Tasks of which nobody said how much memory they work on: they count with the largest cache delay.
fn without_working_set(set: &TaskSet, overheads: &KnownOverheads) -> Option<String> {
    let moves = set.method.cluster_size(set.cpus) > 1;
    let ns = overheads.without_working_set_ns(moves)?;
    let unknown = set.tasks.iter().filter(|task| task.working_set_bytes == 0);
    let names: Vec<&str> = unknown.map(|task| task.name.as_str()).collect();
    (!names.is_empty() && set.tasks.len() > 1).then(|| {
        format!(
            "{}: no working-set is given, so that the largest cache delay counts, {}",
            names.join(", "),
            exact(ns)
        )
    })
}

/// Tasks whose working set is larger than any whose delay is known.
fn beyond_measured(set: &TaskSet, overheads: &KnownOverheads) -> Option<String> {
    let largest = overheads.largest_working_set_bytes()?;
    let beyond = set
        .tasks
        .iter()
        .filter(|task| task.working_set_bytes > largest);
    let names: Vec<&str> = beyond.map(|task| task.name.as_str()).collect();
    (!names.is_empty() && set.tasks.len() > 1).then(|| {
        format!(
            "{}: the working set is beyond {}, the largest whose cache delay is known; taken in \
             proportion: a guess",
            names.join(", "),
            format_size(largest)
        )
    })
}

/// Why the kernel refuses a thread's parameters, in words.
pub fn refused_words(why: Refused) -> &'static str {
    match why {
        Refused::RuntimeTooShort => "its runtime is below 1024 ns",
        Refused::RuntimeBeyondDeadline => "its runtime, including overheads, exceeds its deadline",
        Refused::Period => "its period is outside the kernel's range (100 us to 4.194304 s)",
    }
}

/// The kernel's answer for each root domain.
fn admissions(set: &TaskSet, analysis: &Analysis) -> Vec<(u16, Vec<usize>, Admission)> {
    let Method::Deadline(_) = set.method else {
        return Vec::new();
    };
    let size = set.method.cluster_size(set.cpus);
    let mut found = Vec::new();
    for first in (0..set.cpus).step_by(usize::from(size)) {
        let cpus = size.min(set.cpus - first);
        let mut reserved: Vec<&str> = Vec::new();
        let own = (0..set.tasks.len()).filter(|&place| {
            let task = &set.tasks[place];
            let cpu = match &task.reservation {
                Some(reservation) => reservation.cpu,
                None => task.cpu,
            };
            // A reservation asks once, whatever runs in it.
            if let Some(reservation) = &task.reservation {
                if reserved.contains(&reservation.name.as_str()) {
                    return false;
                }
                reserved.push(&reservation.name);
            }
            (first..first + cpus).contains(&cpu.unwrap_or(0))
        });
        let places: Vec<usize> = own.collect();
        let asked: Vec<(usize, Parameters)> = places
            .iter()
            .filter_map(|&place| Some((place, analysis.tasks[place].parameters?)))
            .collect();
        let parameters: Vec<Parameters> = asked.iter().map(|(_, asked)| *asked).collect();
        let places = asked.iter().map(|(place, _)| *place).collect();
        found.push((first, places, admission(&parameters, cpus, &set.admission)));
    }
    found
}

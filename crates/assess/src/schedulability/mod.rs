//! The analysis of a task set together with where its overheads come from: what `wakepath
//! schedulability` answers. It computes no bound itself; wakepath-schedulability does.

mod overheads;

pub use overheads::{KnownOverheads, OverheadsError, Taken};

use serde::Serialize;
use serde_json::{Value, json};
use wakepath_scenario::TaskSet;
use wakepath_schedulability::{
    Analysis, Limits, NotAnalysed, Outcome, Question, Refuted, What, analyse, arithmetic, limits,
};

/// A task set's answer.
#[derive(Debug, Clone)]
pub struct Schedulability {
    /// What was asked.
    pub set: TaskSet,
    /// The bounds.
    pub analysis: Analysis,
    /// How far each task is from its limit, in the set's order.
    pub limits: Vec<Limits>,
    /// Costs that were put in, and which of them are not known.
    pub overheads: KnownOverheads,
}

impl Schedulability {
    /// Analyses a set with what is known of the overheads.
    ///
    /// # Errors
    /// [`NotAnalysed`].
    pub fn of(set: TaskSet, overheads: KnownOverheads) -> Result<Self, NotAnalysed> {
        let question = Question {
            tasks: &set.tasks,
            method: set.method,
            cpus: set.cpus,
            overheads: Some(&overheads),
        };
        let analysis = analyse(&question)?;
        let limits = limits(&question)?;
        Ok(Self {
            analysis,
            limits,
            overheads,
            set,
        })
    }

    /// As the exit code of the command: 0 schedulable, 2 not, 3 not provable by the tests at hand.
    pub fn exit_code(&self) -> u8 {
        match self.analysis.outcome {
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
        match self.analysis.outcome {
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
            "longest_execution_ns": self.limits[place].longest_execution_ns,
            "shortest_period_ns": self.limits[place].shortest_period_ns,
            "made_of": made_of,
        })
    }

    fn refuted(&self) -> Option<Value> {
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
            Refuted::Played { task, deadline_ns } => {
                json!({"by": "simulation", "task": name(task), "deadline_ns": deadline_ns})
            }
        })
    }
}

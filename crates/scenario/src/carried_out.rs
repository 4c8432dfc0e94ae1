//! Runs a task set: the scenario that measures it with its bounds, and settings for systemd
//! services.
//!
//! It analyses nothing.

use crate::{KnownCpus, Scenario, Task, TaskSet, Work};
use wakepath_schedulability::sched_deadline::Parameters;
use wakepath_schedulability::{Arrivals, Method};
use wakepath_timeline::{CpuSet, Policy};

/// Least execution time of the loop's own cycle, in nanoseconds: two clock readings and a sample.
const CYCLE_NS: u64 = 20_000;
/// And at least this part of it.
const CYCLE_PART: u64 = 50;

/// Reasons why a set can't be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotCarriedOut {
    /// Jobs that a timer can't release.
    #[error(
        "{0}: has distances, a predecessor or an offset, which a scenario can't express; give it a period"
    )]
    NotPeriodic(String),
    /// A reservation of several.
    #[error("{0}: runs in a reservation, which a scenario can't express; leave it out")]
    Reserved(String),
    /// A priority that Linux doesn't have.
    #[error("{task}: has priority {priority}, and SCHED_FIFO has 1 to 99; give it one of those")]
    Priority {
        /// Its name.
        task: String,
        /// The priority given.
        priority: u32,
    },
    /// SCHED_DEADLINE in a unit.
    #[error(
        "systemd can't set SCHED_DEADLINE; the program must set it itself, with the values shown; --scenario writes \
         a scenario that sets them"
    )]
    DeadlineUnit,
    /// Something else that no scenario can have.
    #[error("the scenario would be refused: {0}")]
    NoScenario(String),
}

impl TaskSet {
    /// The scenario that runs tasks with these executions and periods as they were placed, and
    /// compares their responses with `bounds` (in nanoseconds, from the due time). `parameters` are
    /// SCHED_DEADLINE's, if that is the policy. Each task computes for its execution minus the
    /// loop's own share of a cycle.
    ///
    /// # Errors
    /// [`NotCarriedOut`].
    pub fn to_scenario(
        &self,
        name: &str,
        bounds: &[Option<u64>],
        parameters: &[Option<Parameters>],
    ) -> Result<String, NotCarriedOut> {
        let mut tasks = Vec::with_capacity(self.tasks.len());
        for (place, task) in self.tasks.iter().enumerate() {
            let Arrivals::Sporadic(period_ns) = task.arrivals else {
                return Err(NotCarriedOut::NotPeriodic(task.name.clone()));
            };
            if task.after.is_some() || task.offset_ns.is_some() {
                return Err(NotCarriedOut::NotPeriodic(task.name.clone()));
            }
            if task.reservation.is_some() {
                return Err(NotCarriedOut::Reserved(task.name.clone()));
            }
            let own_ns = CYCLE_NS.max(task.execution_ns.div_ceil(CYCLE_PART));
            tasks.push(Task {
                name: task.name.clone(),
                period_ns,
                cpus: self.cpus_of(task),
                policy: Some(self.policy_of(task, parameters.get(place).copied().flatten())?),
                overrun: None,
                work: match task.execution_ns.saturating_sub(own_ns) {
                    0 => Work::Nothing,
                    ns => Work::Busy { ns },
                },
                response_bound_ns: bounds.get(place).copied().flatten(),
            });
        }
        let any = "name = \"set\"\ncycles = 10000\n[[tasks]]\nname = \"any\"\nperiod = \"10 ms\"\npolicy = \"FIFO 1\"\n";
        let wrong = |why: &dyn std::fmt::Display| NotCarriedOut::NoScenario(why.to_string());
        let known = KnownCpus::first(1024);
        let mut scenario =
            Scenario::parse(any, "the set", &known).map_err(|error| wrong(&error))?;
        name.clone_into(&mut scenario.name);
        "A task set as wakepath schedulability placed it, with its bounds"
            .clone_into(&mut scenario.description);
        scenario.period_ns = tasks.iter().map(|task| task.period_ns).min().unwrap_or(1);
        scenario.criterion.deadline_ns = scenario.period_ns;
        scenario.accounting.cpu_time = true;
        scenario.tasks = tasks;
        let text = scenario.to_toml();
        Scenario::parse(&text, "the scenario", &known).map_err(|error| wrong(&error.first()))?;
        Ok(text)
    }

    fn cpus_of(&self, task: &wakepath_schedulability::Task) -> Option<CpuSet> {
        let size = self.method.cluster_size(self.cpus);
        match (self.method, task.cpu) {
            (Method::Deadline(_), _) => None,
            (_, Some(cpu)) => {
                let first = cpu / size * size;
                Some(CpuSet::from_iter(first..(first + size).min(self.cpus)))
            }
            (_, None) => Some(CpuSet::from_iter(0..self.cpus)),
        }
    }

    fn policy_of(
        &self,
        task: &wakepath_schedulability::Task,
        parameters: Option<Parameters>,
    ) -> Result<Policy, NotCarriedOut> {
        if let Some(asked) = parameters {
            return Ok(Policy::Deadline {
                runtime_ns: asked.runtime_ns,
                deadline_ns: asked.deadline_ns,
                period_ns: asked.period_ns,
            });
        }
        if !self.method.by_priority() {
            // EDF on Linux is SCHED_DEADLINE.
            return Ok(Policy::Deadline {
                runtime_ns: task.execution_ns,
                deadline_ns: task.deadline_ns.min(task.period_ns()),
                period_ns: task.period_ns(),
            });
        }
        match u8::try_from(task.priority) {
            Ok(priority @ 1..=99) => Ok(Policy::Fifo { priority }),
            _ => Err(NotCarriedOut::Priority {
                task: task.name.clone(),
                priority: task.priority,
            }),
        }
    }

    /// For each task the name of a service and a drop-in for it, which gives the service's process
    /// the task's policy, priority and CPUs: `NAME.service.d/wakepath.conf`.
    ///
    /// # Errors
    /// [`NotCarriedOut`].
    pub fn to_units(&self) -> Result<Vec<(String, String)>, NotCarriedOut> {
        let mut units: Vec<(String, String)> = Vec::with_capacity(self.tasks.len());
        for task in &self.tasks {
            let Policy::Fifo { priority } = self.policy_of(task, None)? else {
                return Err(NotCarriedOut::DeadlineUnit);
            };
            let mut name: String = task
                .name
                .chars()
                .map(|c| {
                    if c.is_ascii_alphanumeric() || "_-".contains(c) {
                        c
                    } else {
                        '-'
                    }
                })
                .collect();
            if units.iter().any(|(known, _)| *known == name) {
                name += &format!("-{}", units.len());
            }
            let mut text = format!(
                "# Written by wakepath schedulability, for the task \"{}\".\n[Service]\n\
                 CPUSchedulingPolicy=fifo\nCPUSchedulingPriority={priority}\n",
                wakepath_timeline::one_line(&task.name)
            );
            if let Some(cpus) = self.cpus_of(task) {
                text += &format!("CPUAffinity={cpus}\n");
            }
            text += &format!("LimitRTPRIO={priority}\nLimitMEMLOCK=infinity\n");
            units.push((name, text));
        }
        Ok(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_schedulability::Task as SetTask;

    fn set() -> TaskSet {
        let text = "policy = \"P-FP\"\ncpus = 2\n[[tasks]]\nname = \"imu\"\nexecution = \"1 ms\"\n\
                    period = \"4 ms\"\npriority = 9\ncpu = 1\n";
        TaskSet::parse(text, "set.toml", false, &|_| Err("no run".into())).expect("right")
    }

    #[test]
    fn the_scenario_has_the_policy_the_place_the_work_and_the_bound() {
        let text = set()
            .to_scenario("placed", &[Some(1_200_000)], &[None])
            .expect("can be");
        let scenario = Scenario::parse(&text, "placed", &KnownCpus::first(2)).expect("right");
        let task = &scenario.tasks[0];
        assert_eq!(task.policy, Some(Policy::Fifo { priority: 9 }));
        assert_eq!(task.cpus, Some(CpuSet::from_iter([1])));
        assert_eq!(task.work, Work::Busy { ns: 980_000 });
        assert_eq!(task.response_bound_ns, Some(1_200_000));
        assert_eq!(scenario.period_ns, 4_000_000);
    }

    #[test]
    fn a_drop_in_gives_a_service_its_priority_and_its_cpu() {
        let units = set().to_units().expect("can be");
        assert_eq!(units[0].0, "imu");
        for line in [
            "CPUSchedulingPolicy=fifo",
            "CPUSchedulingPriority=9",
            "CPUAffinity=1",
        ] {
            assert!(
                units[0].1.lines().any(|found| found == line),
                "{}",
                units[0].1
            );
        }
        let mut edf = set();
        edf.method = Method::GlobalEdf;
        assert_eq!(edf.to_units(), Err(NotCarriedOut::DeadlineUnit));
    }

    #[test]
    fn what_no_scenario_can_say_is_refused_by_name() {
        let mut offset = set();
        offset.tasks[0].offset_ns = Some(1);
        let refused = offset.to_scenario("placed", &[], &[]);
        assert_eq!(refused, Err(NotCarriedOut::NotPeriodic("imu".into())));
        let mut high = set();
        high.tasks = vec![SetTask {
            priority: 100,
            ..high.tasks[0].clone()
        }];
        assert!(matches!(
            high.to_units(),
            Err(NotCarriedOut::Priority { .. })
        ));
    }
}

//! Writes a random task set of LITMUS^RT as a scenario file.
//!
//! Tasks are drawn by utilization and placed on CPUs, each with its plugin's policy. The file is
//! then an ordinary scenario.
//!
//! Utilizations and periods are those of the schedulability sweeps (Brandenburg, "Scheduling and
//! Locking in Multiprocessor Real-Time Operating Systems", 2011, chapter 4).

use std::fmt::Write;
use wakepath_schedulability::sweep::{Distribution, Generator, Random, RandomTask};
use wakepath_schedulability::{Fit, Method, NotPlaced, Question, Task, place};
use wakepath_timeline::LitmusPlugin;
use wakepath_timeline::duration::exact_ascii;

/// Parameters of the random task set.
#[derive(Debug, Clone)]
pub struct RandomTasks {
    /// The plugin that schedules.
    pub plugin: LitmusPlugin,
    /// CPUs, from 0.
    pub cpus: u16,
    /// The tasks' utilizations together, in thousandths of all CPUs.
    pub utilization_thousandths: u32,
    /// Distribution of one task's utilization.
    pub distribution: Distribution,
    /// Choice among the CPUs with enough capacity for a task, if the plugin keeps it on one.
    pub fit: Fit,
    /// Shortest period, in nanoseconds.
    pub shortest_period_ns: u64,
    /// Longest period, in nanoseconds.
    pub longest_period_ns: u64,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl RandomTasks {
    /// The scenario's file.
    ///
    /// # Errors
    /// [`NotPlaced`], under a plugin that keeps each task on one CPU.
    pub fn to_toml(&self) -> Result<String, NotPlaced> {
        let tasks = self.drawn();
        let cpus = self.placed(&tasks)?;
        let plugin = self.plugin.name();
        let percent = f64::from(self.utilization_thousandths) / 10.0;
        let mut text = format!(
            "# {} random tasks, {} ({} % to {} % of a CPU each), together {percent} % of {} CPUs, {}; seed {}.\n\
             name = \"litmus-tasks\"\n\
             duration = \"10 s\"\n\
             warm-up = \"100 ms\"\n\
             litmus-plugin = \"switch\"\n",
            tasks.len(),
            self.distribution.name,
            self.distribution.low * 100.0,
            self.distribution.high * 100.0,
            self.cpus,
            if self.plugin.migrates() {
                "which they share".to_owned()
            } else {
                format!("placed by {} fit", fit_word(self.fit))
            },
            self.seed,
        );
        let order = by_period(&tasks);
        for (number, (task, cpu)) in tasks.iter().zip(cpus).enumerate() {
            let policy = match self.plugin {
                // 1 is the highest: the shorter the period, the higher.
                LitmusPlugin::PFp => format!("{plugin} {}", order[number] + 1),
                LitmusPlugin::PsnEdf | LitmusPlugin::GsnEdf | LitmusPlugin::CEdf => {
                    plugin.to_owned()
                }
            };
            let [period, execution] = [task.period_ns, task.execution_ns].map(exact_ascii);
            // Writing to a String can't fail.
            let _ = write!(
                text,
                "\n[[tasks]]\n\
                 name = \"task-{}\"\n\
                 period = \"{period}\"\n\
                 cpu = {cpu}\n\
                 policy = \"LITMUS {policy}, budget {execution}\"\n\
                 work = {{ kind = \"busy\", time = \"{execution}\" }}\n",
                number + 1,
            );
        }
        text += "\n[[phases]]\n\
                 name = \"idle\"\n\n\
                 [[phases]]\n\
                 name = \"cpu-bound\"\n\
                 loads = [\"cpu\"]\n\n\
                 [[phases]]\n\
                 name = \"memory-bound\"\n\
                 loads = [\"memory dram\"]\n\n\
                 [[phases]]\n\
                 name = \"io-bound\"\n\
                 loads = [\"messages\", \"files\", \"network\"]\n\n\
                 [criterion]\n\
                 latency = \"100 us\"\n\
                 deadline = \"1 period\"\n";
        Ok(text)
    }

    /// In whole microseconds, so that the file can be read; in order of decreasing utilization.
    fn drawn(&self) -> Vec<RandomTask> {
        let sum = f64::from(self.utilization_thousandths) / 1000.0 * f64::from(self.cpus);
        let (shortest_ns, longest_ns) = (self.shortest_period_ns, self.longest_period_ns);
        let generator = Generator::new(&self.distribution, sum, shortest_ns, longest_ns);
        let (mut values, mut set) = (Vec::new(), Vec::new());
        generator.draw(&mut Random::new(self.seed, 0, 0), &mut values, &mut set);
        let whole = |ns: u64| ns.div_ceil(1000).max(1) * 1000;
        for task in &mut set {
            task.period_ns = whole(task.period_ns);
            task.execution_ns = whole(task.execution_ns).min(task.period_ns);
        }
        set
    }

    /// Each task's CPU; if the plugin moves them, its first one. By utilization under every plugin,
    /// so that one set can be measured under each.
    fn placed(&self, tasks: &[RandomTask]) -> Result<Vec<u16>, NotPlaced> {
        if self.plugin.migrates() {
            return Ok((0..self.cpus).cycle().take(tasks.len()).collect());
        }
        let named = (1..).zip(tasks);
        let tasks = named.map(|(number, task)| {
            Task::new(format!("task-{number}"), task.execution_ns, task.period_ns)
        });
        let question = Question {
            tasks: &tasks.collect::<Vec<_>>(),
            method: Method::PartitionedEdf,
            cpus: self.cpus,
            overheads: None,
        };
        let placed = place(&question, self.fit, 1)?;
        Ok(placed.iter().filter_map(|task| task.cpu).collect())
    }
}

/// The place of each among all by its period, the shortest first.
fn by_period(tasks: &[RandomTask]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_cached_key(|&task| tasks[task].period_ns);
    let mut places = vec![0; tasks.len()];
    for (place, task) in order.into_iter().enumerate() {
        places[task] = place;
    }
    places
}

fn fit_word(fit: Fit) -> &'static str {
    match fit {
        Fit::First => "first",
        Fit::Best => "best",
        Fit::Worst => "worst",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KnownCpus, Scenario};
    use wakepath_timeline::Policy;

    fn wanted(plugin: LitmusPlugin, fit: Fit) -> RandomTasks {
        RandomTasks {
            plugin,
            cpus: 2,
            utilization_thousandths: 600,
            distribution: Distribution::medium(),
            fit,
            shortest_period_ns: 1_000_000,
            longest_period_ns: 20_000_000,
            seed: 3,
        }
    }

    fn read(wanted: &RandomTasks) -> Scenario {
        let text = wanted.to_toml().unwrap();
        let known = KnownCpus::first(wanted.cpus);
        Scenario::parse(&text, "random", &known).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// Budgets over periods, by CPU.
    fn shares(scenario: &Scenario) -> [f64; 2] {
        let mut shares = [0.0; 2];
        for task in &scenario.tasks {
            let policy = task.policy.unwrap();
            let (_, jobs) = policy.of_litmus().unwrap();
            let budget = jobs.budget_ns.unwrap() as f64;
            let cpu = task.cpus.as_ref().and_then(|cpus| cpus.first()).unwrap();
            shares[usize::from(cpu)] += budget / task.period_ns as f64;
        }
        shares
    }

    #[test]
    fn each_plugin_s_file_is_a_scenario_with_the_utilization_that_was_asked_for() {
        for plugin in LitmusPlugin::ALL {
            let scenario = read(&wanted(plugin, Fit::Worst));
            // 1.2 by a quarter each.
            assert_eq!(scenario.tasks.len(), 5, "{plugin}");
            let sum: f64 = shares(&scenario).iter().sum();
            assert!((sum - 1.2).abs() < 0.01, "{plugin}: {sum}");
        }
    }

    #[test]
    fn worst_fit_spreads_and_first_fit_fills() {
        let [one, other] = shares(&read(&wanted(LitmusPlugin::PsnEdf, Fit::Worst)));
        assert!((one - other).abs() < 0.4, "{one} {other}");
        let [one, other] = shares(&read(&wanted(LitmusPlugin::PsnEdf, Fit::First)));
        assert!(one > 0.6 && one <= 1.0 && other < one, "{one} {other}");
    }

    #[test]
    fn under_fixed_priorities_a_shorter_period_comes_first() {
        let scenario = read(&wanted(LitmusPlugin::PFp, Fit::First));
        let mut tasks: Vec<(u16, u64)> = scenario
            .tasks
            .iter()
            .map(|task| match task.policy {
                Some(Policy::LitmusPFp { priority, .. }) => (priority, task.period_ns),
                other => panic!("{other:?}"),
            })
            .collect();
        tasks.sort_unstable();
        assert!(tasks.is_sorted_by_key(|(_, period)| *period), "{tasks:?}");
        assert_eq!(tasks[0].0, 1);
    }

    #[test]
    fn a_task_that_fits_nowhere_is_refused() {
        let full = RandomTasks {
            utilization_thousandths: 1000,
            ..wanted(LitmusPlugin::PsnEdf, Fit::Worst)
        };
        let refused = full.to_toml().unwrap_err().to_string();
        assert!(refused.contains("fits on no CPU next to"), "{refused}");
    }
}

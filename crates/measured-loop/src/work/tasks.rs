//! A controller, followed by the due tasks of a table in one loop, like ArduPilot's
//! `AP_Scheduler::run`.
//!
//! Most important first; a task isn't started if less than its budget is left of the period; none
//! is interrupted. Unlike there, a task's budget is never extended, and the number of loops between
//! two runs also counts skipped due times.

use super::flight::{Answer, BuiltIn, Input, Steps};
use super::lateness::Lateness;
use super::tally::{add, forget};
use super::working_set::WorkingSet;
use crate::TableTaskSpec;
use std::hint::black_box;
use wakepath_archive::ModuleTimes;
use wakepath_flight::Vehicle;
use wakepath_rt::clock;

/// The controller and the tasks.
pub(crate) struct TaskTable {
    controller: BuiltIn,
    of_controller: ModuleTimes,
    period_ns: u64,
    /// The most important first.
    tasks: Vec<Task>,
}

struct Task {
    lateness: Lateness,
    budget_ns: u64,
    rounds: u64,
    state: u64,
    memory: WorkingSet,
    tally: ModuleTimes,
}

impl TaskTable {
    pub(super) fn new(vehicle: &Vehicle, specs: &[TableTaskSpec], period_ns: u64) -> Self {
        let mut specs: Vec<&TableTaskSpec> = specs.iter().collect();
        // Equal priorities stay in the order of the file.
        specs.sort_by_key(|spec| spec.priority);
        Self {
            controller: BuiltIn::new(vehicle),
            of_controller: ModuleTimes {
                name: "controller".into(),
                every: Some(1),
                ..ModuleTimes::default()
            },
            period_ns: period_ns.max(1),
            tasks: specs
                .into_iter()
                .map(|spec| Task::new(spec, period_ns))
                .collect(),
        }
    }
}

impl Task {
    fn new(spec: &TableTaskSpec, period_ns: u64) -> Self {
        let lateness = Lateness::new(loops_between(spec.period_ns, period_ns));
        Self {
            budget_ns: spec.budget_ns,
            rounds: spec.rounds,
            state: 1,
            memory: WorkingSet::new(spec.bytes),
            tally: ModuleTimes {
                name: spec.name.clone(),
                budget_ns: Some(spec.budget_ns),
                every: Some(lateness.every()),
                late: Some(0),
                ..ModuleTimes::default()
            },
            lateness,
        }
    }

    /// The same work in every run, because its duration is measured.
    #[inline]
    fn run(&mut self) {
        let mut state = self.state;
        for _ in 0..self.rounds {
            // Each round needs the one before it, so that none can be left out or overlap.
            state = black_box(state.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        self.state = state;
        self.memory.touch();
    }
}

/// Whole loops in a task's period, at least one: a task can't run more often than its loop. A
/// millionth is rounding of the periods.
fn loops_between(task_ns: u64, loop_ns: u64) -> u64 {
    let loops = task_ns as f64 / loop_ns.max(1) as f64;
    ((loops + 1e-6).floor() as u64).max(1)
}

impl Steps for TaskTable {
    #[inline]
    fn step(&mut self, input: &Input) -> Answer {
        let begun_ns = clock::monotonic_ns();
        let answer = self.controller.step(input);
        let mut now_ns = clock::monotonic_ns();
        add(&mut self.of_controller, now_ns.saturating_sub(begun_ns));
        let at = input.time_ns / self.period_ns;
        let end_ns = input.due_ns.saturating_add(self.period_ns);
        for task in &mut self.tasks {
            let left_ns = end_ns.saturating_sub(now_ns);
            if !task.lateness.is_due(at) || task.budget_ns > left_ns {
                continue;
            }
            task.run();
            task.lateness.ran(at);
            let ended_ns = clock::monotonic_ns();
            add(&mut task.tally, ended_ns.saturating_sub(now_ns));
            now_ns = ended_ns;
        }
        answer
    }

    fn modules(&self) -> Vec<ModuleTimes> {
        let tasks = self.tasks.iter().map(|task| ModuleTimes {
            late: Some(task.lateness.late),
            ..task.tally.clone()
        });
        std::iter::once(self.of_controller.clone())
            .chain(tasks)
            .collect()
    }

    fn end_warm_up(&mut self) {
        let tallies = self.tasks.iter_mut().map(|task| {
            task.lateness.late = 0;
            &mut task.tally
        });
        for tally in tallies.chain(std::iter::once(&mut self.of_controller)) {
            forget(tally);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_flight::{PlantState, Reference};

    const PERIOD_NS: u64 = 2_500_000;

    fn spec(name: &str, period_ns: u64, budget_ns: u64, priority: u32) -> TableTaskSpec {
        TableTaskSpec {
            name: name.into(),
            period_ns,
            budget_ns,
            priority,
            rounds: 10,
            bytes: 0,
        }
    }

    /// Runs cycle number `at`, woken `left_ns` before its period ends.
    fn step(table: &mut TaskTable, vehicle: &Vehicle, at: u64, left_ns: u64) {
        table.step(&Input {
            time_ns: at * PERIOD_NS,
            due_ns: clock::monotonic_ns() + left_ns - PERIOD_NS,
            state: PlantState::hover(vehicle, [0.0; 3]).body,
            reference: Reference::default(),
        });
    }

    fn runs(table: &TaskTable) -> Vec<(String, u64, Option<u64>)> {
        let modules = table.modules().into_iter().skip(1);
        modules
            .map(|module| (module.name, module.runs, module.late))
            .collect()
    }

    #[test]
    fn tasks_run_at_their_rates_the_most_important_first() {
        let vehicle = Vehicle::built_in("hummingbird").unwrap();
        let specs = [
            spec("slow", 100_000_000, 1_000, 9),
            // ArduPilot's rc_loop: 250 Hz at a loop of 400 Hz is every loop.
            spec("rc", 4_000_000, 1_000, 3),
            spec("half", 5_000_000, 1_000, 6),
        ];
        let mut table = TaskTable::new(&vehicle, &specs, PERIOD_NS);
        // With a whole second left, which suffices on a busy machine.
        (1..=400).for_each(|at| step(&mut table, &vehicle, at, 1_000_000_000));
        let expected = [("rc", 400), ("half", 200), ("slow", 10)];
        let expected = expected.map(|(name, runs)| (name.to_owned(), runs, Some(0)));
        assert_eq!(runs(&table), expected);
    }

    #[test]
    fn a_task_whose_budget_does_not_fit_waits_and_is_late() {
        let vehicle = Vehicle::built_in("hummingbird").unwrap();
        let specs = [
            spec("large", 10_000_000, 2_000_000_000, 1),
            spec("small", 10_000_000, 1, 2),
        ];
        let mut table = TaskTable::new(&vehicle, &specs, PERIOD_NS);
        (1..=12).for_each(|at| step(&mut table, &vehicle, at, 1_000_000_000));
        // Due at 4, 8 and 12: late at 8 and 12.
        let expected = [
            ("large".to_owned(), 0, Some(2)),
            ("small".to_owned(), 3, Some(0)),
        ];
        assert_eq!(runs(&table), expected);
        step(&mut table, &vehicle, 13, 4_000_000_000);
        assert_eq!(runs(&table)[0], ("large".to_owned(), 1, Some(2)));
    }

    #[test]
    fn whole_loops_lie_between_two_runs_as_in_ardupilot() {
        // 300 Hz and its tenth, neither a whole number of nanoseconds.
        for (task_ns, loop_ns, loops) in [
            (4_000_000, 2_500_000, 1),
            (100_000_000, 2_500_000, 40),
            (33_333_333, 3_333_333, 10),
            (1_000_000_000, 142_857_143, 7),
            (1_000, 2_500_000, 1),
        ] {
            assert_eq!(loops_between(task_ns, loop_ns), loops);
        }
    }
}

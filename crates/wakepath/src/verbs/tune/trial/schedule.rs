//! The order of a trial's runs, and the decision on each step of the plan. Pure: results are arguments.

use wakepath_assess::{TrialEffect, TrialRun, TriedStep};
use wakepath_tuning::{Effect, EffectFinding, Step};

/// One run without any step, pairs of runs for each step, and one run with the steps that help.
pub(super) struct Schedule {
    steps: Vec<Step>,
    /// Pairs of runs for each step.
    pairs: u32,
    runs: Vec<TrialRun>,
    tried: Vec<TriedStep>,
}

/// Next run.
#[derive(Debug, PartialEq)]
pub(super) struct NextRun {
    /// The steps that are applied during it.
    pub(super) applied: Vec<Step>,
    /// The step and the number of its pair, from 1, for the first run of a pair.
    pub(super) begins_pair: Option<(String, u32)>,
}

impl Schedule {
    pub(super) fn new(steps: Vec<Step>, pairs: u32) -> Self {
        Self {
            steps,
            pairs,
            runs: Vec::new(),
            tried: Vec::new(),
        }
    }

    /// Number of runs in all.
    pub(super) fn len(&self) -> u32 {
        self.steps.len() as u32 * self.runs_of_a_step() + 2
    }

    /// Number of runs so far.
    pub(super) fn measured(&self) -> u32 {
        self.runs.len() as u32
    }

    /// Without, with; with, without; …: drift favours neither.
    pub(super) fn next(&self) -> Option<NextRun> {
        if self.measured() >= self.len() {
            return None;
        }
        let none = NextRun {
            applied: Vec::new(),
            begins_pair: None,
        };
        let Some(index) = self.measured().checked_sub(1) else {
            return Some(none);
        };
        let mut applied = self.helpful();
        let Some(step) = self.steps.get((index / self.runs_of_a_step()) as usize) else {
            return Some(NextRun { applied, ..none });
        };
        let pair = index % self.runs_of_a_step() / 2;
        let is_first = index.is_multiple_of(2);
        let is_without_first = pair.is_multiple_of(2);
        if is_first != is_without_first {
            applied.push(step.clone());
        }
        Some(NextRun {
            applied,
            begins_pair: is_first.then(|| (step.id.clone(), pair + 1)),
        })
    }

    /// Takes the result of the next run.
    pub(super) fn take(&mut self, run: TrialRun) {
        self.runs.push(run);
        let of_steps = self.runs.get(1..).unwrap_or_default();
        let complete = of_steps.chunks_exact(self.runs_of_a_step() as usize);
        let latest = self.steps.iter().zip(complete).nth(self.tried.len());
        if let Some((step, runs)) = latest {
            let tried = tried(step, runs, 2 * self.steps.len());
            self.tried.push(tried);
        }
    }

    /// The steps that help, by the pairs so far.
    pub(super) fn helpful(&self) -> Vec<Step> {
        let helps = |step: &&Step| self.tried.iter().any(|one| one.kept && one.step == step.id);
        self.steps.iter().filter(helps).cloned().collect()
    }

    /// All results; `None` before the last run.
    pub(super) fn results(mut self) -> Option<Results> {
        let after = (self.measured() == self.len()).then(|| self.runs.pop())??;
        let before = self.runs.into_iter().next()?;
        Some(Results {
            steps: self.tried,
            before,
            after,
        })
    }

    fn runs_of_a_step(&self) -> u32 {
        2 * self.pairs
    }
}

/// Results of all runs.
pub(super) struct Results {
    pub(super) steps: Vec<TriedStep>,
    pub(super) before: TrialRun,
    pub(super) after: TrialRun,
}

/// The effect of a step by its runs; `figures` is the number of intervals that hold together.
fn tried(step: &Step, runs: &[TrialRun], figures: usize) -> TriedStep {
    let pairs: Vec<(TrialRun, TrialRun)> = runs
        .chunks_exact(2)
        .enumerate()
        .filter_map(|(number, pair)| match (pair, number % 2) {
            ([without, with], 0) | ([with, without], _) => Some((without.clone(), with.clone())),
            _ => None,
        })
        .collect();
    let effect = |figure: fn(&TrialRun) -> f64| {
        let of_pair = |(without, with): &(TrialRun, TrialRun)| (figure(without), figure(with));
        let values: Vec<(f64, f64)> = pairs.iter().map(of_pair).collect();
        Effect::new(&values, figures)
    };
    let misses = effect(TrialRun::missed_percent);
    let p99 = effect(|run| run.p99_us);
    let found =
        |effect: &Option<Effect>| effect.map_or(EffectFinding::NotShown, |effect| effect.finding());
    // The misses decide; if they show nothing, the tail does.
    let finding = match found(&misses) {
        EffectFinding::NotShown => found(&p99),
        shown => shown,
    };
    let reported = |effect: Option<Effect>| {
        effect.map(|Effect { mean, interval }| TrialEffect { mean, interval })
    };
    TriedStep {
        step: step.id.clone(),
        reason: step.reason.clone(),
        cost: step.cost.clone(),
        misses: reported(misses),
        p99: reported(p99),
        finding: finding.words().to_owned(),
        kept: finding == EffectFinding::Helps,
        pairs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(id: &str) -> Step {
        Step {
            id: id.into(),
            checks: Vec::new(),
            reason: String::new(),
            effect: String::new(),
            cost: String::new(),
            undo: String::new(),
            actions: Vec::new(),
        }
    }

    /// A run whose tail drifts upward, and is 50 µs less with `helps`.
    fn run(number: u32, applied: &[Step]) -> TrialRun {
        let helps = applied.iter().any(|step| step.id == "helps");
        TrialRun {
            run: format!("run-{number:03}"),
            outcome: "passed".into(),
            due: 1000,
            missed: 0,
            p99_us: 100.0 + f64::from(number) - if helps { 50.0 } else { 0.0 },
            max_us: 200.0,
        }
    }

    #[test]
    fn pairs_alternate_and_what_helps_stays_for_the_following_steps() {
        let mut schedule = Schedule::new(vec![step("nothing"), step("helps"), step("also")], 4);
        let mut applied = Vec::new();
        let mut pairs = Vec::new();
        while let Some(next) = schedule.next() {
            pairs.extend(next.begins_pair);
            let names: Vec<&str> = next.applied.iter().map(|step| &*step.id).collect();
            applied.push(names.join("+"));
            schedule.take(run(schedule.measured(), &next.applied));
        }
        assert_eq!(schedule.measured(), schedule.len());
        let of_nothing = ["", "nothing", "nothing", "", "", "nothing", "nothing", ""];
        let of_helps = ["", "helps", "helps", "", "", "helps", "helps", ""];
        let (with, both) = ("helps", "helps+also");
        let of_also = [with, both, both, with, with, both, both, with];
        let expected = [&[""][..], &of_nothing, &of_helps, &of_also, &[with]].concat();
        assert_eq!(applied, expected);
        assert_eq!(pairs.len(), 12);
        assert_eq!(pairs[5], ("helps".to_owned(), 2));
        let trial = schedule.results().expect("a complete trial");
        let kept: Vec<bool> = trial.steps.iter().map(|step| step.kept).collect();
        assert_eq!(kept, [false, true, false]);
        // Drift over four pairs in alternating order cancels.
        assert_eq!(trial.steps[1].p99.unwrap().mean, -50.0);
        assert_eq!(trial.after.run, "run-025");
    }

    #[test]
    fn a_trial_without_its_last_run_has_no_result() {
        let mut schedule = Schedule::new(vec![step("helps")], 1);
        for number in 0..3 {
            let next = schedule.next().unwrap();
            schedule.take(run(number, &next.applied));
        }
        assert!(schedule.next().is_some());
        assert!(schedule.results().is_none());
    }
}

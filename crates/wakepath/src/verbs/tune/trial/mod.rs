//! `wakepath tune trial`: each step of the plan measured without and with it, in pairs next to each
//! other, under the scenario's loads; what does not help is taken back.

mod text;

use super::{agreed, only, plan};
use crate::command_line::TuneTrial;
use crate::verbs::{check, report};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_archive::{Invocation, MeasuringVerb, RunOption};
use wakepath_assess::{Assessment, Confounders, Trial, TrialEffect, TrialRun, TriedStep};
use wakepath_console::Outcome;
use wakepath_console::parts::Parts;
use wakepath_console::run_order::OrderedRun;
use wakepath_console::scenarios;
use wakepath_console::terminal::{OneLine, print, print_result, tell};
use wakepath_measure::{Interrupt, own_executable};
use wakepath_tuning::{Effect, EffectFinding, Step, System};

type Failure = Box<dyn std::error::Error>;

/// Measures, decides, shows.
pub fn run(arguments: &TuneTrial) -> Outcome {
    let (plan, root) = plan(&arguments.plan)?;
    if !root.is_host() {
        return Err("a trial measures: it can't be carried out on a tree (--root)".into());
    }
    let names: Vec<&str> = plan.now.iter().map(|step| step.id.as_str()).collect();
    let wanted = |id: &str| arguments.step.is_empty() || arguments.step.iter().any(|one| one == id);
    let steps: Vec<Step> = plan
        .now
        .iter()
        .filter(|step| wanted(&step.id))
        .cloned()
        .collect();
    let unknown = arguments
        .step
        .iter()
        .find(|one| !names.contains(&one.as_str()));
    if steps.is_empty() || unknown.is_some() {
        let unknown = unknown.map_or_else(String::new, |one| format!("--step {one}: "));
        let names = names.join(", ");
        return Err(format!("{unknown}nothing to try; the plan's steps are {names}").into());
    }
    let runs = steps.len() * arguments.pairs as usize * 2 + 2;
    let names: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
    let question = format!(
        "this applies and reverts: {}; {runs} runs of {} each; continue?",
        names.join(", "),
        arguments.block
    );
    if !arguments.yes && !agreed(&question)? {
        return Err("nothing done; --yes continues without asking".into());
    }
    let system = System::host();
    if wakepath_tuning::Journal::open(system.directory())?.is_some() {
        return Err("this machine is tuned already; first: wakepath tune revert".into());
    }
    wakepath_console::place::refuse_used(&arguments.directory)?;
    std::fs::create_dir_all(&arguments.directory)?;
    let mut bench = Bench {
        arguments,
        system,
        cpu: plan.subject.cpus.numbers().first().copied().unwrap_or(0),
        interrupt: Interrupt::listen()?,
        confounders: Confounders::default(),
        criterion: String::new(),
        taken: 0,
        runs: runs as u32,
        parts: Parts::of(own_executable(), &arguments.block, arguments.plan.json),
    };
    let outcome = bench.all(&steps);
    // Whatever ended it, the machine is as before, unless the steps that help are to stay.
    let kept: Vec<Step> = match &outcome {
        Ok((tried, ..)) if arguments.keep => kept(&steps, tried),
        _ => Vec::new(),
    };
    only(&bench.system, &kept)?;
    if outcome.is_err() {
        // Only an empty one is removed: without a measurement nothing is left.
        let _ = std::fs::remove_dir(&arguments.directory);
    }
    let (steps, before, after) = outcome?;
    let trial = Trial {
        subject: plan.subject.describe(),
        criterion: bench.criterion,
        block: arguments.block.clone(),
        steps,
        before,
        after,
        confounders: bench.confounders.lines(),
        stays: arguments.keep,
    };
    let path = report::of_trial(&arguments.directory, &trial)?;
    match arguments.plan.json {
        true => print_result(
            true,
            &format!("{}\n", serde_json::to_string_pretty(&trial)?),
        )?,
        false => print(&format!(
            "{}report: {}\n",
            text::of(&trial, arguments)?,
            path.in_one_line()
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn kept(steps: &[Step], tried: &[TriedStep]) -> Vec<Step> {
    let helps = |step: &&Step| tried.iter().any(|one| one.kept && one.step == step.id);
    steps.iter().filter(helps).cloned().collect()
}

struct Bench<'a> {
    arguments: &'a TuneTrial,
    system: System,
    cpu: u16,
    interrupt: Interrupt,
    confounders: Confounders,
    /// In words, as the runs have it.
    criterion: String,
    /// Runs measured so far; their directories are numbered by it.
    taken: u32,
    /// Runs in all.
    runs: u32,
    parts: Parts,
}

impl Bench<'_> {
    fn all(&mut self, steps: &[Step]) -> Result<(Vec<TriedStep>, TrialRun, TrialRun), Failure> {
        let before = self.measured(&[])?;
        let mut tried = Vec::new();
        for step in steps {
            // Two figures for each step.
            let one = self.step(step, &kept(steps, &tried), 2 * steps.len())?;
            tried.push(one);
        }
        let after = self.measured(&kept(steps, &tried))?;
        Ok((tried, before, after))
    }

    /// Without, with; with, without; …: what drifts favours neither.
    fn step(
        &mut self,
        step: &Step,
        base: &[Step],
        side_by_side: usize,
    ) -> Result<TriedStep, Failure> {
        let mut more = base.to_vec();
        more.push(step.clone());
        let mut pairs = Vec::new();
        for pair in 0..self.arguments.pairs {
            tell!("{}: pair {} of {}", step.id, pair + 1, self.arguments.pairs);
            pairs.push(match pair % 2 {
                0 => {
                    let without = self.measured(base)?;
                    (without, self.measured(&more)?)
                }
                _ => {
                    let with = self.measured(&more)?;
                    (self.measured(base)?, with)
                }
            });
        }
        let effect = |figure: fn(&TrialRun) -> f64| {
            let of_pair = |(without, with): &(TrialRun, TrialRun)| (figure(without), figure(with));
            let figures: Vec<(f64, f64)> = pairs.iter().map(of_pair).collect();
            Effect::of(&figures, side_by_side)
        };
        let misses = effect(TrialRun::missed_percent);
        let p99 = effect(|run| run.p99_us);
        let found = |effect: &Option<Effect>| {
            effect.map_or(EffectFinding::NotShown, |effect| effect.finding())
        };
        // The misses decide; if they show nothing, the tail does.
        let finding = match found(&misses) {
            EffectFinding::NotShown => found(&p99),
            shown => shown,
        };
        let told = |effect: Option<Effect>| {
            effect.map(|Effect { mean, interval }| TrialEffect { mean, interval })
        };
        Ok(TriedStep {
            step: step.id.clone(),
            reason: step.reason.clone(),
            cost: step.cost.clone(),
            misses: told(misses),
            p99: told(p99),
            finding: finding.words().to_owned(),
            kept: finding == EffectFinding::Helps,
            pairs,
        })
    }

    /// A run of its own with these steps applied.
    fn measured(&mut self, steps: &[Step]) -> Result<TrialRun, Failure> {
        self.go_on()?;
        only(&self.system, steps)?;
        let directory = self.directory();
        let none = |why| format!("no run of --block {}: {why}", self.arguments.block);
        let ordered = self
            .ordered(&directory)
            .map_err(|error| none(error.to_string()))?;
        let (number, all) = (self.taken, self.runs);
        let part = format!("trial: run {number} of {all}");
        let after_it = all.saturating_sub(number);
        let failed = self.parts.carry_out(ordered, &part, after_it)?;
        // An interrupted run is shorter than the others: it is no half of a pair.
        self.go_on()?;
        let block = &self.arguments.block;
        self.figures(&directory).map_err(|error| match failed {
            // The run's own reason tells more than that there is nothing to read.
            Some(why) => format!("no run of --block {block}: {why}").into(),
            None => error,
        })
    }

    /// The run to order, on the CPUs that the applied steps leave.
    fn ordered(&self, directory: &Path) -> Result<OrderedRun, Failure> {
        let subject = &self.arguments.plan.subject;
        let (block, policy) = (&self.arguments.block, &self.arguments.policy);
        let host = scenarios::host_cpus()?;
        let ((scenario, warnings), source, command) = match &subject.scenario {
            Some(name) => {
                let (text, source) = scenarios::scenario_text(name)?;
                let read = scenarios::read_scenario(&text, &source, &host)?;
                (read, source, Invocation::of_scenario(name))
            }
            None => {
                let rate = subject.rate.as_deref().unwrap_or("250Hz");
                let command = Invocation::new(MeasuringVerb::Check)
                    .with(RunOption::Policy, policy)
                    .with(RunOption::Cpu, self.cpu.to_string())
                    .with(RunOption::Rate, rate);
                scenarios::may_use(Some(self.cpu), &host)?;
                let policies = [policy.clone()];
                let read = check::part(rate, Some(self.cpu), &policies, None, &host)?;
                (read, check::SOURCE.to_owned(), command)
            }
        };
        let (scenario, _) = scenarios::fitted(&scenario, warnings, "--duration", block)?;
        Ok(OrderedRun {
            scenario: scenario.to_toml(),
            source,
            directory: directory.to_owned(),
            trust_directory: false,
            metrics: None,
            invocation: command.with(RunOption::Duration, block),
        })
    }

    /// Ctrl-C reaches the run that is under way as well.
    fn go_on(&self) -> Result<(), Failure> {
        match self.interrupt.requested() {
            true => Err("interrupted; every setting was taken back".into()),
            false => Ok(()),
        }
    }

    fn figures(&mut self, directory: &Path) -> Result<TrialRun, Failure> {
        let assessment = Assessment::of(&Run::open(directory)?)?;
        self.confounders.take(&assessment);
        self.criterion = wakepath_report::criterion_text(&assessment);
        TrialRun::of(&assessment)
            .ok_or_else(|| format!("{}: no cycle was measured", directory.display()).into())
    }

    fn directory(&mut self) -> PathBuf {
        self.taken += 1;
        self.arguments
            .directory
            .join(format!("run-{:03}", self.taken))
    }
}

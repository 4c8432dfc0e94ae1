//! `wakepath tune trial`: each step of the plan measured without and with it, in pairs next to each
//! other, under the scenario's loads; what does not help is taken back.

mod schedule;
mod text;

use super::{agreed, plan};
use crate::applied_steps::apply_only;
use crate::check_scenario;
use crate::command_line::TuneTrial;
use crate::{criterion_options, report_files};
use schedule::{NextRun, Schedule};
use std::path::Path;
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_archive::{Invocation, MeasuringVerb, RunOption};
use wakepath_assess::{Assessment, Confounders, Trial, TrialRun};
use wakepath_console::Outcome;
use wakepath_console::overrides::ScenarioOverrides;
use wakepath_console::run_order::OrderedRun;
use wakepath_console::scenarios;
use wakepath_console::sequence::{self, Origin, Plan, ProcessExecutor};
use wakepath_console::terminal::{OneLine, print, print_result, tell};
use wakepath_measure::{Interrupt, own_executable};
use wakepath_tuning::{Step, System};

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
    let names: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
    let names = names.join(", ");
    let schedule = Schedule::new(steps, arguments.pairs);
    let question = format!(
        "this applies and reverts: {names}; {} runs of {} each; continue?",
        schedule.len(),
        arguments.block
    );
    if !arguments.yes && !agreed(&question)? {
        return Err("nothing done; --yes continues without asking".into());
    }
    let system = System::host();
    if wakepath_tuning::Journal::open(system.directory())?.is_some() {
        return Err("this machine is tuned already; first: wakepath tune revert".into());
    }
    wakepath_console::run_directory::refuse_used(&arguments.directory)?;
    std::fs::create_dir_all(&arguments.directory)?;
    let interrupt = Interrupt::listen()?;
    let mut executor = ProcessExecutor::new(
        own_executable(),
        interrupt,
        &arguments.block,
        arguments.plan.json,
    );
    let mut bench = Bench {
        arguments,
        system,
        cpu: plan.subject.cpus.numbers().first().copied().unwrap_or(0),
        confounders: Confounders::default(),
        criterion: String::new(),
        schedule,
    };
    let outcome = sequence::carry_out(&mut bench, &mut executor);
    // Whatever ended it, the machine is as before, unless the steps that help are to stay.
    let kept = match &outcome {
        Ok(()) if arguments.keep => bench.schedule.helpful(),
        _ => Vec::new(),
    };
    apply_only(&bench.system, &kept)?;
    if outcome.is_err() {
        // Only an empty one is removed: without a measurement nothing is left.
        let _ = std::fs::remove_dir(&arguments.directory);
    }
    outcome?;
    let results = bench
        .schedule
        .results()
        .ok_or("the trial has no last run")?;
    let trial = Trial {
        subject: plan.subject.describe(),
        criterion: bench.criterion,
        block: arguments.block.clone(),
        steps: results.steps,
        before: results.before,
        after: results.after,
        confounders: bench.confounders.lines(),
        stays: arguments.keep,
    };
    let path = report_files::write_trial(&arguments.directory, &trial)?;
    if arguments.plan.json {
        print_result(
            true,
            &format!("{}\n", serde_json::to_string_pretty(&trial)?),
        )?
    } else {
        print(&format!(
            "{}report: {}\n",
            text::text(&trial, arguments.pairs, arguments.all)?,
            path.in_one_line()
        ))?
    }
    Ok(ExitCode::SUCCESS)
}

/// A trial under way. It does not resume: the runs of a pair are compared because they are next to each other
/// in time, so a trial begins with an empty directory.
struct Bench<'a> {
    arguments: &'a TuneTrial,
    system: System,
    cpu: u16,
    confounders: Confounders,
    /// In words, as the runs have it.
    criterion: String,
    schedule: Schedule,
}

impl Plan for Bench<'_> {
    type Subject = NextRun;

    fn next(&self) -> Option<sequence::Step<NextRun>> {
        let subject = self.schedule.next()?;
        let (number, all) = (self.schedule.measured() + 1, self.schedule.len());
        Some(sequence::Step {
            subject,
            name: format!("trial: run {number} of {all}"),
            directory: self.arguments.directory.join(format!("run-{number:03}")),
            remaining: all - number,
        })
    }

    /// Applies the steps of this run and no others.
    fn order(&mut self, step: &sequence::Step<NextRun>) -> Result<OrderedRun, Failure> {
        if let Some((id, pair)) = &step.subject.begins_pair {
            tell!("{id}: pair {pair} of {}", self.arguments.pairs);
        }
        apply_only(&self.system, &step.subject.applied)?;
        self.ordered(&step.directory)
    }

    fn take(&mut self, step: sequence::Step<NextRun>, run: Run, _: Origin) -> Result<(), Failure> {
        let assessment = Assessment::new(&run)?;
        self.confounders.take(&assessment);
        self.criterion = wakepath_report::criterion_text(&assessment);
        let figures = TrialRun::new(&assessment)
            .ok_or_else(|| format!("{}: no cycle was measured", step.directory.display()))?;
        self.schedule.take(figures);
        Ok(())
    }

    fn after_interruption(&self) -> String {
        "every setting was taken back".into()
    }
}

impl Bench<'_> {
    /// The run to order, on the CPUs that the applied steps leave.
    fn ordered(&self, directory: &Path) -> Result<OrderedRun, Failure> {
        let subject = &self.arguments.plan.subject;
        let (block, policy) = (&self.arguments.block, &self.arguments.policy);
        let host = scenarios::host_cpus()?;
        let limits = &self.arguments.limits;
        let criterion = criterion_options::table(limits)?;
        let ((scenario, warnings), source, command) = match &subject.scenario {
            Some(name) => {
                let (text, source) = scenarios::scenario_text(name)?;
                let overrides = ScenarioOverrides {
                    rate: None,
                    cpu: None,
                    task: None,
                    policies: &[],
                    criterion: criterion.as_ref(),
                    reserved_for: None,
                };
                let read = scenarios::read_with_overrides(&text, &source, &overrides, &host)?;
                (read, source, Invocation::of_scenario(name))
            }
            None => {
                let rate = subject.rate.as_deref().unwrap_or("250Hz");
                let command = Invocation::new(MeasuringVerb::Check)
                    .with(RunOption::Policy, policy)
                    .with(RunOption::Cpu, self.cpu.to_string())
                    .with(RunOption::Rate, rate);
                scenarios::check_cpu(Some(self.cpu), &host)?;
                let policies = [policy.clone()];
                let read = check_scenario::read(
                    rate,
                    Some(self.cpu),
                    &policies,
                    criterion.as_ref(),
                    &host,
                )?;
                (read, check_scenario::SOURCE.to_owned(), command)
            }
        };
        let command = criterion_options::given(limits).fold(command, |command, (name, value)| {
            command.and(name, Some(value.to_owned()))
        });
        let (scenario, _) = scenarios::fit_duration(&scenario, warnings, "--block", block)?;
        Ok(OrderedRun {
            scenario: scenario.to_toml(),
            source,
            directory: directory.to_owned(),
            trust_directory: false,
            metrics: None,
            invocation: command.with(RunOption::Duration, block),
        })
    }
}

//! `wakepath run --for`: a scenario for hours or days, unattended. Its rounds, each a run in its
//! own process, form one history; memory and disk stay bounded, and after Ctrl-C, a power cut or a
//! reboot `--resume` continues.

mod findings;
mod plan;

use super::run::asked;
use super::service;
use crate::beginning::Command;
use crate::command_line::{Run as Arguments, Show};
use findings::findings;
use plan::Plan;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use wakepath_archive::{Invocation, Run, RunOption, Shortfall, State};
use wakepath_assess::Assessment;
use wakepath_console::aside::set_aside;
use wakepath_console::parts::Parts;
use wakepath_console::run_order::OrderedRun;
use wakepath_console::runs::{self, HOME};
use wakepath_console::terminal::tell;
use wakepath_console::{Outcome, place, scenarios};
use wakepath_directory::{Directory, Trust};
use wakepath_measure::{Interrupt, own_executable};
use wakepath_scenario::Scenario;
use wakepath_service::{Round, RoundThread, Rounds, has_rounds};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::long;

type Failure = Box<dyn std::error::Error>;

/// The scenario's file, next to the rounds.
const SCENARIO: &str = "scenario.toml";
/// Where rounds lie that were cut short.
const ASIDE: &str = "cut-short";

/// Reads the values of the options.
pub(super) fn read(arguments: &Arguments, whole: &str, scenario: &Scenario) -> Result<(), Failure> {
    Plan::asked(arguments, whole, scenario).map(drop)
}

/// Begins, for that time in all.
pub fn begin(arguments: &Arguments, whole: &str) -> Outcome {
    let (scenario, warnings) = asked(arguments, &scenarios::host_cpus()?)?;
    let plan = Plan::asked(arguments, whole, &scenario)?;
    let directory = match &arguments.output.directory {
        Some(directory) => directory.clone(),
        None => wakepath_console::place::default_directory(
            &format!("{}-rounds", scenario.name),
            SystemTime::now(),
        )?,
    };
    if has_rounds(&directory) {
        return Err(format!(
            "{}: has rounds already; resume them with --resume, or give another --directory",
            directory.display()
        )
        .into());
    }
    wakepath_console::place::refuse_used(&directory)?;
    plan.has_room(&directory)?;
    for warning in warnings {
        tell!("note: {warning}");
    }
    carry_out(&directory, &plan, true, arguments)
}

/// Continues, by the plan in the directory.
pub fn go_on(arguments: &Arguments) -> Outcome {
    let directory = match &arguments.output.directory {
        Some(directory) => directory.clone(),
        None => latest()?,
    };
    if !has_rounds(&directory) {
        return Err(format!(
            "{}: no rounds to resume; begin some with wakepath run SCENARIO --for TIME",
            directory.display()
        )
        .into());
    }
    let plan = Plan::read(&directory)?;
    plan.has_room(&directory)?;
    carry_out(&directory, &plan, false, arguments)
}

/// The latest rounds below the working directory.
fn latest() -> Result<PathBuf, Failure> {
    let mut all = runs::all().into_iter().map(|found| found.directory());
    let found = all.find(|directory| has_rounds(directory));
    Ok(found.ok_or_else(|| format!("no rounds are below {HOME}; name them with --directory"))?)
}

fn carry_out(directory: &Path, plan: &Plan, is_new: bool, arguments: &Arguments) -> Outcome {
    let interrupt = Interrupt::listen()?;
    let trust = place::trust(arguments.output.trust_directory);
    let written = serde_json::to_vec_pretty(plan)?;
    let rounds = Rounds::prepare(
        directory,
        trust,
        plan.worst.into(),
        is_new.then_some(&written),
    )?;
    let mut unattended = Unattended {
        directory,
        plan,
        scenario: plan.of_a_round(directory)?,
        rounds,
        begins: true,
        arguments,
    };
    unattended.measure(&interrupt)?;
    service::shown::show(
        directory,
        &Show {
            histogram: false,
            policy: None,
            run: Some(directory.to_owned()),
            json: arguments.output.json,
            details: arguments.output.details,
        },
    )
}

/// Rounds under way.
struct Unattended<'a> {
    directory: &'a Path,
    plan: &'a Plan,
    /// Of a round.
    scenario: Scenario,
    rounds: Rounds,
    /// Whether no round has come into the history since this command began.
    begins: bool,
    arguments: &'a Arguments,
}

impl Unattended<'_> {
    fn measure(&mut self, interrupt: &Interrupt) -> Result<(), Failure> {
        let scenario = self.directory.join(SCENARIO);
        let place = Directory::to_write(
            self.directory,
            place::trust(self.arguments.output.trust_directory),
        )?;
        place
            .put(SCENARIO, self.plan.scenario.as_bytes())
            .map_err(|error| format!("{}: {error}", scenario.display()))?;
        let (reached, of) = (self.rounds.reached()?, self.plan.rounds);
        let is_plain = self.arguments.output.no_tui
            || self.arguments.output.json
            || wakepath_console::terminal::is_quiet();
        let mut parts = Parts::of(own_executable(), &self.plan.duration(), is_plain);
        tell!(
            "{}: {} of {}, {reached} measured before",
            self.directory.display(),
            counted(of.into(), "round", "rounds"),
            long(self.plan.round_ns as f64 / 1e9)
        );
        let mut named = None;
        let trust = place::trust(self.arguments.output.trust_directory);
        for number in reached + 1..=of {
            let name = format!("round-{number:06}");
            let place = self.rounds.segments().path_of(&name);
            let part = format!("round {number} of {of}");
            let mut offset_ns = None;
            if !is_whole(&place, trust) {
                self.set_aside(&place, number)?;
                if is_plain {
                    tell!("{part}");
                }
                let ordered = self.ordered(&scenario, &place);
                let failed = parts.carry_out(ordered, &part, of - number)?;
                if interrupt.requested() {
                    self.set_aside(&place, number)?;
                    return Err(format!(
                        "interrupted; {} of {of} rounds are measured: resume with wakepath run --resume --directory {}",
                        number - 1,
                        self.directory.display()
                    )
                    .into());
                }
                if !is_whole(&place, trust) {
                    return Err(self.cut_short(&place, number, failed));
                }
                offset_ns = Some(offset_now_ns()?);
            }
            self.take(&place, &name, number, offset_ns)?;
            let strange = self.rounds.keep(self.plan.keep_bytes)?;
            if let Some(sentence) = strange.filter(|now| named.as_ref() != Some(now)) {
                tell!("note: {sentence}");
                named = Some(sentence);
            }
        }
        Ok(())
    }

    fn ordered(&self, scenario: &Path, place: &Path) -> OrderedRun {
        let source = scenario.display().to_string();
        let duration = self.plan.duration();
        OrderedRun {
            scenario: self.scenario.to_toml(),
            directory: place.to_owned(),
            trust_directory: self.arguments.output.trust_directory,
            metrics: self.arguments.output.metrics.clone(),
            invocation: Invocation::of_scenario(&source).with(RunOption::Duration, duration),
            source,
        }
    }

    /// A round that did not complete: a refused one leaves nothing, samples are set aside.
    fn cut_short(&self, place: &Path, number: u32, failed: Option<String>) -> Failure {
        let part = format!("round {number}");
        if let Err(error) = self.set_aside(place, number) {
            return error;
        }
        match failed {
            Some(why) => format!("{part}: {why}").into(),
            None => format!(
                "{part} ended early; its measurements are in {}",
                self.directory.join(ASIDE).display()
            )
            .into(),
        }
    }

    /// An incomplete round does not count; its samples are set aside.
    fn set_aside(&self, place: &Path, number: u32) -> Result<(), Failure> {
        let aside = self.directory.join(ASIDE);
        if !place.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(&aside).map_err(|error| format!("{}: {error}", aside.display()))?;
        set_aside(place, &format!("round {number}"), |count| {
            aside.join(format!("round-{number:06}-{count}"))
        })
    }

    /// Puts a whole round into the history.
    fn take(
        &mut self,
        place: &Path,
        name: &str,
        number: u32,
        offset_ns: Option<i64>,
    ) -> Result<(), Failure> {
        let run = Run::open(place)?;
        let assessment = Assessment::of(&run)?;
        let judged = wakepath_assess::judged_threads(&run, &self.scenario).into_iter();
        let threads = judged.map(|(place, of)| {
            let thread = RoundThread {
                condition: of.condition,
                criterion: of.criterion,
                until: of.until,
            };
            (place, thread)
        });
        let threads = threads.collect();
        let findings = findings(&run.manifest.segments, &threads, &assessment);
        let command = Command::of_this_process();
        self.rounds.take(&Round {
            number,
            of: self.plan.rounds,
            segment: name,
            run: &run,
            threads: &threads,
            findings: &findings,
            offset_ns,
            begins: self.begins.then_some(command.words()),
        })?;
        self.begins = false;
        Ok(())
    }
}

/// Whether it is a run that ended well. One whose command was killed while it put the run into its final
/// form is put into it here: nothing of it is missing.
fn is_whole(place: &Path, trust: Trust) -> bool {
    match Run::open(place) {
        Ok(run) if *run.state() == State::Finished => run.is_complete(),
        Ok(run) if run.shortfalls() == [Shortfall::NotFinished] => {
            Directory::to_write(place, trust)
                .is_ok_and(|directory| wakepath_archive::finish_in(&directory).is_ok())
        }
        _ => false,
    }
}

/// From `CLOCK_MONOTONIC` to the time since 1970, now.
fn offset_now_ns() -> Result<i64, Failure> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let monotonic = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let monotonic_ns = i128::from(monotonic.tv_sec) * 1_000_000_000 + i128::from(monotonic.tv_nsec);
    Ok(i64::try_from(
        since.as_nanos().cast_signed() - monotonic_ns,
    )?)
}

//! An experiment carried out on the running kernel: each round is a separate run in its own
//! process, in `DIR/KERNEL/round-N`. Existing rounds are not measured again.

use super::command_line::ExperimentRun;
use super::joined::{folder_of, joined, round_in};
use super::{Failure, booted, scenario_of, show};
use std::path::{Path, PathBuf};
use wakepath_archive::{Invocation, Run, RunOption};
use wakepath_console::overrides::ScenarioOverrides;
use wakepath_console::run_order::OrderedRun;
use wakepath_console::runs::HOME;
use wakepath_console::sequence::{self, Origin, Plan, ProcessExecutor, Step};
use wakepath_console::terminal::tell;
use wakepath_console::{Outcome, scenarios};
use wakepath_directory::{Directory, Trust};
use wakepath_experiments::{Experiment, Guest, of_boards, on_a_board};
use wakepath_lab::{claims_file, registered};
use wakepath_measure::Interrupt;
use wakepath_scenario::{KnownCpus, Scenario};

/// The longest that a round of `--short` takes: three of them within ten minutes, warm-ups included.
pub(super) const SHORT_NS: u64 = 150_000_000_000;
/// Rounds of each kernel.
const ROUNDS: u32 = 10;
/// The same with `--short`.
const SHORT_ROUNDS: u32 = 3;

/// Measures the rounds that are missing, and writes the page.
pub fn run(arguments: &ExperimentRun) -> Outcome {
    let name = &arguments.name;
    let experiment = on_a_board(name).ok_or_else(|| {
        let names: Vec<&str> = of_boards().iter().map(|one| one.name).collect();
        format!("{name}: no experiment; there are {}", names.join(", "))
    })?;
    let guest = booted(experiment, arguments.cpu)?.ok_or_else(|| none_booted(experiment))?;
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => {
            wakepath_console::runs::home_can_be_used()?;
            Path::new(HOME).join(if arguments.short {
                format!("experiment-{name}-short")
            } else {
                format!("experiment-{name}")
            })
        }
    };
    let is_used = std::fs::read_dir(&directory).is_ok_and(|mut all| all.next().is_some());
    if is_used && !arguments.resume {
        return Err(format!(
            "{}: not empty; resume it with --resume, or give another --directory",
            directory.display()
        )
        .into());
    }
    let interrupt = Interrupt::listen()?;
    let duration = duration(experiment, arguments.short)?;
    let program = wakepath_programs::companion("wakepath")?;
    let plain = arguments.no_tui || arguments.json || wakepath_console::terminal::is_quiet();
    let shown = duration.as_deref().unwrap_or("10min");
    let mut executor = ProcessExecutor::new(program, interrupt, shown, plain);
    let usual = if arguments.short {
        SHORT_ROUNDS
    } else {
        ROUNDS
    };
    let mut kernel_rounds = KernelRounds {
        arguments,
        experiment,
        guest,
        kernel_directory: directory.join(folder_of(guest)),
        scenario: round_scenario(arguments, experiment, duration.as_deref())?,
        duration,
        directory,
        rounds: arguments.rounds.unwrap_or(usual),
        measured: 0,
    };
    let directory = kernel_rounds.directory.clone();
    let place = Directory::make(&directory, Trust::Own);
    let place = place.or_else(|_| Directory::to_write(&directory, Trust::Own))?;
    drop(place);
    registered(&directory, experiment, is_used)?;
    if let Err(error) = sequence::carry_out(&mut kernel_rounds, &mut executor) {
        kernel_rounds.remove_claims_without_rounds();
        return Err(error);
    }
    tell!("{}", kernel_rounds.cannot_show());
    show(&[joined(&directory)?], &directory, arguments.json)
}

fn none_booted(experiment: &Experiment) -> String {
    let wanted = experiment.guests.iter().map(|guest| guest.kernel);
    format!(
        "{}: the running kernel is not one of its kernels, or its preemption model is unknown (`wakepath machine`); it \
         takes {}",
        experiment.name,
        wanted.collect::<Vec<_>>().join("; ")
    )
}

/// What `--duration` a round is given: none where the scenario's own is short enough.
fn duration(experiment: &Experiment, is_short: bool) -> Result<Option<String>, Failure> {
    let own_ns = scenario_of(experiment)?.estimated_run_ns();
    Ok((is_short && own_ns > SHORT_NS).then(|| format!("{}s", SHORT_NS / 1_000_000_000)))
}

/// The scenario of a round. Refuses what the first round would refuse, before anything is written.
fn round_scenario(
    arguments: &ExperimentRun,
    experiment: &Experiment,
    duration: Option<&str>,
) -> Result<Scenario, Failure> {
    let host = scenarios::host_cpus()?;
    scenarios::check_cpu(arguments.cpu, &host)?;
    let (text, source) = scenarios::scenario_text(experiment.scenario)?;
    let overrides = ScenarioOverrides {
        rate: None,
        cpu: arguments.cpu,
        task: None,
        policies: &[],
        criterion: None,
        reserved_for: None,
    };
    let (mut scenario, warnings) =
        scenarios::read_with_overrides(&text, &source, &overrides, &host)?;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    match duration {
        None => Ok(scenario),
        Some(duration) => {
            let (fitted, _) = scenarios::fit_duration(&scenario, warnings, "--short:", duration)?;
            Ok(fitted)
        }
    }
}

/// Rounds on the running kernel.
struct KernelRounds<'a> {
    arguments: &'a ExperimentRun,
    experiment: &'static Experiment,
    guest: &'static Guest,
    /// Directory of all kernels.
    directory: PathBuf,
    /// Directory of this kernel's rounds.
    kernel_directory: PathBuf,
    /// Of a round.
    scenario: Scenario,
    duration: Option<String>,
    /// Number of rounds.
    rounds: u32,
    /// How many are complete.
    measured: u32,
}

impl Plan for KernelRounds<'_> {
    /// Number of the round, from 1.
    type Subject = u32;

    fn next(&self) -> Option<Step<u32>> {
        let round = self.measured + 1;
        (round <= self.rounds).then(|| Step {
            subject: round,
            name: format!("{}, round {round} of {}", self.guest.name, self.rounds),
            directory: round_in(&self.kernel_directory, round),
            remaining: self.rounds - round,
        })
    }

    fn order(&mut self, step: &Step<u32>) -> Result<OrderedRun, Failure> {
        tell!("{}", step.name);
        let mut command = Invocation::of_scenario(self.experiment.scenario);
        if let Some(duration) = &self.duration {
            command = command.with(RunOption::Duration, duration);
        }
        if let Some(cpu) = self.arguments.cpu {
            command = command.with(RunOption::Cpu, cpu.to_string());
        }
        if self.arguments.trace {
            command = command.with_switch(RunOption::Trace);
        }
        Ok(OrderedRun {
            scenario: self.scenario.to_toml(),
            source: format!("{} (built in)", self.experiment.scenario),
            directory: step.directory.clone(),
            trust_directory: false,
            metrics: None,
            invocation: command,
        })
    }

    /// Rounds of another length can't be joined with these.
    fn take(&mut self, step: Step<u32>, run: Run, origin: Origin) -> Result<(), Failure> {
        let its = &run.manifest.scenario;
        let read = Scenario::parse(
            &its.toml,
            "the scenario of the round",
            &KnownCpus::first(1024),
        )?;
        if its.name != self.experiment.scenario || read.cycles != self.scenario.cycles {
            return Err(format!(
                "{}: holds {} with {} due times of each condition, not {} with {}; give another --directory",
                step.directory.display(),
                its.name,
                read.cycles,
                self.experiment.scenario,
                self.scenario.cycles
            )
            .into());
        }
        if origin == Origin::Resumed {
            tell!("{}: measured before", step.name);
        }
        self.measured += 1;
        Ok(())
    }

    fn after_interruption(&self) -> String {
        format!(
            "whole rounds are kept: resume with --resume --directory {}",
            self.directory.display()
        )
    }
}

impl KernelRounds<'_> {
    /// Claims are registered again if no round was measured: the next command then needs no `--resume`.
    fn remove_claims_without_rounds(&self) {
        // A directory that can't be removed, or is not empty, stays.
        let _ = std::fs::remove_dir(&self.kernel_directory);
        let only_claims = std::fs::read_dir(&self.directory).map_or(0, Iterator::count) == 1;
        if only_claims {
            let _ = std::fs::remove_file(claims_file(&self.directory, self.experiment));
        }
        let _ = std::fs::remove_dir(&self.directory);
    }

    /// Open questions after this number of rounds of this kernel.
    fn cannot_show(&self) -> String {
        let others = self.experiment.guests.iter();
        let others = others.filter(|guest| guest.name != self.guest.name);
        let others: Vec<String> = others
            .filter(|guest| {
                !self
                    .kernel_directory
                    .with_file_name(folder_of(guest))
                    .exists()
            })
            .map(|guest| format!("{} ({})", guest.name, guest.kernel))
            .collect();
        let short = match self.duration {
            Some(_) => {
                "a short round has fewer due times than were published, and its largest values say less; "
            }
            None => "",
        };
        match &others[..] {
            [] => format!(
                "note: {short}every kernel of {} was measured",
                self.experiment.name
            ),
            _ => format!(
                "note: {short}not measured yet: {}; boot it and resume with --resume",
                others.join(", ")
            ),
        }
    }
}

//! An experiment carried out on the running kernel: each round is a separate run in its own
//! process, in `DIR/KERNEL/round-N`. Existing rounds are not measured again.

use super::command_line::ExperimentRun;
use super::joined::{folder_of, joined, round_in};
use super::{Failure, booted, scenario_of, show};
use std::path::{Path, PathBuf};
use wakepath_archive::{Invocation, Run, RunOption};
use wakepath_console::aside::set_aside;
use wakepath_console::changed::Changes;
use wakepath_console::parts::Parts;
use wakepath_console::run_order::OrderedRun;
use wakepath_console::runs::HOME;
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
            Path::new(HOME).join(match arguments.short {
                true => format!("experiment-{name}-short"),
                false => format!("experiment-{name}"),
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
    let order = Order {
        arguments,
        experiment,
        guest,
        kernel_place: directory.join(folder_of(guest)),
        scenario: round_scenario(arguments, experiment, duration.as_deref())?,
        duration,
        program: wakepath_programs::companion("wakepath")?,
    };
    let place = Directory::make(&directory, Trust::Own);
    let place = place.or_else(|_| Directory::to_write(&directory, Trust::Own))?;
    drop(place);
    registered(&directory, experiment, is_used)?;
    order.measure(&interrupt, &directory)?;
    tell!("{}", order.cannot_show());
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
    scenarios::may_use(arguments.cpu, &host)?;
    let (text, source) = scenarios::scenario_text(experiment.scenario)?;
    let changes = Changes {
        rate: None,
        cpu: arguments.cpu,
        task: None,
        policies: &[],
        criterion: None,
        reserved_for: None,
    };
    let (mut scenario, warnings) = scenarios::changed(&text, &source, &changes, &host)?;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    match duration {
        None => Ok(scenario),
        Some(duration) => {
            let (fitted, _) = scenarios::fitted(&scenario, warnings, "--short:", duration)?;
            Ok(fitted)
        }
    }
}

/// Measurement on the running kernel.
struct Order<'a> {
    arguments: &'a ExperimentRun,
    experiment: &'static Experiment,
    guest: &'static Guest,
    kernel_place: PathBuf,
    /// Of a round.
    scenario: Scenario,
    duration: Option<String>,
    /// The program that measures.
    program: PathBuf,
}

impl Order<'_> {
    fn rounds(&self) -> u32 {
        let usual = match self.arguments.short {
            true => SHORT_ROUNDS,
            false => ROUNDS,
        };
        self.arguments.rounds.unwrap_or(usual)
    }

    fn measure(&self, interrupt: &Interrupt, directory: &Path) -> Result<(), Failure> {
        let shown = self.duration.as_deref().unwrap_or("10min");
        let plain =
            self.arguments.no_tui || self.arguments.json || wakepath_console::terminal::is_quiet();
        let mut parts = Parts::of(self.program.clone(), shown, plain);
        let rounds = self.rounds();
        for round in 1..=rounds {
            let place = round_in(&self.kernel_place, round);
            let part = format!("{}, round {round} of {rounds}", self.guest.name);
            if self.is_whole(&place)? {
                tell!("{part}: measured before");
                continue;
            }
            tell!("{part}");
            set_aside(&place, &part, |number| {
                place.with_file_name(format!("interrupted-{number}-round-{round}"))
            })?;
            std::fs::create_dir_all(&self.kernel_place)
                .map_err(|error| format!("{}: {error}", self.kernel_place.display()))?;
            let failed = parts.carry_out(self.ordered(&place), &part, rounds - round)?;
            if interrupt.requested() {
                return Err(format!(
                    "interrupted; whole rounds are kept: resume with --resume --directory {}",
                    directory.display()
                )
                .into());
            }
            match (self.is_whole(&place), failed) {
                (Ok(true), _) => {}
                (Ok(false), Some(why)) => {
                    leave_nothing_of_a_refusal(&place, directory, self.experiment);
                    return Err(format!("{part}: {why}").into());
                }
                (Ok(false), None) => {
                    let why = "ended before its time; its notes say why: wakepath show";
                    return Err(format!("{part}: {why} {}", place.display()).into());
                }
                (Err(error), _) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether a whole round lies there. One of another length can't be joined with these.
    fn is_whole(&self, place: &Path) -> Result<bool, Failure> {
        let run = Run::open(place).ok();
        let Some(run) = run.filter(Run::is_complete) else {
            return Ok(false);
        };
        let its = &run.manifest.scenario;
        let read = Scenario::parse(
            &its.toml,
            "the scenario of the round",
            &KnownCpus::first(1024),
        )?;
        match its.name == self.experiment.scenario && read.cycles == self.scenario.cycles {
            true => Ok(true),
            false => Err(format!(
                "{}: holds {} with {} due times of each condition, not {} with {}; give another --directory",
                place.display(),
                its.name,
                read.cycles,
                self.experiment.scenario,
                self.scenario.cycles
            )
            .into()),
        }
    }

    fn ordered(&self, place: &Path) -> OrderedRun {
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
        OrderedRun {
            scenario: self.scenario.to_toml(),
            source: format!("{} (built in)", self.experiment.scenario),
            directory: place.to_owned(),
            trust_directory: false,
            metrics: None,
            invocation: command,
        }
    }

    /// Open questions after this number of rounds of this kernel.
    fn cannot_show(&self) -> String {
        let others = self.experiment.guests.iter();
        let others = others.filter(|guest| guest.name != self.guest.name);
        let others: Vec<String> = others
            .filter(|guest| !self.kernel_place.with_file_name(folder_of(guest)).exists())
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

/// A round that was refused before its first sample is not evidence: without it the next command
/// needs no `--resume`.
fn leave_nothing_of_a_refusal(place: &Path, directory: &Path, experiment: &Experiment) {
    // An unreadable run might hold samples.
    let Ok(run) = Run::open(place) else { return };
    let mut threads = run.manifest.segments.iter().flat_map(|of| &of.threads);
    if threads.any(|thread| thread.recorded > 0) {
        return;
    }
    // A directory that can't be removed, or is not empty, stays.
    let _ = std::fs::remove_dir_all(place);
    for above in place.ancestors().skip(1) {
        let is_ours = above.starts_with(directory);
        let rest = std::fs::read_dir(above).map_or(0, Iterator::count);
        // Claims without any round are registered again.
        if above == directory && rest == 1 {
            let _ = std::fs::remove_file(claims_file(directory, experiment));
        }
        if !is_ours || std::fs::remove_dir(above).is_err() {
            break;
        }
    }
}

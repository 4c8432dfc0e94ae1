//! `wakepath lab run`: a scenario on each kernel, each variant and each seed.

use super::command_line::{LabHost, LabRun};
use super::host;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;
use wakepath_console::terminal::{print_result, tell};
use wakepath_console::{Outcome, explanation, run_directory, scenarios};
use wakepath_directory::Directory;
use wakepath_lab::{
    Compared, GuestsAsked, Laboratory, Measuring, baseline, baseline_order, comparison_json,
    comparison_text, take_place, write_baseline,
};
use wakepath_measure::{HostCpus, Interrupt};
use wakepath_report::Style;
use wakepath_scenario::{Scenario, Warning};

type Failure = Box<dyn std::error::Error>;

/// Boots, measures, compares.
pub fn run(arguments: &LabRun) -> Outcome {
    let guests = arguments.guests.asked();
    let scenario = scenario(arguments)?;
    let directory = place(arguments.directory.as_deref(), &scenario.name)?;
    let on = &arguments.guests.host;
    take_place(&directory, on.trust())?;
    let compared = measure(&guests, on, &scenario, &arguments.seed, &directory)?;
    print_result(
        arguments.json,
        &if arguments.json {
            comparison_json(&compared)
        } else {
            comparison_text(&compared, Style::of_stdout())
        },
    )?;
    let all_whole = compared.iter().all(Compared::is_whole);
    match &arguments.baseline {
        Some(file) if all_whole => {
            let whole: Vec<_> = compared
                .into_iter()
                .map(Compared::into_whole)
                .collect::<Result<_, _>>()?;
            let order = baseline_order(&guests, &scenario, &arguments.seed);
            write_baseline(file, &baseline(order, &whole)?)?;
            tell!("baseline: {}", file.display());
        }
        Some(file) => tell!(
            "baseline: {} is not written: not all guests ended well",
            file.display()
        ),
        None => (),
    }
    Ok(ExitCode::from(u8::from(!all_whole)))
}

fn scenario(arguments: &LabRun) -> Result<Scenario, Failure> {
    let (mut scenario, mut warnings) = read(&arguments.scenario, arguments.guests.cpus)?;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    if let Some(duration) = &arguments.duration {
        (scenario, warnings) =
            scenarios::fit_duration(&scenario, warnings, "--duration", duration)?;
    }
    warn(warnings);
    Ok(scenario)
}

/// A scenario as it is, for guests with this number of CPUs.
pub fn for_guests(scenario: &str, cpus: u16) -> Result<Scenario, Failure> {
    let (scenario, warnings) = read(scenario, cpus)?;
    warn(warnings);
    Ok(scenario)
}

fn read(scenario: &str, cpus: u16) -> Result<(Scenario, Vec<Warning>), Failure> {
    // None is isolated as far as this host knows.
    let known = HostCpus {
        allowed: (0..cpus).collect(),
        isolated: Vec::new(),
    };
    let (text, source) = scenarios::scenario_text(scenario)?;
    let read = scenarios::read_scenario(&text, &source, &known);
    Ok(read.map_err(|error| format!("{error} (--cpus {cpus}: the guest's)"))?)
}

fn warn(mut warnings: Vec<Warning>) {
    // No criterion is judged.
    warnings.retain(|warning| !matches!(warning, Warning::TooShortToPass { .. }));
    for warning in &warnings {
        tell!("warning: {warning}");
    }
}

/// Where the runs of a scenario go.
pub fn place(given: Option<&Path>, scenario: &str) -> Result<PathBuf, String> {
    match given {
        Some(directory) => Ok(directory.to_owned()),
        None => run_directory::default_directory(&format!("lab-{scenario}"), SystemTime::now()),
    }
}

/// Carries a scenario out in each guest and reads what came back.
pub fn measure(
    guests: &GuestsAsked,
    on: &LabHost,
    scenario: &Scenario,
    seeds: &[u64],
    directory: &Path,
) -> Result<Vec<Compared>, Failure> {
    measure_as(guests, on, scenario, seeds, directory, &Before::default())
}

/// Existing parts of a measurement.
#[derive(Default)]
pub struct Before {
    /// Runs of these guests.
    pub done: Vec<PathBuf>,
    /// A run that the one guest repeats: it stops at the first difference.
    pub first: Option<PathBuf>,
}

/// The same, with the existing parts.
pub fn measure_as(
    guests: &GuestsAsked,
    on: &LabHost,
    scenario: &Scenario,
    seeds: &[u64],
    directory: &Path,
    before: &Before,
) -> Result<Vec<Compared>, Failure> {
    let (host, asked) = (host()?, on.asked());
    let laboratory = Laboratory::new(guests, &asked, &host)?;
    let measuring = Measuring::prepare(&laboratory, scenario, seeds, directory)?;
    let measuring = measuring.without(&before.done);
    let measuring = match &before.first {
        Some(first) => measuring.repeating(first.clone()),
        None => measuring,
    };
    let interrupt = Interrupt::listen()?;
    tell!("{}", measuring.announcement());
    let recorded = measuring.carry_out(&|| interrupt.requested());
    let compared = recorded.into_iter().map(|recorded| {
        if recorded.outcome.is_ok() {
            match Directory::to_write(&recorded.directory, on.trust()) {
                Ok(directory) => explanation::explain(&directory),
                Err(error) => tell!("warning: the run is recorded, but not explained: {error}"),
            }
        }
        Compared::new(recorded)
    });
    Ok(compared.collect())
}

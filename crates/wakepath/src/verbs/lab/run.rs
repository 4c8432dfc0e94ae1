//! `wakepath lab run`: a scenario on each kernel, each variant and each seed.

use super::comparison::{self, Compared};
use super::counted;
use super::guests::carry_out;
use super::prepare::{Laboratory, Task};
use crate::command_line::{LabGuests, LabRun};
use crate::verbs::{Outcome, measured, print};
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;
use wakepath_archive::Run;
use wakepath_assess::Assessment;
use wakepath_measure::{HostCpus, Interrupt};
use wakepath_report::Style;
use wakepath_scenario::{Scenario, Warning};

type Failure = Box<dyn std::error::Error>;

/// Boots, measures, compares.
pub fn run(arguments: &LabRun) -> Outcome {
    let options = &arguments.guests;
    let cpus = guest_cpus(options.cpus);
    let (text, source) = measured::scenario_text(&arguments.scenario)?;
    let (mut scenario, mut warnings) = measured::read_scenario(&text, &source, &cpus)
        .map_err(|error| format!("{error} (--cpus {}: the guest's)", options.cpus))?;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    let scenario = match &arguments.duration {
        None => scenario,
        Some(duration) => {
            let (fitted, kept) = measured::fitted(&scenario, warnings, duration)?;
            warnings = kept;
            fitted
        }
    };
    // No criterion is judged.
    warnings.retain(|warning| !matches!(warning, Warning::TooShortToPass { .. }));
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => measured::default_directory(&format!("lab-{}", scenario.name), SystemTime::now()),
    };
    measured::refuse_used(&directory)?;
    let compared = measure(options, &scenario, &arguments.seed, &directory)?;
    print(&match arguments.json {
        true => comparison::to_json(&compared),
        false => comparison::to_text(&compared, Style::of_stdout()),
    })?;
    let whole = compared.iter().all(Compared::is_whole);
    match &arguments.baseline {
        Some(file) if whole => {
            let order = counted::order(options, &scenario, &arguments.seed);
            counted::write(file, &counted::baseline(order, &compared)?)?;
            eprintln!("baseline: {}", file.display());
        }
        Some(file) => eprintln!(
            "baseline: {} is not written: not all guests ended well",
            file.display()
        ),
        None => (),
    }
    Ok(ExitCode::from(u8::from(!whole)))
}

/// The CPUs of a guest, none isolated as far as the host knows.
pub fn guest_cpus(cpus: u16) -> HostCpus {
    HostCpus {
        allowed: (0..cpus).collect(),
        isolated: Vec::new(),
    }
}

/// Carries a scenario out in each guest and reads what came back.
pub fn measure(
    options: &LabGuests,
    scenario: &Scenario,
    seeds: &[u64],
    directory: &Path,
) -> Result<Vec<Compared>, Failure> {
    let laboratory = Laboratory::new(options)?;
    let task = Task {
        command: None,
        scenario: Some(scenario),
        seeds,
    };
    let limit = laboratory.limit(&task)?;
    let guests = laboratory.guests(&task, directory)?;
    let interrupt = Interrupt::listen()?;
    eprintln!(
        "{} of {:.1} s virtual time each, {} at a time, with {}",
        match guests.len() {
            1 => "1 guest".to_owned(),
            number => format!("{number} guests"),
        },
        scenario.estimated_run_ns() as f64 / 1e9,
        laboratory.beside().min(guests.len()),
        laboratory.qemu.version
    );
    let beside = laboratory.beside();
    let ended = carry_out(&guests, &laboratory.qemu, beside, limit, &interrupt);
    let mut compared = Vec::new();
    for (guest, outcome) in guests.iter().zip(ended) {
        let finished = outcome.and_then(|()| {
            wakepath_archive::finish(&guest.directory).map_err(|error| error.to_string())
        });
        let assessment = match finished {
            Ok(_) => {
                measured::explain(&guest.directory);
                Assessment::of(&Run::open(&guest.directory)?).map_err(|e| e.to_string())
            }
            Err(error) => Err(error),
        };
        compared.push(Compared {
            guest: guest.name.clone(),
            directory: guest.directory.display().to_string(),
            assessment,
        });
    }
    Ok(compared)
}

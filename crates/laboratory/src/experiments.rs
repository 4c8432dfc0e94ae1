//! `wakepath lab experiments`: repeats published experiments and writes the page that compares our
//! figures with the published ones.

use super::command_line::LabExperiments;
use super::host;
use super::run::{Before, measure_as};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;
use wakepath_archive::Run;
use wakepath_assess::explanation::kept;
use wakepath_console::progress::assessed;
use wakepath_console::terminal::{print_result, tell};
use wakepath_console::{Outcome, explanation, run_directory};
use wakepath_directory::{Directory, Trust};
use wakepath_experiments::{Claims, Repeated, SecondRun, all, pages};
use wakepath_explain::Explanation;
use wakepath_lab::{
    Compared, GivenKernel, GuestsAsked, Repetition, chosen_experiments, guest_run, index_of_pages,
    registered, repetitions_json, repetitions_text, write_pages,
};
use wakepath_scenario::Scenario;

type Failure = Box<dyn std::error::Error>;

/// Repeats what is not there yet, and writes the page.
pub fn run(arguments: &LabExperiments) -> Outcome {
    if arguments.list {
        return list();
    }
    if let Some(pages) = &arguments.index {
        print_result(false, &index_of_pages(pages)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => run_directory::default_directory("lab-experiments", SystemTime::now())?,
    };
    // Before anything boots: unusable options are refused at once.
    if directory.exists() {
        Directory::to_write(&directory, arguments.host.trust())?;
    }
    let kernels: Vec<GivenKernel> = arguments
        .kernel
        .iter()
        .map(|text| GivenKernel::parse(text))
        .collect::<Result<_, _>>()?;
    let wanted = chosen_experiments(&arguments.name)?.into_iter();
    let wanted: Vec<Repetition> = wanted
        .map(|experiment| {
            Repetition::new(
                experiment,
                arguments.cycles,
                arguments.seeds,
                &directory,
                &kernels,
            )
        })
        .collect::<Result<_, _>>()?;
    if !arguments.pages_only {
        announce(arguments, &wanted);
    }
    let mut repeated = Vec::new();
    for wanted in &wanted {
        let experiment = wanted.experiment;
        let claims = registered(&directory, experiment, wanted.has_runs())?;
        if !arguments.pages_only {
            repeat(arguments, wanted)?;
        }
        let second_run = wanted.second_run()?;
        if let Some(words) = second_run.in_words() {
            tell!("{}: {words}", experiment.name);
        }
        repeated.push(read(wanted, claims, second_run, arguments.host.trust())?);
    }
    let place = arguments.page.as_ref().unwrap_or(&directory);
    let path = write_pages(&pages(&repeated), place)?;
    print_result(
        arguments.json,
        &if arguments.json {
            format!("{:#}\n", repetitions_json(&repeated))
        } else {
            repetitions_text(&repeated, &path)
        },
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what the command costs, before it starts.
fn announce(arguments: &LabExperiments, all: &[Repetition]) {
    let at_once = match arguments.host.jobs {
        Some(jobs) => jobs.into(),
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
    };
    let mut seconds = 0.0;
    for one in all {
        seconds += one.seconds_left(at_once);
        let guests = match one.guests_left() {
            1 => "1 guest".to_owned(),
            number => format!("{number} guests"),
        };
        tell!(
            "{}: {guests} to run, about {:.0} min, {at_once} at a time",
            one.experiment.name,
            (one.seconds_left(at_once) / 60.0).ceil()
        );
    }
    if all.len() > 1 {
        tell!("together about {:.0} min", (seconds / 60.0).ceil());
    }
}

/// Runs the guests of an experiment that are not there yet.
fn repeat(arguments: &LabExperiments, wanted: &Repetition) -> Result<(), Failure> {
    let (experiment, place) = (wanted.experiment, &wanted.place);
    if wanted.guests_left() > 0 {
        wanted.has_the_program_of_its_runs(&arguments.host.asked(), &host()?)?;
    }
    if wanted.is_there {
        tell!("{}: its runs are in {}", experiment.name, place.display());
    } else {
        tell!("{}: {}", experiment.name, experiment.title);
        let scenario = &wanted.scenario;
        carry_out(
            arguments,
            wanted,
            &wanted.asked(),
            scenario,
            &wanted.seeds,
            place,
            &done(&wanted.done),
        )?;
    }
    for one in wanted.given.iter().filter(|one| !one.is_there) {
        tell!("{}: {}", experiment.name, one.given.name);
        carry_out(
            arguments,
            wanted,
            &wanted.asked_of(one),
            &one.scenario,
            &wanted.seeds,
            &one.place,
            &done(&one.done),
        )?;
    }
    if !wanted.has_second_run {
        tell!("{}: one guest once more: does it repeat?", experiment.name);
        carry_out(
            arguments,
            wanted,
            &wanted.asked_again(),
            &wanted.scenario,
            &[wanted.seed_again()],
            &wanted.place_again(),
            &Before {
                first: wanted.must_repeat().then(|| wanted.first_run()),
                ..Before::default()
            },
        )?;
    }
    Ok(())
}

fn done(runs: &[PathBuf]) -> Before {
    Before {
        done: runs.to_vec(),
        first: None,
    }
}

fn carry_out(
    arguments: &LabExperiments,
    wanted: &Repetition,
    guests: &GuestsAsked,
    scenario: &Scenario,
    seeds: &[u64],
    place: &Path,
    before: &Before,
) -> Result<(), Failure> {
    let on = &arguments.host;
    for one in measure_as(guests, on, scenario, seeds, place, before)? {
        let whole = Compared::into_whole(one);
        whole.map_err(|error| format!("{}, {error}", wanted.experiment.name))?;
    }
    Ok(())
}

fn list() -> Outcome {
    let lines = all().iter().map(|experiment| {
        let given = experiment.given.iter().map(|given| given.name);
        let guests = experiment.guests.iter().map(|guest| guest.name);
        let guests: Vec<&str> = guests.chain(given).collect();
        format!(
            "{:14} {}: {}\n",
            experiment.name,
            experiment.title,
            guests.join(" / ")
        )
    });
    print_result(false, &lines.collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

fn read(
    repetition: &Repetition,
    claims: Claims,
    second_run: SecondRun,
    trust: Trust,
) -> Result<Repeated, Failure> {
    let mut guests = Vec::new();
    for (guest, run) in repetition.runs() {
        let Some(run) = run? else { continue };
        let (assessment, pictures) = assessed(&run, true)?;
        let explanation = match kept(run.directory())? {
            // Its laboratory was stopped before it came to that.
            None => explained(&run, trust)?,
            there => there,
        };
        guests.push(guest_run(guest, &run, &assessment, pictures, explanation)?);
    }
    Ok(Repeated {
        experiment: repetition.experiment,
        claims,
        second_run,
        guests,
    })
}

fn explained(run: &Run, trust: Trust) -> Result<Option<Explanation>, Failure> {
    explanation::explain(&Directory::to_write(run.directory(), trust)?);
    Ok(kept(run.directory())?)
}

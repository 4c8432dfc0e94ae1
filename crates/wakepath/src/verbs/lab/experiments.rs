//! `wakepath lab experiments`: repeats published experiments and writes the page that sets our figures
//! beside the published ones.

use super::run::measure;
use crate::command_line::LabExperiments;
use crate::terminal::tell;
use crate::verbs::progress::assessed;
use crate::verbs::{Outcome, place, print_result};
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;
use wakepath_assess::explanation::kept;
use wakepath_directory::Directory;
use wakepath_experiments::{Repeated, all, page};
use wakepath_lab::{
    Compared, GuestsAsked, Repetition, chosen_experiments, guest_run, repetitions_json,
    repetitions_text, write_page,
};

type Failure = Box<dyn std::error::Error>;

/// Repeats what is not there yet, and writes the page.
pub fn run(arguments: &LabExperiments) -> Outcome {
    if arguments.list {
        return list();
    }
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => place::default_directory("lab-experiments", SystemTime::now()),
    };
    // Before anything boots: what can't be used is said at once.
    if directory.exists() {
        Directory::to_write(&directory, arguments.host.trust())?;
    }
    let wanted = chosen_experiments(&arguments.name)?.into_iter();
    let wanted: Vec<Repetition> = wanted
        .map(|experiment| Repetition::of(experiment, arguments.cycles, arguments.seeds, &directory))
        .collect::<Result<_, _>>()?;
    let mut repeated = Vec::new();
    for wanted in &wanted {
        let (experiment, place) = (wanted.experiment, &wanted.place);
        if wanted.is_there {
            tell!("{}: its runs are in {}", experiment.name, place.display());
        } else {
            tell!("{}: {}", experiment.name, experiment.title);
            carry_out(arguments, wanted, &wanted.asked(), &wanted.seeds, place)?;
        }
        if !wanted.is_repeated {
            tell!("{}: one guest once more: it must repeat", experiment.name);
            carry_out(
                arguments,
                wanted,
                &wanted.asked_again(),
                &[wanted.seed_again()],
                &wanted.place_again(),
            )?;
        }
        wanted.holds()?;
        repeated.push(read(wanted)?);
    }
    let place = arguments.page.as_ref().unwrap_or(&directory);
    let path = write_page(&page(&repeated), place)?;
    print_result(
        arguments.json,
        &match arguments.json {
            true => format!("{:#}\n", repetitions_json(&repeated)),
            false => repetitions_text(&repeated, &path),
        },
    )?;
    Ok(ExitCode::SUCCESS)
}

fn carry_out(
    arguments: &LabExperiments,
    wanted: &Repetition,
    guests: &GuestsAsked,
    seeds: &[u64],
    place: &Path,
) -> Result<(), Failure> {
    let on = &arguments.host;
    for one in measure(guests, on, &wanted.scenario, seeds, place)? {
        let whole = Compared::into_whole(one);
        whole.map_err(|error| format!("{}, {error}", wanted.experiment.name))?;
    }
    Ok(())
}

fn list() -> Outcome {
    let lines = all().iter().map(|experiment| {
        let guests: Vec<&str> = experiment.guests.iter().map(|guest| guest.name).collect();
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

fn read(repetition: &Repetition) -> Result<Repeated, Failure> {
    let mut guests = Vec::new();
    for (guest, run) in repetition.runs() {
        let run = run?;
        let (assessment, pictures) = assessed(&run, true)?;
        let explanation = kept(run.directory())?;
        guests.push(guest_run(guest, &run, &assessment, pictures, explanation)?);
    }
    Ok(Repeated {
        experiment: repetition.experiment,
        guests,
    })
}

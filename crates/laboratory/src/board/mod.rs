//! `wakepath experiment`: published experiments repeated on this board, with the built-in scenario
//! of the same name. Their definitions and claims are in the room `experiments`.

pub mod command_line;
mod joined;
mod rounds;

use clap::CommandFactory;
use command_line::{CommandLine, Experiment, ExperimentPage};
use joined::{findings_json, joined};
use serde_json::json;
use std::process::ExitCode;
use wakepath_console::terminal::{OneLine, print_result};
use wakepath_console::{Outcome, candidates, manual, scenarios};
use wakepath_experiments::{Guest, Repeated, findings_text, guest_of, of_boards, pages};
use wakepath_lab::write_pages;
use wakepath_machine::{Facts, Root};
use wakepath_scenario::{KnownCpus, Scenario, builtin};
use wakepath_timeline::columns::wrapped;
use wakepath_timeline::duration;

type Failure = Box<dyn std::error::Error>;
type Published = wakepath_experiments::Experiment;

/// Lists, measures, writes pages.
pub fn run(verb: &Experiment) -> Outcome {
    match verb {
        Experiment::List { json } => list(*json),
        Experiment::Run(arguments) => rounds::run(arguments),
        Experiment::Page(arguments) => page_of(arguments),
        Experiment::Candidates { words } => Ok(candidates::print(CommandLine::command(), words)),
        Experiment::Man { directory } => manual::write(CommandLine::command(), directory),
    }
}

/// Which of an experiment's kernels is booted, for a loop on this CPU, or on one of the scenario's choice.
fn booted(
    experiment: &'static Published,
    cpu: Option<u16>,
) -> Result<Option<&'static Guest>, Failure> {
    let facts = Facts::read(&Root::host());
    let set_apart = wakepath_tuning::LoopGroup::find(&Root::host());
    let mut isolated = scenarios::host_cpus()?.isolated;
    isolated.extend(set_apart.iter().flat_map(|group| group.cpus.numbers()));
    let is_isolated = match cpu {
        Some(cpu) => isolated.contains(&cpu),
        None => !isolated.is_empty(),
    };
    let model = facts.varying.preemption.model;
    Ok(guest_of(experiment, model, is_isolated))
}

/// The scenario of an experiment, on any machine.
fn scenario_of(experiment: &Published) -> Result<Scenario, Failure> {
    let text = builtin::named(experiment.scenario).map_or("", |builtin| builtin.text);
    let known = KnownCpus::first(16);
    Ok(Scenario::parse(text, experiment.scenario, &known)?)
}

fn list(as_json: bool) -> Outcome {
    let mut text = String::new();
    let mut all = Vec::new();
    for experiment in of_boards() {
        let round_ns = scenario_of(experiment)?.estimated_run_ns();
        let booted = booted(experiment, None)?.map(|guest| guest.name);
        let kernels: Vec<&str> = experiment.guests.iter().map(|guest| guest.name).collect();
        text += &format!("{}: {}\n", experiment.name, experiment.title);
        let said = format!(
            "kernels: {}; booted here: {}; a round takes about {}, of --short at most {}",
            kernels.join(" / "),
            booted.unwrap_or("none, or unknown"),
            duration::long(round_ns as f64 / 1e9),
            duration::long(round_ns.min(rounds::SHORT_NS) as f64 / 1e9),
        );
        text += &wrapped(&said, "  ", "  ", 100);
        all.push(json!({
            "name": experiment.name,
            "title": experiment.title,
            "kernels": kernels,
            "booted": booted,
            "round_ns": round_ns,
            "short_round_ns": round_ns.min(rounds::SHORT_NS),
        }));
    }
    let shown = if as_json {
        format!("{:#}\n", json!(all))
    } else {
        text
    };
    print_result(as_json, &shown)?;
    Ok(ExitCode::SUCCESS)
}

fn page_of(arguments: &ExperimentPage) -> Outcome {
    let all: Vec<Repeated> = arguments
        .directories
        .iter()
        .map(|directory| joined(directory))
        .collect::<Result<_, _>>()?;
    let place = match (&arguments.page, arguments.directories.first()) {
        (Some(place), _) | (None, Some(place)) => place,
        (None, None) => return Err("which directory?".into()),
    };
    show(&all, place, arguments.json)
}

/// Writes the page and prints what was found.
fn show(all: &[Repeated], place: &std::path::Path, as_json: bool) -> Outcome {
    let path = write_pages(&pages(all), place)?;
    let shown = if as_json {
        format!("{:#}\n", findings_json(all, &path))
    } else {
        findings_text(all) + &format!("page: {}\n", path.in_one_line())
    };
    print_result(as_json, &shown)?;
    Ok(ExitCode::SUCCESS)
}

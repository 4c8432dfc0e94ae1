//! `wakepath lab check`: the run of a baseline once more, and what takes longer than it did.

use super::command_line::LabCheck;
use super::run::{measure, place};
use std::process::ExitCode;
use wakepath_console::Outcome;
use wakepath_console::terminal::{print_result, tell};
use wakepath_lab::{
    Compared, LabError, baseline, baseline_order, changes_json, changes_text, read_baseline,
    take_place, write_baseline,
};
use wakepath_scenario::{KnownCpus, Scenario};

/// Boots what the baseline names, and holds its counts against it.
pub fn run(arguments: &LabCheck) -> Outcome {
    let before = read_baseline(&arguments.baseline)?;
    let order = &before.order;
    let mut guests = order.guests.clone();
    match arguments.kernel.len() {
        0 => {}
        given if given == guests.kernels.len() => guests.kernels.clone_from(&arguments.kernel),
        given => {
            let there = guests.kernels.join(", ");
            return Err(
                format!("{given} kernels in place of those of the baseline: {there}").into(),
            );
        }
    }
    if arguments.modules.is_some() {
        guests.added.modules_from.clone_from(&arguments.modules);
    }
    let source = arguments.baseline.display().to_string();
    let cpus = KnownCpus::first(guests.cpus);
    let scenario = Scenario::parse(&order.scenario, &source, &cpus)?;
    let directory = place(arguments.directory.as_deref(), &scenario.name)?;
    take_place(&directory, arguments.host.trust())?;
    let compared = measure(
        &guests,
        &arguments.host,
        &scenario,
        &order.seeds,
        &directory,
    )?;
    let whole = compared.into_iter().map(Compared::into_whole);
    let whole: Vec<_> = whole.collect::<Result<_, LabError>>()?;
    let now = baseline(baseline_order(&guests, &scenario, &order.seeds), &whole)?;
    let changes = before.changes(&now, arguments.allow / 100.0)?;
    let longer = changes.iter().any(|change| change.longer);
    print_result(
        arguments.json,
        &if arguments.json {
            changes_json(&before, &now, &changes, longer)?
        } else {
            changes_text(&before, &now, &changes, &whole)
        },
    )?;
    if arguments.write {
        write_baseline(&arguments.baseline, &now)?;
        tell!("baseline replaced: {source}");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(if longer { 2 } else { 0 }))
}

//! `wakepath lab costs`: cost of a run's cycles by a model of a core.

use super::command_line::LabCosts;
use super::host;
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_console::terminal::{OneLine, print_result};
use wakepath_console::{Outcome, run_directory, runs};
use wakepath_directory::Directory;
use wakepath_lab::cost::CostModel;
use wakepath_lab::{Again, CyclesAsked, Wanted, costs_json, costs_text, run_costs};
use wakepath_measure::Interrupt;

/// Repeats the run, keeps its costs and tells them.
pub fn run(arguments: &LabCosts) -> Outcome {
    let model = &arguments.cost_model;
    let model = CostModel::new(model).ok_or_else(|| format!("no cost model {model}"))?;
    let path = runs::find(Some(&arguments.run))?;
    let run = Run::open(&path)?;
    // Before anything boots: the costs are kept in the run.
    let trust = run_directory::trust(arguments.again.trust_directory);
    let directory = Directory::to_write(&path, trust)?;
    let wanted = Wanted::new(&run, &CyclesAsked::All)?;
    let interrupt = Interrupt::listen()?;
    let (host, on) = (host()?, arguments.again.asked());
    let again = Again::new(&run, arguments.again.kernel.as_deref(), &on, &host)?;
    let found = run_costs(model, &again, &wanted, &host, &|| interrupt.requested())?;
    let kept = serde_json::to_string_pretty(&costs_json(&found))? + "\n";
    let name = format!("costs-{}.json", model.name);
    let put = directory.put(&name, kept.as_bytes());
    put.map_err(|error| {
        format!(
            "can't write {}: {error}",
            directory.path_of(&name).in_one_line()
        )
    })?;
    print_result(
        arguments.json,
        &if arguments.json {
            kept
        } else {
            costs_text(&found)
        },
    )?;
    Ok(ExitCode::SUCCESS)
}

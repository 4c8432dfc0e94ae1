//! `wakepath explain` of a service's directory, and the same in its details: the worst cycles whose kernel events were
//! kept, each as the run that it has for itself explains it.

use crate::command_line::Explain;
use crate::explained_cycle;
use crate::open_run::opened;
use std::path::Path;
use std::process::ExitCode;
use wakepath_archive::command_about;
use wakepath_console::Outcome;
use wakepath_console::terminal::{OneLine, print_result};
use wakepath_explain::LateCycle;
use wakepath_report::cycle_text_of;
use wakepath_service::{WorstCycle, read_worst};
use wakepath_timeline::one_line;

/// Causes and pieces of a cycle that are shown next to others.
const MOST: usize = 4;

type Failure = Box<dyn std::error::Error>;

/// Why a kept trace explains nothing.
const NO_EVENTS: &str = "not explained: no kernel events around it; they were lost, or overwritten before they were kept";

/// Explains the worst cycles of each loop, the worst first; those whose events don't reach them are named so.
pub fn explain_worst(directory: &Path, arguments: &Explain) -> Outcome {
    let place = directory.in_one_line();
    if arguments.cycle.is_some() || arguments.perfetto.is_some() {
        return Err(format!(
            "{place}: is a service's; name one of its runs for that: {place}/worst/NAME or {place}/segments/NAME"
        )
        .into());
    }
    let worst = read_worst(directory).map_err(|error| format!("{place}: {error}"))?;
    let traced = worst.iter().flat_map(|(name, cycles)| {
        let traced = cycles.iter().filter(|of| of.trace.is_some());
        traced.take(arguments.worst).map(move |of| (name, of))
    });
    let mut found = Vec::new();
    let mut without_events = Vec::new();
    for (name, of) in traced {
        match (explained(directory, of)?, &of.trace) {
            (Some((run, cycle)), _) => found.push((name, run, cycle)),
            (None, Some(trace)) => without_events.push((name, one_line(&trace.run), trace.cycle)),
            (None, None) => {}
        }
    }
    if found.is_empty() && without_events.is_empty() {
        return Err(format!(
            "{place}: no worst cycle has kernel events; record the service with --trace"
        )
        .into());
    }
    let text = if arguments.json {
        let all = found.iter().map(
            |(name, run, cycle)| serde_json::json!({"loop": name, "run": run, "cycle": cycle}),
        );
        let others = without_events.iter().map(|(name, run, number)| {
            serde_json::json!({
                "loop": name, "run": run, "cycle": null, "number": number, "why": NO_EVENTS,
            })
        });
        serde_json::to_string_pretty(&all.chain(others).collect::<Vec<_>>())? + "\n"
    } else {
        let texts = found.iter().map(|(name, run, cycle)| {
            let number = cycle.cycle;
            let heading = format!("{}: {run} cycle {number}", one_line(name));
            cycle_text_of(cycle, &heading, MOST)
        });
        let named = format!("{}/worst/NAME", directory.display());
        let whole = command_about("explain", &named, "--cycle NUMBER");
        let whole = format!("\nevery piece: {whole}\n");
        let others = without_events.iter().map(|(name, run, number)| {
            format!("{}: {run} cycle {number}: {NO_EVENTS}\n", one_line(name))
        });
        let others: String = others.collect();
        texts.collect::<Vec<_>>().join("\n") + &others + &whole
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// The same next to a cycle in the details; empty if not available.
pub(super) fn in_details(directory: &Path, of: &WorstCycle) -> String {
    let Ok(Some((run, cycle))) = explained(directory, of) else {
        return String::new();
    };
    let heading = format!("why: {run} cycle {}", cycle.cycle);
    let text = cycle_text_of(&cycle, &heading, MOST);
    let lines = text.lines().filter(|line| !line.is_empty());
    lines.map(|line| format!("      {line}\n")).collect()
}

/// A cycle's run and its explanation, where its events are there.
fn explained(directory: &Path, of: &WorstCycle) -> Result<Option<(String, LateCycle)>, Failure> {
    let Some(trace) = &of.trace else {
        return Ok(None);
    };
    // It is in a file that anyone might have written.
    if Path::new(&trace.run).components().count() != 1 || trace.run.starts_with('.') {
        return Ok(None);
    }
    let run = opened(&directory.join("worst").join(&trace.run), true)?;
    let found = explained_cycle::find(&run, 0, 0, trace.cycle)?;
    Ok(found.map(|(_, cycle)| (one_line(&trace.run), cycle)))
}

//! `wakepath bound`: a run's evidence about its worst case, and a bound if possible.

use crate::command_line::{Bound, BoundMetricWord};
use crate::open_run::opened;
use std::path::Path;
use std::process::ExitCode;
use wakepath_assess::{BoundMetric, BoundOrder, Bounds, Exceed};
use wakepath_console::terminal::print_result;
use wakepath_console::{Outcome, runs};
use wakepath_report::{Style, ToText, bounds_details, bounds_in_short, to_json};
use wakepath_scenario::read_sections;
use wakepath_schedulability::Sections;

/// Examines and shows.
pub fn run(arguments: &Bound) -> Outcome {
    let exceed =
        Exceed::of_words(&arguments.exceed).map_err(|wrong| format!("--exceed: {wrong}"))?;
    let order = BoundOrder {
        metric: match arguments.metric {
            BoundMetricWord::Latency => BoundMetric::Latency,
            BoundMetricWord::Execution => BoundMetric::Execution,
            BoundMetricWord::Response => BoundMetric::Response,
        },
        exceed,
        policy: arguments.policy.clone(),
        phase: arguments.phase.clone(),
    };
    // A faulty file is reported before the run is read.
    let sections = arguments.sections.as_deref().map(sections).transpose()?;
    let directory = runs::find(arguments.run.as_deref())?;
    let run = opened(&directory, arguments.json)?;
    let mut bounds = Bounds::new(&run, &order)?;
    if let Some((sections, source)) = &sections {
        bounds = bounds.with_sections(sections, source)?;
    }
    let style = Style::of_stdout();
    let said = match (arguments.json, arguments.details) {
        (true, _) => to_json(&bounds),
        (false, true) => bounds.to_text(style) + &bounds_details(&bounds, style),
        (false, false) if arguments.all => bounds.to_text(style),
        (false, false) => bounds_in_short(&bounds, style, &runs::word_for(&directory)),
    };
    print_result(arguments.json, &said)?;
    Ok(ExitCode::from(bounds.exit_code()))
}

fn sections(path: &Path) -> Result<(Sections, String), Box<dyn std::error::Error>> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("{name}: {error}; give a file with the longest sections"))?;
    Ok((read_sections(&text, &name)?, name))
}

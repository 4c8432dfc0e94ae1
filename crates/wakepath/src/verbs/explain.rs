//! `wakepath explain`: why the late cycles of a recorded run were late.

use super::{Outcome, opened, print, print_result};
use crate::command_line::Explain;
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_assess::explanation::{
    Along, ExplainError, ExplainedRun, Nobody, Order, SegmentLoops, explain,
};
use wakepath_explain::{Explained, LateCycle};
use wakepath_report::{Timelines, cycle_text, explanation_text};
use wakepath_scenario::units;

/// Explains and shows.
pub fn run(arguments: &Explain) -> Outcome {
    let run = opened(&arguments.run, arguments.json)?;
    let mut order = Order::of_run(&run)?;
    if let Some(threshold) = &arguments.threshold {
        let ns = units::parse_duration(threshold)
            .map_err(|complaint| format!("--threshold {threshold}: {complaint}"))?;
        order.threshold_ns = Some(ns);
        order.threshold_from = "--threshold".into();
    }
    order.worst = arguments.worst;
    if let Some(cycle) = arguments.cycle {
        return one_cycle(&run, &order, cycle, arguments);
    }
    let ExplainedRun { explanation, .. } = match &arguments.perfetto {
        None => explain(&run, &order, &mut Nobody)?,
        Some(path) => {
            let failed = |error| format!("{}: {error}", path.display());
            let mut timelines = Timelines::create(path).map_err(failed)?;
            let explained = explain(&run, &order, &mut timelines)?;
            timelines.finish().map_err(failed)?;
            explained
        }
    };
    let text = match arguments.json {
        true => serde_json::to_string_pretty(&explanation)? + "\n",
        false => explanation_text(&explanation, arguments.worst),
    };
    print_result(arguments.json, &text)?;
    if let Some(path) = arguments.perfetto.as_ref().filter(|_| !arguments.json) {
        print(&format!(
            "\ntimeline: {}; open it in https://ui.perfetto.dev\n",
            path.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The cycles of one number, each as a timeline.
fn one_cycle(run: &Run, order: &Order, cycle: u64, arguments: &Explain) -> Outcome {
    let mut wanted = Wanted {
        cycle,
        segment: arguments.segment,
        found: Vec::new(),
    };
    explain(run, order, &mut wanted)?;
    if wanted.found.is_empty() {
        let segment = match arguments.segment {
            Some(segment) => format!(" of segment {segment}"),
            None => String::new(),
        };
        return Err(format!(
            "no cycle {cycle}{segment} with events; the worst cycles of each condition, with their \
             segments, are shown by wakepath explain {}",
            run.directory().display()
        )
        .into());
    }
    let shown: Vec<&LateCycle> = wanted.found.iter().map(|(_, cycle)| cycle).collect();
    let text = match arguments.json {
        true => serde_json::to_string_pretty(&shown)? + "\n",
        false => {
            let texts = wanted
                .found
                .iter()
                .map(|(heading, cycle)| cycle_text(cycle, heading));
            texts.collect::<Vec<_>>().join("\n")
        }
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Picks the cycles of one number out of the stream.
struct Wanted {
    cycle: u64,
    segment: Option<u32>,
    found: Vec<(String, LateCycle)>,
}

impl Along for Wanted {
    fn cycle(
        &mut self,
        loops: &SegmentLoops<'_>,
        number: usize,
        cycle: &Explained,
    ) -> Result<(), ExplainError> {
        let record = loops.record;
        let is_segment = self.segment.is_none_or(|segment| segment == record.segment);
        if cycle.sample.cycle == self.cycle && is_segment {
            let heading = format!(
                "{}, {}, {}: segment {} cycle {}",
                record.condition,
                record.phase,
                loops.name(number),
                record.segment,
                self.cycle
            );
            self.found
                .push((heading, LateCycle::of(cycle, record.segment)));
        }
        Ok(())
    }
}

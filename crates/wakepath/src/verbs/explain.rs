//! `wakepath explain`: why the late cycles of a recorded run were late.

mod absent;
mod code;

use code::WantedCode;

use crate::command_line::Explain;
use crate::explained_cycle::{CycleFilter, cycles_in_short};
use crate::open_run::opened;
use crate::service;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;
use wakepath_archive::{Run, command_about};
use wakepath_assess::explanation::{self, Nobody, Order, tell_of};
use wakepath_assess::watched::{KeptFigures, KeptFiguresError, ThreadChain};
use wakepath_console::explanation::explained;
use wakepath_console::option_value::Shown;
use wakepath_console::terminal::{self, OneLine, print, print_result};
use wakepath_console::{Outcome, runs};
use wakepath_directory::WholeFile;
use wakepath_explain::{Explanation, LateCycle};
use wakepath_report::{
    Remarks, Timelines, cycle_text, explanation_in_short, explanation_text, thread_chains_text,
};
use wakepath_scenario::units;

/// Explains and shows.
pub fn run(arguments: &Explain) -> Outcome {
    let directory = runs::find(arguments.run.as_deref())?;
    if wakepath_service::has_rounds(&directory) {
        let place = directory.display();
        return Err(
            format!("{place}: holds rounds; name one of them: {place}/segments/ROUND").into(),
        );
    }
    if wakepath_service::is_service(&directory) {
        return service::explain_worst(&directory, arguments);
    }
    let run = opened(&directory, arguments.json)?;
    let mut order = Order::of_run(&run)?;
    if let Some(latency) = &arguments.latency {
        let ns = units::parse_duration(latency)
            .map_err(|complaint| format!("--latency {latency} {complaint}"))?;
        order.threshold_ns = Some(ns);
        order.threshold_from = "--latency".into();
    }
    order.worst = arguments.worst;
    if let Some(cycle) = arguments.cycle {
        return one_cycle(&run, &order, cycle, arguments);
    }
    let wanted_code = WantedCode {
        cycle: None,
        segment: arguments.segment,
        worst: arguments.worst,
    };
    // Without kernel events code is all there is.
    if run.manifest.tracing.is_none() && !arguments.json && code::is_kept(&run)? {
        let text = code::text(&run, &wanted_code)?.unwrap_or_default();
        print(
            &(text
                + "no kernel events were recorded: causes need `wakepath lab run SCENARIO --trace`\n"),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let explanation = match (&arguments.perfetto, kept_answer(&directory, arguments)) {
        (None, Some(kept)) => kept,
        (None, None) => explained(&run, &order, &mut Nobody)?.explanation,
        (Some(path), _) => {
            let failed = |error: std::io::Error| format!("{}: {error}", path.display());
            let mut timelines = Timelines::new(WholeFile::create(path)?);
            let made = explained(&run, &order, &mut timelines)?;
            timelines.finish().map_err(failed)?.finish()?;
            made.explanation
        }
    };
    if let Some(wanted) = &arguments.policy {
        let conditions = explanation.conditions.iter();
        let mut known: Vec<&str> = conditions.map(|of| of.condition.as_str()).collect();
        known.dedup();
        if !known.is_empty() && !known.contains(&wanted.as_str()) {
            let known = known.join(", ");
            return Err(format!("--policy {}: the run has {known}", Shown(wanted)).into());
        }
    }
    let name = runs::word_for(&directory);
    let about = |options: &str| command_about("explain", &name, options);
    let text = match arguments.json {
        true => {
            let (explanation, chains) = (&explanation, ThreadChain::kept(&directory)?);
            let all = InJson {
                explanation,
                chains,
            };
            serde_json::to_string_pretty(&all)? + "\n"
        }
        false if arguments.all => {
            late_chains(&directory, usize::MAX, Remarks::All)?
                + &explanation_text(&explanation, arguments.worst)
        }
        false => {
            late_chains(&directory, CHAINS, Remarks::WhyLate)?
                + &explanation_in_short(&explanation, arguments.policy.as_deref())
                + &format!(
                    "\nall conditions: {}\none cycle: {}\n",
                    about("--all"),
                    about("--cycle NUMBER --segment NUMBER")
                )
        }
    };
    print_result(arguments.json, &text)?;
    if let (Some(text), false) = (code::text(&run, &wanted_code)?, arguments.json) {
        print(&format!("\n{text}"))?;
    }
    if let Some(path) = arguments.perfetto.as_ref().filter(|_| !arguments.json) {
        print(&format!(
            "\ntimeline: {}; open it in https://ui.perfetto.dev\n",
            path.in_one_line()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// An explanation as `--json` prints it.
#[derive(Serialize)]
struct InJson<'a> {
    #[serde(flatten)]
    explanation: &'a Explanation,
    /// Chains of a watched program's threads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    chains: Vec<ThreadChain>,
}

/// Chains of threads that the shortest answer has.
const CHAINS: usize = 1;

/// The chains of a watched program with late passes, at most `most`: its threads' own parts follow.
fn late_chains(
    directory: &Path,
    most: usize,
    remarks: Remarks,
) -> Result<String, KeptFiguresError> {
    let mut late = ThreadChain::kept(directory)?;
    late.retain(|of| of.late_at_most > 0);
    let text = thread_chains_text(&late, most, remarks, terminal::columns());
    Ok(match text.is_empty() {
        true => text,
        false => text + "\n",
    })
}

/// The explanation that was written when the run ended, if it answers the question: reading millions of events again
/// takes up to a minute. One that can't be read is made again.
fn kept_answer(directory: &Path, arguments: &Explain) -> Option<Explanation> {
    if arguments.json || arguments.latency.is_some() {
        return None;
    }
    let kept = explanation::kept(directory).ok().flatten()?;
    let has_enough = arguments.worst <= Order::KEPT_WORST;
    (has_enough && kept.version == Explanation::VERSION).then_some(kept)
}

/// The cycles of one number, each as a timeline.
fn one_cycle(run: &Run, order: &Order, cycle: u64, arguments: &Explain) -> Outcome {
    let mut wanted = CycleFilter::new(cycle, arguments.segment);
    explained(run, order, &mut wanted)?;
    if wanted.found.is_empty() {
        return Err(format!(
            "cycle {cycle} can't be explained: {}; the worst cycles of each condition, with their segments: {}",
            absent::why(run, cycle, arguments.segment)?,
            command_about("explain", &run.directory().display().to_string(), "--all")
        )
        .into());
    }
    let found = wanted.found.iter_mut();
    tell_of(run, found.map(|(_, thread, cycle)| (&**thread, cycle)))?;
    let shown: Vec<&LateCycle> = wanted.found.iter().map(|(.., cycle)| cycle).collect();
    let text = if arguments.json {
        serde_json::to_string_pretty(&shown)? + "\n"
    } else if arguments.all {
        let found = wanted.found.iter();
        let texts = found.map(|(heading, _, cycle)| cycle_text(cycle, heading));
        texts.collect::<Vec<_>>().join("\n")
    } else {
        let name = runs::word_for(run.directory());
        let all = command_about("explain", &name, &format!("--cycle {cycle} --all"));
        cycles_in_short(&wanted.found, &all)
    };
    print_result(arguments.json, &text)?;
    let wanted_code = WantedCode {
        cycle: Some(cycle),
        segment: arguments.segment.or(shown.first().map(|one| one.segment)),
        worst: arguments.worst,
    };
    if let (Some(text), false) = (code::text(run, &wanted_code)?, arguments.json) {
        print(&format!("\n{text}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::{CommandLine, Verb};
    use clap::Parser;

    #[test]
    fn the_run_s_explanation_answers_what_it_can_and_nothing_else() {
        let run = tempfile::tempdir().unwrap();
        let answer = |words: &[&str]| {
            let line = CommandLine::parse_from([&["wakepath", "explain"], words].concat());
            let Verb::Explain(arguments) = line.verb else {
                panic!("{words:?}");
            };
            kept_answer(run.path(), &arguments)
        };
        assert_eq!(answer(&[]), None, "nothing is there");
        let write = |version: u32| {
            let text = format!(
                "{{\"version\": {version}, \"events\": 7, \"events_lost\": 0, \"conditions\": []}}"
            );
            std::fs::write(run.path().join(Explanation::FILE_NAME), text).unwrap();
        };
        write(Explanation::VERSION);
        for words in [
            &[][..],
            &["--all"],
            &["--worst", "10"],
            &["--policy", "FIFO 80"],
        ] {
            let kept = answer(words).expect("it is answered from the file");
            assert_eq!(kept.events, 7, "{words:?}");
        }
        for words in [&["--latency", "1ms"][..], &["--json"], &["--worst", "11"]] {
            assert_eq!(answer(words), None, "{words:?}");
        }
        write(Explanation::VERSION - 1);
        assert_eq!(answer(&[]), None, "of an older version");
        std::fs::write(run.path().join(Explanation::FILE_NAME), "{").unwrap();
        assert_eq!(answer(&[]), None, "cut short");
    }
}

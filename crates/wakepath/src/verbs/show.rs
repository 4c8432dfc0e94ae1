//! `wakepath show`: a recorded run's answer, or everything that it says, judged by the scenario that it
//! was measured for.

use crate::command_line::Show;
use crate::open_run::opened;
use crate::{answer_cache, service};
use std::path::Path;
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_assess::Picture;
use wakepath_assess::watched::{KeptFigures, ThreadChain};
use wakepath_console::progress::assessed;
use wakepath_console::terminal::{self, OneLine, print_result};
use wakepath_console::{Outcome, runs};
use wakepath_report::{
    Answer, Remarks, Shown, Style, ToText, histogram_text, nearest_to_passing, thread_chains_text,
    to_json,
};

/// Reads and judges.
pub fn run(arguments: &Show) -> Outcome {
    let directory = runs::find(arguments.run.as_deref())?;
    if wakepath_service::is_service(&directory) {
        return service::show(&directory, arguments);
    }
    let run = opened(&directory, arguments.json)?;
    if arguments.histogram {
        return histogram(&run, arguments.policy.as_deref());
    }
    if !arguments.json && !arguments.details {
        let answer = answer_cache::answer(&run)?.answer;
        let lines_more = usize::from(arguments.run.is_none());
        print_result(false, &text(&answer, &directory, lines_more))?;
        return Ok(ExitCode::from(answer.exit_code));
    }
    let (assessment, _) = assessed(&run, false)?;
    let text = if arguments.json {
        to_json(&assessment)
    } else {
        let chains = ThreadChain::kept(&directory)?;
        let chains = thread_chains_text(&chains, usize::MAX, Remarks::All, terminal::columns());
        let text = assessment.to_text(Style::of_stdout());
        match chains.is_empty() {
            true => text,
            false => text + "\n" + &chains,
        }
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::from(assessment.exit_code()))
}

/// One policy's latencies. The exit code is the run's.
fn histogram(run: &Run, wanted: Option<&str>) -> Outcome {
    let (assessment, pictures) = assessed(run, true)?;
    let name = |of: &Picture| of.name.policy.map(|policy| policy.to_string());
    let policy = match wanted {
        Some(wanted) => Some(wanted.to_owned()),
        None => assessment
            .overall
            .recommendation
            .as_ref()
            .map(|of| of.policy.to_string())
            .or_else(|| nearest_to_passing(&assessment)),
    };
    let fitting = pictures
        .iter()
        .filter(|of| policy.is_none() || name(of) == policy);
    let fitting: Vec<&Picture> = fitting.collect();
    let text = histogram_text(&fitting, terminal::columns()).ok_or_else(|| {
        let mut names: Vec<String> = pictures.iter().filter_map(name).collect();
        names.dedup();
        let policy = policy.as_deref().unwrap_or_default();
        format!(
            "{policy}: no cycle of this policy; measured: {}",
            names.join(", ")
        )
    })?;
    let heading = policy.map_or(String::new(), |policy| format!("{policy}: "));
    print_result(
        false,
        &format!("{heading}wake-up latency, cycles in each bin\n{text}"),
    )?;
    Ok(ExitCode::from(assessment.exit_code()))
}

/// `lines_more`: which run it is, in front of it.
fn text(answer: &Answer, directory: &Path, lines_more: usize) -> String {
    answer.to_text(&Shown {
        style: Style::of_stdout(),
        run: &runs::word_for(directory),
        recording: &directory.in_one_line(),
        lines_more,
    })
}

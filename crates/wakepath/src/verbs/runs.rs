//! `wakepath runs`: the runs at hand, the latest first, each judged as `wakepath show` judges it.

mod described;

use crate::answer_cache;
use crate::command_line::Runs;
use serde::Serialize;
use std::process::ExitCode;
use wakepath_archive::{ArchiveError, Run};
use wakepath_console::Outcome;
use wakepath_console::progress::Progress;
use wakepath_console::runs::{self, ListedRun};
use wakepath_console::terminal::print_result;
use wakepath_report::{Cell, Style, Table, words};
use wakepath_timeline::columns::cut;
use wakepath_timeline::one_line;

/// Longest name and longest command in a column of a terminal.
const LONGEST: usize = 30;
/// Longest command elsewhere: it is for people, and programs have --json.
const LONGEST_COMMAND: usize = 60;

/// A run as it is listed.
#[derive(Debug, Serialize)]
struct Listed {
    number: usize,
    name: String,
    directory: String,
    /// RFC 3339 in UTC.
    started: Option<String>,
    /// The command that measured.
    what: Option<String>,
    /// `None` of what is no single run, and of one that is still being recorded.
    verdict: Option<String>,
    /// Why the run can't be judged: unreadable, or changed since it was written or sealed.
    problem: Option<String>,
    machine: Option<String>,
    /// Whether it is still being recorded.
    under_way: bool,
}

/// Lists them.
pub fn run(arguments: &Runs) -> Outcome {
    let all = runs::all();
    let progress = Progress::new("judging");
    let one = |(index, found)| {
        progress.tell(index, all.len());
        listed(index + 1, found)
    };
    let listed: Vec<Listed> = all.iter().enumerate().map(one).collect();
    progress.end();
    let text = if arguments.json {
        format!("{:#}\n", serde_json::json!({ "runs": listed }))
    } else {
        text(&listed, Style::of_stdout())
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn listed(number: usize, found: &ListedRun) -> Listed {
    let directory = found.directory();
    let shown = Listed {
        number,
        name: found.name.clone(),
        directory: directory.display().to_string(),
        started: None,
        what: None,
        verdict: None,
        problem: None,
        machine: None,
        under_way: false,
    };
    if wakepath_service::is_service(&directory) {
        let what = if wakepath_service::has_rounds(&directory) {
            "rounds"
        } else {
            "a service"
        };
        let what = Some(what.to_owned());
        return Listed { what, ..shown };
    }
    if Run::writer(&directory).is_some() {
        // Its present content is left alone: reading it would load the machine that it measures.
        return Listed {
            under_way: true,
            ..shown
        };
    }
    let not_judged = |verdict: &str, problem: String| (Some(verdict.to_owned()), Some(problem));
    let run = match Run::open(&directory) {
        Ok(run) => run,
        Err(error) => {
            let verdict = match &error {
                ArchiveError::SealBroken { .. } => "seal broken",
                ArchiveError::Altered { .. } => "altered",
                _ => "unreadable",
            };
            let (verdict, problem) = not_judged(verdict, error.to_string());
            return Listed {
                verdict,
                problem,
                ..shown
            };
        }
    };
    let manifest = &run.manifest;
    let shown = Listed {
        started: Some(manifest.started.clone()),
        what: Some(described::what(manifest)),
        ..shown
    };
    match answer_cache::answer(&run) {
        Ok(known) => Listed {
            verdict: Some(known.answer.outcome.to_string()),
            machine: Some(known.machine),
            ..shown
        },
        Err(error) => {
            let (verdict, problem) = not_judged("unreadable", error.to_string());
            Listed {
                verdict,
                problem,
                ..shown
            }
        }
    }
}

fn text(listed: &[Listed], style: Style) -> String {
    if listed.is_empty() {
        return format!(
            "no run in {} here; record one with `wakepath check`\n",
            runs::HOME
        );
    }
    let first = listed.iter().find_map(|run| run.machine.as_ref());
    let is_one = listed
        .iter()
        .all(|run| run.machine.is_none() || run.machine.as_ref() == first);
    let mut table = Table::new("run")
        .column(words("name"))
        .column(words("started, UTC"))
        .column(words("what"))
        .column(words("verdict"));
    if !is_one {
        table = table.column(words("machine"));
    }
    // A terminal has limited space; elsewhere names are whole, because they are typed again.
    let fitted = |text: &str| match style.columns {
        Some(_) => cut(&one_line(text), LONGEST),
        None => one_line(text),
    };
    let short = |text: &Option<String>| -> Cell { text.as_deref().map(fitted).into() };
    let what = |text: &Option<String>| -> Cell {
        let cut = |text: &str| cut(&fitted(text), LONGEST_COMMAND);
        text.as_deref().map(cut).into()
    };
    for run in listed {
        let started = run.started.as_ref().map(|time| {
            let minute: String = time.chars().take(16).collect();
            one_line(&minute.replace('T', " "))
        });
        let mut cells = vec![
            fitted(&run.name).into(),
            started.into(),
            what(&run.what),
            if run.under_way {
                "under way".into()
            } else {
                short(&run.verdict)
            },
        ];
        if !is_one {
            cells.push(short(&run.machine));
        }
        table.row(format!("@{}", run.number), cells);
    }
    let mut text = table.to_terminal(style.columns);
    if let Some(machine) = first.filter(|_| is_one) {
        text += &format!("\nall on this machine: {}\n", one_line(machine));
    }
    text += "\n@1 is the newest; a part of its name means the same run later, too\n";
    for run in listed {
        if let Some(problem) = &run.problem {
            text += &format!("@{}: {}\n", run.number, one_line(problem));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_command_is_cut_and_a_name_is_whole_where_no_terminal_reads() {
        let name = "watch-with-a-name-that-is-longer-than-a-terminal-s-column";
        let run = Listed {
            number: 1,
            name: name.into(),
            directory: name.into(),
            started: Some("2026-01-01T12:00:00Z".into()),
            what: Some(format!("watch -- python3 -c {}", "x".repeat(200))),
            verdict: Some("passed".into()),
            problem: None,
            machine: None,
            under_way: false,
        };
        let shown = text(&[run], Style::default());
        assert!(shown.contains(name), "{shown}");
        let command = shown.lines().nth(1).unwrap();
        assert!(command.contains("watch -- python3 -c xxx"), "{shown}");
        assert!(command.chars().count() < 160, "{shown}");
    }
}

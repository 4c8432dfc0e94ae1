//! `wakepath doctor`: whether this machine is ready for the loop, check by check; and what changed
//! on it since a run.

use crate::command_line::Doctor;
use crate::inspected_loop;
use crate::open_run::opened;
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;
use wakepath_assess::Assessment;
use wakepath_console::terminal::{print, print_result};
use wakepath_console::{Outcome, runs, terminal};
use wakepath_machine::{Facts, Root};
use wakepath_readiness::{Inspection, LoopAtHand, Report, all, explanation, named};
use wakepath_verdict::Outcome as Verdict;

/// How long interrupts and page faults are counted.
const WATCH: Duration = Duration::from_millis(300);

/// Reads, judges, shows.
pub fn run(arguments: &Doctor) -> Outcome {
    let root = inspected_loop::root(arguments.root.as_deref())?;
    let subject = inspected_loop::as_it_runs(&arguments.subject, &root)?;
    if let Some(run) = &arguments.against {
        let run = runs::find(Some(run))?;
        return against(&run, root, subject, arguments.json);
    }
    let report = Report::new(&Inspection::read(root, subject, WATCH));
    if let Some(id) = &arguments.explain {
        let Some(check) = named(id) else {
            let ids: Vec<&str> = all().map(|check| check.id).collect();
            return Err(format!("--explain {id}: the checks are {}", ids.join(" ")).into());
        };
        let judged = report.checks.iter().find(|judged| judged.id == check.id);
        print(&explanation(check, judged, terminal::columns()))?;
        return Ok(ExitCode::SUCCESS);
    }
    match arguments.json {
        true => print_result(
            true,
            &format!("{}\n", serde_json::to_string_pretty(&report)?),
        )?,
        false if arguments.all => print(&format!("{report:0$}", terminal::columns()))?,
        false => print(&report.in_short(terminal::columns()))?,
    }
    Ok(ExitCode::from(report.exit_code()))
}

/// Differences from the machine on which a run was measured.
fn against(directory: &std::path::Path, root: Root, subject: LoopAtHand, json: bool) -> Outcome {
    let run = opened(directory, json)?;
    let assessment = Assessment::new(&run)?;
    let first = run.manifest.facts.first().ok_or_else(|| {
        format!(
            "{}: the run recorded no facts of its machine",
            directory.display()
        )
    })?;
    let then = Facts::of_json(&first.facts)
        .map_err(|error| format!("{}: its facts can't be read: {error}", directory.display()))?;
    // For the loop of that run, so that both are judged by the same terms.
    let subject = match &assessment.readiness {
        Some(earlier) => LoopAtHand {
            program: subject.program,
            ..earlier.subject.clone()
        },
        None => subject,
    };
    let seen = Inspection::read(root, subject, WATCH);
    let now = Report::new(&seen);
    let changes = seen.facts.drift_since(&then);
    let judged_otherwise = assessment
        .readiness
        .as_ref()
        .map(|earlier| now.differences(earlier));
    let passed = assessment.outcome == Verdict::Passed;

    if json {
        let value = serde_json::json!({
            "run": assessment.run.run_id,
            "outcome": assessment.outcome,
            "changes": changes,
            "checks": judged_otherwise,
        });
        print_result(
            true,
            &format!("{}\n", serde_json::to_string_pretty(&value)?),
        )?;
    } else {
        let mut text = String::new();
        writeln!(
            text,
            "against {} of {}: {}",
            assessment.run.run_id, assessment.run.started, assessment.outcome
        )?;
        if !passed {
            writeln!(
                text,
                "note: that run did not pass, so an unchanged machine proves nothing"
            )?;
        }
        for change in &changes {
            let [before, after] =
                [&change.before, &change.after].map(|value| match value.as_str() {
                    "" => "none",
                    value => value,
                });
            write!(text, "changed: {}: {before} → {after}", change.what)?;
            // An unreadable fact names its file already.
            if before.contains(&change.path) || after.contains(&change.path) {
                writeln!(text)?
            } else {
                writeln!(text, " ({})", change.path)?
            }
        }
        match &judged_otherwise {
            None => writeln!(
                text,
                "note: that run has no checks of doctor; only facts are compared"
            )?,
            Some(differences) => {
                for difference in differences {
                    writeln!(text, "{difference}")?;
                }
            }
        }
        if changes.is_empty() && judged_otherwise.as_ref().is_none_or(Vec::is_empty) {
            writeln!(text, "no change that matters to a loop")?;
        }
        print(&text)?;
    }
    let changed = !changes.is_empty() || judged_otherwise.is_some_and(|found| !found.is_empty());
    Ok(ExitCode::from(if changed { 2 } else { 0 }))
}

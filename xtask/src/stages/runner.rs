//! Runs the stages in their rows, continues after failures, and ends with a table and a count.

use super::counts::Counts;
use super::outcome::Outcome;
use super::{Place, Stage, repeated};
use crate::job::Job;
use crate::{place, table};
use rustix::process::setpriority_process;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Nice values: of lower-priority rows, and of builds that everything else precedes.
const BELOW: i32 = 5;
const LOWEST: i32 = 19;
/// Lines of a log to show if no failed test is known by name.
const LOG_LINES: usize = 40;
/// Lines of one compiler error.
const ERROR_LINES: usize = 5;
/// Lines of these to repeat at the end.
const FAILURE_LINES: usize = 12;

/// Result of one stage.
struct Done<'a> {
    stage: &'a Stage,
    outcome: Outcome,
    /// Evidence of a failure.
    said: Vec<String>,
    took: Duration,
    cpu: Duration,
}

/// Runs the stages. Fails when anything failed, and when nothing passed.
pub fn run(stages: &[&Stage]) -> Result<ExitCode, String> {
    let began = Instant::now();
    let of = |place: Place| stages.iter().filter(move |stage| stage.place == place);
    let in_turn = |place: Place| of(place).map(|stage| carry_out(stage)).collect::<Vec<_>>();
    let either = Mutex::new(of(Place::Either));
    let rest = || {
        let next = || either.lock().unwrap_or_else(PoisonError::into_inner).next();
        std::iter::from_fn(next)
            .map(|stage| carry_out(stage))
            .collect::<Vec<_>>()
    };
    let row = |place: Place| in_turn(place).into_iter().chain(rest()).collect::<Vec<_>>();
    let first = || yielding(BELOW, || row(Place::First));
    let third = || yielding(BELOW, rest);
    let filling = || yielding(LOWEST, || in_turn(Place::Filling));
    // The second row takes longest, so the other stages follow it and fill the time that it leaves.
    let mut done = side_by_side([&first, &|| row(Place::Beside), &third])?;
    let waiting = || in_turn(Place::Waiting);
    let one_at_a_time = || in_turn(Place::OneAtATime);
    done.extend(side_by_side([&waiting, &one_at_a_time, &filling])?);
    done.extend(in_turn(Place::Alone));
    done.extend(in_turn(Place::Deep));
    let done = done.into_iter().map(|done| until_sure(done?));
    let done = done.collect::<Result<Vec<Done>, _>>()?;

    let total = done.iter().map(|done| done.outcome.counts);
    let total = total.fold(Counts::default(), |sum, counts| sum + counts);
    let cpu: Duration = done.iter().map(|done| done.cpu).sum();
    let rows: Vec<_> = done.iter().flat_map(rows_of).collect();
    println!("\n{}", table::aligned(&rows, &[2, 3, 4, 5, 6]));
    println!(
        "Logs: {}; {:.0} s in all, {:.0} s of CPU",
        logs().display(),
        began.elapsed().as_secs_f64(),
        cpu.as_secs_f64()
    );
    for failure in done.iter().filter_map(failure_of) {
        println!("{failure}");
    }
    println!("{}", closing_line(total));
    Ok(if total.failed > 0 || total.passed == 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Runs a row at a lower priority, which its thread's children inherit. If that fails, it just
/// disturbs the others a little more.
fn yielding<T>(nice: i32, row: impl FnOnce() -> T) -> T {
    let _ = setpriority_process(None, nice);
    row()
}

/// Results of rows of stages, each in a separate thread.
fn side_by_side<'a, const ROWS: usize>(
    rows: [&(dyn Fn() -> Vec<Result<Done<'a>, String>> + Sync); ROWS],
) -> Result<Vec<Result<Done<'a>, String>>, String> {
    std::thread::scope(|scope| {
        let rows = rows.map(|row| scope.spawn(row));
        let ended = rows.map(|row| {
            row.join()
                .map_err(|_| "a row of stages broke off".to_owned())
        });
        let done = ended.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(done.into_iter().flatten().collect())
    })
}

fn logs() -> std::path::PathBuf {
    place::target().join("test-logs")
}

/// Repeats a stage's doubtful tests, now that nothing else runs.
fn until_sure(mut done: Done<'_>) -> Result<Done<'_>, String> {
    if done.outcome.doubts.is_empty() {
        return Ok(done);
    }
    let Stage { name, limit, .. } = done.stage;
    let log = format!("{name}-repeated.log");
    println!(
        "{name:18}{} failed, repeated alone",
        done.outcome.doubts.len()
    );
    let job = Job::new(logs().join(log), *limit)?;
    let start = Instant::now();
    done.outcome = repeated::until_sure(&job, done.outcome);
    done.said = said_of(&done.outcome, &job);
    done.took += start.elapsed();
    done.cpu += job.cpu();
    println!("{name:18}{} when repeated", done.outcome.word());
    Ok(done)
}

/// Evidence of a failure, if it is one.
fn said_of(outcome: &Outcome, job: &Job) -> Vec<String> {
    if outcome.failed() {
        evidence(outcome, job)
    } else {
        Vec::new()
    }
}

fn carry_out(stage: &Stage) -> Result<Done<'_>, String> {
    let job = Job::new(logs().join(format!("{}.log", stage.name)), stage.limit)?;
    let start = Instant::now();
    let outcome = (stage.run)(&job);
    let took = start.elapsed();
    let mut said = format!(
        "{:18}{}: {} ({:.0} s)",
        stage.name,
        stage.about,
        outcome.word(),
        took.as_secs_f64()
    );
    let shown = said_of(&outcome, &job);
    for line in &shown {
        said += &format!("\n    | {line}");
    }
    // At once, so that two rows don't mix their lines.
    println!("{said}");
    Ok(Done {
        stage,
        outcome,
        said: shown,
        took,
        cpu: job.cpu(),
    })
}

/// The failed tests by name, with their output; if none is named, the compiler's errors, and else
/// the end of the log.
fn evidence(outcome: &Outcome, job: &Job) -> Vec<String> {
    let named = outcome.notes.iter().filter(|note| note.contains("FAILED "));
    let named: Vec<_> = named.cloned().collect();
    if !named.is_empty() {
        return named;
    }
    let text = std::fs::read(job.log()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let errors = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.starts_with("error"));
    let errors = errors.flat_map(|(at, _)| lines[at..].iter().take(ERROR_LINES));
    let mut shown: Vec<String> = errors.take(LOG_LINES).map(ToString::to_string).collect();
    if shown.is_empty() {
        let end = &lines[lines.len().saturating_sub(LOG_LINES)..];
        shown = end.iter().map(ToString::to_string).collect();
    }
    shown
}

fn rows_of(done: &Done) -> Vec<Vec<String>> {
    let outcome = &done.outcome;
    let Counts {
        passed,
        failed,
        skipped,
    } = outcome.counts;
    let counted = |count: u64, word: &str| format!("{count} {word}");
    let mut rows = vec![vec![
        done.stage.name.to_owned(),
        outcome.word().to_owned(),
        counted(passed, "passed"),
        counted(failed, "failed"),
        counted(skipped, "skipped"),
        format!("{:.0} s", done.took.as_secs_f64()),
        format!("{:.0} s CPU", done.cpu.as_secs_f64()),
    ]];
    rows.extend(
        outcome
            .notes
            .iter()
            .map(|note| vec![format!("    {}", note.replace('\n', " "))]),
    );
    rows
}

/// A stage's failure, in one line or the end of its log. It appears again just before the count,
/// because the reader of a long log starts at its end.
fn failure_of(done: &Done) -> Option<String> {
    if !done.outcome.failed() {
        return None;
    }
    let said = &done.said[done.said.len().saturating_sub(FAILURE_LINES)..];
    Some(format!(
        "FAILED {}: {}",
        done.stage.name,
        said.join("\n    ")
    ))
}

/// The last line, which other programs parse.
fn closing_line(total: Counts) -> String {
    let Counts {
        passed,
        failed,
        skipped,
    } = total;
    let skipped = match skipped {
        0 => String::new(),
        skipped => format!(", {skipped} skipped"),
    };
    format!("{passed} passed, {failed} failed{skipped}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_the_failed_test_and_not_the_end_of_the_log() {
        let log = std::env::temp_dir().join(format!("evidence-{}.log", std::process::id()));
        let job = Job::new(log.clone(), Duration::from_secs(9)).expect("a log");
        std::fs::write(&log, "much\nthe end of the last test's output\n").expect("a log");
        let named = "probe/probe: FAILED a_test: assertion failed".to_owned();
        let outcome = Outcome::new(Some("exit 101".into())).noting(named.clone());
        assert_eq!(evidence(&outcome, &job), [named]);
        let unnamed = Outcome::new(Some("exit 101".into()));
        assert_eq!(
            evidence(&unnamed, &job).last().map(String::as_str),
            Some("the end of the last test's output")
        );
        std::fs::write(
            &log,
            "x\nerror: a link\n --> a.rs:1:96\n\n\n\nand\nmuch more\n",
        )
        .expect("a log");
        assert_eq!(
            evidence(&unnamed, &job),
            ["error: a link", " --> a.rs:1:96", "", "", ""]
        );
        std::fs::remove_file(log).expect("the log is there");
    }

    #[test]
    fn a_stage_that_failed_is_said_again_with_its_last_words_and_no_other_is() {
        let stage = Stage {
            name: "a-stage",
            about: "",
            place: Place::First,
            limit: Duration::ZERO,
            run: |_| Outcome::default(),
        };
        let done = |outcome| Done {
            stage: &stage,
            outcome,
            said: (0..=FAILURE_LINES)
                .map(|line| format!("line {line}"))
                .collect(),
            took: Duration::ZERO,
            cpu: Duration::ZERO,
        };
        let said = failure_of(&done(Outcome::new(Some("exit 101".into())))).expect("it failed");
        assert!(said.starts_with("FAILED a-stage: line 1\n"), "{said}");
        assert!(said.ends_with(&format!("line {FAILURE_LINES}")), "{said}");
        assert_eq!(failure_of(&done(Outcome::new(None))), None);
    }

    #[test]
    fn the_closing_line_names_skipped_tests_only_when_there_are_some() {
        let counts = Counts {
            passed: 3,
            failed: 0,
            skipped: 0,
        };
        assert_eq!(closing_line(counts), "3 passed, 0 failed");
        let counts = Counts {
            passed: 3,
            failed: 1,
            skipped: 2,
        };
        assert_eq!(closing_line(counts), "3 passed, 1 failed, 2 skipped");
    }
}

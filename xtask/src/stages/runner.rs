//! Runs stages one after the other, goes on after a failure, and ends with a table and a count.

use super::Stage;
use super::counts::Counts;
use super::outcome::Outcome;
use crate::job::Job;
use crate::{place, table};
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

/// How many lines of a failed stage's log are shown.
const LOG_LINES: usize = 40;

/// Runs the stages. Fails when anything failed, and when nothing passed.
pub fn run(stages: &[&Stage]) -> Result<ExitCode, String> {
    let logs = place::target().join("test-logs");
    let began = Instant::now();
    let mut total = Counts::default();
    let mut rows = Vec::new();
    for stage in stages {
        print!("{:18}{} … ", stage.name, stage.about);
        let _ = std::io::stdout().flush();
        let job = Job::new(logs.join(format!("{}.log", stage.name)), stage.limit)?;
        let start = Instant::now();
        let outcome = (stage.run)(&job);
        let seconds = format!("{:.0} s", start.elapsed().as_secs_f64());
        println!("{} ({seconds})", outcome.word());
        if outcome.failed() {
            show_end_of_log(&job);
        }
        total = total + outcome.counts;
        rows.extend(rows_of(stage.name, &outcome, seconds));
    }
    println!("\n{}", table::aligned(&rows, &[2, 3, 4, 5]));
    println!(
        "Logs: {}; {:.0} s in all",
        logs.display(),
        began.elapsed().as_secs_f64()
    );
    println!("{}", closing_line(total));
    Ok(match total.failed > 0 || total.passed == 0 {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn rows_of(name: &str, outcome: &Outcome, seconds: String) -> Vec<Vec<String>> {
    let Counts {
        passed,
        failed,
        skipped,
    } = outcome.counts;
    let counted = |count: u64, word: &str| format!("{count} {word}");
    let mut rows = vec![vec![
        name.to_owned(),
        outcome.word().to_owned(),
        counted(passed, "passed"),
        counted(failed, "failed"),
        counted(skipped, "skipped"),
        seconds,
    ]];
    rows.extend(
        outcome
            .notes
            .iter()
            .map(|note| vec![format!("    {}", note.replace('\n', " "))]),
    );
    rows
}

/// The last line: what other programs read.
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

fn show_end_of_log(job: &Job) {
    let text = std::fs::read(job.log()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    for line in &lines[lines.len().saturating_sub(LOG_LINES)..] {
        println!("    | {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

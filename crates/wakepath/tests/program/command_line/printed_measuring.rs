//! Commands that measure, as answers print them: each is typed, with a shorter length if it has one, and does
//! what its line promises.

use super::printed::commands;
use crate::by_itself::tries::cures;
use crate::started::{Finished, Place, Start, is_root, loop_cpu, needs_real_time};
use std::collections::BTreeSet;

wakepath_test_program::tests![
    what_a_failed_check_and_rate_suggest_measures_and_explains,
    a_fix_that_explain_suggests_can_be_tried_on_a_program,
];

/// Long enough for two conditions at 1 kHz and their traced halves.
const LENGTH: &str = "10s";
/// What changes the machine is typed without its consent.
const UNASKED: &str = "--yes continues without asking";

fn what_a_failed_check_and_rate_suggest_measures_and_explains() {
    needs_real_time("measuring commands of answers");
    let cpu = loop_cpu().to_string();
    let loop_words = ["--cpu", &cpu, "--policy", "FIFO 80", "--latency", "1ns"];
    // No loop wakes within a nanosecond: both fail, on any machine.
    let mut printed = BTreeSet::new();
    let check = ["check", "--rate", "1kHz", "--duration", "6s"];
    let failed = Start::command_in(Place::new(), &check)
        .with(&loop_words)
        .finish();
    failed.assert_code(2);
    printed.extend(measuring(&failed));
    let rate = ["rate", "--from", "1kHz", "--to", "1050Hz", "--block", "6s"];
    let failed = Start::command_in(failed.place, &rate)
        .with(&loop_words)
        .finish();
    failed.assert_code(2);
    printed.extend(measuring(&failed));

    let verbs: BTreeSet<&str> = printed
        .iter()
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    assert_eq!(verbs, BTreeSet::from(["check", "tune"]), "{printed:?}");
    let mut place = failed.place;
    for line in &printed {
        // The loop and the limit are those that failed.
        for part in [
            &*format!("--cpu {cpu}"),
            "--policy 'FIFO 80'",
            "--latency 1ns",
        ] {
            assert!(line.contains(part), "{part}: `{line}`");
        }
        let typed = Start::shell_in(place, &shortened(line))
            .environment("PATH", &path())
            .finish();
        if line.contains(" tune ") {
            let refused = [UNASKED, "this machine is tuned already", "root"];
            let is_refused = refused.iter().any(|part| typed.complaints.contains(part));
            assert!(
                typed.code() == Some(1) && is_refused,
                "`{line}`: {}",
                typed.said()
            );
        } else {
            assert_eq!(typed.code(), Some(2), "`{line}`: {}", typed.said());
        }
        place = typed.place;
        if !line.contains("--trace") || typed.complaints.contains("can't be traced") {
            continue;
        }
        let explained = Start::command_in(place, &["explain", "@1"]).finish();
        explained.assert_code(0);
        let shows = explained.output.contains("cycles later than") || !is_root();
        assert!(shows, "`{line}`: {}", explained.said());
        place = explained.place;
    }
}

fn a_fix_that_explain_suggests_can_be_tried_on_a_program() {
    let place = Place::new();
    let program = cures(&place);
    let fix = wakepath_explain::remedy(&wakepath_explain::Cause::TimerSlack);
    let line = commands(&fix.expect("timer slack has a fix")).remove(0);
    let turns = "--for 1500ms --pairs 2";
    let program = format!("{turns} -- {} {} allocation", program.display(), loop_cpu());
    let filled = line.replace("-- PROGRAM", &program);
    assert_ne!(line, filled);
    let typed = Start::shell_in(place, &filled)
        .environment("PATH", &path())
        .finish();
    typed.skip_unless_watched("trying a printed fix");
    let is_answered = matches!(typed.code(), Some(0 | 2 | 3));
    assert!(is_answered, "`{filled}`: {}", typed.said());
    assert!(
        typed.output.contains("nothing stays changed"),
        "{}",
        typed.said()
    );
    assert!(typed.output.lines().count() <= 40, "{}", typed.output);
}

/// The program under test, found by its name.
fn path() -> String {
    let own = crate::started::binary();
    let others = std::env::var("PATH").unwrap_or_default();
    format!("{}:{others}", own.parent().unwrap().display())
}

/// The commands that measure in an answer.
fn measuring(finished: &Finished) -> Vec<String> {
    let all = commands(&finished.output).into_iter();
    let measures = |line: &String| {
        ["wakepath check ", "wakepath tune trial "]
            .iter()
            .any(|begin| line.starts_with(begin))
    };
    all.filter(measures).collect()
}

/// A measuring command with a length that a test has the time for; its other words are as printed.
fn shortened(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    match words.iter().position(|word| *word == "--duration") {
        Some(at) => words[at + 1] = LENGTH,
        None if words[1] == "check" => words.extend(["--duration", LENGTH]),
        None => {}
    }
    words.join(" ")
}

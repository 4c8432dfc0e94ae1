//! Commands that answers print: the program has every verb and option of them, and those that measure and change
//! nothing are typed as they are printed.

use crate::started::{Place, Start};
use crate::typed::is_known;
use std::collections::BTreeSet;
use std::path::Path;

wakepath_test_program::tests![
    every_command_that_an_answer_prints_can_be_typed,
    commands_are_found_in_sentences_and_lists,
    commands_of_other_programs_are_found_on_their_own_lines,
];

const RUN: &str = "wakepath-runs/check-20260101T120000Z";

/// Verbs that only show.
const HARMLESS: [&str; 8] = [
    "show", "explain", "report", "doctor", "runs", "bound", "machine", "help",
];

fn every_command_that_an_answer_prints_can_be_typed() {
    let mut place = Place::new();
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1");
    let run = place.path().join(RUN);
    std::fs::create_dir_all(&run).unwrap();
    for file in ["manifest.json", "samples.parquet"] {
        std::fs::copy(recorded.join(file), run.join(file)).unwrap();
    }
    let mut printed = BTreeSet::new();
    let mut others = BTreeSet::new();
    for words in [
        &["show"][..],
        &["show", "--details"],
        &["runs"],
        &["bound"],
        &["bound", "--all"],
        &["explain"],
        &["compare", "@1", "@1"],
        &["tiers"],
        &["doctor"],
        &["doctor", "--all"],
        &["tune", "plan"],
        &["tune", "plan", "--all"],
        &["tune", "status"],
        &["machine"],
        &["help"],
        &["watch", "--for", "1s", "--", "sleep", "0.5"],
    ] {
        let finished = Start::command_in(place, words).finish();
        printed.extend(commands(&finished.output));
        others.extend(of_others(&finished.output));
        printed.extend(commands(&finished.complaints));
        place = finished.place;
    }
    let wrong: Vec<String> = printed
        .iter()
        .filter_map(|line| is_known(line).err().map(|why| format!("`{line}`: {why}")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let verb = |line: &String| line.split(' ').nth(1).unwrap_or_default().to_owned();
    // Capitals are placeholders for the reader's own values.
    assert_shells_read(&others);
    let typed = printed.iter().filter(|line| {
        let filled = !line
            .split(' ')
            .any(|word| word.len() > 1 && word == word.to_uppercase() && !word.starts_with('-'));
        HARMLESS.contains(&verb(line).as_str()) && filled
    });
    let mut count = 0;
    for line in typed {
        let path = std::env::var("PATH").unwrap_or_default();
        let program = crate::started::binary();
        let path = format!("{}:{path}", program.parent().unwrap().display());
        let finished = Start::shell_in(place, line)
            .environment("PATH", &path)
            .environment("BROWSER", "true")
            .finish();
        assert!(
            matches!(finished.code(), Some(0 | 2 | 3)),
            "`{line}`: {}",
            finished.said()
        );
        place = finished.place;
        count += 1;
    }
    assert!(count >= 4, "{count} typed of {printed:?}");
}

/// Commands of other programs in what was printed, each on lines of its own or at the end of a fix.
fn of_others(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let begins = ["sudo ", "echo ", "sysctl ", "systemctl "];
        let is_command = |text: &&str| begins.iter().any(|begin| text.starts_with(begin));
        let of_fix = line
            .strip_prefix("fix")
            .and_then(|_| Some(line.rsplit_once(": ")?.1));
        match found.last_mut().filter(|last| last.ends_with("&&")) {
            Some(last) => *last += &format!(" {line}"),
            None => found.extend(
                [Some(line), of_fix]
                    .into_iter()
                    .flatten()
                    .find(is_command)
                    .map(str::to_owned),
            ),
        }
    }
    found
}

/// Asserts that a shell takes each as it stands: parentheses and cut lines would not be.
#[track_caller]
fn assert_shells_read(lines: &BTreeSet<String>) {
    for line in lines {
        let checked = std::process::Command::new("sh")
            .args(["-n", "-c", line])
            .output()
            .unwrap();
        let is_whole = !line.contains('…');
        assert!(
            checked.status.success() && is_whole,
            "`{line}`: {checked:?}"
        );
    }
}

/// Command lines in what was printed: in a list, in a sentence or in backquotes.
pub fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        for (at, _) in line.match_indices("wakepath ") {
            let before = &line[..at];
            let begins = before.trim().is_empty()
                || [" ", "`", "(", "'"].iter().any(|end| before.ends_with(end));
            let rest = &line[at..];
            let ends = [
                "   ", "`", "; ", ", ", ". ", " (", ": ", ")", " to ", " lists", " shows", " && ",
            ];
            let end = ends
                .iter()
                .filter_map(|end| rest.find(end))
                .min()
                .unwrap_or(rest.len());
            let command = rest[..end].trim_end_matches(['.', ',', ';', ':']).trim();
            let verb = command.split(' ').nth(1).unwrap_or_default();
            let is_command = before.trim().is_empty() && !before.is_empty()
                || before.ends_with('`')
                || before.ends_with("sudo ")
                || before.ends_with(": ")
                || is_known(&format!("wakepath {verb}")).is_ok();
            if begins && is_command {
                found.push(command.to_owned());
            }
        }
    }
    found
}

fn commands_of_other_programs_are_found_on_their_own_lines() {
    let text = "  K1 kernel\n      fix, at boot: boot a kernel; Debian:\n        sudo apt install linux-image-rt-amd64\n  K2\n      \
                fix:\n        sudo mount -t debugfs d /d &&\n        echo full | sudo tee /d/preempt\n      fix: echo 1 > /x\n";
    let wanted = [
        "sudo apt install linux-image-rt-amd64",
        "sudo mount -t debugfs d /d && echo full | sudo tee /d/preempt",
        "echo 1 > /x",
    ];
    assert_eq!(of_others(text), wanted);
}

fn commands_are_found_in_sentences_and_lists() {
    let text = "next\n  wakepath show --details   every figure\nwhy: wakepath explain @1; then `wakepath chek`.\n\
                what wakepath measures (1 more: wakepath doctor)\n";
    let found = commands(text);
    let wanted = [
        "wakepath show --details",
        "wakepath explain @1",
        "wakepath chek",
        "wakepath doctor",
    ];
    assert_eq!(found, wanted);
}

//! `wakepath bound`: its exit codes, and refusals. Its figures have their tests in
//! the crate that computes them.

use crate::started::{Finished, InTerminal, Place, Start};
use std::path::{Path, PathBuf};

wakepath_test_program::tests![
    a_short_run_is_refused_with_what_it_proves_all_the_same,
    a_long_run_has_its_answer_within_a_screen,
    an_imported_histogram_is_refused_by_name_with_what_it_shows,
    imported_samples_with_their_times_have_a_bound,
    what_can_t_be_asked_is_one_line,
    a_bound_is_composed_of_sections_and_held_against_what_was_observed,
    sections_are_advised_where_they_are_taken_alone,
];

fn run() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/format-1")
}

fn bound(directory: &Path, more: &[&str]) -> Finished {
    let asked = Start::command(&["bound"]).with(&[directory]);
    asked.with(more).finish()
}

fn a_short_run_is_refused_with_what_it_proves_all_the_same() {
    let finished = bound(&run(), &[]);
    finished.assert_code(3);
    for part in [
        "largest wake-up latency: 21.9 ms of 150 cycles",
        "refused: provenance +1",
        "count refuses ",
        "exceed it on average",
        "the largest value itself is the bound",
    ] {
        assert!(
            finished.output.contains(part),
            "{part}: {}",
            finished.output
        );
    }
    assert!(finished.output.lines().count() <= 30, "{}", finished.output);
    let json = bound(
        &run(),
        &["--json", "--policy", "FIFO 50", "--phase", "idle"],
    );
    json.assert_code(3);
    let found = json.json();
    assert_eq!(found["conditions"].as_array().unwrap().len(), 1);
    assert_eq!(found["conditions"][0]["answer"]["kind"], "refused");
    assert_eq!(found["conditions"][0]["observed"]["count"], 150);
}

/// Forty lines of eighty columns, whatever the conditions.
fn a_long_run_has_its_answer_within_a_screen() {
    let mut terminal =
        InTerminal::start(Place::new(), &["bound", run().to_str().unwrap()], 80, 200);
    terminal.end();
    terminal.wait_until("its words", |screen| {
        screen
            .iter()
            .any(|line| line.starts_with("every bound holds"))
    });
    let lines = terminal.look(|screen| {
        let rows = screen.rows(0, 80).collect::<Vec<String>>();
        rows.iter()
            .rposition(|row| !row.trim().is_empty())
            .map_or(0, |last| last + 1)
    });
    assert!((10..=40).contains(&lines), "{lines}");
}

fn imported(place: &Place, file: &Path, more: &[&str]) -> PathBuf {
    let directory = place.path().join("run");
    Start::command(&["import"])
        .with(&[file])
        .with(more)
        .with(&["--directory"])
        .with(&[&directory])
        .finish()
        .assert_code(0);
    directory
}

fn an_imported_histogram_is_refused_by_name_with_what_it_shows() {
    let place = Place::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../import/tests/fixtures")
        .join("cyclictest.json");
    let directory = imported(&place, &file, &[]);
    let finished = bound(&directory, &[]);
    finished.assert_code(3);
    let said: Vec<&str> = finished.output.split_whitespace().collect();
    let said = said.join(" ");
    for part in [
        "refused: order",
        "an imported histogram has no order, so clusters and drift can't be seen",
        "if cycles are independent",
        "fix: import samples with their times",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

fn imported_samples_with_their_times_have_a_bound() {
    let place = Place::new();
    let file = place.path().join("latencies.csv");
    let mut text = String::from("due_ns,start_ns\n");
    let mut state = 1_u64;
    for cycle in 0..20_000_u64 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let unit = ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let due = 1_000_000_000 + cycle * 1_000_000;
        let start = due + 2_000 + (-unit.ln() * 5_000.0) as u64;
        text += &format!("{due},{start}\n");
    }
    std::fs::write(&file, text).unwrap();
    let directory = imported(&place, &file, &["--policy", "FIFO 80"]);
    let json = |more: &[&str]| bound(&directory, &[&["--json"], more].concat());
    let found = json(&["--exceed", "3e-5"]);
    found.assert_code(0);
    assert_eq!(found.json()["conditions"][0]["answer"]["kind"], "extended");
    let found = json(&["--exceed", "1e-3"]);
    found.assert_code(0);
    assert_eq!(found.json()["conditions"][0]["answer"]["kind"], "observed");
    // When work ended is in no column.
    let found = json(&["--exceed", "1e-3", "--metric", "response"]);
    found.assert_code(3);
    let gate = &found.json()["conditions"][0]["gates"][0];
    assert_eq!(
        (&gate["name"], &gate["passed"]),
        (&"provenance".into(), &false.into())
    );
}

fn what_can_t_be_asked_is_one_line() {
    for (more, told) in [
        (&["--exceed", "2"][..], "between 0 and 1"),
        (&["--exceed", "-1e-6"], "between 0 and 1"),
        (&["--exceed", "seldom"], "is not a number"),
        (
            &["--policy", "RR 1"],
            "there are OTHER nice 0, idle; FIFO 50, idle",
        ),
    ] {
        let finished = bound(&run(), more);
        finished.assert_code(1);
        assert_eq!(finished.output, "", "{}", finished.said());
        assert_eq!(
            finished.complaints.lines().count(),
            1,
            "{}",
            finished.said()
        );
        assert!(finished.complaints.contains(told), "{}", finished.said());
    }
    bound(Path::new("no-such-run"), &[]).assert_code(1);
}

const SECTIONS: &str = "\
preemption-off = \"60 us\"
before-scheduler = \"2 us\"
scheduler = \"10 us\"
switch = \"4 us\"

[[interrupts]]
name = \"timer\"
longest = \"12 us\"
distance = \"50 us\"
";

fn a_bound_is_composed_of_sections_and_held_against_what_was_observed() {
    let place = Place::new();
    let file = place.path().join("sections.toml");
    let composed = |text: &str, more: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let words = Start::command(&["bound"]).with(&[run()]);
        words
            .with(&["--sections"])
            .with(&[&file])
            .with(more)
            .finish()
    };
    // 72 µs of sections; 2 timers fit 96 µs. The run has waited for 21.9 ms.
    let short = composed(SECTIONS, &[]);
    short.assert_code(2);
    // Lines are broken where the terminal ends.
    let said: Vec<&str> = short.output.split_whitespace().collect();
    let said = said.join(" ");
    for part in [
        "96.0 µs = 60.0 µs (preemption or interrupts off) + 2.00 µs",
        "24.0 µs (timer (2 times))",
        "COMPOSITION AT FAULT: 21.9",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let long = composed(&SECTIONS.replace("60 us", "60 ms"), &["--json"]);
    long.assert_code(3);
    let found = &long.json()["composed"];
    assert_eq!(found["contradicted_by_ns"], serde_json::Value::Null);
    assert!(found["latency_ns"].as_u64().unwrap() > 60_000_000);
    for (text, more, told) in [
        (
            SECTIONS.replace("12 us", "50 us"),
            &[][..],
            "take the whole CPU",
        ),
        (
            SECTIONS.replace("\"2 us\"", "2"),
            &[],
            "sections.toml:2:20: before-scheduler = 2",
        ),
        (
            SECTIONS.into(),
            &["--metric", "response"],
            "give --metric latency",
        ),
    ] {
        let refused = composed(&text, more);
        refused.assert_code(1);
        assert_eq!(refused.output, "", "{}", refused.said());
        assert!(refused.complaints.contains(told), "{}", refused.said());
    }
}

fn sections_are_advised_where_they_are_taken_alone() {
    let latency = bound(&run(), &[]);
    assert!(latency.output.contains("--sections"), "{}", latency.output);
    for metric in ["response", "execution"] {
        let other = bound(&run(), &["--metric", metric]);
        other.assert_code(3);
        assert!(!other.output.contains("sections"), "{}", other.output);
    }
}

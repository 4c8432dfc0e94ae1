//! The figures of one run are the same wherever they are shown: by the watch that recorded it, in JSON, in text, in the
//! page's data and in exports.

use crate::started::{Place, Start, built, needs_tracing};
use serde_json::Value;
use std::path::Path;

wakepath_test_program::tests![a_run_has_the_same_numbers_wherever_they_are_shown,];

const WHAT: &str = "comparing a watch with its run";

/// Output of a verb for the run.
fn said(words: &[&str], run: &Path) -> String {
    let finished = Start::command(words).with(&[run.as_os_str()]).finish();
    finished.assert_code(0);
    finished.output
}

/// The page's data of a condition.
fn in_page<'a>(data: &'a Value, thread: &str) -> &'a Value {
    let mut all = data["conditions"].as_array().unwrap().iter();
    all.find(|of| of["policy"] == thread).expect("in the page")
}

fn largest(values: &Value) -> i64 {
    let values = values.as_array().unwrap().iter();
    values.filter_map(Value::as_i64).max().unwrap()
}

/// The row of a thread: its line with this time in it, in three digits.
fn assert_in_row(text: &str, thread: &str, ns: i64) {
    let figure = wakepath_timeline::duration::three_digits(ns);
    let mut rows = text.lines().filter(|line| line.contains(thread));
    assert!(
        rows.any(|row| format!("{row} ").contains(&format!(" {figure} "))),
        "{thread} without {figure}: {text}"
    );
}

fn a_run_has_the_same_numbers_wherever_they_are_shown() {
    needs_tracing(WHAT);
    let place = Place::new();
    let program = built(&place, "same_numbers", WHAT);
    let watch = [
        "watch",
        "--directory",
        "run",
        "--for",
        "1500ms",
        "--json",
        "--",
    ];
    let finished = Start::command_in(place, &watch)
        .with(&[program.as_os_str()])
        .finish();
    finished.skip_unless_watched(WHAT);
    let run = finished.run();
    let run = run.directory();
    let shown: Value = serde_json::from_str(&said(&["show", "--json"], run)).unwrap();
    let details = said(&["show", "--details"], run);
    let metrics = said(&["export", "--format", "openmetrics"], run);
    let markdown = said(&["export", "--format", "markdown"], run);
    let exported: Value =
        serde_json::from_str(&said(&["export", "--format", "json"], run)).unwrap();
    assert_eq!(exported["conditions"], shown["conditions"]);
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    let (_, data) = page.split_once("id=\"data-0\">").expect("the page's data");
    let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();

    let watched = finished.json();
    let threads = watched["threads"].as_array().unwrap();
    for name in ["late", "behind", "two-10ms", "two-33ms"] {
        let thread = threads.iter().find(|of| of["name"] == name);
        let thread = thread.unwrap_or_else(|| panic!("{name}: {}", finished.said()));
        let conditions = shown["conditions"].as_array().unwrap();
        let condition = conditions.iter().find(|of| of["name"]["task"] == name);
        let cycles = &condition.expect("a condition")["cycles"];
        let latency = &cycles["latency_as_scheduled"];
        assert_eq!(thread["latency_ns"], *latency, "{name}");
        assert_eq!(thread["run_ns"], cycles["cpu_time"], "{name}");
        assert_eq!(thread["skipped"], cycles["skipped"], "{name}");
        assert_eq!(thread["activations"], cycles["executed"], "{name}");

        let max_ns = latency["max"].as_i64().unwrap();
        let in_page = in_page(&data, name);
        // Those without an event of their own are due times, too.
        let count = |of: &Value, what: &str| of[what].as_u64().unwrap();
        let without_event = count(thread, "unseen") + count(thread, "ran_unseen");
        let due_times = count(cycles, "scheduled") + without_event;
        assert_eq!(in_page["due_times"], due_times, "{name}");
        let measures = &in_page["measures"];
        let drawn = &measures["latency"]["finest"]["max"];
        assert_eq!(largest(drawn), max_ns, "{name}");
        assert_in_row(&markdown, name, max_ns);
        assert_in_row(&details, name, max_ns);
        let quantile = format!("task=\"{name}\",quantile=\"1\"}} {}", max_ns as f64 / 1e9);
        let metric = "wakepath_wake_up_latency_seconds{";
        let is_max = |line: &str| line.starts_with(metric) && line.ends_with(&quantile);
        assert!(metrics.lines().any(is_max), "{quantile}: {metrics}");
    }
    // A loop that catches up skips nothing and is late; a timer that waits for its reader loses expirations.
    let of = |name: &str| threads.iter().find(|of| of["name"] == name).unwrap();
    for name in ["late", "behind"] {
        assert_eq!(of(name)["skipped"], 0, "{}", finished.said());
    }
    assert!(of("late")["latency_ns"]["max"].as_i64().unwrap() > 5_000_000);
    assert!(
        of("two-10ms")["skipped"].as_u64().unwrap() > 0,
        "{}",
        finished.said()
    );
}

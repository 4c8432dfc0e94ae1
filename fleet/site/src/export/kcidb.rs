//! Runs as tests for KernelCI's database (KCIDB, schema 5.3).
//!
//! An invalid run is an error and an undecided one is `DONE`: neither is ever a pass.

use crate::seen::{Seen, SeenRun};
use serde_json::{Value, json};

/// The report as KCIDB's JSON. `origin` is who submits: small letters, digits and `_`. The submitter names the
/// checkout of each kernel; the build here is the kernel's release.
pub fn kcidb(seen: &Seen, origin: &str) -> Value {
    let mut tests = Vec::new();
    for run in &seen.runs {
        tests.push(test(run, origin, "", status(run), None));
        for (name, value) in [("latency.p999", run.p999_ns), ("latency.max", run.max_ns)] {
            if let Some(ns) = value.filter(|_| !run.is_invalid()) {
                let number = json!({"value": ns as f64 / 1e9, "unit": "s", "prefix": "metric"});
                tests.push(test(run, origin, name, "DONE", Some(number)));
            }
        }
    }
    json!({"version": {"major": 5, "minor": 3}, "tests": tests})
}

fn test(run: &SeenRun, origin: &str, name: &str, status: &str, number: Option<Value>) -> Value {
    let dot = if name.is_empty() { "" } else { "." };
    let mut test = json!({
        "id": format!("{origin}:{}{dot}{name}", run.run_id),
        "origin": origin,
        "build_id": format!("{origin}:{}", plain(&run.kernel)),
        "path": format!("wakepath{dot}{name}"),
        "status": status,
        "environment": {"comment": run.board, "misc": {"board": run.board}},
        "misc": {"verdict": run.verdict(), "missed": run.missed, "due": run.due, "seal": run.seal.words()},
    });
    if is_date_time(&run.started) {
        test["start_time"] = json!(run.started);
    }
    if let Some(number) = number {
        test["number"] = number;
    }
    test
}

/// A part of an identity: no blank and nothing that is not printed.
fn plain(text: &str) -> String {
    let known = |c: char| if c.is_ascii_graphic() { c } else { '_' };
    text.chars().map(known).collect()
}

fn status(run: &SeenRun) -> &'static str {
    match run.verdict() {
        "passed" => "PASS",
        "failed" => "FAIL",
        "invalid" => "ERROR",
        _ => "DONE",
    }
}

/// Whether a board's time has the form that the schema requires.
fn is_date_time(text: &str) -> bool {
    let form = "dddd-dd-ddTdd:dd:ddZ";
    let fits = |(found, wanted): (char, char)| match wanted {
        'd' => found.is_ascii_digit(),
        wanted => found == wanted,
    };
    text.len() == form.len() && text.chars().zip(form.chars()).all(fits)
}

//! The newest run of each board under each kernel as OpenMetrics 1.0 text, for a collector of metrics.

use crate::seen::{Seen, SeenRun};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The text; times in seconds, as the format requires.
pub fn open_metrics(seen: &Seen) -> String {
    // They are in order: the last of a pair stays.
    let mut newest: BTreeMap<(&str, &str), &SeenRun> = BTreeMap::new();
    for run in &seen.runs {
        newest.insert((&run.board, &run.kernel), run);
    }
    let mut text = String::new();
    let mut family = |name: &str, unit: &str, help: &str, of: &dyn Fn(&SeenRun) -> Option<f64>| {
        let name = format!("wakepath_fleet_{name}");
        let _ = writeln!(text, "# TYPE {name} gauge");
        if !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(text, "# HELP {name} {help}");
        for ((board, kernel), run) in &newest {
            let Some(value) = of(run) else {
                continue;
            };
            let _ = writeln!(
                text,
                "{name}{{board=\"{}\",kernel=\"{}\"}} {value}",
                escaped(board),
                escaped(kernel)
            );
        }
    };
    let trusted = |run: &SeenRun| !run.is_invalid();
    let seconds = |ns: Option<i64>| ns.map(|ns| ns as f64 / 1e9);
    family(
        "newest_run_valid",
        "",
        "1 if the newest run can be trusted, 0 if it is invalid; absent if none was measured.",
        &|run| Some(f64::from(u8::from(trusted(run)))),
    );
    family(
        "latency_p999_seconds",
        "seconds",
        "99.9 % quantile of the latency in the newest run, by the nearest rank.",
        &|run| seconds(run.p999_ns).filter(|_| trusted(run)),
    );
    family(
        "latency_max_seconds",
        "seconds",
        "Largest latency in the newest run; no bound.",
        &|run| seconds(run.max_ns).filter(|_| trusted(run)),
    );
    family(
        "missed_due_times",
        "",
        "Missed due times in the newest run.",
        &|run| Some(run.missed as f64).filter(|_| trusted(run)),
    );
    family(
        "due_times",
        "",
        "Judged due times in the newest run.",
        &|run| Some(run.due as f64).filter(|_| trusted(run)),
    );
    text + "# EOF\n"
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

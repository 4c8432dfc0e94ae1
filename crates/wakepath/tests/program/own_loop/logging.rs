//! The experiment `aura-logging`: the autopilot of `examples/logging` in C++ and in Python, which logs by itself,
//! through a thread and through another process. Python's half needs the package as the stage `python` leaves it.

use super::languages::python_package;
use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

wakepath_test_program::tests![
    the_same_autopilot_logs_in_three_ways_and_is_compared,
    an_autopilot_that_is_not_there_is_named_before_anything_is_recorded,
];

const WAYS: [&str; 3] = ["synchronous", "thread", "process"];

fn the_same_autopilot_logs_in_three_ways_and_is_compared() {
    let place = Place::new();
    let source = Path::new(ROOT).join("examples/logging");
    let options = ["-std=c++17", "-ffp-contract=off"];
    let program = built(&place, "g++", &options, &source.join("autopilot.cpp"));
    std::fs::rename(program, place.path().join("autopilot")).unwrap();
    std::fs::copy(
        source.join("autopilot.py"),
        place.path().join("autopilot.py"),
    )
    .unwrap();
    // Without the package the half in C++ is tried all the same.
    let package = catch_unwind(AssertUnwindSafe(python_package));
    let mut scenario: toml::Table = wakepath_scenario::builtin::named("aura-logging")
        .unwrap()
        .text
        .parse()
        .unwrap();
    for (key, value) in [("duration", "3 s"), ("warm-up", "100 ms")] {
        scenario.insert(key.into(), value.into());
    }
    scenario.insert("repetitions".into(), 1.into());
    scenario.insert("policies".into(), vec!["OTHER"].into());
    let phases = scenario["phases"].as_array_mut().unwrap();
    phases.retain(|phase| package.is_ok() || phase["name"].as_str().unwrap().starts_with("C++"));
    for phase in phases.iter_mut() {
        let log = format!("{}.log", phase["name"].as_str().unwrap());
        let command = phase["work"]["command"].as_array_mut().unwrap();
        command.extend(["--log".into(), log.into()]);
    }
    let names: Vec<String> = phases
        .iter()
        .map(|phase| phase["name"].as_str().unwrap().to_owned())
        .collect();
    let file = place.path().join("short.toml");
    std::fs::write(&file, scenario.to_string()).unwrap();
    let path = package.as_ref().map_or("", |path| path.to_str().unwrap());
    let words = ["run", "short.toml", "--no-tui", "--json", "--directory"];
    let finished = Start::command_in(place, &words)
        .with(&["run"])
        .environment("PYTHONPATH", path)
        .finish();
    assert!(finished.code() != Some(1), "{}", finished.said());
    finished.assert_archive_is_complete();
    let run = finished.run();
    assert_eq!(conditions(&finished).len(), names.len());
    // The same controller in both languages, and no line is lost on any way.
    let mut logs = Vec::new();
    for segment in &run.manifest.segments {
        let samples = run.samples(segment.segment, 0).unwrap().len();
        let log = finished.place.path().join(format!("{}.log", segment.phase));
        let lines: Vec<String> = std::fs::read_to_string(log)
            .unwrap()
            .lines()
            .map(ToOwned::to_owned)
            .collect();
        assert_eq!(lines.len(), samples, "{}", segment.phase);
        logs.push(lines);
    }
    let (first, others) = logs.split_first().unwrap();
    let last = first.last().unwrap();
    assert!(
        last.starts_with(&format!("{} angle ", first.len())),
        "{last}"
    );
    for (log, name) in others.iter().zip(&names[1..]) {
        let both = first.len().min(log.len());
        assert!(both > 100);
        assert_eq!(first[..both], log[..both], "{name}");
    }
    let printed = printed(&finished);
    let dropped = printed.matches("lines dropped: 0").count();
    assert_eq!(dropped, names.len(), "{printed}");
    // Next to each other: latencies, misses, what the log took, and what becomes of a flight.
    let shown = crate::started::ask("show", &finished.directory).output;
    for way in WAYS {
        assert!(shown.contains(way), "{way}: {shown}");
    }
    let flights = finished.json()["flights"]["conditions"].clone();
    assert_eq!(flights.as_array().map(Vec::len), Some(names.len()));
    let modules = finished.json()["modules"].clone();
    let logging = modules.as_array().unwrap().iter();
    let logging = logging.filter(|of| of["name"] == "logging").count();
    assert_eq!(logging, names.len(), "{modules:#}");
    if let Err(why) = package {
        std::panic::resume_unwind(why);
    }
}

fn an_autopilot_that_is_not_there_is_named_before_anything_is_recorded() {
    let words = ["run", "aura-logging", "--no-tui", "--directory", "run"];
    let finished = Start::command_in(Place::new(), &words).finish();
    finished.assert_refused(1, &["./autopilot: no such program"]);
    assert!(!finished.directory.exists());
}

//! Runs of an experiment whose laboratory was killed: those whose guests had ended are kept.

use std::path::Path;
use wakepath_archive::{Ending, Event, LogWriter, RunStarted, ScenarioText, Tool, VirtualTime};
use wakepath_archive::{PARQUET_NAME, run_id};
use wakepath_experiments::named;
use wakepath_lab::{Guest, Host, HostAsked, Repetition};
use wakepath_scenario::{KnownCpus, Scenario};

wakepath_test_program::tests![
    a_run_that_was_not_finished_is_finished_and_counts,
    a_run_without_its_end_is_refused_and_kept,
    runs_of_another_wakepath_are_not_continued,
];

/// A guest's recording as it came back: a log.
fn sent(directory: &Path, scenario: &Scenario) -> LogWriter {
    std::fs::create_dir_all(directory).unwrap();
    let mut log = LogWriter::create(directory).unwrap();
    let started = RunStarted {
        first_process: None,
        run_id: run_id("2026-11-03T10:15:00Z", [1, 2, 3, 4]),
        tool: Tool {
            name: "wakepath".into(),
            version: "0.1.0 (0123456789ab)".into(),
            commit: None,
        },
        command: Vec::new(),
        invocation: None,
        quick: None,
        started: "2026-11-03T10:15:00Z".into(),
        scenario: ScenarioText {
            name: scenario.name.clone(),
            toml: scenario.to_toml(),
        },
        clock_source: "CLOCK_MONOTONIC, tsc".into(),
        notes: Vec::new(),
        planned: Vec::new(),
        virtual_time: Some(VirtualTime {
            ns_per_instruction: 1,
            seed: 1,
            cpus: 1,
            turn_ns: None,
            emulator: None,
        }),
    };
    log.append_event(&Event::RunStarted(Box::new(started)))
        .unwrap();
    log
}

/// The first of the experiment's guests has sent its recording, the others nothing.
fn repetition(
    runs: &Path,
    ended: Option<Ending>,
) -> (std::path::PathBuf, wakepath_lab::Result<Repetition>) {
    let experiment = named("beaglepilot").unwrap();
    let known = KnownCpus::first(experiment.cpus);
    let scenario = Scenario::parse(experiment.scenario, "beaglepilot (built in)", &known).unwrap();
    let name = format!("{} seed 1", experiment.guests[0].kernel);
    let run = runs.join("beaglepilot").join(Guest::directory_name(&name));
    let log = sent(&run, &scenario);
    match ended {
        Some(ended) => log.end(ended).unwrap(),
        // The writer holds a lock as long as it exists.
        None => drop(log),
    }
    (run, Repetition::new(experiment, None, 2, runs, &[]))
}

fn a_run_that_was_not_finished_is_finished_and_counts() {
    let place = tempfile::tempdir().unwrap();
    let (run, found) = repetition(place.path(), Some(Ending::Complete));
    let found = found.unwrap();
    assert_eq!(found.done, std::slice::from_ref(&run));
    assert!(run.join(PARQUET_NAME).is_file());
    // The pages have it.
    let shown = found.runs().filter(|(_, run)| matches!(run, Ok(Some(_))));
    assert_eq!(shown.count(), 1);
    assert_eq!(found.guests_left(), 6);
}

fn a_run_without_its_end_is_refused_and_kept() {
    let place = tempfile::tempdir().unwrap();
    let (run, found) = repetition(place.path(), None);
    let said = found.err().unwrap().to_string();
    let expected = format!("remove {} or give another", run.display());
    assert!(said.contains(&expected), "{said}");
    assert!(run.join("samples.log").is_file());
}

fn runs_of_another_wakepath_are_not_continued() {
    let place = tempfile::tempdir().unwrap();
    let (_, found) = repetition(place.path(), Some(Ending::Complete));
    let found = found.unwrap();
    let with = |text: &str| {
        let program = place.path().join("wakepath");
        std::fs::write(&program, text).unwrap();
        let host = Host {
            own: program.clone(),
            program,
            version: "0.1.0".into(),
            tell: |_| (),
        };
        found.has_the_program_of_its_runs(&HostAsked::default(), &host)
    };
    with("wakepath 0.1.0 (0123456789ab)").unwrap();
    with("of no repository").unwrap();
    let said = with("wakepath 0.1.0 (ba9876543210)")
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("by wakepath 0.1.0 (0123456789ab); with 0.1.0 (ba9876543210)")
            && said.contains("--program"),
        "{said}"
    );
}

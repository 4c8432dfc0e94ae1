//! A watch that was killed, and what `wakepath recover` makes of what it left.

use super::watching::{Beat, watched};
use crate::started::{Start, needs_tracing, not_run};

wakepath_test_program::tests![
    a_killed_watch_is_recovered_with_what_it_had_seen,
    a_watch_killed_before_it_saw_a_period_keeps_its_trace_and_recovery_says_so,
    a_run_killed_before_its_first_event_is_removed_but_for_what_others_wrote,
];

fn a_killed_watch_is_recovered_with_what_it_had_seen() {
    let what = "killing a watch";
    needs_tracing(what);
    let beat = Beat::start("beat", 5_000_000);
    let pid = std::process::id().to_string();
    let running = Start::command(&["watch", "-p", &pid, "--directory", "run"]).start();
    let trace = running.directory().join("segment-0.events");
    let begun = std::time::Instant::now();
    let mut recording = None;
    // Its blocks are written each second, that of a busy CPU before.
    let mut enough = || {
        let written = std::fs::metadata(&trace).is_ok_and(|of| of.len() > 4096);
        let since = recording.get_or_insert_with(std::time::Instant::now);
        if !trace.exists() {
            *since = std::time::Instant::now();
        }
        written && since.elapsed().as_millis() > 2_500
    };
    while !enough() && begun.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    if !enough() {
        running.kill_all();
        not_run(what, running.finish().complaints.trim());
    }
    running.kill_all();
    let finished = running.finish();
    beat.end();
    let directory = finished.place.path().join("run");
    let note = directory.join("of-somebody-else.txt");
    std::fs::write(&note, "kept").unwrap();
    let recovered = crate::started::ask("recover", &directory);
    recovered.assert_code(0);
    assert!(note.exists(), "recovery removes what is not its own");
    let explained = wakepath_assess::explanation::kept(&directory).unwrap();
    assert!(explained.is_some(), "{}", recovered.said());
    let shown = crate::started::Start::command(&["show", "--details"])
        .with(&[&directory])
        .finish();
    shown.assert_code(0);
    assert!(shown.output.contains("beat"), "{}", shown.said());
    assert!(
        shown.output.contains("wakepath watch was killed"),
        "{}",
        shown.said()
    );
    let run = watched(&finished);
    assert!(run.manifest.segments[0].threads[0].recorded > 0);
}

fn a_watch_killed_before_it_saw_a_period_keeps_its_trace_and_recovery_says_so() {
    let what = "killing a watch of a program without a period";
    needs_tracing(what);
    let mut sleeper = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let pid = sleeper.id().to_string();
    let running = Start::command(&["watch", "-p", &pid, "--directory", "run"]).start();
    let trace = running.directory().join("segment-0.events");
    let begun = std::time::Instant::now();
    let is_there = || std::fs::metadata(&trace).is_ok_and(|of| of.len() > 1_000);
    while !is_there() && begun.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    running.kill_all();
    let finished = running.finish();
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    let directory = finished.place.path().join("run");
    finished.skip_unless_watched(what);
    let before = finished.files();
    // Again finds the same: nothing of it has gone.
    for _ in 0..2 {
        let recovered = crate::started::ask("recover", &directory);
        recovered.assert_code(3);
        for part in [
            "a killed watch, of which no run can be made: no thread woke up",
            "kept: ",
            "segment-0.events",
        ] {
            assert!(recovered.output.contains(part), "{}", recovered.said());
        }
        assert!(finished.files() == before, "recovery changed something");
    }
}

fn a_run_killed_before_its_first_event_is_removed_but_for_what_others_wrote() {
    let place = crate::started::Place::new();
    let directory = place.path().join("run");
    drop(wakepath_archive::LogWriter::create(&directory).unwrap());
    std::fs::write(directory.join("notes"), "mine").unwrap();
    let recovered = crate::started::ask("recover", &directory);
    recovered.assert_code(3);
    let said = "was stopped before anything was recorded; there is no run";
    assert!(recovered.output.contains(said), "{}", recovered.said());
    let left = std::fs::read_dir(&directory).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["notes"]);
    std::fs::remove_file(directory.join("notes")).unwrap();
    drop(wakepath_archive::LogWriter::create(&directory).unwrap());
    crate::started::ask("recover", &directory).assert_code(3);
    assert!(!directory.exists());
}

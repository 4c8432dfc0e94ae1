//! Runs that the user interrupts, at every moment from the start of the command on: by Ctrl-C, which a
//! terminal sends to all of their processes, and by a signal to the command alone. Each must report its
//! true state, and its recording must be readable.

use super::Traces;
use crate::started::{Finished, Start, ask, loop_cpu, needs_tracing};
use rustix::process::Signal;
use std::time::Duration;
use wakepath_archive::Ending;

wakepath_test_program::tests![
    ;
    a_run_interrupted_at_any_moment_says_honestly_what_it_is,
    a_traced_run_interrupted_at_any_moment_says_honestly_what_it_is,
];

/// Moments from 0.02 s on, evenly up to 3 s: the last come when the run is over.
const MOMENTS: u32 = 64;

/// Results of the runs.
#[derive(Debug, Default)]
pub struct Tally {
    before_anything: u32,
    interrupted: u32,
    passed: u32,
    failed: u32,
    undecided: u32,
}

// Ignored: the stage `kills` of ./test --deep runs these: minutes.
fn a_run_interrupted_at_any_moment_says_honestly_what_it_is() {
    campaign(false);
}

fn a_traced_run_interrupted_at_any_moment_says_honestly_what_it_is() {
    needs_tracing("interrupting traced runs");
    campaign(true);
}

fn campaign(traced: bool) {
    let first = Duration::from_millis(20);
    let step = (Duration::from_secs(3) - first) / (MOMENTS - 1);
    let moments: Vec<_> = (0..MOMENTS).map(|number| first + step * number).collect();
    let tally = interrupted_at(&moments, traced);
    println!("kills: interruptions, traced: {traced}: {tally:?}");
    assert!(tally.interrupted + tally.failed >= MOMENTS / 2, "{tally:?}");
}

/// Interrupts a run at each of these moments after its start.
pub fn interrupted_at(moments: &[Duration], traced: bool) -> Tally {
    let traces = Traces::now();
    let mut tally = Tally::default();
    for (number, moment) in moments.iter().enumerate() {
        let running = Start::command_in(place(traced), &WORDS)
            .in_its_own_group()
            .start();
        std::thread::sleep(*moment);
        match number % 3 {
            0 => running.signal_group(Signal::INT),
            1 => running.signal(Signal::INT),
            _ => running.signal(Signal::TERM),
        }
        let finished = running.finish();
        assert_honest(&finished, &format!("after {moment:?}"), &mut tally);
        traces.assert_unchanged(&format!("after {moment:?}"));
    }
    tally
}

const WORDS: [&str; 4] = ["run", "scenario.toml", "--directory", "run"];

/// Two policies without and with a load, some 2.5 s in all; none misses anything.
fn place(traced: bool) -> crate::started::Place {
    let place = crate::started::Place::new();
    let trace = if traced { "trace = {}\n" } else { "" };
    let text = format!(
        "name = \"test\"\nrate = \"200 Hz\"\nduration = \"250 ms\"\nwarm-up = \"150 ms\"\n{trace}\
         policies = [\"OTHER\", \"OTHER nice 5\"]\ncpu = {}\n\
         criterion = {{ latency = \"10 s\", deadline = \"10 s\", miss-fraction = \"90 %\" }}\n\
         phases = [{{ name = \"first\", loads = [\"cpu\"] }}, {{ name = \"second\" }}]\n",
        loop_cpu()
    );
    std::fs::write(place.path().join("scenario.toml"), text).unwrap();
    place
}

#[track_caller]
fn assert_honest(finished: &Finished, when: &str, tally: &mut Tally) {
    let said = || format!("{when}: {}", finished.said());
    for text in [&finished.output, &finished.complaints] {
        for never in ["contradict", "INVALID", "panicked"] {
            assert!(!text.contains(never), "{never}: {}", said());
        }
    }
    finished.wait_until_nobody_is_left();
    let verdict = finished
        .output
        .lines()
        .find(|line| line.contains("verdict: "));
    match (finished.code(), verdict) {
        (Some(0), Some(verdict)) => {
            assert!(verdict.contains("PASSED"), "{}", said());
            assert_eq!(
                finished.run().manifest.ending,
                Ending::Complete,
                "{}",
                said()
            );
            tally.passed += 1;
        }
        (Some(3), Some(verdict)) => {
            assert!(verdict.contains("UNDECIDED"), "{}", said());
            let told = finished.complaints.contains("interrupted");
            match finished.run().manifest.ending {
                Ending::Interrupted if told => tally.interrupted += 1,
                // The request came when all was measured, on a machine too busy to decide.
                Ending::Complete if !told => tally.undecided += 1,
                _ => panic!("{}", said()),
            }
        }
        // A machine that is busy otherwise may keep the loop from all of its due times.
        (Some(2), Some(verdict)) => {
            assert!(verdict.contains("FAILED"), "{}", said());
            tally.failed += 1;
        }
        // Nothing was begun, and nothing is claimed: the signal ended the command before it listened,
        // or it says that it was interrupted.
        (code, None) => {
            let told = code.is_none() || finished.complaints.contains("interrupted");
            assert!(
                told && !finished.directory.join("manifest.json").exists(),
                "{}",
                said()
            );
            tally.before_anything += 1;
            return;
        }
        _ => panic!("{}", said()),
    }
    finished.assert_archive_is_complete();
    let shown = ask("show", &finished.directory);
    assert_eq!(shown.code(), finished.code(), "{when}: {}", shown.said());
    assert!(
        !shown.output.contains("contradict"),
        "{when}: {}",
        shown.said()
    );
}

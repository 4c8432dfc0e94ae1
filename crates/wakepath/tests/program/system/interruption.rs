//! Ctrl-C and its like in mid-run: the end is in order and soon, and says what it is.

use crate::started::{Finished, Role, Running, Start, ask, kill, loop_cpu, wait_until};
use crate::system::recording::condition_in;
use rustix::process::Signal;
use std::time::{Duration, Instant};
use wakepath_archive::Ending;

wakepath_test_program::tests![
    ctrl_c_ends_in_order_and_shows_what_there_is,
    the_other_requests_to_end_do_the_same_and_the_json_says_so,
    an_interruption_does_not_whitewash_a_criterion_that_is_not_met,
    a_second_ctrl_c_ends_at_once,
    requests_at_the_same_time_are_one,
    a_run_interrupted_early_or_between_two_segments_says_honestly_what_it_is,
];

/// How long an orderly end waits for a loop that does not answer: one that answers ends sooner.
const PATIENCE: Duration = Duration::from_secs(10);

/// A long run of two phases that would pass if it were let.
fn started(load: &str, json: bool) -> Running {
    let place = crate::started::Place::new();
    let text = format!(
        "name = \"test\"\nrate = \"200 Hz\"\nduration = \"60 s\"\nwarm-up = \"100 ms\"\n\
         policies = [\"OTHER\"]\ncpu = {}\ncriterion = {{ miss-fraction = \"90 %\" }}\n\
         phases = [{{ name = \"first\", loads = [{load}] }}, {{ name = \"second\" }}]\n",
        loop_cpu()
    );
    std::fs::write(place.path().join("scenario.toml"), text).unwrap();
    let mut words = vec!["run", "scenario.toml", "--directory", "run"];
    words.extend(json.then_some("--json"));
    let running = Start::command_in(place, &words).start();
    running.wait_until_recorded(0, 200);
    running
}

/// Sends the signal and returns the ended run and how long it took to end.
fn ended_by(running: Running, signal: Signal) -> (Finished, Duration) {
    let asked = Instant::now();
    running.signal(signal);
    let finished = running.finish();
    let took = asked.elapsed();
    (finished, took)
}

fn assert_ended_in_order(finished: &Finished, took: Duration) {
    assert!(took < PATIENCE, "it took {took:?}");
    finished.assert_code(3);
    finished.assert_nobody_is_left();
    finished.assert_archive_is_complete();
    assert_eq!(finished.run().manifest.ending, Ending::Interrupted);
    assert!(
        !finished.directory.join("scratch").exists(),
        "scratch files are left"
    );
    ask("show", &finished.directory).assert_code(3);
}

fn ctrl_c_ends_in_order_and_shows_what_there_is() {
    for load in ["", "\"cpu\", \"messages\""] {
        let (finished, took) = ended_by(started(load, false), Signal::INT);
        assert_ended_in_order(&finished, took);
        assert!(
            finished.output.contains("verdict: UNDECIDED"),
            "{}",
            finished.said()
        );
        assert!(
            finished.output.contains("interrupted"),
            "{}",
            finished.said()
        );
        assert!(
            finished.output.contains("OTHER nice 0"),
            "{}",
            finished.said()
        );
    }
}

fn the_other_requests_to_end_do_the_same_and_the_json_says_so() {
    for signal in [Signal::TERM, Signal::HUP] {
        let (finished, took) = ended_by(started("", true), signal);
        assert_ended_in_order(&finished, took);
        let json = finished.json();
        assert_eq!(json["run"]["ending"]["how"], "interrupted");
        assert_eq!(json["outcome"], "undecided");
        // Cycles that were not measured before the end were not missed either.
        let condition = condition_in(&json, "first");
        assert_eq!(condition["cycles"]["skipped_at_end"], 0, "{condition:#}");
    }
}

fn an_interruption_does_not_whitewash_a_criterion_that_is_not_met() {
    let running = Start::scenario(&format!(
        "rate = \"200 Hz\"\nduration = \"60 s\"\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\n\
         cpu = {}\ncriterion = {{ latency = \"1 ns\", miss-fraction = \"1 %\" }}\n",
        loop_cpu()
    ))
    .start();
    running.wait_until_recorded(0, 200);
    let (finished, _) = ended_by(running, Signal::INT);
    finished.assert_code(2);
    assert_eq!(finished.json()["outcome"], "failed");
}

fn a_second_ctrl_c_ends_at_once() {
    let running = started("\"cpu\"", false);
    // A loop that can't answer holds the orderly end up.
    kill(running.the(Role::Loop), Signal::STOP);
    running.signal(Signal::INT);
    // Two that wait at the same time are one to the kernel.
    wait_until("the first is taken", || !running.has_pending(Signal::INT));
    // A person's second one comes later than `timeout`'s.
    std::thread::sleep(Duration::from_millis(500));
    let (finished, took) = ended_by(running, Signal::INT);
    assert!(took < PATIENCE, "it took {took:?}");
    assert_ne!(finished.code(), Some(0), "{}", finished.said());
    finished.wait_until_nobody_is_left();
    // It did not wait for the loop: nobody but the recorder was there to write an end.
    let ending = finished.run().manifest.ending;
    let is_alone =
        matches!(&ending, Ending::Failed { reason } if reason == "the measuring process died");
    assert!(is_alone, "{ending:?}");
    ask("recover", &finished.directory).assert_code(0);
    assert_ne!(ask("show", &finished.directory).code(), Some(0));
}

/// As `timeout` sends them, and a service manager.
fn requests_at_the_same_time_are_one() {
    for other in [Signal::INT, Signal::HUP] {
        let running = started("", false);
        running.signal(Signal::INT);
        wait_until("the first is taken", || !running.has_pending(Signal::INT));
        let (finished, took) = ended_by(running, other);
        assert_ended_in_order(&finished, took);
    }
}

/// Few of the moments that the stage `kills` tries: as the command starts, in the preparation, in the
/// first warm-up, and between segments.
fn a_run_interrupted_early_or_between_two_segments_says_honestly_what_it_is() {
    let moments = [20, 250, 450, 800, 1_000].map(Duration::from_millis);
    crate::kills::interruptions::interrupted_at(&moments, false);
}

//! A stopped recorder, as in front of a stalled disk: the loop must not notice, and samples that did not
//! fit into memory must be reported.

use crate::started::{Finished, Role, Start, kill, loop_cpu, needs_real_time, not_run, wait_until};
use crate::system::recording::{count, judged, largest_gap, only_condition, reasons};
use rustix::process::Signal;
use wakepath_rt::ring::Indices;

wakepath_test_program::tests![
    a_disk_that_stalls_for_seconds_costs_neither_cycles_nor_samples,
    samples_that_found_no_room_are_counted_and_keep_the_run_from_passing,
];

/// Due times, three seconds of them.
const STOPPED: u64 = 4_800;

/// Those that the loop has served or passed over.
fn due_times(of: Indices) -> u64 {
    of.written() + of.lost() + of.skipped()
}

/// Runs a loop of 1.6 kHz, whose ring holds 16384 samples or 10.24 s, and stops the recorder until the loop has come
/// so far.
fn recorder_stopped_until(is_so: impl Fn(Indices) -> bool, duration: &str) -> Finished {
    let running = Start::scenario(&format!(
        "rate = \"1600 Hz\"\nduration = \"{duration}\"\nwarm-up = \"100 ms\"\npolicies = [\"FIFO 50\"]\n\
         cpu = {}\ncriterion = {{ miss-fraction = \"99.9999 %\" }}\n",
        loop_cpu()
    ))
    .start();
    running.wait_until_recorded(0, 300);
    let recorder = running.the(Role::Recorder);
    let memory = running.memory();
    kill(recorder, Signal::STOP);
    wait_until("enough cycles", || is_so(memory.indices(0)));
    kill(recorder, Signal::CONT);
    running.finish()
}

fn a_disk_that_stalls_for_seconds_costs_neither_cycles_nor_samples() {
    needs_real_time("a stalled disk");
    let finished = recorder_stopped_until(|of| due_times(of) > 300 + STOPPED, "4 s");
    finished.assert_code(0);
    finished.assert_archive_is_complete();
    let run = finished.run();
    let thread = &run.manifest.segments[0].threads[0];
    assert_eq!(thread.lost, Some(0), "{thread:?}");
    assert_eq!(thread.written, Some(thread.recorded), "{thread:?}");
    let json = finished.json();
    assert_eq!(count(only_condition(&json), "scheduled"), 6400);
    let samples = judged(&finished, 0);
    // A loop that waits for its recorder misses all that time; one on a machine that stalls, a part of it.
    let gap = largest_gap(&samples);
    assert!(gap < STOPPED / 2, "{gap} due times without a cycle");
}

fn samples_that_found_no_room_are_counted_and_keep_the_run_from_passing() {
    let what = "a disk that stalls for longer than the rings hold";
    needs_real_time(what);
    let nearly_all = 14 * 1600 - 200;
    let finished =
        recorder_stopped_until(|of| of.lost() > 1_000 || due_times(of) > nearly_all, "14 s");
    let run = finished.run();
    let thread = &run.manifest.segments[0].threads[0];
    let lost = thread.lost.unwrap();
    if lost <= 1_000 && thread.skipped > Some(1_000) {
        not_run(what, "the loop was kept from too many of its cycles");
    }
    assert!(lost > 1_000, "{thread:?}");
    finished.assert_code(1);
    let json = finished.json();
    let condition = only_condition(&json);
    assert_eq!(condition["outcome"], "invalid", "{condition:#}");
    assert!(
        reasons(condition).contains(&"samples-lost"),
        "{condition:#}"
    );
    // The lost samples are one gap in the recording: the newest samples are dropped, not random ones.
    let samples = judged(&finished, 0);
    assert!(
        largest_gap(&samples) as i64 >= lost as i64 - 800,
        "the loss is one gap"
    );
}

//! A process of a run is killed. None of the run's processes remains, the recording is there, and no
//! verdict passes for a run that isn't whole.

use crate::started::{Finished, Role, Running, Start, Witness, ask, kill, loop_cpu, not_run};
use crate::system::recording::{condition_in, reasons};
use rustix::process::Signal;
use std::time::Duration;
use wakepath_archive::{Ending, State};
use wakepath_rt::clock;
use wakepath_rt::shared::SharedMemory;

wakepath_test_program::tests![
    a_killed_loop_makes_its_condition_invalid_and_the_run_goes_on,
    a_loop_killed_while_it_is_traced_keeps_the_run_from_passing_and_is_named,
    a_loop_whose_policy_is_changed_while_it_is_measured_is_invalid,
    a_killed_recorder_ends_the_run_with_one_line_and_leaves_a_readable_log,
    a_killed_command_takes_loop_and_loads_with_it_and_the_recorder_writes_the_rest,
    a_killed_load_supervisor_takes_the_loads_with_it_and_makes_the_phase_invalid,
    when_all_are_killed_at_once_the_log_is_there_up_to_the_last_second,
    recovery_of_a_live_run_is_refused_and_disturbs_nothing,
    a_live_run_is_said_to_be_under_way_and_is_not_judged,
];

/// Samples reach the disk in blocks of half a second.
const OLDEST: Duration = Duration::from_millis(1000);

/// A criterion that this machine can't fail, so that only the death can keep a run from passing.
fn scenario(load: &str) -> String {
    format!(
        "rate = \"200 Hz\"\ncycles = 800\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\ncpu = {}\n\
         phases = [{{ name = \"phase\", loads = [{load}] }}]\n\
         criterion = {{ miss-fraction = \"99.9999 %\" }}\n",
        loop_cpu()
    )
}

const IDLE: &str = "";
const LOADED: &str = "\"cpu\", \"messages\", \"processes\"";

/// Samples of a segment under way: few, since a busy machine keeps the loop from most of its cycles.
const SOME: u64 = 40;

fn in_mid_run(load: &str) -> Running {
    let running = Start::scenario(&scenario(load)).start();
    running.wait_until_recorded(0, SOME);
    running
}

/// Asserts that the newest sample on disk was no older at `killed_ns` than the blocks' time and what this machine kept
/// others waiting for.
#[track_caller]
fn assert_last_sample_is_young(finished: &Finished, killed_ns: u64, witness: Witness) {
    let last = *finished.samples(0).last().unwrap();
    let age = Duration::from_nanos(killed_ns.saturating_sub(last.wake_ns));
    let longest = witness.longest();
    assert!(age < OLDEST + longest, "{age:?}, and {longest:?} of stalls");
}

/// Asserts that every sample that the loop wrote before it died is in the run.
#[track_caller]
fn assert_all_is_kept(finished: &Finished, memory: &SharedMemory) {
    let indices = memory.indices(0);
    assert_eq!(indices.lost(), 0);
    assert_eq!(finished.samples(0).len() as u64, indices.written());
}

/// Due times between its samples at which no cycle ran.
fn left_out_until_the_last_sample(finished: &Finished) -> u64 {
    let samples = finished.samples(0);
    samples.last().unwrap().cycle + 1 - samples.len() as u64
}

/// The run can be recovered, twice, and no way of showing it passes.
fn assert_it_can_be_recovered(finished: &Finished) {
    let before = finished.samples(0);
    let first = ask("recover", &finished.directory);
    first.assert_code(0);
    finished.assert_archive_is_finished();
    assert_eq!(finished.samples(0), before, "recovery changed samples");
    let files = finished.files();
    let second = ask("recover", &finished.directory);
    second.assert_code(0);
    assert!(
        second.output.contains("nothing was changed"),
        "{}",
        second.said()
    );
    assert!(finished.files() == files, "a second recovery changed files");
    let missing_is_said = first.output.contains("missing:");
    assert_eq!(
        missing_is_said,
        finished.run().manifest.recovered.is_some(),
        "{}",
        first.said()
    );
}

#[track_caller]
fn assert_not_passed(finished: &Finished, said: &str) {
    let shown = ask("show", &finished.directory);
    assert_ne!(shown.code(), Some(0), "{}", shown.said());
    assert!(
        !shown.output.contains("verdict: PASSED"),
        "{}",
        shown.said()
    );
    let all = format!("{}{}", shown.output, shown.complaints);
    assert!(
        all.contains(said),
        "it does not say {said:?}: {}",
        shown.said()
    );
}

impl Finished {
    #[track_caller]
    fn assert_archive_is_finished(&self) {
        assert_eq!(*self.run().state(), State::Finished);
    }
}

fn a_killed_loop_makes_its_condition_invalid_and_the_run_goes_on() {
    for load in [IDLE, LOADED] {
        let running = in_mid_run(load);
        let memory = running.memory();
        kill(running.the(Role::Loop), Signal::KILL);
        let finished = running.finish();
        finished.assert_nobody_is_left();
        finished.assert_code(1);
        let json = finished.json();
        let condition = condition_in(&json, "phase");
        assert_eq!(condition["outcome"], "invalid", "{condition:#}");
        assert!(reasons(condition).contains(&"ended-early"), "{condition:#}");
        finished.assert_archive_is_complete();
        // All that the loop wrote was in shared memory, which outlives it.
        assert_all_is_kept(&finished, &memory);
        assert_eq!(
            finished.run().manifest.segments[0].threads[0].skipped,
            Some(left_out_until_the_last_sample(&finished)),
            "what it had skipped outlives it too"
        );
        assert_not_passed(&finished, "died");
        assert_it_can_be_recovered(&finished);
    }
}

fn a_loop_killed_while_it_is_traced_keeps_the_run_from_passing_and_is_named() {
    let text = format!("{}trace = {{}}\n", scenario(IDLE));
    let running = Start::scenario(&text).start();
    // The second segment is the traced one.
    running.wait_until_recorded(0, 10);
    if wakepath_archive::Run::open(running.directory())
        .is_ok_and(|run| run.manifest.tracing.is_none())
    {
        not_run("a death in a traced segment", "nothing may be traced here");
    }
    running.wait_until_recorded(1, SOME);
    kill(running.the(Role::Loop), Signal::KILL);
    let finished = running.finish();
    finished.assert_code(1);
    assert!(
        finished.json().to_string().contains("process died"),
        "{}",
        finished.said()
    );
    for words in [&["show", "--details"][..], &["explain"]] {
        let shown = Start::command(words).with(&[&finished.directory]).finish();
        assert!(
            shown.output.contains("process died"),
            "{words:?}: {}",
            shown.said()
        );
    }
    let page = std::fs::read_to_string(finished.directory.join("report.html")).unwrap();
    assert!(page.contains("process died"));
    assert_not_passed(&finished, "INVALID");
}

fn a_loop_whose_policy_is_changed_while_it_is_measured_is_invalid() {
    let running = in_mid_run(IDLE);
    let process = running.the(Role::Loop);
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    for thread in threads {
        let thread = thread.unwrap().file_name().into_string().unwrap();
        let batch = wakepath_timeline::Policy::Batch { nice: 0 };
        wakepath_rt::attributes::set(thread.parse().unwrap(), batch).unwrap();
    }
    let finished = running.finish();
    finished.assert_code(1);
    assert_not_passed(&finished, "policy was changed");
}

fn a_killed_recorder_ends_the_run_with_one_line_and_leaves_a_readable_log() {
    for load in [IDLE, LOADED] {
        let witness = Witness::start();
        let running = in_mid_run(load);
        kill(running.the(Role::Recorder), Signal::KILL);
        let killed_ns = clock::monotonic_ns();
        let finished = running.finish();
        finished.assert_nobody_is_left();
        finished.assert_code(1);
        assert_eq!(finished.errors().len(), 1, "{}", finished.said());
        assert!(
            finished.errors()[0].contains("recorder died"),
            "{}",
            finished.said()
        );
        assert!(
            finished.errors()[0].contains("wakepath recover"),
            "{}",
            finished.said()
        );
        assert!(finished.output.is_empty(), "{}", finished.said());
        assert_not_passed(&finished, "cut short");
        assert_last_sample_is_young(&finished, killed_ns, witness);
        assert_it_can_be_recovered(&finished);
        assert!(finished.run().manifest.recovered.is_some());
        assert_not_passed(&finished, "no recorded end");
    }
}

fn a_killed_command_takes_loop_and_loads_with_it_and_the_recorder_writes_the_rest() {
    for load in [IDLE, LOADED] {
        let running = in_mid_run(load);
        let memory = running.memory();
        running.signal(Signal::KILL);
        let finished = running.finish();
        finished.wait_until_nobody_is_left();
        assert_eq!(finished.code(), None, "killed by a signal");
        assert_all_is_kept(&finished, &memory);
        assert!(
            matches!(&finished.run().manifest.ending, Ending::Failed { reason } if reason.contains("measuring process died")),
            "{:?}",
            finished.run().manifest.ending
        );
        assert_not_passed(&finished, "measuring process died");
        assert_it_can_be_recovered(&finished);
        assert_not_passed(&finished, "measuring process died");
        assert!(
            !finished.directory.join("scratch").exists(),
            "scratch files are left"
        );
    }
}

fn a_killed_load_supervisor_takes_the_loads_with_it_and_makes_the_phase_invalid() {
    let running = in_mid_run(LOADED);
    kill(running.the(Role::LoadSupervisor), Signal::KILL);
    let mut left = Vec::new();
    crate::started::wait_until("the end of the loads", || {
        left = running.all_of(Role::LoadWorker);
        left.is_empty()
    });
    let finished = running.finish();
    finished.assert_nobody_is_left();
    finished.assert_code(1);
    let json = finished.json();
    let condition = condition_in(&json, "phase");
    assert_eq!(condition["outcome"], "invalid", "{condition:#}");
    assert!(
        reasons(condition).contains(&"load-not-proven"),
        "{condition:#}"
    );
    finished.assert_archive_is_complete();
    assert_not_passed(&finished, "did not prove its work");
}

fn when_all_are_killed_at_once_the_log_is_there_up_to_the_last_second() {
    for load in [IDLE, LOADED] {
        let witness = Witness::start();
        let running = in_mid_run(load);
        running.kill_all();
        let killed_ns = clock::monotonic_ns();
        let finished = running.finish();
        finished.wait_until_nobody_is_left();
        assert_not_passed(&finished, "cut short");
        assert_last_sample_is_young(&finished, killed_ns, witness);
        assert_it_can_be_recovered(&finished);
        assert!(finished.run().manifest.recovered.is_some());
        assert_not_passed(&finished, "no recorded end");
        assert!(
            !finished.directory.join("scratch").exists(),
            "scratch files are left"
        );
    }
}

fn recovery_of_a_live_run_is_refused_and_disturbs_nothing() {
    let running = in_mid_run(LOADED);
    ask("recover", running.directory()).assert_refused(1, &["in use by"]);
    let finished = running.finish();
    finished.assert_code(0);
    finished.assert_archive_is_complete();
    assert_eq!(finished.json()["outcome"], "passed");
}

fn a_live_run_is_said_to_be_under_way_and_is_not_judged() {
    let running = in_mid_run(IDLE);
    let shown = ask("show", running.directory());
    shown.assert_refused(1, &["still under way", "after it has ended"]);
    assert_eq!(shown.errors().len(), 1, "{}", shown.said());
    let finished = running.finish();
    finished.assert_code(0);
    finished.assert_archive_is_complete();
    ask("show", &finished.directory).assert_code(0);
}

//! Traced runs with real kernels: nothing is left in the kernel, whoever is killed and when, and
//! what is read while the run goes on explains it as well.

use crate::started::{Start, ask, is_root, loop_cpu, not_run, wait_until};
use std::time::Duration;
use wakepath_archive::{OwnRole, TraceMode};
use wakepath_explain::Explanation;
use wakepath_probe::Tracefs;
use wakepath_timeline::duration;

wakepath_test_program::tests![
    a_traced_run_that_is_killed_leaves_no_instance_after_its_recovery,
    what_is_drained_while_the_run_goes_on_explains_it,
    without_privilege_a_traced_run_is_measured_and_says_why_it_is_not_traced,
];

const NOBODY: u32 = 65_534;

fn scenario(mode: &str) -> String {
    format!(
        "rate = \"500 Hz\"\ncycles = 400\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\ncpu = {}\n\
         trace = {{ mode = \"{mode}\" }}\ncriterion = {{ miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    )
}

/// Names of our instances; `None` where this user has no tracefs. On a thread of its own: it may
/// have to mount tracefs, and is in another mount namespace then.
fn instances() -> Option<Vec<String>> {
    let look = || {
        let tracefs = Tracefs::find_or_mount().ok()?;
        let entries = std::fs::read_dir(tracefs.root().join("instances")).ok()?;
        let names = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        Some(names.filter(|name| name.starts_with("wakepath-")).collect())
    };
    std::thread::spawn(look).join().unwrap()
}

/// The instances that were not there before.
fn new_since(before: &[String]) -> Vec<String> {
    let mut names = instances().unwrap_or_default();
    names.retain(|name| !before.contains(name));
    names
}

fn a_traced_run_that_is_killed_leaves_no_instance_after_its_recovery() {
    let what = "killing a traced run";
    let Some(before) = instances().filter(|_| is_root()) else {
        not_run(what, "there is no tracefs that this user may use");
    };
    // While the probe sets up; in the untraced or traced half of the run; in the other.
    for moment in ["set-up", "first segment", "second segment"] {
        let running = Start::scenario(&scenario("drained")).start();
        wait_until("an instance", Duration::from_secs(30), || {
            !new_since(&before).is_empty()
        });
        match moment {
            "first segment" => running.wait_until_recorded(0, 100),
            "second segment" => running.wait_until_recorded(1, 100),
            _ => {}
        }
        running.kill_all();
        let finished = running.finish();
        finished.wait_for_the_recorder();
        let recovered = ask("recover", &finished.directory);
        // Killed before its first event, a run can't be told; its instance goes all the same.
        if recovered.code() != Some(0) {
            wakepath_probe::remove_orphans().unwrap();
        }
        assert_eq!(
            new_since(&before),
            Vec::<String>::new(),
            "killed in {moment}"
        );
    }
}

fn what_is_drained_while_the_run_goes_on_explains_it() {
    let what = "a drained traced run";
    if instances().filter(|_| is_root()).is_none() {
        not_run(what, "there is no tracefs that this user may use");
    }
    let finished = Start::scenario(&scenario("drained")).finish();
    finished.assert_archive_is_complete();
    let run = finished.run();
    let tracing = run.manifest.tracing.as_ref();
    let tracing = tracing.unwrap_or_else(|| panic!("not traced: {}", finished.said()));
    assert_eq!(tracing.mode, TraceMode::Drained);
    let text = std::fs::read(finished.directory.join(Explanation::FILE_NAME)).unwrap();
    let explanation: Explanation = serde_json::from_slice(&text).unwrap();
    let condition = &explanation.conditions[0];
    assert!(explanation.events > 0, "{explanation:#?}");
    // Every judged cycle of the traced segment is there, or said to be missing.
    let segments = run.manifest.segments.iter();
    let traced = segments.filter(|segment| segment.traced);
    let judged: u64 = traced
        .map(|segment| {
            let samples = run.samples(segment.segment, 0).unwrap();
            samples.iter().filter(|sample| !sample.is_warm_up()).count() as u64
        })
        .sum();
    assert!(condition.cycles > 0, "{}", finished.said());
    assert_eq!(condition.cycles + condition.not_covered, judged);
    // Whose the measuring processes are is known by number and start, and not by their name.
    let traced = run.manifest.segments.iter().find(|segment| segment.traced);
    let own = traced.unwrap().trace.as_ref().unwrap().own.clone().unwrap();
    for role in [
        OwnRole::Measuring,
        OwnRole::Recorder,
        OwnRole::Probe,
        OwnRole::Loop,
    ] {
        let of_role: Vec<_> = own.iter().filter(|of| of.role == role).collect();
        assert_eq!(of_role.len(), 1, "{role:?} in {own:#?}");
        assert!(of_role[0].start_ticks > 0 && !of_role[0].threads.is_empty());
    }
    assert!(!explanation.own_by_name);
    // The worst was told when its segment was over, while the run went on.
    let worst = duration::short(condition.worst[0].latency_ns);
    let worst = format!("worst: {worst}, ");
    assert!(
        finished.complaints.contains(&worst),
        "{worst}{}",
        finished.said()
    );
    // Pieces add up to the latency, to the nanosecond.
    for cycle in &condition.worst {
        let sum: u64 = cycle.pieces.iter().map(|piece| piece.ns).sum();
        assert_eq!(sum, cycle.latency_ns.unsigned_abs(), "{cycle:#?}");
    }
}

fn without_privilege_a_traced_run_is_measured_and_says_why_it_is_not_traced() {
    let what = "a traced run as an unprivileged user";
    if !is_root() {
        not_run(what, "only root may become another user");
    }
    let text = scenario("flight-recorder");
    let finished = Start::scenario(&text).by_user(NOBODY).finish();
    assert!(
        matches!(finished.code(), Some(0 | 2 | 3)),
        "{}",
        finished.said()
    );
    finished.assert_archive_is_complete();
    let run = finished.run();
    if run.manifest.tracing.is_some() {
        not_run(what, "any user may trace here");
    }
    let notes = finished.json()["run"]["notes"].to_string();
    assert!(notes.contains("not traced: "), "{notes}");
    assert!(
        finished
            .run()
            .manifest
            .segments
            .iter()
            .all(|segment| !segment.traced)
    );
}

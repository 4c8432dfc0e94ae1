//! Traced runs with real kernels: the data read during the run explains it, and a run without the right to
//! trace reports that. The remains of a killed one in the kernel are a matter for the tests of the whole
//! machine.

use crate::started::{Start, is_root, not_run};
use crate::whole_machine::tracers::{instances, scenario};
use wakepath_archive::{OwnRole, TraceMode};
use wakepath_explain::Explanation;
use wakepath_timeline::duration;

wakepath_test_program::tests![
    what_is_drained_while_the_run_goes_on_explains_it,
    without_privilege_a_traced_run_is_measured_and_says_why_it_is_not_traced,
];

const NOBODY: u32 = 65_534;

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
    // The worst was printed at the end of its segment, while the run continued.
    let worst = duration::three_digits(condition.worst[0].latency_ns);
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

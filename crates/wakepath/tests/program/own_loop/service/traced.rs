//! The kernel's events around a service's worst cycles: kept and explained where the user may trace, and asked for once
//! where not.

use super::*;
use crate::started::{is_root, not_run};
use crate::whole_machine::tracers::instances;
use std::os::unix::process::CommandExt;

wakepath_test_program::tests![
    worst_cycles_keep_the_kernel_s_events_around_them,
    a_service_that_may_not_trace_says_so_once_and_is_recorded,
];

fn worst_cycles_keep_the_kernel_s_events_around_them() {
    if instances().filter(|_| is_root()).is_none() {
        not_run(
            "kernel events of a service",
            "there is no tracefs that this user may use",
        );
    }
    let place = Place::new();
    // Long in the kernel's eyes, too: it sleeps.
    let program = program(
        &place,
        3_000,
        "if (cycle.cycle % 1000 == 500) { wakepath_log(loop, \"slept\"); usleep(100000); }",
    );
    let mut words = words(None, &program);
    words.insert(3, "--trace".into());
    let output = start(&place, &words).wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said.matches("are recorded for the worst cycles").count(),
        1,
        "{said}"
    );
    let found = shown(&place);
    let worst = found["loops"]["loop"]["worst"].as_array().unwrap();
    let runs: Vec<&str> = worst
        .iter()
        .filter_map(|of| of["trace"]["run"].as_str())
        .collect();
    assert!(!runs.is_empty(), "{said}{found:#}");
    let kept = std::fs::read_dir(place.path().join("field/worst")).unwrap();
    assert_eq!(kept.count(), runs.len(), "no other run is left");
    let explained = |words: &[&str]| {
        let output = Command::new(crate::started::binary())
            .current_dir(place.path())
            .arg("explain")
            .args(words)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    let (text, said) = explained(&["field", "--json", "--worst", "100"]);
    let all: Vec<Value> = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{said}"));
    assert_eq!(all.len(), runs.len(), "{text}");
    // On a busy machine events of one may be lost: it is named all the same.
    assert!(!all[0]["cycle"].is_null(), "{text}");
    for one in all.iter().filter(|one| one["why"].is_null()) {
        let pieces = one["cycle"]["execution"].as_array().unwrap();
        assert!(!pieces.is_empty(), "{one:#}");
    }
    // Each is a run by itself.
    let run = format!("field/worst/{}", all[0]["run"].as_str().unwrap());
    let number = all[0]["cycle"]["cycle"].to_string();
    let (text, said) = explained(&[&run, "--cycle", &number]);
    assert!(text.contains("after due"), "{text}{said}");
    // One that never ran is answered with why.
    let (_, said) = explained(&[&run, "--cycle", "999999999"]);
    let why = "cycle 999999999 can't be explained: segment 0, loop: ";
    assert!(said.contains(why), "{said}");
    let (_, said) = explained(&["field", "--cycle", "3"]);
    assert!(said.contains("name one of its runs"), "{said}");
}

fn a_service_that_may_not_trace_says_so_once_and_is_recorded() {
    const NOBODY: u32 = 65_534;
    let place = Place::new();
    let program = program(&place, 300, "");
    let mut words = words(None, &program);
    words.insert(3, "--trace".into());
    let mut command = Command::new(crate::started::binary());
    if is_root() {
        std::os::unix::fs::chown(place.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        command.uid(NOBODY).gid(NOBODY);
    } else if instances().is_some() {
        not_run("a service that may not trace", "this user may");
    }
    command
        .args(&words)
        .current_dir(place.path())
        .stdin(Stdio::null());
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert_eq!(
        said.matches("events are not recorded: ").count(),
        1,
        "{said}"
    );
    let found = shown(&place);
    assert!(count(&found, "executed") > 0, "{found:#}");
    let output = Command::new(crate::started::binary())
        .args(["explain", "field"])
        .current_dir(place.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("record the service with --trace"), "{said}");
}

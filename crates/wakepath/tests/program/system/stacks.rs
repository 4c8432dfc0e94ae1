//! The functions in which a loop blocks, of a program that waits in two of its own.

use crate::started::{Place, Start, built, not_run};
use serde_json::Value;

wakepath_test_program::tests![
    without_symbols_a_wait_is_told_with_an_address,
    a_wait_is_told_with_the_function_that_waits
];

const WHAT: &str = "watching where a loop blocks";

/// The causes of the late cycles of the thread `control`, with what is printed and, as text, the cycle that waited
/// longest for the mutex.
fn causes(strip: bool) -> (Vec<String>, String, String) {
    let place = Place::new();
    let program = built(&place, "stacks", WHAT);
    if strip {
        let stripped = std::process::Command::new("strip").arg(&program).status();
        if !stripped.is_ok_and(|status| status.success()) {
            not_run(WHAT, "no strip");
        }
    }
    // Every wait, and not only the longest: without a limit one cycle in a thousand is late.
    let words = [
        &["watch", "--all", "--stacks", "--latency", "2ms"][..],
        &["--directory", "run", "--for", "3s", "--"],
    ]
    .concat();
    let finished = Start::command_in(place, &words)
        .with(&[program.as_os_str()])
        .finish();
    finished.skip_unless_watched(WHAT);
    let printed = finished.output.clone();
    let refused = |line: &&str| line.contains("without the functions");
    if let Some(why) = printed.lines().find(refused) {
        not_run(WHAT, why);
    }
    let run = finished.run();
    let explained = Start::command(&["explain", "--json"])
        .with(&[run.directory().as_os_str()])
        .finish();
    explained.assert_code(0);
    let explanation = explained.json();
    let all = explanation["conditions"].as_array().unwrap();
    let is_control = |one: &&Value| one["thread"] == "control";
    let control = all.iter().find(is_control).expect("the loop is explained");
    let causes = control["causes"].as_array().unwrap().iter();
    let text = |cause: &Value| cause["cause"].as_str().unwrap().to_owned();
    let is_mutex = |cause: &&Value| !placed(&[text(cause)], "futex()").is_empty();
    let longest = causes.clone().find(is_mutex).map(|of| &of["worst_cycle"]);
    let cycle = longest.map_or_else(String::new, |number| {
        let number = number.to_string();
        let cycle = ["explain", "--json", "--cycle", &number, "--segment", "0"];
        let cycle = Start::command(&cycle).with(&[run.directory().as_os_str()]);
        cycle.finish().output
    });
    (causes.map(text).collect(), printed, cycle)
}

/// Those of the causes that are waits in a call, with a place in the program: of the first tenth of a
/// second none is known.
fn placed<'a>(causes: &'a [String], call: &str) -> Vec<&'a str> {
    // A place comes before the call.
    let is_placed = |of: &&str| of.contains(&format!(", in {call}"));
    let waits = causes.iter().map(|of| &**of);
    let waits = waits.filter(|of| of.contains("blocked"));
    waits.filter(is_placed).collect()
}

fn a_wait_is_told_with_the_function_that_waits() {
    let (causes, printed, cycle) = causes(false);
    for (call, function, line) in [
        (
            "futex()",
            "take_state",
            "pthread_mutex_lock(&state);\n\tcounted",
        ),
        ("read()", "read_answer", "read(answer[0]"),
    ] {
        let source = include_str!("stacks.c");
        let before = source.find(line).unwrap();
        let line = source[..before].lines().count();
        let expected = format!("in `{function}` (stacks.c:{line}), in {call}");
        let placed = placed(&causes, call);
        assert!(!placed.is_empty(), "{call}: {printed}\n{causes:#?}");
        for cause in &placed {
            assert!(cause.contains(&expected), "{cause}, not {expected}");
        }
        // So that the reader knows why the other thread let it wait for so long.
        let slept = "which slept in `pause_ms` (stacks.c:";
        let has_slept = placed.iter().any(|cause| cause.contains(slept));
        assert!(has_slept, "{placed:#?}");
    }
    assert!(
        cycle.contains("do_syscall") || cycle.contains("_sys_"),
        "{cycle}"
    );
}

fn without_symbols_a_wait_is_told_with_an_address() {
    let (causes, printed, _) = causes(true);
    let placed = placed(&causes, "read()");
    assert!(!placed.is_empty(), "{printed}\n{causes:#?}");
    for cause in placed {
        assert!(cause.contains("in stacks+0x"), "{cause}");
    }
}

//! Loops that are late through their own program's activity, watched for a second or two: the largest cause
//! must be the one that the program was made to produce.

use crate::started::{Place, Start, built, loop_cpu, needs_real_time, needs_tracing};

wakepath_test_program::tests![
    a_system_call_is_named,
    a_full_pipe_is_named_with_who_read_it,
    a_heir_of_the_loop_s_priority_gets_its_own,
    a_service_in_the_loop_s_thread_is_told_from_its_work,
    a_wait_for_an_answer_is_told_from_that_for_the_next_command,
    a_deadline_is_what_its_cycles_are_held_to,
];

const WHAT: &str = "watching a loop that is late by itself";

/// Cause and fix of what took most of the late cycles' time.
fn largest(how: &str) -> (String, String) {
    let (explanation, _) = watched(how, &[]);
    let cause = &explanation["conditions"][0]["causes"][0];
    let text = |key: &str| cause[key].as_str().unwrap_or_default().to_owned();
    (text("cause"), text("remedy"))
}

/// The explanation of a watch with these options, and its run as `show` prints it.
fn watched(how: &str, options: &[&str]) -> (serde_json::Value, String) {
    needs_tracing(WHAT);
    needs_real_time(WHAT);
    let _turn = super::turn();
    let place = Place::new();
    let program = built(&place, "late_within", WHAT);
    let words = ["watch", "--directory", "run", "--for", "1200ms"];
    let finished = Start::command_in(place, &words)
        .with(options)
        .with(&["--"])
        .with(&[program.as_os_str()])
        .with(&[how, &loop_cpu().to_string()])
        .finish();
    finished.skip_unless_watched(WHAT);
    let run = finished.run();
    let explained = Start::command(&["explain", "--json"])
        .with(&[run.directory().as_os_str()])
        .finish();
    explained.assert_code(0);
    let shown = Start::command(&["show"])
        .with(&[run.directory().as_os_str()])
        .finish();
    (explained.json(), shown.output)
}

fn a_deadline_is_what_its_cycles_are_held_to() {
    let (explanation, shown) = watched("pipe", &["--deadline", "700us"]);
    let first = &explanation["conditions"][0];
    assert_eq!(first["response_limit_ns"], 700_000, "{first}");
    assert!(first["overran"].as_u64() > Some(0), "{first}");
    assert!(shown.contains("response ≤ 700 µs"), "{shown}");
}

fn a_system_call_is_named() {
    let (cause, remedy) = largest("memory");
    assert!(cause.contains("system call m"), "{cause}");
    assert!(remedy.contains("M_MMAP_MAX"), "{remedy}");
}

fn a_full_pipe_is_named_with_who_read_it() {
    let (cause, remedy) = largest("pipe");
    assert!(
        cause.contains("in write() on a pipe: blocked on peer"),
        "{cause}"
    );
    assert!(remedy.contains("O_NONBLOCK"), "{remedy}");
}

fn a_heir_of_the_loop_s_priority_gets_its_own() {
    let (cause, remedy) = largest("inherited");
    assert!(cause.contains("thread heir (FIFO/RR 80)"), "{cause}");
    assert!(remedy.contains("PTHREAD_EXPLICIT_SCHED"), "{remedy}");
}

fn a_service_in_the_loop_s_thread_is_told_from_its_work() {
    let (cause, remedy) = largest("service");
    assert!(cause.contains("woken by peer"), "{cause}");
    assert!(remedy.contains("another thread"), "{remedy}");
}

fn a_wait_for_an_answer_is_told_from_that_for_the_next_command() {
    let (cause, remedy) = largest("answer");
    assert!(cause.contains("poll(): blocked on peer"), "{cause}");
    assert!(remedy.contains("in later ones"), "{remedy}");
}

//! The fixes that are printed, applied as they are printed: the time charged to the cause falls by nine
//! tenths or more. The program is `cures.c`; its third word is what the printed fix says.

use super::tries::cures as program;
use crate::started::{Place, Start, binary, loop_cpu, not_run};
use serde_json::Value;
use std::process::Command;

wakepath_test_program::tests![
    a_mutex_with_inheritance_cures_an_inversion,
    mallopt_cures_allocation_in_locked_memory,
    touched_and_kept_memory_cures_page_faults,
    a_pipe_without_blocking_cures_printing,
    another_thread_cures_syncing,
    a_higher_priority_cures_a_more_urgent_hog,
    a_real_time_policy_cures_sharing_with_ordinary_threads,
];

const WHAT: &str = "curing a loop";

/// A cause with its fix, and what it took of a cycle on average in nanoseconds.
type Charged = (String, String, f64);

/// The causes of the thread `control`'s cycles later than 500 µs, per cycle: name, fix, and ns.
fn causes(before: &[&str], words: &[&str]) -> Vec<Charged> {
    let place = Place::new();
    let program = program(&place);
    let cpu = loop_cpu().to_string();
    let watch = [
        "watch",
        "--directory",
        "run",
        "--for",
        "2s",
        "--latency",
        "500us",
        "--",
    ];
    let finished = Start::command_in(place, &watch)
        .with(before)
        .with(&[program.as_os_str()])
        .with(&[&[cpu.as_str()], words].concat())
        .finish();
    if finished.complaints.contains("can't watch") {
        not_run(WHAT, finished.complaints.trim());
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
    let cycles = control["cycles"].as_f64().unwrap();
    let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
    let causes = control["causes"].as_array().unwrap().iter();
    causes
        .map(|cause| {
            let ns = cause["late_ns"].as_f64().unwrap() / cycles;
            (text(cause, "cause"), text(cause, "remedy"), ns)
        })
        .collect()
}

/// Watches the program as it is, then with the fix: both words must be printed for its largest cause.
fn cures(how: &str, cause: &str, fix: &str, (before, word): (&[&str], Option<&str>)) {
    let _turn = super::turn();
    let sick = causes(&[], &[how]);
    let (name, remedy, _) = &sick[0];
    assert!(name.contains(cause), "{sick:?}");
    assert!(remedy.contains(fix), "{remedy}");
    let words: Vec<&str> = std::iter::once(how).chain(word).collect();
    let cured = causes(before, &words);
    let charged = |all: &[Charged]| -> f64 {
        let of = all.iter().filter(|(name, ..)| name.contains(cause));
        of.map(|(.., ns)| ns).sum()
    };
    let (was, is) = (charged(&sick), charged(&cured));
    assert!(
        is <= 0.1 * was,
        "{was:.0} ns a cycle before, {is:.0} after: {cured:?}"
    );
}

fn a_mutex_with_inheritance_cures_an_inversion() {
    let fix = "PTHREAD_PRIO_INHERIT";
    cures("inversion", "priority inversion", fix, (&[], Some(fix)));
}

fn mallopt_cures_allocation_in_locked_memory() {
    let fix = "mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, -1)";
    cures(
        "allocation",
        "system call mmap()",
        fix,
        (&[], Some("mallopt")),
    );
}

fn touched_and_kept_memory_cures_page_faults() {
    cures("touch", "page faults", "mlockall", (&[], Some("mlockall")));
}

fn a_pipe_without_blocking_cures_printing() {
    cures(
        "pipe",
        "write() on a pipe",
        "O_NONBLOCK",
        (&[], Some("O_NONBLOCK")),
    );
}

fn another_thread_cures_syncing() {
    // How much makes a sync slow depends on the disk, and on some nothing does.
    let place = Place::new();
    let mut cost = Command::new(program(&place));
    cost.args(["0", "cost-of-sync"]).current_dir(place.path());
    let output = cost.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let (bytes, ns) = said.trim().split_once(' ').expect("bytes and time");
    if !output.status.success() {
        not_run(WHAT, &format!("fsync takes {ns} ns even with much data"));
    }
    let how = format!("sync{bytes}");
    cures(&how, "fsync()", "another thread", (&[], Some("thread")));
}

fn a_higher_priority_cures_a_more_urgent_hog() {
    cures("hog", "thread hog", "raise the loop's", (&[], Some("95")));
}

fn a_real_time_policy_cures_sharing_with_ordinary_threads() {
    let fifo = ["wakepath", "exec", "--quiet", "--policy", "FIFO 80", "--"];
    let binary = binary();
    let mut before = fifo.to_vec();
    before[0] = binary.to_str().unwrap();
    cures("ordinary", "sharing the CPU", "FIFO", (&before, None));
}

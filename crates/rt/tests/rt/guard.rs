//! The guard against a real loop that spins forever with real-time priority.
//!
//! In a separate process, because the guard's limit applies to the whole process.

use std::process::Command;
use std::time::{Duration, Instant};
use wakepath_rt::{Preparation, guard};
use wakepath_test_program::not_run;
use wakepath_timeline::Policy;

wakepath_test_program::tests![a_spinning_real_time_loop_is_given_back_to_the_time_sharing_policy,];

const CHILD: &str = "WAKEPATH_TEST_SPINS";

fn a_spinning_real_time_loop_is_given_back_to_the_time_sharing_policy() {
    if std::env::var_os(CHILD).is_some() {
        std::process::exit(spin());
    }
    let started = Instant::now();
    let status = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "guard::a_spinning_real_time_loop_is_given_back_to_the_time_sharing_policy",
        ])
        .env(CHILD, "1")
        .status()
        .unwrap();
    match status.code() {
        Some(77) => not_run("SCHED_FIFO needs a privilege that this process lacks"),
        code => assert_eq!(code, Some(0), "the child ended with {status}"),
    }
    assert!(started.elapsed() < Duration::from_secs(10));
}

/// Spins until the guard has stopped it; 0 if it did and the policy is no longer real-time.
fn spin() -> i32 {
    guard::set(200_000, None).unwrap();
    let asked = Preparation {
        policy: Policy::Fifo { priority: 1 },
        lock_memory: false,
        ..Preparation::default()
    };
    if asked.apply().is_err() {
        return 77;
    }
    guard::watch_this_thread().unwrap();
    let started = Instant::now();
    while !guard::has_tripped() {
        if started.elapsed() > Duration::from_secs(5) {
            return 1;
        }
    }
    match wakepath_rt::attributes::get(0) {
        Ok(Policy::Other { .. }) => 0,
        _ => 2,
    }
}

//! Loops that never sleep under the highest real-time priority: the machine must stay usable, and
//! the verdict must say who ended the loop.

use crate::started::{Start, loop_cpu, needs_real_time};
use crate::system::recording::{only_condition, reasons};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wakepath_rt::affinity;

wakepath_test_program::tests![
    the_guard_ends_a_loop_that_can_never_catch_up,
    the_guard_ends_a_loop_under_round_robin_too,
];

/// The longest that an ordinary thread on the loop's CPU had to wait, until `done`.
fn longest_wait(done: &AtomicBool) -> Duration {
    affinity::pin(&[loop_cpu()]).unwrap();
    let mut longest = Duration::ZERO;
    while !done.load(Ordering::Relaxed) {
        let before = Instant::now();
        std::thread::sleep(Duration::from_millis(5));
        longest = longest.max(before.elapsed());
    }
    longest
}

fn assert_guarded(scenario: &str) {
    let _turn = super::turn();
    let done = Arc::new(AtomicBool::new(false));
    let watcher = std::thread::spawn({
        let done = Arc::clone(&done);
        move || longest_wait(&done)
    });
    let finished = Start::scenario(scenario).finish();
    done.store(true, Ordering::Relaxed);
    let longest = watcher.join().unwrap();
    assert!(
        longest < Duration::from_secs(3),
        "an ordinary thread waited {longest:?}"
    );
    assert!(
        finished.took < Duration::from_secs(15),
        "it took {:?}",
        finished.took
    );
    finished.assert_nobody_is_left();
    assert!(
        matches!(finished.code(), Some(1 | 2)),
        "{}",
        finished.said()
    );
    let json = finished.json();
    let condition = only_condition(&json);
    assert!(reasons(condition).contains(&"ended-early"), "{condition:#}");
    assert!(
        condition["reasons"].to_string().contains("guard"),
        "{condition:#}"
    );
    assert!(matches!(
        condition["outcome"].as_str(),
        Some("invalid" | "failed")
    ));
    finished.assert_archive_is_complete();
}

fn the_guard_ends_a_loop_that_can_never_catch_up() {
    needs_real_time("the guard");
    assert_guarded(&format!(
        "rate = \"1 kHz\"\nduration = \"60 s\"\nwarm-up = \"0 ms\"\npolicies = [\"FIFO 99\"]\n\
         cpu = {}\noverrun = \"catch-up\"\nwork = {{ kind = \"working-set\", bytes = \"128 MiB\" }}\n",
        loop_cpu()
    ));
}

fn the_guard_ends_a_loop_under_round_robin_too() {
    needs_real_time("the guard under round robin");
    assert_guarded(&format!(
        "rate = \"20 kHz\"\nduration = \"60 s\"\nwarm-up = \"0 ms\"\npolicies = [\"RR 99\"]\n\
         cpu = {}\noverrun = \"catch-up\"\nwork = {{ kind = \"working-set\", bytes = \"16 MiB\" }}\n",
        loop_cpu()
    ));
}

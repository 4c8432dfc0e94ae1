//! `--stop-above`.

use super::{Beat, under};
use crate::started::{Start, loop_cpu, needs_tracing, not_run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wakepath_rt::{affinity, clock};
use wakepath_timeline::Policy;

wakepath_test_program::tests![a_watch_ends_at_the_first_latency_above_and_says_why,];

/// A thread that holds its CPU now and then, under a policy that preempts the watched one's. The
/// watched thread has a name that no other has: the threads of other tests in this program wait with
/// periods too, and on a busy machine one of those may be the first that is late.
fn a_watch_ends_at_the_first_latency_above_and_says_why() {
    let what = "ending a watch at a latency";
    needs_tracing(what);
    let name = format!("above{}", std::process::id());
    let beat = Beat::under(Policy::Fifo { priority: 10 }, &name, 5_000_000);
    let stop = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&stop);
    let hog = std::thread::Builder::new()
        .name("hog".into())
        .spawn(move || {
            affinity::pin(&[loop_cpu()]).unwrap();
            let has_right = under(Policy::Fifo { priority: 20 });
            let begun = std::time::Instant::now();
            while !told.load(Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(20));
                // After the period has shown.
                if begun.elapsed().as_millis() > 3_000 {
                    let until_ns = clock::monotonic_ns() + 150_000_000;
                    while clock::monotonic_ns() < until_ns {
                        std::hint::spin_loop();
                    }
                    std::thread::sleep(std::time::Duration::from_millis(500));
                }
            }
            has_right
        });
    let words = [
        "watch",
        "--comm",
        &name,
        "--for",
        "60s",
        "--stop-above",
        "100ms",
    ];
    let finished = Start::command(&words)
        .with(&["--directory", "run"])
        .finish();
    stop.store(true, Ordering::Relaxed);
    let has_right = hog.unwrap().join().unwrap();
    beat.end();
    finished.skip_unless_watched(what);
    if !has_right {
        not_run(what, "no right to a real-time policy");
    }
    finished.assert_code(2);
    assert!(finished.took.as_secs() < 45, "{}", finished.said());
    let said = &finished.output;
    let (_, stopped) = said
        .split_once("stopped: ")
        .unwrap_or_else(|| panic!("{}", finished.said()));
    if !stopped.contains("hog") && stopped.contains("CPU stalled") {
        let why = "the machine stalled for longer than the hog holds its CPU";
        not_run(what, why);
    }
    for part in ["above 100 ms", "hog", "--perfetto"] {
        assert!(stopped.contains(part), "{part}: {}", finished.said());
    }
    assert!(finished.place.path().join("run/segment-0.events").exists());
}

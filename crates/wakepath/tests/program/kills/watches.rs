//! Watches of this test's own process, killed with their probe or without.

use super::{Moments, Traces, start};
use crate::started::{Role, ask, kill, needs_tracing};
use rustix::process::Signal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

wakepath_test_program::tests![
    ;
    a_killed_watch_is_recovered_or_said_to_hold_no_period,
];

const KILLS: u32 = 10;

// Ignored: the stage `kills` of ./test --deep runs it: minutes.
fn a_killed_watch_is_recovered_or_said_to_hold_no_period() {
    needs_tracing("killing watches");
    let over = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&over);
    let beat = std::thread::spawn(move || {
        while !told.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let pid = std::process::id().to_string();
    let mut moments = Moments::new(3);
    let traces = Traces::now();
    for victim in ["command", "probe", "all"] {
        let (mut runs, mut without_period, mut before_anything) = (0, 0, 0);
        for kill_number in 1..=KILLS {
            let what = format!("watch, {victim}, kill {kill_number}");
            let words = ["watch", "-p", &pid, "--for", "4s", "--directory", "run"];
            let running = start(&words).start();
            std::thread::sleep(moments.next(Duration::from_millis(3_500)));
            match victim {
                "command" => running.signal(Signal::KILL),
                "probe" => kill(running.the(Role::Probe), Signal::KILL),
                _ => running.kill_all(),
            }
            let finished = running.finish();
            finished.wait_until_nobody_is_left();
            let recovered = ask("recover", &finished.directory);
            let said = || format!("{what}: {}\n{}", finished.said(), recovered.said());
            for of in [&finished, &recovered] {
                assert!(!of.complaints.contains("panicked"), "{}", said());
            }
            match recovered.code() {
                Some(0) => {
                    runs += 1;
                    assert_eq!(finished.run().check().unwrap(), [], "{}", said());
                }
                Some(3) => without_period += 1,
                // A watch that had not begun is no run; one whose probe died may remove its own.
                Some(1) => before_anything += 1,
                _ => panic!("{}", said()),
            }
            traces.assert_unchanged(&what);
        }
        println!(
            "\nkills: watches, {victim}: {KILLS} kills; {runs} runs recovered, {without_period} without \
             a period, {before_anything} before anything was written; nothing left"
        );
    }
    over.store(true, Ordering::Relaxed);
    beat.join().unwrap();
}

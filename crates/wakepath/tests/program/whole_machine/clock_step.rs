//! The wall clock is stepped during a run: the loop must not notice, and the run must say it.

use crate::started::{Start, loop_cpu, not_run};
use crate::system::recording::{judged, largest_gap};
use std::time::Duration;

wakepath_test_program::tests![a_step_of_the_wall_clock_moves_no_sample_and_is_said,];

/// Steps CLOCK_REALTIME by whole seconds, exactly, and back when dropped.
struct Step {
    seconds: i64,
}

impl Step {
    fn new(seconds: i64) -> std::io::Result<Self> {
        step::by_seconds(seconds)?;
        Ok(Self { seconds })
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        step::by_seconds(-self.seconds).expect("the wall clock is put back");
    }
}

mod step {
    #![allow(unsafe_code)] // clock_adjtime has no safe wrapper; setting the clock absolutely would drift.

    pub(super) fn by_seconds(seconds: i64) -> std::io::Result<()> {
        // SAFETY: timex is plain data, for which zero is a value; the kernel reads and fills it.
        let result = unsafe {
            let mut change: libc::timex = std::mem::zeroed();
            change.modes = libc::ADJ_SETOFFSET | libc::ADJ_NANO;
            change.time.tv_sec = seconds as _;
            libc::clock_adjtime(libc::CLOCK_REALTIME, &raw mut change)
        };
        match result {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

fn a_step_of_the_wall_clock_moves_no_sample_and_is_said() {
    let running = Start::scenario(&format!(
        "rate = \"500 Hz\"\ncycles = 1000\nwarm-up = \"200 ms\"\npolicies = [\"OTHER\"]\ncpu = {}\n",
        loop_cpu()
    ))
    .start();
    running.wait_until_recorded(0, 300);
    // There and back in mid-run, then there until the run is over.
    match Step::new(2) {
        Ok(step) => {
            std::thread::sleep(Duration::from_millis(200));
            drop(step);
        }
        Err(error) => {
            drop(running);
            not_run(
                "a step of the wall clock",
                &format!("it can't be set: {error}"),
            );
        }
    }
    std::thread::sleep(Duration::from_millis(200));
    let step = Step::new(2).unwrap();
    let finished = running.finish();
    drop(step);

    let samples = judged(&finished, 0);
    assert!(samples.len() > 900, "{} of 1000 cycles", samples.len());
    assert!(largest_gap(&samples) < 500, "a gap of a second or more");
    let latest = samples
        .iter()
        .map(|sample| sample.latency_ns())
        .max()
        .unwrap();
    let earliest = samples
        .iter()
        .map(|sample| sample.latency_ns())
        .min()
        .unwrap();
    assert!(
        latest < 1_000_000_000 && earliest >= 0,
        "latencies {earliest} to {latest} ns"
    );
    for two in samples.windows(2) {
        assert_eq!(
            two[1].due_ns - two[0].due_ns,
            (two[1].cycle - two[0].cycle) * 2_000_000
        );
        assert!(two[1].wake_ns > two[0].wake_ns);
    }

    let json = finished.json();
    let changes = json["machine_changes"].as_array().unwrap();
    let step = changes
        .iter()
        .find(|change| change["path"] == "CLOCK_REALTIME")
        .unwrap_or_else(|| panic!("the step is not among the changes: {changes:#?}"));
    assert_eq!(step["what"], "the wall clock was stepped");
    let by = step["after"].as_str().unwrap().trim_end_matches(" s");
    let by: f64 = by.parse().unwrap();
    assert!((1.95..2.05).contains(&by), "{step:#}");
}

//! Stalls of known length, injected from outside: the report must match the injection. The stalls are
//! hundreds of times longer than a noisy virtual machine's own.

use crate::started::{Finished, Role, Start, kill, loop_cpu, needs_real_time};
use crate::system::recording::{
    count, judged, largest_gap, milliseconds, only_condition, quantile, reasons,
};
use rustix::process::Signal;
use std::time::{Duration, Instant};
use wakepath_rt::{Preparation, clock};
use wakepath_timeline::{Policy, Sample, SampleFlags};

wakepath_test_program::tests![
    a_stopped_loop_is_one_late_cycle_and_the_rest_skipped,
    a_stopped_loop_that_catches_up_is_late_in_every_cycle_and_skips_none,
    a_loop_that_stops_at_an_overrun_fails_and_names_the_cycle,
    a_thread_of_higher_priority_causes_an_outage_of_the_time_it_takes,
];

const STALL: Duration = Duration::from_millis(300);

/// 3000 judged due times at 1 kHz, so that 300 skipped ones are a tenth.
fn scenario(more: &str) -> String {
    format!(
        "rate = \"1 kHz\"\ncycles = 3000\nwarm-up = \"200 ms\"\npolicies = [\"FIFO 50\"]\n\
         cpu = {}\n{more}\n",
        loop_cpu()
    )
}

/// How long a loop was stopped, in milliseconds: no shorter than from the one signal sent to the other asked for, no
/// longer than from the one asked for to the other sent. On a busy machine this program itself waits between the two.
struct Stopped {
    least: f64,
    most: f64,
}

impl Stopped {
    /// Asserts that the measured value is between the two, with a tolerance.
    #[track_caller]
    fn assert_is(&self, measured: f64, tolerance: f64, what: &str) {
        let (least, most) = (self.least - tolerance, self.most + tolerance);
        assert!(
            (least..=most).contains(&measured),
            "{what} is {measured}, expected {least} to {most}"
        );
    }
}

/// Runs the scenario and stops the loop's process once for [`STALL`].
fn stopped_once(scenario: &str) -> (Finished, Stopped) {
    stopped_after(500, scenario)
}

fn stopped_after(samples: u64, scenario: &str) -> (Finished, Stopped) {
    let running = Start::scenario(scenario).start();
    running.wait_until_recorded(0, samples);
    let of_the_loop = running.the(Role::Loop);
    let asked = Instant::now();
    kill(of_the_loop, Signal::STOP);
    let sent = Instant::now();
    std::thread::sleep(STALL);
    let least = sent.elapsed().as_secs_f64() * 1e3;
    kill(of_the_loop, Signal::CONT);
    let most = asked.elapsed().as_secs_f64() * 1e3;
    (running.finish(), Stopped { least, most })
}

fn near(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{what} is {value}, expected {expected} ± {tolerance}"
    );
}

/// The loop's own count is in the manifest and is what its samples leave out.
#[track_caller]
fn assert_skips_are_counted(finished: &Finished) {
    let run = finished.run();
    let thread = &run.manifest.segments[0].threads[0];
    let left_out = thread.expected - finished.samples(0).len() as u64;
    assert_eq!(thread.skipped, Some(left_out), "{}", finished.said());
}

fn a_stopped_loop_is_one_late_cycle_and_the_rest_skipped() {
    let _turn = super::turn();
    needs_real_time("a loop stopped by a signal");
    let (finished, stopped) = stopped_once(&scenario(""));
    let samples = judged(&finished, 0);
    let late: Vec<_> = samples
        .iter()
        .filter(|s| s.latency_ns() > 150_000_000)
        .collect();
    assert_eq!(late.len(), 1, "cycles that woke later than 150 ms");
    // From here on it is the loop's own figure, to which all others must fit.
    let stall = late[0].latency_ns() as f64 / 1e6;
    stopped.assert_is(stall, 10.0, "latency of the late cycle, ms");
    let response = late[0].response_ns() as f64 / 1e6;
    near(
        largest_gap(&samples) as f64,
        response,
        1.0,
        "due times skipped after it",
    );

    let json = finished.json();
    let condition = only_condition(&json);
    assert_eq!(count(condition, "scheduled"), 3000);
    assert_eq!(count(condition, "executed"), samples.len() as i64);
    assert_eq!(
        count(condition, "executed") + count(condition, "skipped"),
        3000
    );
    assert_skips_are_counted(&finished);
    let outage = condition["cycles"]["longest_outage"]["length_ns"]
        .as_f64()
        .unwrap()
        / 1e6;
    // To the end of the cycle before it, which was met: within its period, or a bit more.
    near(outage, response + 0.5, 2.0, "longest outage, ms");
    // As scheduled, the skipped due times count with what they suffered: 300 values that fall
    // evenly from the stall's length to 0. As executed they are one value. The first of them, a period
    // younger, waits for the next cycle, which may wake late too.
    let next = samples.iter().find(|s| s.cycle > late[0].cycle).unwrap();
    let of_the_first = (next.wake_ns - late[0].due_ns) as f64 / 1e6 - 1.0;
    near(
        milliseconds(condition, "latency_as_scheduled", "max"),
        stall.max(of_the_first),
        0.1,
        "maximum, ms",
    );
    let others: f64 = samples.iter().map(|s| s.latency_ns() as f64 / 1e6).sum();
    let sum = milliseconds(condition, "latency_as_scheduled", "mean") * 3000.0;
    let least = stall * (stall - 3.0) / 2.0;
    assert!(
        (least..least + 2.0 * others + 4.0 * stall).contains(&sum),
        "sum of latencies as scheduled: {sum} ms"
    );
    near(
        quantile(condition, "latency_as_scheduled", 990_000),
        stall - 30.0,
        3.0,
        "99 % quantile as scheduled, ms",
    );
    assert!(quantile(condition, "latency_as_executed", 990_000) < 30.0);
    assert_eq!(json["outcome"], "failed");
    finished.assert_code(2);
    finished.assert_archive_is_complete();
}

fn a_stopped_loop_that_catches_up_is_late_in_every_cycle_and_skips_none() {
    let _turn = super::turn();
    needs_real_time("a loop stopped by a signal that catches up");
    let (finished, stopped) = stopped_once(&scenario("overrun = \"catch-up\""));
    let samples = judged(&finished, 0);
    let json = finished.json();
    let condition = only_condition(&json);
    assert_eq!(count(condition, "executed"), 3000);
    assert_eq!(count(condition, "skipped"), 0);
    assert_eq!(largest_gap(&samples), 0);
    assert_skips_are_counted(&finished);
    let later_than = |ms: i64| {
        samples
            .iter()
            .filter(|s| s.latency_ns() > ms * 1_000_000)
            .count()
    };
    // Cycles that were due while it was stopped, and while it caught up.
    let caught_up_in = samples
        .iter()
        .filter(|s| s.flags.contains(SampleFlags::DUE_ALREADY_PAST))
        .map(|s| s.execution_ns() as f64 / 1e6)
        .sum::<f64>();
    stopped.assert_is(
        later_than(10) as f64 + 10.0,
        12.0 + caught_up_in,
        "cycles later than 10 ms",
    );
    stopped.assert_is(
        later_than(150) as f64 + 150.0,
        10.0 + caught_up_in,
        "cycles later than 150 ms",
    );
    let caught_up = samples
        .iter()
        .filter(|s| s.flags.contains(SampleFlags::DUE_ALREADY_PAST));
    assert!(
        caught_up.count() as f64 >= stopped.least - 12.0,
        "cycles marked as due already"
    );
    finished.assert_code(2);
}

fn a_loop_that_stops_at_an_overrun_fails_and_names_the_cycle() {
    let _turn = super::turn();
    needs_real_time("a loop that stops at an overrun");
    // 20 ms of period: this machine's own stalls must not end the loop first.
    let scenario = format!(
        "rate = \"50 Hz\"\nduration = \"30 s\"\nwarm-up = \"100 ms\"\npolicies = [\"FIFO 50\"]\n\
         cpu = {}\noverrun = \"stop\"\n",
        loop_cpu()
    );
    let (finished, _) = stopped_after(20, &scenario);
    let samples = judged(&finished, 0);
    let json = finished.json();
    let condition = only_condition(&json);
    assert_eq!(condition["outcome"], "failed", "{}", finished.said());
    let early = condition["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .find(|reason| reason["kind"] == "ended-early")
        .unwrap_or_else(|| panic!("{:?}", reasons(condition)));
    assert_eq!(early["cause"]["kind"], "overrun");
    let last = samples.last().unwrap();
    assert_eq!(
        early["cause"]["cycle"], last.cycle,
        "the cycle that overran is the last executed"
    );
    assert!(last.latency_ns() > 200_000_000, "{last:?}");
    finished.assert_code(2);
}

fn a_thread_of_higher_priority_causes_an_outage_of_the_time_it_takes() {
    let _turn = super::turn();
    needs_real_time("a hog of higher priority");
    const BUSY_MS: u64 = 50;
    // Beyond what this machine does to a loop by itself: only the hog makes due times missed. Three
    // stretches are too few to show how often such come, but each is too long an outage.
    let criterion = "[criterion]\nlatency = \"500 us\"\noutage = \"20 ms\"";
    let running = Start::scenario(&scenario(criterion)).start();
    running.wait_until_recorded(0, 500);
    let hog = std::thread::spawn(|| {
        let preparation = Preparation {
            policy: Policy::Fifo { priority: 99 },
            cpus: Some(vec![loop_cpu()]),
            lock_memory: false,
            timer_slack_ns: None,
        };
        preparation.apply().unwrap();
        let mut stretches = Vec::new();
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(300));
            let begun = clock::monotonic_ns();
            while clock::monotonic_ns() < begun + BUSY_MS * 1_000_000 {}
            stretches.push((begun, clock::monotonic_ns()));
        }
        stretches
    });
    let stretches = hog.join().unwrap();
    let finished = running.finish();
    let samples = judged(&finished, 0);
    for (begun, ended) in &stretches {
        // Nothing of the loop ran while the hog did, and all due times of it were missed.
        let inside = samples
            .iter()
            .filter(|s| s.wake_ns > *begun && s.wake_ns < *ended);
        assert_eq!(inside.count(), 0, "cycles that ran beside the hog");
        let around: Vec<_> = samples
            .windows(2)
            .filter(|two| two[0].end_ns <= *begun + 1_000_000 && two[1].end_ns >= *ended)
            .take(1)
            .collect();
        let outage = (around[0][1].end_ns - around[0][0].end_ns) as f64 / 1e6;
        let busy = (ended - begun) as f64 / 1e6;
        near(outage, busy + 0.5, 8.0, "outage of a stretch, ms");
        let met = samples
            .iter()
            .filter(|s| s.due_ns > *begun && s.due_ns + 600_000 < *ended && !missed(s));
        assert_eq!(met.count(), 0, "due times met beside the hog");
    }
    let busy_ms = |(begun, ended): &(u64, u64)| (ended - begun) as f64 / 1e6;
    let longest = stretches.iter().map(busy_ms).fold(0.0, f64::max);
    let json = finished.json();
    let condition = only_condition(&json);
    let misses = &condition["cycles"]["misses"];
    let in_a_row = misses["longest_run"].as_f64().unwrap();
    assert_eq!(in_a_row, most_in_a_row(&samples) as f64);
    assert!(in_a_row >= longest - 2.0, "{in_a_row} of {longest}");
    // The machine's own misses come on top of the hog's: all are counted from the samples.
    let late = samples.iter().filter(|s| missed(s)).count() as i64;
    let all = late + count(condition, "skipped");
    assert_eq!(misses["missed"].as_i64().unwrap(), all);
    let of_the_hog: f64 = stretches.iter().map(busy_ms).sum();
    assert!(all as f64 >= of_the_hog - 3.0, "{all} of {of_the_hog}");
    finished.assert_code(2);
}

/// By the criterion of the test above: 500 µs of latency, or a deadline of one period.
fn missed(sample: &Sample) -> bool {
    sample.latency_ns() > 500_000 || sample.response_ns() > 1_000_000
}

/// Most due times missed without one met between them, skipped ones among them.
fn most_in_a_row(samples: &[Sample]) -> u64 {
    let (mut now, mut most, mut next) = (0, 0, samples[0].cycle);
    for sample in samples {
        now += sample.cycle - next;
        most = now.max(most);
        now = if missed(sample) { now + 1 } else { 0 };
        most = now.max(most);
        next = sample.cycle + 1;
    }
    most
}

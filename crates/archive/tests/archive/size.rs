//! Disk space of an archived sample.

use std::fs;

use wakepath_archive::{Ending, LogWriter, PARQUET_NAME, finish};
use wakepath_timeline::Sample;

use crate::made_up_run::{DUE, run_started, samples, segment_ended, segment_started};
use crate::scratch::Scratch;

wakepath_test_program::tests![
    latency_alone_at_1_khz_costs_less_than_3_bytes_a_sample;
    six_million_samples_are_finished_and_read_within_300_mb,
];

/// Numbers in (0, 1), by xorshift64*; the seed makes the test the same every time.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    fn normal(&mut self) -> f64 {
        (-2.0 * self.next().ln()).sqrt() * (std::f64::consts::TAU * self.next()).cos()
    }
}

/// Latency as on a tuned machine: log-normal around 5 µs (σ = 0.25), one in a thousand up to
/// 100 µs later, one in 100 000 up to a millisecond later; a skipped period after the worst.
fn realistic(cycles: u64) -> Vec<Sample> {
    let mut random = Uniform(0x5eed);
    let mut all = Vec::new();
    let mut cycle = 0;
    while cycle < cycles {
        let mut latency = 5_000.0 * (0.25 * random.normal()).exp();
        let rare = random.next();
        if rare < 1e-3 {
            latency += 100_000.0 * random.next();
        }
        if rare < 1e-5 {
            latency += 1_000_000.0 * random.next();
        }
        let due_ns = DUE.due_ns(cycle);
        let wake_ns = due_ns + latency as u64;
        all.push(Sample {
            cycle,
            due_ns,
            wake_ns,
            end_ns: wake_ns,
            cpu: 1,
            ..Sample::default()
        });
        cycle += 1 + u64::from(latency > 1_000_000.0);
    }
    all
}

fn latency_alone_at_1_khz_costs_less_than_3_bytes_a_sample() {
    let scratch = Scratch::new();
    let samples = realistic(600_000);
    let mut log = LogWriter::create(&scratch.run()).unwrap();
    log.append_event(&run_started(1)).unwrap();
    log.append_event(&segment_started(0, &[0], 600_000))
        .unwrap();
    log.append_samples(0, 0, &samples).unwrap();
    log.append_event(&segment_ended(0, &[0], samples.len() as u64))
        .unwrap();
    log.end(Ending::Complete).unwrap();
    finish(&scratch.run()).unwrap();
    let bytes = fs::metadata(scratch.run().join(PARQUET_NAME))
        .unwrap()
        .len();
    let each = bytes as f64 / samples.len() as f64;
    eprintln!(
        "{} samples in {bytes} bytes: {each:.2} bytes a sample",
        samples.len()
    );
    assert!(each < 3.0, "{each:.2} bytes a sample");
}

/// Takes 300 MB of disk and several seconds; runs alone, because it reads the process's peak
/// memory.
fn six_million_samples_are_finished_and_read_within_300_mb() {
    let scratch = Scratch::new();
    let cycles = 6_000_000;
    let mut log = LogWriter::create(&scratch.run()).unwrap();
    log.append_event(&run_started(1)).unwrap();
    log.append_event(&segment_started(0, &[0], cycles)).unwrap();
    for first in (0..cycles).step_by(1_000) {
        log.append_samples(0, 0, &samples(0, 0, first..first + 1_000))
            .unwrap();
    }
    log.append_event(&segment_ended(0, &[0], cycles)).unwrap();
    log.end(Ending::Complete).unwrap();
    let began = std::time::Instant::now();
    finish(&scratch.run()).unwrap();
    eprintln!("finished in {:.1} s", began.elapsed().as_secs_f64());
    let run = wakepath_archive::Run::open(&scratch.run()).unwrap();
    let read: usize = run
        .batches(0, 0)
        .unwrap()
        .map(|batch| batch.unwrap().len())
        .sum();
    assert_eq!(read as u64, cycles);
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    eprintln!("peak memory {} MB", peak / 1_000);
    assert!(peak < 300_000, "{peak} kB");
}

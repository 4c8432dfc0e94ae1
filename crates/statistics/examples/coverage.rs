//! How often the 95 % upper bound on the miss probability holds when misses come together:
//! `cargo run --release -p wakepath-statistics --example coverage`. The table in
//! `docs/concepts/evidence.md` is its output. Simulation with a fixed seed; no measurement.

use wakepath_statistics::{MissClusters, SplitMix};

/// Due times of one simulated run: 40 s at 250 Hz.
const DUE_TIMES: u64 = 10_000;
const RUNS: u32 = 2_000;
const CONFIDENCE: f64 = 0.95;
/// As the verdict clusters misses.
const GAP: u64 = 10;

/// How misses come: an event begins at a due time with probability `rate` and takes one of the
/// lengths, each with its share.
struct Pattern {
    name: &'static str,
    rate: f64,
    lengths: &'static [(u64, f64)],
}

const PATTERNS: &[Pattern] = &[
    Pattern {
        name: "each miss alone",
        rate: 2e-3,
        lengths: &[(1, 1.0)],
    },
    Pattern {
        name: "1, 4 or 16 together",
        rate: 2e-3,
        lengths: &[(1, 0.4), (4, 0.3), (16, 0.3)],
    },
    Pattern {
        name: "always 20 together, few events",
        rate: 3e-4,
        lengths: &[(20, 1.0)],
    },
    Pattern {
        name: "mostly alone, sometimes 100 together",
        rate: 2e-3,
        lengths: &[(1, 0.9), (100, 0.1)],
    },
    Pattern {
        name: "mostly alone, rarely 300 together",
        rate: 2e-3,
        lengths: &[(1, 0.975), (300, 0.025)],
    },
    Pattern {
        name: "only stalls of 300, mostly none in a run",
        rate: 1.5e-5,
        lengths: &[(300, 1.0)],
    },
];

fn main() {
    println!("| misses come | true miss fraction | bound holds in |");
    println!("|---|---|---|");
    for pattern in PATTERNS {
        let mut random = SplitMix::from_state(0x5eed);
        let truth = pattern.miss_fraction();
        let holds = (0..RUNS)
            .filter(|_| pattern.bound_of_a_run(&mut random) >= truth)
            .count();
        println!(
            "| {} | {:.2} % | {:.0} % of {RUNS} runs |",
            pattern.name,
            truth * 100.0,
            holds as f64 / f64::from(RUNS) * 100.0
        );
    }
}

impl Pattern {
    /// The long-run miss fraction, from one run long enough for it: events that begin within
    /// another are swallowed by it, which has no simple formula for mixed lengths.
    fn miss_fraction(&self) -> f64 {
        let mut random = SplitMix::from_state(0x10_c0de);
        let due = 400_000_000_u64;
        let mut missed = 0;
        self.due_times(due, &mut random, |late| missed += u64::from(late));
        missed as f64 / due as f64
    }

    fn bound_of_a_run(&self, random: &mut SplitMix) -> f64 {
        let mut clusters = MissClusters::new(GAP);
        self.due_times(DUE_TIMES, random, |late| clusters.push(late));
        clusters.tally().upper_bound(CONFIDENCE, 1)
    }

    fn due_times(&self, count: u64, random: &mut SplitMix, mut each: impl FnMut(bool)) {
        let mut left = 0;
        for _ in 0..count {
            if left == 0 && random.unit() < self.rate {
                left = self.length(random);
            }
            each(left > 0);
            left = left.saturating_sub(1);
        }
    }

    fn length(&self, random: &mut SplitMix) -> u64 {
        let mut point = random.unit();
        for &(length, share) in self.lengths {
            if point < share {
                return length;
            }
            point -= share;
        }
        self.lengths[0].0
    }
}

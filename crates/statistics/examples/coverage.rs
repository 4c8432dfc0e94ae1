//! How often a verdict at 95 % is wrong where exactly as many due times are missed as the criterion
//! tolerates: `cargo run --release -p wakepath-statistics --example coverage`. The tables in
//! `docs/concepts/evidence.md` are its output. Simulation with a fixed seed; no measurement.

use std::time::Instant;
use wakepath_statistics::{MissClusters, MissTally, SplitMix, miss_upper_bound};

#[path = "../fixtures/miss_families.rs"]
mod miss_families;

use miss_families::{FAMILIES, Family, MISSES_ALONE, RARE, wrong};

/// The share tolerated and missed, and the normal quantile that is exceeded with it.
const CRITERION: (f64, f64) = (0.005, 2.575_829_303_548_901);
const LENGTHS: [(u64, u32); 3] = [(10_000, 2_000), (100_000, 1_000), (1_000_000, 200)];

fn main() {
    println!(
        "| misses come | due times | runs | wrongly PASSED | of these without a miss | wrongly FAILED |"
    );
    println!("|---|---|---|---|---|---|");
    for (due, runs) in LENGTHS {
        for &(name, family) in FAMILIES.iter().chain(RARE).chain(MISSES_ALONE) {
            // The only family near 5 % in long runs.
            let runs = match family {
                Family::Independent => runs.max(2000),
                _ => runs,
            };
            let found = wrong(family, due, CRITERION, runs);
            let percent = |count: u32| f64::from(count) * 100.0 / f64::from(runs);
            println!(
                "| {name} | {due} | {runs} | {:.1} % | {:.1} % | {:.1} % |",
                percent(found.passed),
                percent(found.passed_without_a_miss),
                percent(found.failed)
            );
        }
    }
    println!();
    println!(
        "| independent misses, of the criterion | due times for 80 % PASSED | by Clopper and Pearson alone | more |"
    );
    println!("|---|---|---|---|");
    for share in [0.0, 0.3, 0.6] {
        let [with, without] = [false, true].map(|alone| needed(share, alone));
        let more = (with as f64 / without as f64 - 1.0) * 100.0;
        println!("| {share} | {with} | {without} | {more:.0} % |");
    }
    println!();
    costs();
}

/// Fewest due times, in steps of 5 %, with which 80 % of 1000 runs pass.
fn needed(of_criterion: f64, alone: bool) -> u64 {
    let (criterion, _) = CRITERION;
    let passes = |tally: &MissTally| {
        if alone {
            miss_upper_bound(tally.missed as f64, tally.due as f64, 0.95) <= criterion
        } else {
            tally.upper_bound(0.95, 1) <= criterion
        }
    };
    let mut due = 598_u64;
    loop {
        let mut random = SplitMix::of_key(&[0xca11, due]);
        let share = criterion * of_criterion;
        let passed =
            (0..1000).filter(|_| passes(&Family::Independent.run(due, share, 0.0, &mut random)));
        if passed.count() >= 800 {
            return due;
        }
        due += due.div_ceil(20);
    }
}

fn costs() {
    const DUE: u64 = 100_000_000;
    for every in [u64::MAX, 200, 2, 1] {
        let mut misses = MissClusters::new(10);
        let began = Instant::now();
        (0..DUE).for_each(|place| misses.push(place % every == every - 1));
        let push_ns = began.elapsed().as_secs_f64() * 1e9 / DUE as f64;
        let tally = misses.tally();
        let began = Instant::now();
        let bounds = (tally.lower_bound(0.95, 1), tally.upper_bound(0.95, 1));
        let verdict_us = began.elapsed().as_secs_f64() * 1e6;
        let of = tally.missed;
        println!(
            "{of} of {DUE} missed: {push_ns:.1} ns a due time, {verdict_us:.0} µs for both bounds {bounds:?}"
        );
    }
}

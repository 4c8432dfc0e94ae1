//! How often a verdict at 95 % is wrong where exactly as many due times are missed as the criterion
//! tolerates: a short form of `examples/coverage.rs`.

#[path = "../fixtures/miss_families.rs"]
mod miss_families;

use miss_families::{FAMILIES, MISSES_ALONE, RARE, wrong};

#[test]
fn verdicts_keep_their_level_however_misses_depend_on_each_other() {
    const RUNS: u32 = 150;
    for &(name, family) in FAMILIES {
        let found = wrong(family, 20_000, (0.01, 2.326_347_874), RUNS);
        // 6 % and three standard deviations of the simulation.
        let most = 18;
        assert!(
            found.passed <= most && found.failed <= most,
            "{name}: {found:?}"
        );
    }
}

/// Runs without a miss are left aside: they pass whatever may come later.
#[test]
#[ignore = "takes minutes"]
fn verdicts_keep_their_level_up_to_a_million_due_times() {
    for (due, runs) in [(10_000, 2_000), (100_000, 1_000), (1_000_000, 200)] {
        let from = |least: u64, families: &'static [_]| if due < least { &[] } else { families };
        let seen_by_then = from(100_000, RARE)
            .iter()
            .chain(from(1_000_000, MISSES_ALONE));
        for &(name, family) in FAMILIES.iter().chain(seen_by_then) {
            let found = wrong(family, due, (0.005, 2.575_829_303_548_901), runs);
            let seen = found.passed - found.passed_without_a_miss;
            let most = 0.06 + 3.0 * (0.06 / f64::from(runs)).sqrt();
            for wrong in [seen, found.failed] {
                let share = f64::from(wrong) / f64::from(runs);
                assert!(share <= most, "{name}, {due}: {found:?}");
            }
        }
    }
}

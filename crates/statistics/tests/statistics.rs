//! How often a verdict at 95 % is wrong where exactly as many due times are missed as the criterion
//! tolerates: a short form of `examples/coverage.rs`.

#[path = "../fixtures/miss_families.rs"]
mod miss_families;

use miss_families::{FAMILIES, wrong};

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

//! How often bounds hold over families of series with a known law, gates included.

#[path = "../../fixtures/known_tails.rs"]
mod known_tails;

use known_tails::{BEYOND, Coverage, EXPECTED, Family, families};

/// Holds in 93 of 100 or is refused in 95 of 100, as far as chance allows: three standard errors.
fn keeps(coverage: &Coverage) -> bool {
    let room = |share: f64, count: u32| 3.0 * (share * (1.0 - share) / f64::from(count)).sqrt();
    let refused = 1.0 - coverage.share_printed();
    coverage.share_held() >= 0.93 - room(0.93, coverage.printed.max(1))
        || refused >= 0.95 - room(0.95, coverage.runs)
}

fn broken(families: &[Family], cycles: usize, runs: u32) -> Vec<String> {
    let mut found = Vec::new();
    for (number, family) in (0..).zip(families) {
        let all = Coverage::new(family, cycles, runs, number);
        for (coverage, exceed) in all.iter().zip(EXPECTED) {
            if !keeps(coverage) {
                found.push(format!("{family}, np = {exceed}: {coverage}"));
            }
        }
    }
    found
}

#[test]
fn bounds_of_a_few_families_hold() {
    let wanted = [
        "exponential",
        "seen 6 times, 10×",
        "seen 6 times, 20×",
        "moving largest of 5 (θ = 0.2)",
    ];
    let few: Vec<Family> = families()
        .into_iter()
        .filter(|family| wanted.contains(&family.name))
        .collect();
    assert_eq!(few.len(), wanted.len());
    assert_eq!(broken(&few, 5_000, 60), [""; 0]);
}

/// A bound that is refused always would hold too.
#[test]
fn ordinary_tails_have_bounds() {
    for family in families()
        .iter()
        .filter(|family| family.kind == "one tail")
        .take(3)
    {
        let all = Coverage::new(family, 5_000, 30, 1);
        for (coverage, exceed) in all.iter().zip(EXPECTED) {
            assert!(
                coverage.share_printed() > 0.7,
                "{family}, np = {exceed}: {coverage}"
            );
        }
    }
}

#[test]
#[ignore = "minutes: the stage `coverage` runs it"]
fn bounds_of_every_family_hold() {
    let mut all = families();
    all.retain(|family| family.kind != BEYOND);
    for cycles in [10_000, 60_000] {
        assert_eq!(broken(&all, cycles, 200), [""; 0], "{cycles} cycles");
    }
}

//! Any text as a scenario file.
//!
//! Reading neither panics nor takes unbounded time or memory; each refusal is a single printable
//! line; an accepted scenario is written and read back unchanged.

use wakepath_scenario::{KnownCpus, Scenario};

/// Reads `text` as a scenario.
///
/// # Panics
/// If the reader violates its properties.
pub fn scenario(text: &str) {
    let known = KnownCpus::first(4);
    match Scenario::parse(text, "fuzz.toml", &known) {
        Ok(scenario) => {
            let written = scenario.to_toml();
            match Scenario::parse(&written, "written.toml", &known) {
                Ok(again) => assert_eq!(again, scenario),
                Err(errors) => panic!("{errors}\n{written}"),
            }
            let _ = scenario.warnings();
            if let Ok(scaled) = scenario.with_total_duration(100_000_000_000) {
                assert!(scaled.estimated_run_ns() <= 100_000_000_000);
            }
            let shared = u64::from(scenario.repetitions);
            assert!(scenario.cycles_in_repetition(0) <= scenario.cycles.div_ceil(shared));
        }
        Err(errors) => {
            assert!(!errors.errors.is_empty());
            for error in &errors.errors {
                let line = error.to_string();
                assert!(!line.contains(char::is_control), "{line:?}");
                assert!(line.len() < 2_000, "{line}");
            }
        }
    }
}

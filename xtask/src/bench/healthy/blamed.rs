//! The causes and fixes of one healthy program, and which of them are false. Pure.

use serde_json::Value;
use std::collections::BTreeMap;

/// Causes that one fix cures and that together have less of a thread's lateness have no fix: one in so many.
const LEAST_SHARE: u64 = 20;
/// A cause that the program can't have is false from this share of a thread's lateness on: one in so many.
const LEAST_FALSE: u64 = 100;

/// Causes and fixes, and the false ones.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Blamed {
    pub cycles: u64,
    pub late: u64,
    pub late_ns: u64,
    /// The largest cause of all threads.
    pub first: String,
    /// Fixes printed.
    pub fixes: usize,
    /// False ones.
    pub wrong: Vec<String>,
}

/// Of an explanation, as JSON and as text, of a program that can't have causes of these kinds.
pub fn of_run(json: &str, text: &str, cannot: &[&str]) -> Result<Blamed, String> {
    let explanation: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let list = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let number = |of: &Value| of.as_u64().unwrap_or(0);
    let mut blamed = Blamed::default();
    // Fixes that may be printed.
    let mut worth = Vec::new();
    let mut most_ns = 0;
    for condition in list(&explanation["conditions"]) {
        let late_ns = number(&condition["late_ns"]);
        blamed.cycles += number(&condition["cycles"]);
        blamed.late += number(&condition["late"]);
        blamed.late_ns += late_ns;
        let mut cured_ns: BTreeMap<String, u64> = BTreeMap::new();
        for cause in list(&condition["causes"]) {
            let ns = number(&cause["late_ns"]);
            let words = cause["cause"].as_str().unwrap_or_default().to_owned();
            let kind = cause["kind"].as_str().unwrap_or_default();
            if ns > most_ns {
                (most_ns, blamed.first) = (ns, words.clone());
            }
            if cannot.contains(&kind) && ns > 0 && ns * LEAST_FALSE >= late_ns {
                blamed.wrong.push(format!("{kind}: {words}"));
            }
            if let Some(fix) = cause["remedy"].as_str() {
                *cured_ns.entry(fix.to_owned()).or_default() += ns;
            }
        }
        let large = cured_ns
            .into_iter()
            .filter(|(_, ns)| ns * LEAST_SHARE >= late_ns);
        worth.extend(large.map(|(fix, _)| fix));
    }
    let fixes = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("→ "));
    for fix in fixes {
        blamed.fixes += 1;
        if !worth.iter().any(|worth| fix.ends_with(&**worth)) {
            blamed
                .wrong
                .push(format!("a fix for less than a twentieth: {fix}"));
        }
    }
    Ok(blamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"conditions": [{"cycles": 100, "late": 2, "late_ns": 1000, "causes": [
        {"kind": "softirq", "cause": "SoftIRQ RCU", "late_ns": 860, "remedy": "another CPU"},
        {"kind": "throttled", "cause": "throttled", "late_ns": 60},
        {"kind": "ipi", "cause": "IPI", "late_ns": 40, "remedy": "fewer"},
        {"kind": "own-tool", "cause": "wakepath", "late_ns": 30, "remedy": "elsewhere"},
        {"kind": "own-tool", "cause": "its child", "late_ns": 30, "remedy": "elsewhere"}]}]}"#;

    #[test]
    fn a_cause_that_can_not_be_and_a_fix_for_little_are_false() {
        let text = "one\n  → SoftIRQ RCU: another CPU\n  → IPI: fewer\n  → wakepath: elsewhere\n";
        let blamed = of_run(JSON, text, &["throttled"]).unwrap();
        assert_eq!((blamed.cycles, blamed.late, blamed.fixes), (100, 2, 3));
        assert_eq!(blamed.first, "SoftIRQ RCU");
        assert_eq!(
            blamed.wrong,
            [
                "throttled: throttled",
                "a fix for less than a twentieth: IPI: fewer"
            ]
        );
        assert!(of_run(JSON, "", &["spin"]).unwrap().wrong.is_empty());
    }
}

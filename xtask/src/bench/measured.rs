//! Runs a scenario with the released program, and reads its figures.

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Figures of one condition; times in nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub scheduled: u64,
    pub executed: u64,
    pub skipped: u64,
    pub median: f64,
    pub mean: f64,
    pub p99: f64,
    /// `None` of fewer than 1000 cycles.
    pub p999: Option<f64>,
    pub max: f64,
    /// Page faults in the loop after its warm-up.
    pub page_faults: u64,
    /// Reason why the run is invalid: lost samples, a policy that was not in effect.
    pub invalid: Option<String>,
}

/// Starts `wakepath run` on a scenario, which is written to `directory`, as is the run.
pub fn start(program: &Path, scenario: &str, directory: &Path) -> Result<Child, String> {
    std::fs::create_dir_all(directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let file = directory.join("scenario.toml");
    std::fs::write(&file, scenario).map_err(|error| format!("{}: {error}", file.display()))?;
    Command::new(program)
        .arg("run")
        .arg(&file)
        .args(["--json", "--no-tui", "--directory"])
        .arg(directory.join("run"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))
}

/// Waits for the run and reads the figures of its only condition. Accepts every exit code with a
/// result, because it doesn't matter whether the criterion is met.
pub fn finish(child: Child) -> Result<Measured, String> {
    let output = child
        .wait_with_output()
        .map_err(|error| format!("wakepath: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let result: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("wakepath gave no result ({error}): {}", said.trim()))?;
    read(&result)
}

fn read(result: &Value) -> Result<Measured, String> {
    let condition = &result["conditions"][0];
    let cycles = &condition["cycles"];
    let latency = &cycles["latency_as_executed"];
    let whole = |value: &Value, what: &str| {
        value
            .as_u64()
            .ok_or_else(|| format!("the result has no {what}: {}", result["not_measured"]))
    };
    let number = |value: &Value, what: &str| {
        value
            .as_f64()
            .ok_or_else(|| format!("the result has no {what}: {}", result["not_measured"]))
    };
    let quantile = |millionths: u64| {
        let all = latency["quantiles"].as_array().into_iter().flatten();
        let one = all
            .clone()
            .find(|one| one["parts_per_million"] == millionths);
        number(
            &one.unwrap_or(&Value::Null)["value"],
            "quantile of the latency",
        )
    };
    let invalid = condition["outcome"] == "invalid";
    Ok(Measured {
        scheduled: whole(&cycles["scheduled"], "due times")?,
        executed: whole(&cycles["executed"], "cycles")?,
        skipped: whole(&cycles["skipped"], "skipped due times")?,
        median: quantile(500_000)?,
        mean: number(&latency["mean"], "mean latency")?,
        p99: quantile(990_000)?,
        p999: quantile(999_000).ok(),
        max: number(&latency["max"], "largest latency")?,
        page_faults: whole(&result["page_faults"], "page faults")?,
        invalid: invalid.then(|| condition["reasons"].to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_are_read_from_the_only_condition() {
        let result = json!({
            "page_faults": 0,
            "conditions": [{ "outcome": "passed", "reasons": [], "cycles": {
                "scheduled": 10, "executed": 9, "skipped": 1,
                "latency_as_executed": { "count": 9, "min": 1, "max": 50, "mean": 4.5, "quantiles": [
                    { "parts_per_million": 500_000, "value": 4 },
                    { "parts_per_million": 990_000, "value": 40 },
                ]},
            }}],
        });
        let measured = read(&result).expect("a whole result");
        assert_eq!(
            (measured.median, measured.p99, measured.max),
            (4.0, 40.0, 50.0)
        );
        assert_eq!(
            (measured.scheduled, measured.executed, measured.skipped),
            (10, 9, 1)
        );
        assert_eq!(measured.invalid, None);
    }

    #[test]
    fn a_condition_that_was_not_measured_is_an_error_that_says_why() {
        let result =
            json!({ "conditions": [], "not_measured": ["no privilege"], "page_faults": 0 });
        assert!(read(&result).unwrap_err().contains("no privilege"));
    }
}

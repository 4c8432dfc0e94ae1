//! Branches and programs an hour of `wakepath lab hunt`, and with `--until FUNCTION` the programs until a
//! section begins there: guided, then random.

use super::program;
use crate::arguments::Arguments;
use crate::place;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Hunts in each way from an empty corpus; further arguments go to the hunt as they are.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let program = program(&mut arguments)?;
    let kernel = arguments.value("--kernel", "debian:stock preempt=full".to_owned())?;
    let time = arguments.value("--for", "10min".to_owned())?;
    let jobs = arguments.value("--jobs", "1".to_owned())?;
    let seeds = arguments.value("--seeds", 1_u64)?;
    let mut more = Vec::new();
    for name in ["--until", "--module", "--modules", "--calls", "--programs"] {
        for value in arguments.texts(name)? {
            more.extend([name.to_owned(), value]);
        }
    }
    let until = more.iter().any(|word| word == "--until");
    arguments.end()?;
    println!("{kernel}, {time}, {jobs} at a time");
    for way in ["guided", "random"] {
        for seed in 1..=seeds {
            let directory = place::scratch("hunt")?;
            let mut command = Command::new(&program);
            command.args(["lab", "hunt", "--kernel", &kernel, "--for", &time]);
            command.args(["--jobs", &jobs, "--seed", &seed.to_string()]);
            command.args(["--findings", "0", "--json", "--directory"]);
            command.arg(&directory).args(&more);
            if way == "random" {
                command.arg("--random");
            }
            let outcome = hunted(&mut command);
            let _ = std::fs::remove_dir_all(&directory);
            println!("{way:>7}, seed {seed}: {}", row(&outcome?, until)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn hunted(command: &mut Command) -> Result<Value, String> {
    let output = command.output();
    let output = output.map_err(|error| format!("{}: {error}", shown(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(said.lines().last().unwrap_or("it said nothing").to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

fn shown(command: &Command) -> String {
    Path::new(command.get_program()).display().to_string()
}

fn row(end: &Value, until: bool) -> Result<String, String> {
    let number = |name: &str| end[name].as_u64().ok_or(format!("no {name}"));
    let (branches, programs) = (number("branches")?, number("programs")?);
    let hours = number("milliseconds")? as f64 / 3_600_000.0;
    let an_hour = |count: u64| count as f64 / hours;
    let longest = end["longest"][0]["length_ns"].as_u64().unwrap_or(0);
    let reached = match (until, end["reached"].as_bool()) {
        (false, _) => String::new(),
        (true, Some(true)) => format!(", found after {programs} programs"),
        (true, _) => format!(", not found in {programs} programs"),
    };
    Ok(format!(
        "{:.0} branches and {:.0} programs an hour, longest section {:.3} ms{reached}",
        an_hour(branches),
        an_hour(programs),
        longest as f64 / 1e6
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_has_the_rates_and_whether_the_function_was_found() {
        let end = json!({
            "branches": 10, "programs": 640, "milliseconds": 36_000, "reached": true,
            "longest": [{ "length_ns": 2_500_000 }],
        });
        let rates = "1000 branches and 64000 programs an hour, longest section 2.500 ms";
        assert_eq!(row(&end, false).unwrap(), rates);
        let found = format!("{rates}, found after 640 programs");
        assert_eq!(row(&end, true).unwrap(), found);
        assert!(row(&json!({}), true).is_err());
    }
}

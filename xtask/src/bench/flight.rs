//! Benchmarks the controller, the plant and a whole replay against their requirements.
//!
//! RotorPy's same law runs on the same machine for comparison. Times by criterion, instructions by
//! callgrind, RotorPy's own time. A measurement that can't run here is reported as such.

use crate::arguments::Arguments;
use crate::tools::{cargo, missing_program};
use crate::{place, table};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Time limits of a controller call and of a plant step on a machine such as a server's core, in
/// nanoseconds.
const ASKED: [(&str, f64); 2] = [("controller call", 300.0), ("plant step", 1000.0)];
/// Ten minutes at 250 Hz on two threads, by the benchmark's name and by criterion's directory, and
/// the time limit in seconds.
const REPLAY: [&str; 2] = [
    "ten minutes at 250 Hz replayed with its kicks",
    "whole runs/ten minutes at 250 Hz replayed with its kicks",
];
const REPLAY_ASKED_S: f64 = 10.0;
const VEHICLES: [&str; 2] = ["hummingbird", "crazyflie"];
const ROTORPY: &str = "rotorpy==3.0.0";

/// Runs everything and prints a table; fails if a time is above its limit.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let without_rotorpy = arguments.flag("--without-rotorpy");
    arguments.end()?;
    let status = cargo(&[
        "bench",
        "--package",
        "wakepath-flight",
        "--bench",
        "flight",
        "--",
    ])
    .arg(format!("controller call|plant step|{}", REPLAY[0]))
    .status();
    if !status.is_ok_and(|status| status.success()) {
        return Err("the benchmarks of wakepath-flight can't be run".into());
    }
    let instructions = instructions();
    let rotorpy = if without_rotorpy {
        Err("left out".into())
    } else {
        rotorpy_ns()
    };
    let head = ["", "ns", "asked", "instructions", "RotorPy ÷ this"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut kept = true;
    for vehicle in VEHICLES {
        for (what, asked) in ASKED {
            let name = format!("{what}, {vehicle}");
            let ns = median_ns(&name)?;
            kept &= ns < asked;
            let counted = instructions.as_ref().ok().and_then(|said| {
                let kind = what.split(' ').next().unwrap_or(what);
                count_of(said, vehicle, kind)
            });
            // RotorPy is timed with the Hummingbird's parameters.
            let ratio = match (&rotorpy, name.as_str()) {
                (Ok(theirs), "controller call, hummingbird") => format!("{:.0}", theirs / ns),
                _ => "–".into(),
            };
            let above = if ns < asked { "" } else { " TOO SLOW" };
            rows.push(vec![
                name,
                format!("{ns:.0}"),
                format!("< {asked:.0}{above}"),
                counted.map_or("–".into(), |count| count.to_string()),
                ratio,
            ]);
        }
    }
    print!("\n{}", table::aligned(&rows, &[1, 3, 4]));
    let replay_s = median_ns(REPLAY[1])? / 1e9;
    kept &= replay_s < REPLAY_ASKED_S;
    let above = if replay_s < REPLAY_ASKED_S {
        ""
    } else {
        " TOO SLOW"
    };
    println!(
        "{}, two threads: {replay_s:.2} s, asked < {REPLAY_ASKED_S:.0} s{above}",
        REPLAY[0]
    );
    if let Some(busy) = busy() {
        println!("{busy}");
    }
    match &rotorpy {
        Ok(ns) => println!(
            "RotorPy 3.0.0, SE3Control.update: {:.1} µs a call",
            ns / 1e3
        ),
        Err(why) => println!("RotorPy: not run: {why}"),
    }
    if let Err(why) = &instructions {
        println!("instructions: not run: {why}");
    }
    Ok(if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A caveat for the times: more processes ran than there are CPUs.
fn busy() -> Option<String> {
    let said = std::fs::read_to_string("/proc/loadavg").ok()?;
    let cpus = std::thread::available_parallelism().ok()?.get();
    let load: f64 = said.split_whitespace().next()?.parse().ok()?;
    // The benchmark itself keeps up to two of them busy.
    (load > cpus as f64 + 1.0).then(|| {
        format!("the machine was busy: load average {load} on {cpus} CPUs; the times are too long")
    })
}

/// Criterion's median, in nanoseconds.
fn median_ns(name: &str) -> Result<f64, String> {
    let file = place::target()
        .join("criterion")
        .join(name)
        .join("new/estimates.json");
    let text =
        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    median_of(&text).ok_or_else(|| format!("{}: holds no median", file.display()))
}

fn median_of(estimates: &str) -> Option<f64> {
    let json: serde_json::Value = serde_json::from_str(estimates).ok()?;
    json["median"]["point_estimate"].as_f64()
}

/// Output of `count_instructions.sh`.
fn instructions() -> Result<String, String> {
    if let Some(missing) = missing_program(&["valgrind"]) {
        return Err(missing);
    }
    let script = benches().join("count_instructions.sh");
    let output = Command::new("sh")
        .arg(&script)
        .current_dir(place::root())
        .env("CARGO_TARGET_DIR", place::target())
        .output()
        .map_err(|error| format!("{}: {error}", script.display()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(last_line(&output.stderr))
    }
}

/// The count in a line such as `hummingbird: 812 instructions per controller call`.
fn count_of(said: &str, vehicle: &str, kind: &str) -> Option<u64> {
    let line = said.lines().find(|line| {
        line.starts_with(&format!("{vehicle}: ")) && line.contains(&format!("per {kind} "))
    })?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// RotorPy's time for one call, in nanoseconds, from a virtual environment under the target
/// directory.
fn rotorpy_ns() -> Result<f64, String> {
    if let Some(missing) = missing_program(&["python3"]) {
        return Err(missing);
    }
    let home = place::target().join("rotorpy");
    let python = home.join("bin/python");
    let mut make = Command::new("python3");
    make.args(["-m", "venv"]).arg(&home);
    let mut install = Command::new(&python);
    install.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        ROTORPY,
    ]);
    for (what, command) in [("venv", &mut make), ("pip", &mut install)] {
        let output = command
            .output()
            .map_err(|error| format!("{what}: {error}"))?;
        if !output.status.success() {
            return Err(format!("{what}: {}", last_line(&output.stderr)));
        }
    }
    let output = Command::new(&python)
        .arg(benches().join("rotorpy_time.py"))
        .output()
        .map_err(|error| format!("{}: {error}", python.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    micros_of(&said)
        .map(|micros| micros * 1e3)
        .ok_or_else(|| last_line(&output.stderr))
}

/// The time in `RotorPy SE3Control.update: 123.4 µs per call (…)`.
fn micros_of(said: &str) -> Option<f64> {
    let (_, rest) = said.split_once("update: ")?;
    rest.split_whitespace().next()?.parse().ok()
}

fn benches() -> PathBuf {
    place::root().join(Path::new("crates/flight/benches"))
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines()
        .last()
        .unwrap_or("it said nothing")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_what_the_programs_print() {
        let estimates = "{\"mean\":{\"point_estimate\":7.0},\"median\":{\"point_estimate\":228.5}}";
        assert_eq!(median_of(estimates), Some(228.5));
        assert_eq!(median_of("{}"), None);
        let said = "hummingbird: 812 instructions per controller call\n\
                    hummingbird: 1403 instructions per plant call\n";
        assert_eq!(count_of(said, "hummingbird", "controller"), Some(812));
        assert_eq!(count_of(said, "hummingbird", "plant"), Some(1403));
        assert_eq!(count_of(said, "crazyflie", "plant"), None);
        let said = "RotorPy SE3Control.update: 61.5 µs per call (best of 7 × 2000)\n";
        assert_eq!(micros_of(said), Some(61.5));
        assert_eq!(micros_of("Traceback"), None);
    }
}

//! Time from a fresh clone to the first verdict, with nothing built and no package downloaded.
//!
//! Cargo's downloads are timed separately, because they depend on the network, not on wakepath.

use crate::arguments::Arguments;
use crate::place;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Clones the commit at HEAD and runs `./check` in the clone.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let duration: String = arguments.value("--duration", "85s".into())?;
    arguments.end()?;
    let directory = place::scratch("first-verdict")?;
    let clone = directory.join("wakepath");
    let cloned = timed(
        "git clone",
        Command::new("git")
            .args(["clone", "--quiet"])
            .arg(place::root())
            .arg(&clone),
    )?;
    let in_clone = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&clone);
        fresh(&mut command, &directory);
        command
    };
    let fetched = timed(
        "cargo fetch",
        &mut in_clone("cargo", &["fetch", "--locked", "--quiet"]),
    )?;
    let start = Instant::now();
    let arguments = ["--no-tui", "--duration", &duration];
    let status = in_clone("./check", &arguments)
        .status()
        .map_err(|error| format!("./check: {error}"))?;
    let checked = start.elapsed();
    // 2 and 3 are verdicts too: failed and undecided.
    let verdict = matches!(status.code(), Some(0 | 2 | 3));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("\nFrom a fresh clone, on {cores} cores:");
    let said = |what: &str, time: Duration| println!("{:>8.1} s  {what}", time.as_secs_f64());
    said("clone", cloned);
    said("download of packages", fetched);
    said(
        &format!("./check: build, and a run of {duration} to its verdict ({status})"),
        checked,
    );
    said("in all", cloned + fetched + checked);
    let _ = std::fs::remove_dir_all(&directory);
    Ok(if verdict {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Nothing of this process's cargo, nor of the user's downloads.
fn fresh(command: &mut Command, directory: &Path) {
    for (name, _) in std::env::vars_os() {
        let shown = name.to_string_lossy();
        if shown.starts_with("CARGO") {
            command.env_remove(&name);
        }
    }
    command
        .env("CARGO_HOME", directory.join("cargo-home"))
        .stdin(Stdio::null());
}

fn timed(what: &str, command: &mut Command) -> Result<Duration, String> {
    let start = Instant::now();
    match command.status() {
        Ok(status) if status.success() => Ok(start.elapsed()),
        Ok(status) => Err(format!("{what}: {status}")),
        Err(error) => Err(format!("{what}: {error}")),
    }
}

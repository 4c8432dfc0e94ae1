//! Healthy programs, watched, and the false causes and fixes that are printed.
//!
//! Twenty loops of different kinds and makers. None has a quota, a lock that is held for long, a page that is not there or
//! a more urgent thread, so whatever delays them comes from the machine. A fix that is printed for less than a twentieth
//! of a thread's lateness is false, and so is a cause that the program can't have.

mod blamed;
mod programs;

use super::program;
use crate::arguments::Arguments;
use crate::{place, table};
use blamed::{Blamed, of_run};
use programs::{Healthy, all};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// The benchmark with its table. Fails if something is blamed falsely.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let seconds = arguments.value("--seconds", 10_u64)?;
    let wakepath = program(&mut arguments)?;
    arguments.end()?;
    let wakepath = std::path::absolute(wakepath).map_err(|error| error.to_string())?;
    let scratch = place::scratch("healthy")?;
    let loops = build(&scratch)?;
    let head = [
        "program",
        "cycles",
        "late",
        "lateness",
        "first cause",
        "fixes",
        "false",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let (mut watched, mut wrong) = (0, 0);
    for healthy in all(&loops) {
        match watch(&wakepath, &healthy, &scratch, seconds) {
            Err(why) => rows.push(vec![format!("{}: not run: {why}", healthy.name)]),
            Ok(blamed) => {
                watched += 1;
                wrong += blamed.wrong.len();
                rows.push(row(&healthy, &blamed));
            }
        }
        eprintln!("{}", healthy.name);
    }
    let _ = std::fs::remove_dir_all(&scratch);
    print!("{}", table::aligned(&rows, &[1, 2, 3, 5]));
    println!("{watched} programs: {wrong} causes or fixes blamed falsely (goal 0)");
    Ok(match wrong {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

fn row(healthy: &Healthy, blamed: &Blamed) -> Vec<String> {
    let milliseconds = blamed.late_ns as f64 / 1e6;
    vec![
        healthy.name.to_owned(),
        blamed.cycles.to_string(),
        blamed.late.to_string(),
        format!("{milliseconds:.1} ms"),
        blamed.first.clone(),
        blamed.fixes.to_string(),
        blamed.wrong.join("; "),
    ]
}

fn build(scratch: &Path) -> Result<std::path::PathBuf, String> {
    let source = place::root().join("xtask/src/bench/healthy/loops.c");
    let loops = scratch.join("loops");
    let built = Command::new("cc")
        .args(["-O2", "-pthread", "-o"])
        .args([&loops, &source])
        .stderr(Stdio::null())
        .status();
    if built.is_ok_and(|status| status.success()) {
        Ok(loops)
    } else {
        Err("the healthy loops can't be built: a C compiler is needed".into())
    }
}

/// Watches a program for a while.
fn watch(
    wakepath: &Path,
    healthy: &Healthy,
    scratch: &Path,
    seconds: u64,
) -> Result<Blamed, String> {
    if let Some(program) = healthy.missing() {
        return Err(format!("no {program}"));
    }
    let run = scratch.join("run");
    let _ = std::fs::remove_dir_all(&run);
    let watched = Command::new(wakepath)
        .args([
            "watch",
            "--quiet",
            "--for",
            &format!("{seconds}s"),
            "--directory",
        ])
        .arg(&run)
        .arg("--")
        .args(&healthy.command)
        .output();
    let watched = watched.map_err(|error| error.to_string())?;
    if watched.status.code() == Some(1) {
        return Err(String::from_utf8_lossy(&watched.stderr).trim().to_owned());
    }
    let explain = |form: &str| {
        let explained = Command::new(wakepath)
            .arg("explain")
            .arg(&run)
            .arg(form)
            .output();
        let explained = explained.map_err(|error| error.to_string())?;
        if explained.status.success() {
            Ok(String::from_utf8_lossy(&explained.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&explained.stderr).trim().to_owned())
        }
    };
    of_run(&explain("--json")?, &explain("--all")?, healthy.cannot)
}

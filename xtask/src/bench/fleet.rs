//! Questions to an archive of a fleet beside DuckDB and numpy: the exact quantiles of each run from its
//! samples, their CPU time and memory by size; and what the same program takes over histograms.

use crate::arguments::Arguments;
use crate::place;
use crate::release::{Build, fleet};
use crate::table;
use crate::tools::cargo;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Runs that the samples are spread over.
const RUNS: u64 = 20;

/// Makes archives of these sizes up, and asks each engine.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let mut sizes = Vec::new();
    for text in arguments.texts("--samples")? {
        let size: u64 = text
            .parse()
            .map_err(|_| format!("--samples: {text:?} is no number"))?;
        sizes.push(size.max(RUNS));
    }
    arguments.end()?;
    if sizes.is_empty() {
        sizes = vec![1_000_000, 10_000_000, 100_000_000];
    }
    let triple = Build::of_this_machine().triple;
    carried_out(&mut fleet::command(triple))?;
    let mut example = cargo(&["build", "--locked", "--release", "--example", "write-runs"]);
    example.args([
        "--package",
        "wakepath-fleet-made-up",
        "--manifest-path",
        "fleet/Cargo.toml",
    ]);
    example
        .args(["--target", triple, "--target-dir"])
        .arg(fleet::target());
    carried_out(&mut example)?;
    let python = python()?;
    let mut rows = vec![
        ["samples", "what", "CPU-s", "MB", "s", "answer"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut is_equal = true;
    for size in sizes {
        let scratch = place::scratch("bench-fleet")?;
        let asked = one(size, triple, &python, &scratch, &mut rows);
        let _ = std::fs::remove_dir_all(&scratch);
        is_equal &= asked?;
    }
    print!("{}", table::aligned(&rows, &[0, 2, 3, 4]));
    Ok(match is_equal {
        true => ExitCode::SUCCESS,
        false => {
            println!("The engines' answers differ.");
            ExitCode::FAILURE
        }
    })
}

/// One size; whether all answers are the same.
fn one(
    size: u64,
    triple: &str,
    python: &Path,
    scratch: &Path,
    rows: &mut Vec<Vec<String>>,
) -> Result<bool, String> {
    let program = fleet::program(triple);
    let example = program.with_file_name("examples/write-runs");
    let runs = scratch.join("runs");
    let archive = scratch.join("archive");
    let cycles = (size / RUNS).to_string();
    let made = std::fs::create_dir_all(&runs);
    made.map_err(|error| format!("{}: {error}", runs.display()))?;
    carried_out(
        Command::new(&example)
            .arg(&runs)
            .args([&RUNS.to_string(), &cycles]),
    )?;
    let listed = std::fs::read_dir(&runs).map_err(|error| error.to_string())?;
    let mut add = Command::new(&program);
    add.args(["add", "--board", "bench", "--archive"])
        .arg(&archive);
    add.args(listed.flatten().map(|entry| entry.path()));
    let began = Instant::now();
    carried_out(add.stdout(Stdio::null()))?;
    let adding = began.elapsed().as_secs_f64();
    let _ = std::fs::remove_dir_all(&runs);
    rows.push(vec![format!("{size}: {RUNS} runs added in {adding:.1} s")]);
    let mut answers = Vec::new();
    for engine in ["wakepath", "duckdb", "numpy", "histograms"] {
        let script = place::root().join("fleet/query/benchmark/beside.py");
        let mut ask = Command::new(python);
        ask.arg(script).arg(&archive).arg(engine).arg(&program);
        let output = ask.stderr(Stdio::inherit()).output();
        let output = output.map_err(|error| format!("{}: {error}", python.display()))?;
        if !output.status.success() {
            return Err(format!("{engine}: {}", output.status));
        }
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let cells: Vec<&str> = said.split_whitespace().collect();
        let [cpu, memory, time, answer] = cells[..] else {
            return Err(format!("{engine}: {said}"));
        };
        // Histograms by the fleet's groups are another question.
        if engine != "histograms" {
            answers.push(answer.to_owned());
        }
        let row = [&size.to_string(), engine, cpu, memory, time, answer];
        rows.push(row.map(str::to_owned).to_vec());
    }
    Ok(answers.windows(2).all(|two| two[0] == two[1]))
}

fn carried_out(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program}: {status}")),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

/// A Python with the other engines, made where it is missing.
fn python() -> Result<PathBuf, String> {
    let environment = place::target().join("bench-fleet");
    let python = environment.join("bin/python");
    let has_them = || {
        let mut ask = Command::new(&python);
        ask.args(["-c", "import duckdb, numpy"])
            .stderr(Stdio::null());
        ask.status().is_ok_and(|status| status.success())
    };
    if !has_them() {
        carried_out(
            Command::new("python3")
                .args(["-m", "venv"])
                .arg(&environment),
        )?;
        carried_out(Command::new(&python).args(["-m", "pip", "install", "-q", "duckdb", "numpy"]))?;
    }
    Ok(python)
}

//! Compares an archive's queries with DuckDB and numpy.
//!
//! The exact percentiles of each run from its samples: CPU time and memory by size, the programs
//! taking turns. Also wakepath's own cost if it uses histograms.

use crate::arguments::Arguments;
use crate::place;
use crate::release::{Build, fleet};
use crate::table;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Fewest runs that the samples are spread over.
const RUNS: u64 = 20;

/// Most samples of a run, which is generated in memory.
const MOST_OF_RUN: u64 = 5_000_000;

/// Queries to each engine, in turns; the median counts.
const ROUNDS: usize = 3;

/// The engines to compare.
const ENGINES: [&str; 4] = ["wakepath", "duckdb", "numpy", "histograms"];

/// Generates archives of these sizes, and queries each engine.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let mut sizes = Vec::new();
    for text in arguments.texts("--samples")? {
        let size: u64 = text
            .parse()
            .map_err(|_| format!("--samples: {text:?} is not a number"))?;
        sizes.push(size.max(RUNS));
    }
    arguments.end()?;
    if sizes.is_empty() {
        sizes = vec![1_000_000, 10_000_000, 100_000_000];
    }
    let triple = Build::of_this_machine().triple;
    carried_out(&mut built(triple))?;
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
    Ok(if is_equal {
        ExitCode::SUCCESS
    } else {
        println!("The engines' answers differ.");
        ExitCode::FAILURE
    })
}

/// Builds the released program and the generator of runs in one command, so that the engine is
/// compiled once.
fn built(triple: &str) -> Command {
    let mut command = fleet::command(triple);
    command.args(["--package", "wakepath-fleet-made-up", "--bins"]);
    command
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
    let runs = scratch.join("runs");
    let archive = scratch.join("archive");
    let count = RUNS.max(size / MOST_OF_RUN);
    let cycles = (size / count).to_string();
    let made = std::fs::create_dir_all(&runs);
    made.map_err(|error| format!("{}: {error}", runs.display()))?;
    carried_out(
        Command::new(program.with_file_name("write-runs"))
            .arg(&runs)
            .args([&count.to_string(), &cycles]),
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
    rows.push(vec![format!("{size}: {count} runs added in {adding:.1} s")]);
    let mut asked: [Vec<Asked>; ENGINES.len()] = Default::default();
    for _ in 0..ROUNDS {
        for (engine, asked) in ENGINES.iter().zip(&mut asked) {
            asked.push(ask(engine, python, &archive, &program)?);
        }
    }
    for (engine, asked) in ENGINES.iter().zip(&asked) {
        let middle = |of: fn(&Asked) -> f64, decimals: usize| {
            let mut values: Vec<f64> = asked.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            format!("{:.decimals$}", values[values.len() / 2])
        };
        rows.push(vec![
            size.to_string(),
            (*engine).to_owned(),
            middle(|one| one.cpu_s, 2),
            middle(|one| one.megabytes, 0),
            middle(|one| one.took_s, 1),
            asked[0].answer.clone(),
        ]);
    }
    // Histograms by the fleet's groups are another question.
    let (of_histograms, of_samples) = asked.split_last().expect("engines");
    Ok(is_one(of_samples.iter().flatten()) && is_one(of_histograms.iter()))
}

/// Whether all answers are the same.
fn is_one<'a>(mut asked: impl Iterator<Item = &'a Asked>) -> bool {
    let first = asked.next();
    first.is_none_or(|first| asked.all(|other| other.answer == first.answer))
}

/// Cost of one query, and the digest of its answer.
struct Asked {
    cpu_s: f64,
    megabytes: f64,
    took_s: f64,
    answer: String,
}

fn ask(engine: &str, python: &Path, archive: &Path, program: &Path) -> Result<Asked, String> {
    let script = place::root().join("fleet/query/benchmark/beside.py");
    let mut ask = Command::new(python);
    ask.arg(script).arg(archive).arg(engine).arg(program);
    let output = ask.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{}: {error}", python.display()))?;
    if !output.status.success() {
        return Err(format!("{engine}: {}", output.status));
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let cells: Vec<&str> = said.split_whitespace().collect();
    let number = |text: &str| text.parse().map_err(|_| format!("{engine}: {said}"));
    let [cpu, memory, time, answer] = cells[..] else {
        return Err(format!("{engine}: {said}"));
    };
    Ok(Asked {
        cpu_s: number(cpu)?,
        megabytes: number(memory)?,
        took_s: number(time)?,
        answer: answer.to_owned(),
    })
}

fn carried_out(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program}: {status}")),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

/// A Python with the other engines, installed on first use.
fn python() -> Result<PathBuf, String> {
    let environment = place::target().join("bench-fleet");
    let python = environment.join("bin/python");
    let has_them = || {
        let mut ask = Command::new(&python);
        ask.args(["-c", "import duckdb, numpy, pyarrow"])
            .stderr(Stdio::null());
        ask.status().is_ok_and(|status| status.success())
    };
    if !has_them() {
        carried_out(
            Command::new("python3")
                .args(["-m", "venv"])
                .arg(&environment),
        )?;
        carried_out(
            Command::new(&python)
                .args(["-m", "pip", "install", "-q", "duckdb", "numpy", "pyarrow"]),
        )?;
    }
    Ok(python)
}

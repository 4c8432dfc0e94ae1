//! The fuzz targets for minutes, from seeds in the repository. That their readers hold with damaged
//! seeds is tested on each change: see `crates/hostile-input`.
//!
//! Built with the stable compiler: coverage needs only flags that it has, and the fuzzed crates are
//! safe Rust, which the address sanitiser of the nightly compiler would find nothing in. So neither
//! cargo-fuzz nor a nightly toolchain is needed.

use super::outcome::Outcome;
use crate::job::{Finished, Job};
use crate::place;
use crate::tools::{cargo, missing_program};
use std::fs;
use std::path::Path;
use std::process::Command;

const FLAGS: &str = "--cfg fuzzing -Cdebug-assertions -Ccodegen-units=1 -Cpasses=sancov-module \
                     -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                     -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Seconds for inputs from strangers, and for inputs from the machine itself.
const OF_STRANGERS: u32 = 300;
const OWN: u32 = 120;

/// Each target for minutes.
pub fn fuzz(job: &Job) -> Outcome {
    if let Some(why) = missing_program(&["g++"]) {
        return Outcome::not_run(format!("libFuzzer can't be compiled: {why}"));
    }
    let directory = place::target().join("fuzz");
    let host = place::host_target();
    let arguments = [
        "build",
        "--release",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--bins",
    ];
    let mut build = cargo(&arguments);
    // With an explicit target, build scripts are compiled without the flags.
    build.args(["--target", &host]);
    build
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", &directory);
    let built = job.run(&mut build);
    if built.failure.is_some() {
        return Outcome::new(built.failure);
    }
    let programs = directory.join(host).join("release");
    let scenario = [
        "scenarios",
        "crates/scenario/tests/good",
        "crates/scenario/tests/bad",
    ];
    let recording = ["crates/archive/tests/fixtures"];
    // Files of the kernel, as recorded on machines.
    let machine = "fixtures/machines/virtual-two-cpus";
    let folders = ["proc", "proc/self", "sys/devices/virtual/workqueue"];
    let kernel_files = folders.map(|folder| format!("{machine}/{folder}"));
    let kernel_files: Vec<&str> = kernel_files.iter().map(String::as_str).collect();
    let imported = ["crates/import/tests/fixtures"];
    let directory_of_traces = ["ros2", "one/lttng", "one/lttng-2"];
    let directory_of_traces =
        directory_of_traces.map(|folder| format!("crates/import/tests/fixtures/{folder}"));
    let directory_of_traces: Vec<&str> = directory_of_traces.iter().map(String::as_str).collect();
    let told = ["crates/hostile-input/seeds/told"];
    let evidence = ["crates/hostile-input/seeds/evidence"];
    let targets: [(&str, u32, &[&str]); 8] = [
        ("scenario", OF_STRANGERS, &scenario),
        ("recording", OF_STRANGERS, &recording),
        ("told", OF_STRANGERS, &told),
        ("evidence", OF_STRANGERS, &evidence),
        ("imported_file", OF_STRANGERS, &imported),
        ("imported_directory", OF_STRANGERS, &directory_of_traces),
        ("journal", OWN, &["crates/tuning/tests/journals"]),
        ("kernel_files", OWN, &kernel_files),
    ];
    targets
        .into_iter()
        .map(|(name, seconds, seeds)| target(job, &programs.join(name), name, seconds, seeds))
        .reduce(Outcome::and)
        .expect("there are targets")
}

fn target(job: &Job, program: &Path, name: &str, seconds: u32, seeds: &[&str]) -> Outcome {
    let found = place::target().join("fuzz-corpus").join(name);
    if let Err(error) = fs::create_dir_all(&found) {
        return Outcome::new(Some(format!("{}: {error}", found.display())));
    }
    let mut command = Command::new(program);
    command
        .arg(format!("-max_total_time={seconds}"))
        .args(["-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"])
        .arg(format!(
            "-artifact_prefix={}/crash-",
            found.with_extension("crashes").display()
        ))
        .arg(&found)
        .args(seeds.iter().map(|seeds| place::root().join(seeds)));
    let crashes = fs::create_dir_all(found.with_extension("crashes"));
    if let Err(error) = crashes {
        return Outcome::new(Some(format!("{name}: {error}")));
    }
    let finished = job.run(&mut command);
    match (&finished.failure, evidence(&finished)) {
        (Some(failure), _) => Outcome::new(Some(format!("{name}: {failure}"))),
        (None, Some(runs)) => Outcome::new(None).noting(format!("{name}: {runs} inputs")),
        (None, None) => Outcome::new(Some(format!(
            "{name}: nothing shows that inputs were tried"
        ))),
    }
}

/// Number of inputs tried, if coverage was recorded too: without it the fuzzer only guesses.
fn evidence(finished: &Finished) -> Option<u64> {
    let lines = || finished.output.lines();
    let covered = lines().any(|line| line.contains(" cov: ") && !line.contains(" cov: 0 "));
    let runs = lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?;
    runs.trim().parse().ok().filter(|runs| covered && *runs > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(output: &str) -> Finished {
        Finished {
            output: output.into(),
            failure: None,
        }
    }

    #[test]
    fn inputs_count_only_with_coverage() {
        let stats = "stat::number_of_executed_units: 42\n";
        assert_eq!(
            evidence(&finished(&format!("#2 INITED cov: 9 ft: 1\n{stats}"))),
            Some(42)
        );
        assert_eq!(
            evidence(&finished(&format!("#2 INITED cov: 0 ft: 1\n{stats}"))),
            None
        );
        assert_eq!(evidence(&finished("#2 INITED cov: 9 ft: 1\n")), None);
    }
}

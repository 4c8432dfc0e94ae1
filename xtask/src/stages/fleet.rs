//! Tests and lints of the workspace of `wakepath-fleet`, in a separate build directory.
//!
//! Nothing of the board's program depends on it. Boards are network namespaces with an sshd each.

use super::outcome::Outcome;
use crate::bench::released_program;
use crate::job::Job;
use crate::tools::{cargo, wait_for_set_up};
use crate::{place, release};
use std::path::PathBuf;
use std::process::Command;

/// All but the engine of questions and archives in buckets, whose dependencies take six minutes and two of a CPU to
/// compile.
const WITHOUT_ENGINE: [&str; 4] = [
    "--workspace",
    "--exclude",
    "wakepath-fleet-query",
    "--no-default-features",
];

/// Tests and clippy, without the engine.
pub fn workspace(job: &Job) -> Outcome {
    let mut lints = of("clippy");
    lints.args(WITHOUT_ENGINE);
    let lints = job.run(lints.args(["--all-targets", "--", "-D", "warnings"]));
    tests(job, &[]).and(Outcome::new(lints.failure))
}

/// 500 runs on 20 boards with cut links and killed controllers; all of their runs in one archive,
/// sealed. Also a board with a real place in labgrid.
pub fn night(job: &Job) -> Outcome {
    environment(job, LABGRID, "labgrid==26.*", "bin/labgrid-client");
    tests(job, &["--ignored"])
}

/// Its environment of Python's.
const LABGRID: &str = "labgrid";

fn tests(job: &Job, arguments: &[&str]) -> Outcome {
    wait_for_set_up();
    let program = match released_program(|build| job.carry_out(build)) {
        Ok(program) => program,
        Err(error) => return Outcome::new(Some(error)),
    };
    let mut command = of("test");
    command.args(WITHOUT_ENGINE);
    command.env("WAKEPATH_BINARY", program);
    // KernelCI's own reader of the exported data.
    let kcidb = environment(job, "kcidb", "kcidb-io==141", "bin/jsonschema");
    command.env("WAKEPATH_KCIDB", kcidb.join("bin/python"));
    command.env("WAKEPATH_LABGRID", place::target().join(LABGRID));
    // `./test` unpacks it if it isn't installed.
    let unpacked = place::target().join("openssh");
    let sshd = unpacked.join("usr/sbin/sshd");
    if sshd.is_file() {
        let libraries = format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        command.env("WAKEPATH_SSHD", sshd);
        command.env("LD_LIBRARY_PATH", unpacked.join(libraries));
    }
    command.args(["--no-fail-fast", "--", "--show-output"]);
    Outcome::of_tests(&job.run(command.args(arguments)))
}

/// The engine of questions, here and on a Spark cluster on loopback, archives in buckets, and the program with both.
pub fn questions(job: &Job) -> Outcome {
    let spark = spark(job);
    let mut tests = of("test");
    tests.args(["--package", "wakepath-fleet-query", "--no-fail-fast", "--"]);
    // One at a time: each starts three processes of Java.
    tests.args(["--show-output", "--test-threads", "1"]);
    if let Some(home) = spark {
        tests.env("WAKEPATH_SPARK", home);
    }
    let tests = job.run(&mut tests);
    let mut buckets = of("test");
    buckets.args([
        "--package",
        "wakepath-fleet",
        "--package",
        "wakepath-fleet-archive",
        "--no-fail-fast",
        "--",
    ]);
    buckets.args(["--show-output", "bucket::"]);
    // A server of buckets.
    let moto = environment(job, "moto", "moto[server]==5.*", "bin/moto_server");
    buckets.env("WAKEPATH_MOTO", moto.join("bin/moto_server"));
    let buckets = job.run(&mut buckets);
    let mut lints = of("clippy");
    lints.args(["--workspace", "--all-targets"]);
    let lints = job.run(lints.args(["--", "-D", "warnings"]));
    let tests = Outcome::of_tests(&tests).and(Outcome::of_tests(&buckets));
    tests.and(Outcome::new(lints.failure))
}

/// Spark's home in a Python environment, downloaded if missing.
fn spark(job: &Job) -> Option<PathBuf> {
    let environment = environment(job, "spark", "pyspark==4.*", "bin/spark-submit");
    let libraries = std::fs::read_dir(environment.join("lib")).ok()?;
    let homes = libraries.flatten();
    let mut homes = homes.map(|python| python.path().join("site-packages/pyspark"));
    homes.find(|home| home.join("bin/spark-submit").is_file())
}

/// A Python environment with a package, created if one of its files is missing. If that fails, the
/// tests that need it report that they weren't run.
fn environment(job: &Job, name: &str, package: &str, holds: &str) -> PathBuf {
    let environment = place::target().join(name);
    if !environment.join(holds).is_file() {
        let mut make = Command::new("python3");
        job.run(make.args(["-m", "venv"]).arg(&environment));
        let mut install = Command::new(environment.join("bin/python"));
        job.run(install.args(["-m", "pip", "install", "-q", package]));
    }
    environment
}

fn of(verb: &str) -> Command {
    let mut command = cargo(&[verb, "--locked"]);
    command.args(["--manifest-path", "fleet/Cargo.toml", "--target-dir"]);
    command.arg(release::fleet::target());
    command
}

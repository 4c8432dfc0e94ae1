//! Builds packages, then installs, attacks and removes them in a clean root.
//!
//! Made from programs of other stages, or entirely as for a release.

use super::outcome::Outcome;
use super::programs::{self, Program};
use crate::bench::released_program;
use crate::job::Job;
use crate::release::Build;
use crate::tools::{missing_program, missing_target};
use crate::{place, python};
use std::path::Path;
use std::process::Command;

/// The next version, for upgrades: a candidate, whose order packages must know.
const NEXT: &str = "99.0.0-rc.1";

/// This process's own program, even if the build of the tests has replaced its file since.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Packages of the released program for this machine; and each crate, packed for crates.io.
pub fn of_this_machine(job: &Job) -> Outcome {
    let build = Build::of_this_machine();
    if let Some(why) = missing_target(build.triple) {
        return Outcome::not_run(why);
    }
    let host = match programs::beside_the_tests(job, "wakepath-controller-host") {
        Ok(host) => host,
        Err(outcome) => return outcome,
    };
    let program = match released_program(|build| job.carry_out(build)) {
        Ok(program) => program,
        Err(error) => return Outcome::new(Some(error)),
    };
    let release = place::target().join("packages/release");
    let library = host.with_file_name("deps").join("libwakepath.a");
    let (mut build_module, module) = python::quick_build();
    if let Some(failure) = job.run(&mut build_module).failure {
        return Outcome::new(Some(failure));
    }
    let given = Given {
        program: &program,
        host: &host,
        library: &library,
        module: &module,
    };
    let packed = packed(job, build, &given, &release, &[]);
    let crates = super::crates::published(job);
    packed.and(tried(job, &given, &release)).and(crates)
}

/// Everything as released, for all machines, and each crate compiled from its package.
pub fn as_released(job: &Job) -> Outcome {
    if let Some(why) = missing_program(&["dpkg-deb", "rpmbuild"]) {
        return Outcome::not_run(why);
    }
    let release = place::target().join("release-artifacts");
    let released = job.run(Command::new(THIS_PROGRAM).arg("release")).failure;
    if released.is_some() {
        return Outcome::new(released);
    }
    let build = Build::of_this_machine();
    let program = release.join(format!("wakepath-{}", build.triple));
    let host = release.join(format!("wakepath-controller-host-{}", place::host_target()));
    let library = place::target().join("controller-host");
    let library = library
        .join(place::host_target())
        .join("release/libwakepath.a");
    let module = place::target().join("python").join(place::host_target());
    let module = module.join("release/libwakepath_native.so");
    let given = Given {
        program: &program,
        host: &host,
        library: &library,
        module: &module,
    };
    let arm = with_artefacts(job, &release, &release, &["arm::", "--ignored"]);
    let crates = super::crates::published(job);
    tried(job, &given, &release).and(arm).and(crates)
}

/// Programs that are packed without being built for it.
struct Given<'a> {
    program: &'a Path,
    host: &'a Path,
    library: &'a Path,
    module: &'a Path,
}

/// Packs the next version too, and tries both.
fn tried(job: &Job, given: &Given<'_>, release: &Path) -> Outcome {
    let next = place::target().join("packages/next");
    let version = ["--version", NEXT];
    let build = Build::of_this_machine();
    let packed = packed(job, build, given, &next, &version);
    let tests = ["--ignored", "--skip", "arm::"];
    packed.and(with_artefacts(job, release, &next, &tests))
}

fn packed(job: &Job, build: &Build, given: &Given<'_>, into: &Path, more: &[&str]) -> Outcome {
    let mut command = Command::new(THIS_PROGRAM);
    command.args(["release", "--quickly", "--only", build.triple, "--program"]);
    command.arg(given.program).arg("--host").arg(given.host);
    command.arg("--library").arg(given.library);
    command.arg("--module").arg(given.module);
    command.arg("--into").arg(into).args(more);
    let failure = job.run(&mut command).failure;
    // Tests of packages that can't be made for lack of a program report it.
    match missing_program(&["dpkg-deb", "rpmbuild"]) {
        Some(why) if into.join("SHA256SUMS").is_file() => Outcome::not_run(why),
        _ => Outcome::new(failure),
    }
}

fn with_artefacts(job: &Job, release: &Path, next: &Path, arguments: &[&str]) -> Outcome {
    let programs = match programs::all(job) {
        Ok(programs) => programs,
        Err(outcome) => return outcome,
    };
    let ours = |program: &&Program| program.package == "xtask" && program.name == "packages";
    let Some(tests) = programs.iter().find(ours) else {
        return Outcome::new(Some("the packages have no tests".into()));
    };
    let mut command = tests.command(arguments);
    command
        .env("WAKEPATH_ARTEFACTS", release)
        .env("WAKEPATH_ARTEFACTS_NEXT", next);
    tests.outcome(job, &mut command).of_some()
}

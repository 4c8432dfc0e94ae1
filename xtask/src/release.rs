//! Builds a release's artefacts.
//!
//! Static programs (`build` has each target; .cargo/config.toml names the linkers), a check that
//! they are static, and packages made from them: archives, Debian and RPM packages, wheels, the
//! installer, checksums; and the programs of the laboratory, for EtherCAT, for a fleet and for a GPU. Each kind of package has a file in
//! this folder.

mod archive;
mod build;
mod companions;
mod deb;
pub mod fleet;
mod gpu;
mod host;
mod installer;
mod library;
mod licences;
mod rpm;
mod template;
mod tree;
mod version;
mod wheel;

pub use build::{Build, PROGRAMS, is_static};

use crate::arguments::Arguments;
use crate::tools::{missing_program, missing_target};
use crate::{place, table};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Builds and packs everything that can be built here, or the requested part, into
/// `target/release-artifacts`; prints what can't be built. `--alone` makes only the program of the
/// laboratory, for EtherCAT, of a fleet or of a GPU; `--program`, `--host`, `--library` and `--module` name existing builds to
/// pack for the one target.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let only = arguments.texts("--only")?;
    let path = |texts: Vec<String>| texts.last().map(PathBuf::from);
    let (program, host, library, module) = (
        path(arguments.texts("--program")?),
        path(arguments.texts("--host")?),
        path(arguments.texts("--library")?),
        path(arguments.texts("--module")?),
    );
    let into = path(arguments.texts("--into")?);
    let alone = alone(&arguments.texts("--alone")?)?;
    let compression = if arguments.flag("--quickly") {
        tree::Compression::Quick
    } else {
        tree::Compression::Best
    };
    let version = version::Version::of_this_workspace(&arguments.texts("--version")?)?;
    arguments.end()?;
    let builds = wanted(&only)?;
    let is_given = program.is_some() || host.is_some() || library.is_some();
    if is_given && builds.len() != 1 {
        return Err(
            "--program, --host and --library are of one target: name it with --only".into(),
        );
    }
    let directory = into.unwrap_or_else(|| place::target().join("release-artifacts"));
    let said = |error: std::io::Error| format!("{}: {error}", directory.display());
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(said)?;
    }
    fs::create_dir_all(&directory).map_err(said)?;
    let directory = fs::canonicalize(&directory).map_err(said)?;
    let scratch = place::scratch("release")?;
    let mut rows = Vec::new();
    let apart =
        |artefacts: Artefacts| artefacts(&builds, &version, compression, &directory, &scratch);
    if let Some(artefacts) = alone {
        rows.extend(apart(artefacts)?);
        return finished(&rows, &directory, &scratch);
    }
    for &build in &builds {
        let missing = missing_target(build.triple).or_else(|| missing_program(build.programs()));
        let row = match (&program, missing) {
            (Some(program), _) => build.program_of(program, &directory)?,
            (None, Some(why)) => format!("NOT BUILT: {why}"),
            (None, None) => artefact(build, &directory)?,
        };
        rows.push(vec![build.triple.to_owned(), row]);
    }
    match host {
        Some(host) => rows.push(host::given(builds[0], &host, &directory)?),
        // Packages of given programs need no build.
        None if program.is_some() => {}
        None => rows.extend(host::artefacts(&builds, &directory)?),
    }
    let mut libraries = Vec::new();
    for &build in &builds {
        // Packages of given programs need no build.
        let found = if program.is_some() {
            (library.clone(), module.clone())
        } else {
            let (of_c, of_python) = (library::artefact(build)?, library::module(build)?);
            rows.extend([of_c.0, of_python.0]);
            (of_c.1, of_python.1)
        };
        libraries.push(found);
    }
    rows.extend(packed(
        &builds,
        &libraries,
        &version,
        compression,
        &directory,
        &scratch,
    )?);
    // After the installer, which offers every archive that it finds.
    if !is_given {
        for (_, artefacts) in APART {
            rows.extend(apart(artefacts)?);
        }
    }
    finished(&rows, &directory, &scratch)
}

/// Builds and packs a program that not every board needs: one row for each target.
type Artefacts = fn(
    &[&'static Build],
    &version::Version,
    tree::Compression,
    &Path,
    &Path,
) -> Result<Vec<Vec<String>>, String>;

/// Those apart from the boards' program, by name.
const APART: [(&str, Artefacts); 4] = [
    ("lab", companions::lab),
    ("ethercat", companions::ethercat),
    ("gpu", gpu::artefacts),
    ("fleet", fleet::artefacts),
];

/// The only artefacts to make, if the arguments name any.
fn alone(asked: &[String]) -> Result<Option<Artefacts>, String> {
    let Some(asked) = asked.last() else {
        return Ok(None);
    };
    match APART.iter().find(|(name, _)| name == asked) {
        Some((_, artefacts)) => Ok(Some(*artefacts)),
        None => Err(format!(
            "--alone {asked}: there are {}",
            APART.map(|(name, _)| name).join(", ")
        )),
    }
}

/// Prints the artefacts, with checksums next to them.
fn finished(rows: &[Vec<String>], directory: &Path, scratch: &Path) -> Result<ExitCode, String> {
    let _ = fs::remove_dir_all(scratch);
    check_sums(directory)?;
    print!("{}", table::aligned(rows, &[]));
    println!("in {}", directory.display());
    let complete = rows.iter().flatten().all(|cell| !cell.starts_with("NOT"));
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Packs the builds: one row for each package, and for each that can't be made here.
fn packed(
    builds: &[&'static Build],
    libraries: &[(Option<PathBuf>, Option<PathBuf>)],
    version: &version::Version,
    compression: tree::Compression,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<Vec<String>>, String> {
    let program_of = |build: &Build| directory.join(format!("wakepath-{}", build.triple));
    let built: Vec<&'static Build> = builds
        .iter()
        .copied()
        .filter(|build| program_of(build).is_file())
        .collect();
    let runs_here = |build: &&&Build| {
        build
            .emulator()
            .is_none_or(|emulator| missing_program(&[emulator]).is_none())
    };
    // Completions and man pages are the same for all.
    let Some(speaker) = built.iter().find(runs_here) else {
        let why = "NOT MADE: no program here that can be started to write its man pages";
        return Ok(vec![vec!["packages".into(), why.into()]]);
    };
    let documents = scratch.join("documents");
    self::documents(speaker, &program_of(speaker), &documents)?;
    let mut rows = Vec::new();
    for build in built {
        let licences = scratch.join(format!("licences-{}", build.triple));
        licences::write_for(build.triple, &licences)?;
        let host = host::beside(build, directory)?;
        let at = builds.iter().position(|of| of.triple == build.triple);
        let (library, module) = at.map_or((None, None), |at| libraries[at].clone());
        let parts = tree::Parts {
            build,
            program: program_of(build),
            host,
            library,
            module,
            version: version.cargo().to_owned(),
            documents: documents.clone(),
            licences,
            compression,
        };
        for make in [
            archive::make,
            deb::make,
            rpm::make,
            wheel::make,
            wheel::make_compiled,
        ] {
            rows.push(make(&parts, version, directory, scratch)?);
        }
    }
    rows.push(installer::make(version, directory)?);
    Ok(rows)
}

/// The builds of these targets, all without any.
fn wanted(only: &[String]) -> Result<Vec<&'static Build>, String> {
    let triples = Build::ALL.map(|build| build.triple);
    match only
        .iter()
        .find(|wanted| !triples.contains(&wanted.as_str()))
    {
        Some(unknown) => Err(format!(
            "no release for {unknown}; there are {}",
            triples.join(", ")
        )),
        None => Ok(Build::ALL
            .into_iter()
            .filter(|build| only.is_empty() || only.iter().any(|wanted| wanted == build.triple))
            .collect()),
    }
}

fn artefact(build: &Build, directory: &Path) -> Result<String, String> {
    succeed(with_lines(&mut build.command()))?;
    is_static(&build.program())?;
    let name = format!("wakepath-{}", build.triple);
    let size = build.split(&build.program(), directory, &name)?;
    Ok(format!("{name}, {}", megabytes(size)))
}

/// Has a build keep its line tables, which change no instruction: they make a crash readable.
fn with_lines(command: &mut Command) -> &mut Command {
    command
        .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
        .env("CARGO_PROFILE_RELEASE_STRIP", "none")
}

/// A size as people read it.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// A command that starts a program of this build, in an emulator if necessary.
fn started(build: &Build, program: &Path) -> Command {
    match build.emulator() {
        None => Command::new(program),
        Some(emulator) => {
            let mut command = Command::new(emulator);
            command.arg(program);
            command
        }
    }
}

/// Completions and man pages, printed by the program, in an emulator if necessary.
fn documents(build: &Build, program: &Path, directory: &Path) -> Result<(), String> {
    let man = directory.join("man");
    fs::create_dir_all(&man).map_err(|error| format!("{}: {error}", man.display()))?;
    for shell in ["bash", "zsh", "fish"] {
        let output = started(build, program)
            .args(["completions", shell])
            .output();
        let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
        if !output.status.success() || output.stdout.is_empty() {
            return Err(format!("no completions for {shell}: {}", output.status));
        }
        let file = directory.join(format!("wakepath.{shell}"));
        fs::write(&file, output.stdout).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    succeed(started(build, program).arg("man").arg(man))
}

/// `SHA256SUMS`, as `sha256sum --check` reads it.
fn check_sums(directory: &Path) -> Result<(), String> {
    let command = "find . -type f ! -name SHA256SUMS -printf '%P\\n' | sort | \
                   xargs -d '\\n' sha256sum > SHA256SUMS";
    succeed(
        Command::new("sh")
            .args(["-ec", command])
            .current_dir(directory),
    )
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program}: {status}")),
        Err(error) => Err(format!("{program}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_of_all_targets_or_of_those_that_are_named() {
        let of = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(ToString::to_string).collect();
            wanted(&only).map(|builds| builds.iter().map(|build| build.triple).collect())
        };
        assert_eq!(of(&[]).map(|all: Vec<_>| all.len()), Ok(3));
        let arm = "aarch64-unknown-linux-musl";
        assert_eq!(of(&[arm]), Ok(vec![arm]));
        assert!(of(&["mips"]).unwrap_err().contains(arm));
    }
}

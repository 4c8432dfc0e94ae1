//! `wakepath-lab` and `wakepath-experiment` for release, static as the program that they belong to.
//!
//! They have their own archive, because boards that only measure don't need them.

use super::archive::{packed, row};
use super::tree::{Compression, empty, put};
use super::version::Version;
use super::{Build, is_static, licences, started, succeed, with_lines};
use crate::place;
use crate::tools::{missing_program, missing_target};
use std::fs;
use std::path::Path;

/// The archive's name, and the first program's.
const NAME: &str = "wakepath-lab";
/// The programs.
const PROGRAMS: [&str; 2] = [NAME, "wakepath-experiment"];

/// Builds and packs it for `builds`; one row for each.
pub(super) fn artefacts(
    builds: &[&'static Build],
    version: &Version,
    compression: Compression,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<Vec<String>>, String> {
    let rows = builds.iter().map(|build| {
        let missing = missing_target(build.triple).or_else(|| missing_program(build.programs()));
        match missing {
            Some(why) => Ok(vec![
                format!("lab, {}", build.triple),
                format!("NOT BUILT: {why}"),
            ]),
            None => archive(build, version, compression, directory, scratch),
        }
    });
    rows.collect()
}

fn archive(
    build: &Build,
    version: &Version,
    compression: Compression,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<String>, String> {
    let triple = build.triple;
    // The same build as the boards' program's.
    succeed(with_lines(&mut build.command()))?;
    let name = format!("{NAME}-{}-{triple}", version.cargo());
    let tree = empty(scratch, &name)?;
    for program in PROGRAMS {
        let built = build.program().with_file_name(program);
        is_static(&built)?;
        build.split(&built, scratch, program)?;
        put(
            &scratch.join(program),
            &tree.join("bin").join(program),
            0o755,
        )?;
    }
    let root = place::root();
    let documents = tree.join("share/doc").join(NAME);
    for file in [
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "docs/advanced/lab.md",
        "docs/advanced/experiments.md",
    ] {
        let file = root.join(file);
        let to = documents.join(file.file_name().unwrap_or_default());
        put(&file, &to, 0o644)?;
    }
    licences::write_for(triple, &documents.join("LICENCES-OF-OTHERS"))?;
    // Without an emulator their man pages are left out.
    let runs_here = |emulator: &str| missing_program(&[emulator]).is_none();
    if build.emulator().is_none_or(runs_here) {
        let man = tree.join("share/man/man1");
        fs::create_dir_all(&man).map_err(|error| format!("{}: {error}", man.display()))?;
        for program in PROGRAMS {
            succeed(started(build, &scratch.join(program)).arg("man").arg(&man))?;
        }
    }
    let archive = directory.join(format!("{name}.tar.gz"));
    packed(scratch, &name, &archive, compression)?;
    row(&format!("lab, {triple}"), &archive)
}

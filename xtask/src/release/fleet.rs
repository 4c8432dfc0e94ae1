//! `wakepath-fleet` for release: a static program for the machine that controls the boards.
//!
//! It has its own archive. The installer and the packages are for boards, and leave it out.

use super::archive::{documented, packed, row};
use super::tree::{Compression, empty, put};
use super::version::Version;
use super::{Build, is_static, licences, succeed};
use crate::place;
use crate::tools::{cargo, missing_program, missing_target};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Machines that look after boards.
const OF: [&Build; 2] = [&Build::X86_64, &Build::AARCH64];

/// The command that builds it. It shares its build directory with the tests' stages.
pub fn command(triple: &str) -> Command {
    let mut command = cargo(&[
        "build",
        "--locked",
        "--release",
        "--package",
        "wakepath-fleet",
    ]);
    command.args(["--manifest-path", "fleet/Cargo.toml", "--target", triple]);
    command.arg("--target-dir").arg(target());
    command
}

/// The build directory of the fleet's workspace.
pub fn target() -> PathBuf {
    place::target().join("fleet")
}

/// Path of the release build.
pub fn program(triple: &str) -> PathBuf {
    target().join(triple).join("release/wakepath-fleet")
}

/// Builds and packs it for the supported machines among `builds`; one row for each.
pub(super) fn artefacts(
    builds: &[&'static Build],
    version: &Version,
    compression: Compression,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<Vec<String>>, String> {
    let is_wanted = |build: &&&Build| builds.iter().any(|of| of.triple == build.triple);
    let mut rows = Vec::new();
    for build in OF.iter().filter(is_wanted) {
        let triple = build.triple;
        let missing = missing_target(triple).or_else(|| missing_program(build.programs()));
        rows.push(match missing {
            Some(why) => vec![format!("fleet, {triple}"), format!("NOT BUILT: {why}")],
            None => {
                succeed(&mut command(triple))?;
                archive(triple, version, compression, directory, scratch)?
            }
        });
    }
    Ok(rows)
}

fn archive(
    triple: &str,
    version: &Version,
    compression: Compression,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<String>, String> {
    is_static(&program(triple))?;
    let name = format!("wakepath-fleet-{}-{triple}", version.cargo());
    let tree = empty(scratch, &name)?;
    put(&program(triple), &tree.join("bin/wakepath-fleet"), 0o755)?;
    let pages = [
        "docs/advanced/fleet.md",
        "docs/advanced/fleet-archive.md",
        "docs/advanced/evidence-seal.md",
    ];
    let documents = documented(&tree, "wakepath-fleet", &pages)?;
    licences::write_beside(
        "fleet",
        "wakepath-fleet",
        triple,
        &documents.join("LICENCES-OF-OTHERS"),
    )?;
    let archive = directory.join(format!("{name}.tar.gz"));
    packed(scratch, &name, &archive, compression)?;
    row(&format!("fleet, {triple}"), &archive)
}

//! `wakepath-gpu` for release: linked with glibc, because it loads the libraries of a GPU's
//! drivers.
//!
//! It has its own archive. Boards without a GPU or a GPU load don't need it.

use super::archive::{documented, packed, row};
use super::tree::{Compression, empty, put};
use super::version::Version;
use super::{Build, host, licences, succeed};
use crate::place;
use crate::tools::cargo;
use std::path::Path;

/// Machines with GPUs that such programs can drive.
const OF: [&Build; 2] = [&Build::X86_64, &Build::AARCH64];

/// Builds and packs it for the supported machines among `builds`; one row for each.
pub(super) fn artefacts(
    builds: &[&'static Build],
    version: &Version,
    compression: Compression,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<Vec<String>>, String> {
    let is_wanted = |build: &&&Build| builds.iter().any(|of| of.triple == build.triple);
    let hosts = OF
        .iter()
        .filter(is_wanted)
        .filter_map(|build| host::of(build));
    let mut rows = Vec::new();
    for host in hosts {
        rows.push(match host.missing() {
            Some(why) => vec![format!("gpu, {}", host.triple), format!("NOT BUILT: {why}")],
            None => archive(host, version, compression, directory, scratch)?,
        });
    }
    Ok(rows)
}

fn archive(
    host: &host::Host,
    version: &Version,
    compression: Compression,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<String>, String> {
    let triple = host.triple;
    let target = place::target().join("gpu");
    let mut build = cargo(&["build", "--locked", "--release", "--manifest-path"]);
    build.args(["gpu/Cargo.toml", "--target", triple]);
    succeed(host.linked(build.arg("--target-dir").arg(&target)))?;
    let program = target.join(triple).join("release/wakepath-gpu");
    let needed = host::glibc(&program)?;
    let name = format!("wakepath-gpu-{}-{triple}", version.cargo());
    let tree = empty(scratch, &name)?;
    put(&program, &tree.join("bin/wakepath-gpu"), 0o755)?;
    let documents = documented(&tree, "wakepath-gpu", &["docs/guide/gpu.md"])?;
    licences::write_beside(
        "gpu",
        "wakepath-gpu",
        triple,
        &documents.join("LICENCES-OF-OTHERS"),
    )?;
    let archive = directory.join(format!("{name}.tar.gz"));
    packed(scratch, &name, &archive, compression)?;
    row(
        &format!("gpu, {triple}, needs glibc {needed} or newer"),
        &archive,
    )
}

//! The loop's library for other languages, for release.
//!
//! Cargo builds it for glibc; the packages' libraries for C and C++ are laid out from it
//! (`crates/c-library/install.sh`), and Python's wheel is made from it.

use super::host;
use super::tree::Parts;
use super::{Build, megabytes, succeed};
use crate::{place, python};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds it for the machines of a static build, if that can be done here; its row.
pub(super) fn artefact(build: &Build) -> Result<(Vec<String>, Option<PathBuf>), String> {
    let Some(host) = host::of(build) else {
        return Ok((Vec::new(), None));
    };
    let of = format!("library for C, {}", host.triple);
    if let Some(why) = host.missing() {
        return Ok((vec![of, format!("NOT BUILT: {why}")], None));
    }
    let (mut command, target) = host.cargo("rustc", "wakepath-c");
    succeed(command.args(["--crate-type", "staticlib"]))?;
    let archive = target.join("release/libwakepath.a");
    let size = fs::metadata(&archive).map_err(|error| format!("{}: {error}", archive.display()))?;
    let row = format!(
        "libwakepath.a, {} before it is laid out",
        megabytes(size.len())
    );
    Ok((vec![of, row], Some(archive)))
}

/// Builds the compiled half of the Python package for them, if that can be done here; its row.
pub(super) fn module(build: &Build) -> Result<(Vec<String>, Option<PathBuf>), String> {
    let Some(host) = host::of(build) else {
        return Ok((Vec::new(), None));
    };
    let of = format!("module for Python, {}", host.triple);
    if let Some(why) = host.missing() {
        return Ok((vec![of, format!("NOT BUILT: {why}")], None));
    }
    let target = place::target().join("python");
    let mut build = python::command("build");
    build.args(["--release", "--target", host.triple, "--target-dir"]);
    succeed(host.linked(build.arg(&target)))?;
    let module = target
        .join(host.triple)
        .join("release/libwakepath_native.so");
    let size = fs::metadata(&module).map_err(|error| format!("{}: {error}", module.display()))?;
    let row = format!("{}, {}", python::COMPILED, megabytes(size.len()));
    Ok((vec![of, row], Some(module)))
}

/// Lays it out below a prefix, with headers and the files for pkg-config and CMake.
pub(super) fn lay_out(parts: &Parts, prefix: &Path, directory: &str) -> Result<(), String> {
    let (Some(archive), Some(host)) = (&parts.library, host::of(parts.build)) else {
        return Ok(());
    };
    succeed(
        Command::new("sh")
            .arg(place::root().join("crates/c-library/install.sh"))
            .arg("--prefix")
            .arg(prefix)
            .arg("--archive")
            .arg(archive)
            .args(["--libdir", directory, "--version", &parts.version])
            .env("CC", host.compiler)
            .env("OBJCOPY", parts.build.objcopy),
    )
}

/// The newest glibc that the controller host or the shared library in this directory needs.
pub(super) fn glibc(directory: &Path, of_host: Option<&str>) -> Result<Option<String>, String> {
    let library = directory.join("libwakepath.so.1");
    let of_library = if library.is_file() {
        Some(host::glibc(&library)?)
    } else {
        None
    };
    let numbers = |version: &String| -> Vec<u32> {
        version
            .split('.')
            .filter_map(|part| part.parse().ok())
            .collect()
    };
    let both = of_library.into_iter().chain(of_host.map(Into::into));
    Ok(both.max_by_key(numbers))
}

//! The Python package: the build of its compiled half, and its files.
//!
//! It runs no test and packs nothing.

use crate::place;
use crate::tools::cargo;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiled half within the package: of Python's stable interface, for 3.9 and later.
pub const COMPILED: &str = "_native.abi3.so";

/// A cargo command for the compiled half, which is not a member of the workspace.
pub fn command(verb: &str) -> Command {
    let mut command = cargo(&[verb, "--locked", "--manifest-path", "python/Cargo.toml"]);
    // The build needs no Python, and links none.
    command
        .env("PYO3_BUILD_EXTENSION_MODULE", "1")
        .env("PYO3_NO_PYTHON", "1");
    command
}

/// The command that builds it quickly for this machine, and the path of the result.
pub fn quick_build() -> (Command, PathBuf) {
    let target = place::target().join("python");
    let mut build = command("build");
    build.arg("--target-dir").arg(&target);
    (build, target.join("debug/libwakepath_native.so"))
}

/// The files of the package, without the compiled half: name and place of each.
pub fn files() -> Result<Vec<(String, PathBuf)>, String> {
    let package = place::root().join("python/wakepath");
    let said = |error: std::io::Error| format!("{}: {error}", package.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(&package).map_err(said)? {
        let path = entry.map_err(said)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_source = [".py", ".pyi", ".typed"]
            .iter()
            .any(|end| name.ends_with(end));
        if is_source {
            found.push((format!("wakepath/{name}"), path.clone()));
        }
    }
    found.sort();
    Ok(found)
}

/// Lays the package out in a directory, for Python to find it there.
pub fn lay_out(compiled: &Path, directory: &Path) -> Result<(), String> {
    let package = directory.join("wakepath");
    let said = |error: std::io::Error| format!("{}: {error}", package.display());
    if package.exists() {
        fs::remove_dir_all(&package).map_err(said)?;
    }
    fs::create_dir_all(&package).map_err(said)?;
    for (name, from) in files()? {
        fs::copy(from, directory.join(name)).map_err(said)?;
    }
    fs::copy(compiled, package.join(COMPILED)).map_err(said)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_has_its_types_and_nothing_that_was_compiled() {
        let files = files().expect("the package is there");
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        for name in ["__init__.py", "_native.pyi", "py.typed"] {
            assert!(
                names.contains(&format!("wakepath/{name}").as_str()),
                "{names:?}"
            );
        }
        assert!(
            names
                .iter()
                .all(|name| !name.contains(".so") && !name.contains("pycache"))
        );
    }
}

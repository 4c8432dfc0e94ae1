//! Paths: the repository, cargo's target directory, the built program.

use std::path::{Path, PathBuf};

/// Root of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// Cargo's target directory.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(directory) => root().join(directory),
        None => root().join("target"),
    }
}

/// The target of a static build for this machine.
pub fn static_target() -> String {
    format!("{}-unknown-linux-musl", std::env::consts::ARCH)
}

/// The target for programs that only run on this machine.
pub fn host_target() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// The released program for `triple`.
pub fn program(triple: &str) -> PathBuf {
    target().join(triple).join("release").join("wakepath")
}

/// The search path with `first` before all else.
pub fn path_with(first: &Path) -> std::ffi::OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(first.to_path_buf()).chain(std::env::split_paths(&path));
    // Fails only for a directory with a colon in its name: then PATH stays unchanged.
    std::env::join_paths(all).unwrap_or(path)
}

/// A new directory of this process for `purpose` under the target directory.
pub fn scratch(purpose: &str) -> Result<PathBuf, String> {
    let directory = target()
        .join("scratch")
        .join(format!("{purpose}-{}", std::process::id()));
    let said = |error| format!("{}: {error}", directory.display());
    if directory.exists() {
        std::fs::remove_dir_all(&directory).map_err(said)?;
    }
    std::fs::create_dir_all(&directory).map_err(said)?;
    Ok(directory)
}

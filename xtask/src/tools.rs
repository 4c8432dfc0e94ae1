//! Which programs, targets and toolchains are there. It installs none.

use crate::place;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `cargo` in the repository's root, with plain output.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command
        .args(arguments)
        .current_dir(place::root())
        .env("CARGO_TERM_COLOR", "never")
        .env("CARGO_TERM_PROGRESS_WHEN", "never");
    command
}

/// `cargo` of the nightly toolchain. Rustup's choice for this process must not win over it.
pub fn nightly(arguments: &[&str]) -> Command {
    let mut command = cargo(&[]);
    command
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("RUSTC")
        .env_remove("RUSTDOC");
    command.arg("+nightly").args(arguments);
    command
}

/// Whether a command can be started and succeeds, its output thrown away.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether a program is on the path.
pub fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

/// Reason why a stage can't run, if one of these programs is missing.
pub fn missing_program(names: &[&str]) -> Option<String> {
    let missing: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !has_program(name))
        .collect();
    (!missing.is_empty()).then(|| format!("not installed: {}", missing.join(", ")))
}

/// Waits until `./test` has fetched what it fetches during the first stages. Does nothing if
/// `./test` didn't start this process.
pub fn wait_for_set_up() {
    let lock = std::fs::File::open(place::target().join("set-up.lock"));
    // Continues if the lock fails: the stage that needs a missing file reports it.
    let _ = lock.and_then(|lock| lock.lock_shared());
}

/// Reason why nothing can be built for a target, if its standard library is missing.
pub fn missing_target(triple: &str) -> Option<String> {
    // Its own is there before anything begins.
    if triple != place::static_target() {
        wait_for_set_up();
    }
    let asked = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", triple])
        .output();
    let there = asked.is_ok_and(|output| {
        let directory = String::from_utf8_lossy(&output.stdout);
        std::fs::read_dir(directory.trim()).is_ok_and(|mut entries| {
            entries.any(|entry| {
                entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
            })
        })
    });
    (!there).then(|| format!("no standard library for {triple} is available"))
}

/// The program that `cargo clippy` runs in place of rustc, if it exists.
pub fn clippy_driver() -> Option<PathBuf> {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = String::from_utf8(asked.ok()?.stdout).ok()?;
    let driver = Path::new(sysroot.trim()).join("bin/clippy-driver");
    driver.is_file().then_some(driver)
}

/// Directory of the linker that comes with Rust, for a C compiler's `-B`, if it exists.
pub fn rusts_linker() -> Option<PathBuf> {
    let asked = Command::new("rustc")
        .args(["--print", "target-libdir"])
        .output();
    let libraries = String::from_utf8(asked.ok()?.stdout).ok()?;
    let directory = Path::new(libraries.trim()).parent()?.join("bin/gcc-ld");
    directory.join("ld.lld").is_file().then_some(directory)
}

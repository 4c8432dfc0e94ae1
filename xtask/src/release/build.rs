//! The build of the program for one kind of machine, and its files in a release.

use super::{megabytes, succeed};
use crate::place;
use crate::tools::{cargo, rusts_linker};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The packages of the program and of those that it starts as its own verbs. They are built together, so that crates
/// that they share have the same features.
pub const PROGRAMS: [&str; 3] = [
    "wakepath",
    "wakepath-laboratory",
    "wakepath-ethercat-program",
];

/// How the program is built for one kind of machine.
pub struct Build {
    /// Rust's name of the target.
    pub triple: &'static str,
    pub(super) architecture: &'static str,
    /// The architecture in Debian's words, in RPM's and in those of Python's wheels.
    pub(super) debian: &'static str,
    pub(super) rpm: &'static str,
    pub(super) python: &'static str,
    /// Directory of this machine's libraries below a prefix, in Debian and in Fedora.
    pub(super) debian_libraries: &'static str,
    pub(super) rpm_libraries: &'static str,
    /// C compiler, for zstd; on 32-bit Arm the linker too.
    compiler: &'static str,
    /// Moves symbols and debugging information of a released program to a separate file.
    pub(super) objcopy: &'static str,
    emulator: &'static str,
}

impl Build {
    /// x86-64.
    pub const X86_64: Self = Self {
        triple: "x86_64-unknown-linux-musl",
        architecture: "x86_64",
        debian: "amd64",
        rpm: "x86_64",
        python: "x86_64",
        debian_libraries: "lib/x86_64-linux-gnu",
        rpm_libraries: "lib64",
        compiler: "musl-gcc",
        objcopy: "objcopy",
        emulator: "qemu-x86_64-static",
    };
    /// 64-bit Arm: Raspberry Pi, Jetson.
    pub const AARCH64: Self = Self {
        triple: "aarch64-unknown-linux-musl",
        architecture: "aarch64",
        debian: "arm64",
        rpm: "aarch64",
        python: "aarch64",
        debian_libraries: "lib/aarch64-linux-gnu",
        rpm_libraries: "lib64",
        compiler: "aarch64-linux-gnu-gcc",
        objcopy: "aarch64-linux-gnu-objcopy",
        emulator: "qemu-aarch64-static",
    };
    /// 32-bit Arm: BeagleBone. With glibc, because not every mirror has a standard library for
    /// armv7-unknown-linux-musleabihf.
    pub const ARMV7: Self = Self {
        triple: "armv7-unknown-linux-gnueabihf",
        architecture: "arm",
        debian: "armhf",
        rpm: "armv7hl",
        python: "armv7l",
        debian_libraries: "lib/arm-linux-gnueabihf",
        rpm_libraries: "lib",
        compiler: "arm-linux-gnueabihf-gcc",
        objcopy: "arm-linux-gnueabihf-objcopy",
        emulator: "qemu-arm-static",
    };
    pub(super) const ALL: [&Self; 3] = [&Self::X86_64, &Self::AARCH64, &Self::ARMV7];

    /// The one that runs on this machine.
    pub fn of_this_machine() -> &'static Self {
        match std::env::consts::ARCH {
            "aarch64" => &Self::AARCH64,
            _ => &Self::X86_64,
        }
    }

    /// Programs that the build needs, as names on the path.
    pub fn programs(&self) -> &[&str] {
        std::slice::from_ref(&self.compiler)
    }

    /// The command that builds it: optimised as a whole, 1.1 MB less for half as long again, which a board's program is
    /// worth and a first `./check` is not.
    pub fn command(&self) -> Command {
        let mut command = cargo(&["build", "--locked", "--release"]);
        command.args(PROGRAMS.iter().flat_map(|name| ["--package", name]));
        command.args(["--target", self.triple, "--config", "xtask/released.toml"]);
        command.args(["--config", "profile.release.lto=\"fat\""]);
        command
    }

    /// A quick build, to check that it links and starts, not for release.
    pub fn quick_command(&self) -> Command {
        let mut command = cargo(&["build", "--locked"]);
        command.args(PROGRAMS.iter().flat_map(|name| ["--package", name]));
        command.args(["--target", self.triple, "--config", "xtask/linked.toml"]);
        // Unoptimised, the code is larger than a Thumb branch reaches, and GNU ld 2.40 then calls glibc's
        // resolvers in the wrong instruction set. The linker that Rust brings does not.
        if self.triple.starts_with("armv7") {
            match rusts_linker() {
                Some(linker) => command.env(
                    "CARGO_TARGET_ARMV7_UNKNOWN_LINUX_GNUEABIHF_RUSTFLAGS",
                    format!("-Clink-arg=-B{} -Clink-arg=-fuse-ld=lld", linker.display()),
                ),
                None => command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "1"),
            };
        }
        command
    }

    /// Path of the release build.
    pub fn program(&self) -> PathBuf {
        place::program(self.triple)
    }

    /// Path of the quick build.
    pub fn quick_program(&self) -> PathBuf {
        place::target().join(self.triple).join("debug/wakepath")
    }

    /// Puts a built program into `directory` without its debugging information, and that in a
    /// second file that debuggers find by the program's build ID. Returns the program's size.
    pub(super) fn split(&self, built: &Path, directory: &Path, name: &str) -> Result<u64, String> {
        let (program, lines) = (
            directory.join(name),
            directory.join(format!("{name}.debug")),
        );
        let objcopy = || {
            let mut command = Command::new(self.objcopy);
            command.current_dir(directory);
            command
        };
        succeed(
            objcopy()
                .args(["--only-keep-debug", "--compress-debug-sections"])
                .args([built, &lines]),
        )?;
        succeed(
            objcopy()
                .arg("--strip-all")
                .arg(format!("--add-gnu-debuglink={name}.debug"))
                .args([built, &program]),
        )?;
        let size = fs::metadata(&program).map(|of| of.len());
        size.map_err(|error| format!("{}: {error}", program.display()))
    }

    /// Puts an existing build in the place where [`Self::split`] puts one.
    pub(super) fn program_of(&self, program: &Path, directory: &Path) -> Result<String, String> {
        let program =
            fs::canonicalize(program).map_err(|error| format!("{}: {error}", program.display()))?;
        is_static(&program)?;
        let name = format!("wakepath-{}", self.triple);
        let size = self.split(&program, directory, &name)?;
        Ok(format!("{name}, {}, as given", megabytes(size)))
    }

    /// The emulator that it needs on this machine.
    pub fn emulator(&self) -> Option<&'static str> {
        (self.architecture != std::env::consts::ARCH).then_some(self.emulator)
    }
}

/// Whether a program needs neither an interpreter nor a library, from its ELF headers.
pub fn is_static(program: &Path) -> Result<(), String> {
    let output = Command::new("readelf")
        .args(["--program-headers", "--dynamic", "--wide"])
        .arg(program)
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| format!("readelf: {error}"))?;
    let headers = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !headers.contains("LOAD") {
        return Err(format!("readelf can't read {}", program.display()));
    }
    for line in headers.lines() {
        if line.trim_start().starts_with("INTERP") || line.contains("(NEEDED)") {
            return Err(format!(
                "{} is not static: {}",
                program.display(),
                line.trim()
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_an_interpreter_is_not_called_static() {
        let this_test = std::env::current_exe().expect("the running test has a path");
        // Built for the host, which links glibc dynamically.
        assert!(is_static(&this_test).unwrap_err().contains("not static"));
        assert!(
            is_static(Path::new("/etc/passwd"))
                .unwrap_err()
                .contains("can't read")
        );
    }
}

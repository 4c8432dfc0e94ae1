//! `wakepath-controller-host` for release.
//!
//! The only program linked dynamically, with glibc, since a static one can't load a controller's
//! library. The header for controllers comes with it.

use super::{Build, megabytes, succeed, with_lines};
use crate::place;
use crate::tools::{cargo, missing_program, missing_target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Path of the header in the repository, and its name in the release.
const HEADER: &str = "crates/measured-loop/include/wakepath_controller.h";

/// How the host is built for the machines of one static build.
pub(super) struct Host {
    pub(super) triple: &'static str,
    of: &'static Build,
    /// C compiler, for zstd; the linker too.
    pub(super) compiler: &'static str,
}

const ALL: [Host; 3] = [
    Host {
        triple: "x86_64-unknown-linux-gnu",
        of: &Build::X86_64,
        compiler: "gcc",
    },
    Host {
        triple: "aarch64-unknown-linux-gnu",
        of: &Build::AARCH64,
        compiler: "aarch64-linux-gnu-gcc",
    },
    Host {
        triple: "armv7-unknown-linux-gnueabihf",
        of: &Build::ARMV7,
        compiler: "arm-linux-gnueabihf-gcc",
    },
];

/// The build with glibc for the machines of a static build.
pub(super) fn of(build: &Build) -> Option<&'static Host> {
    ALL.iter().find(|host| host.of.triple == build.triple)
}

/// Path of the header.
pub(super) fn header() -> PathBuf {
    place::root().join(HEADER)
}

/// The host among the artefacts for the machines of a build, with the glibc that it needs.
pub(super) fn beside(build: &Build, directory: &Path) -> Result<Option<(PathBuf, String)>, String> {
    let Some(host) = of(build) else {
        return Ok(None);
    };
    let program = directory.join(host.name());
    if program.is_file() {
        glibc(&program).map(|needed| Some((program, needed)))
    } else {
        Ok(None)
    }
}

/// Adds an existing build of the host to the artefacts; returns its row.
pub(super) fn given(
    build: &'static Build,
    program: &Path,
    directory: &Path,
) -> Result<Vec<String>, String> {
    let program =
        fs::canonicalize(program).map_err(|error| format!("{}: {error}", program.display()))?;
    let host = of(build).ok_or_else(|| format!("no controller host for {}", build.triple))?;
    let size = build.split(&program, directory, &host.name())?;
    let row = format!("{}, {}, as given", host.name(), megabytes(size));
    Ok(vec![format!("controller host, {}", host.triple), row])
}

/// Builds the controller hosts that can be built here for `builds`, and copies the header; one row
/// for each.
pub(super) fn artefacts(builds: &[&Build], directory: &Path) -> Result<Vec<Vec<String>>, String> {
    let beside_them = directory.join("wakepath_controller.h");
    fs::copy(header(), &beside_them)
        .map_err(|error| format!("{}: {error}", beside_them.display()))?;
    let mut rows = Vec::new();
    let beside = |host: &&Host| builds.iter().any(|build| build.triple == host.of.triple);
    for host in ALL.iter().filter(beside) {
        let row = match host.missing() {
            Some(why) => format!("NOT BUILT: {why}"),
            None => host.artefact(directory)?,
        };
        rows.push(vec![format!("controller host, {}", host.triple), row]);
    }
    Ok(rows)
}

impl Host {
    /// Its name among the artefacts.
    fn name(&self) -> String {
        format!("wakepath-controller-host-{}", self.triple)
    }

    /// Why nothing can be built for it here, if so.
    pub(super) fn missing(&self) -> Option<String> {
        missing_target(self.triple).or_else(|| missing_program(&[self.compiler]))
    }

    /// The release build's command for a package, and the directory of its output.
    pub(super) fn cargo(&self, verb: &str, package: &str) -> (Command, PathBuf) {
        // Apart from the static builds: on 32-bit Arm they share the target and not its flags.
        let target = place::target().join("controller-host");
        let mut build = cargo(&[verb, "--locked", "--release", "--package", package]);
        build.args(["--target", self.triple]);
        build.arg("--target-dir").arg(&target);
        self.linked(&mut build);
        (build, target.join(self.triple))
    }

    /// Makes a cargo command link with this machine's glibc and compile C code for it.
    pub(super) fn linked<'a>(&self, build: &'a mut Command) -> &'a mut Command {
        let of_target = self.triple.to_uppercase().replace('-', "_");
        // Not the target's own variable, which cargo adds to the flags of .cargo/config.toml: on
        // 32-bit Arm those request static linking, which would remain.
        build.env("RUSTFLAGS", "-C target-feature=-crt-static");
        build.env(format!("CARGO_TARGET_{of_target}_LINKER"), self.compiler);
        build.env(
            format!("CC_{}", self.triple.replace('-', "_")),
            self.compiler,
        );
        build
    }

    fn artefact(&self, directory: &Path) -> Result<String, String> {
        let (mut build, target) = self.cargo("build", "wakepath-controller-host");
        succeed(with_lines(&mut build))?;
        let program = target.join("release/wakepath-controller-host");
        let needed = glibc(&program)?;
        let name = self.name();
        let size = self.of.split(&program, directory, &name)?;
        Ok(format!(
            "{name}, {}, needs glibc {needed} or newer",
            megabytes(size)
        ))
    }
}

/// The newest version of glibc that a program needs.
pub(super) fn glibc(program: &Path) -> Result<String, String> {
    let output = Command::new("readelf")
        .args(["--version-info", "--wide"])
        .arg(program)
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| format!("readelf: {error}"))?;
    newest(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| format!("{} is not linked with glibc", program.display()))
}

fn newest(said: &str) -> Option<String> {
    let versions = said.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit());
        let numbers = rest[..end.unwrap_or(rest.len())].split('.');
        numbers
            .map(|number| number.parse().ok())
            .collect::<Option<Vec<u32>>>()
    });
    let newest = versions.max()?;
    Some(
        newest
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join("."),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_is_found_by_number_and_not_by_letter() {
        let said = "  0x00c0:   Name: GLIBC_2.9  Flags: none\n Name: GLIBC_2.34  Flags: none\n \
                    Name: GLIBC_2.2.5  Flags\n Name: GLIBC_PRIVATE\n";
        assert_eq!(newest(said).as_deref(), Some("2.34"));
        assert_eq!(newest("no version information"), None);
    }

    #[test]
    fn the_header_is_where_it_is_taken_from() {
        assert!(place::root().join(HEADER).is_file());
    }
}

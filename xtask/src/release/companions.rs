//! Programs that wakepath starts, static as it is: `wakepath-lab` with `wakepath-experiment`, and `wakepath-ethercat`.
//!
//! They have their own archives, because most boards don't need them.

use super::archive::{documented, packed, row};
use super::tree::{Compression, empty, put};
use super::version::Version;
use super::{Build, is_static, licences, started, succeed, with_lines};
use crate::tools::{missing_program, missing_target};
use std::fs;
use std::path::Path;

/// An archive of companion programs.
struct Companions {
    /// Its name.
    name: &'static str,
    programs: &'static [&'static str],
    /// Its pages of the documentation.
    pages: &'static [&'static str],
    /// Whether its programs write man pages.
    has_manual: bool,
}

const LAB: Companions = Companions {
    name: "wakepath-lab",
    programs: &["wakepath-lab", "wakepath-experiment"],
    pages: &["docs/advanced/lab.md", "docs/advanced/experiments.md"],
    has_manual: true,
};

const ETHERCAT: Companions = Companions {
    name: "wakepath-ethercat",
    programs: &["wakepath-ethercat"],
    pages: &["docs/guide/ethercat.md"],
    has_manual: false,
};

/// Builds and packs the laboratory for `builds`; one row for each.
pub(super) fn lab(
    builds: &[&'static Build],
    version: &Version,
    compression: Compression,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<Vec<String>>, String> {
    let archive = |build| LAB.archive(build, version, compression, directory, scratch);
    builds.iter().copied().map(archive).collect()
}

/// Builds and packs the program with an EtherCAT master for `builds`; one row for each.
pub(super) fn ethercat(
    builds: &[&'static Build],
    version: &Version,
    compression: Compression,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<Vec<String>>, String> {
    let archive = |build| ETHERCAT.archive(build, version, compression, directory, scratch);
    builds.iter().copied().map(archive).collect()
}

impl Companions {
    fn archive(
        &self,
        build: &Build,
        version: &Version,
        compression: Compression,
        directory: &Path,
        scratch: &Path,
    ) -> Result<Vec<String>, String> {
        let triple = build.triple;
        let of = format!("{}, {triple}", self.name);
        let missing = missing_target(triple).or_else(|| missing_program(build.programs()));
        if let Some(why) = missing {
            return Ok(vec![of, format!("NOT BUILT: {why}")]);
        }
        // The same build as the boards' program's.
        succeed(with_lines(&mut build.command()))?;
        let name = format!("{}-{}-{triple}", self.name, version.cargo());
        let tree = empty(scratch, &name)?;
        for program in self.programs {
            let built = build.program().with_file_name(program);
            is_static(&built)?;
            build.split(&built, scratch, program)?;
            put(
                &scratch.join(program),
                &tree.join("bin").join(program),
                0o755,
            )?;
        }
        let documents = documented(&tree, self.name, self.pages)?;
        licences::write_for(triple, &documents.join("LICENCES-OF-OTHERS"))?;
        // Without an emulator their man pages are left out.
        let runs_here = |emulator: &str| missing_program(&[emulator]).is_none();
        if self.has_manual && build.emulator().is_none_or(runs_here) {
            let man = tree.join("share/man/man1");
            fs::create_dir_all(&man).map_err(|error| format!("{}: {error}", man.display()))?;
            for program in self.programs {
                succeed(started(build, &scratch.join(program)).arg("man").arg(&man))?;
            }
        }
        let archive = directory.join(format!("{name}.tar.gz"));
        packed(scratch, &name, &archive, compression)?;
        row(&of, &archive)
    }
}

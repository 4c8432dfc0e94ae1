//! The package for Debian and its derivatives, made by dpkg-deb.
//!
//! Its files belong to root and have no capabilities; the included `wakepath-rights` grants them on
//! request.

use super::archive::row;
use super::template::{description, filled, of_workspace, write};
use super::tree::{Compression, Manner, Parts, empty, epoch, files, put};
use super::version::Version;
use super::{library, succeed};
use crate::place;
use crate::tools::missing_program;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Makes it and returns its row.
pub(super) fn make(
    parts: &Parts,
    version: &Version,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<String>, String> {
    let build = parts.build;
    if let Some(why) = missing_program(&["dpkg-deb", "md5sum"]) {
        return Ok(vec![build.triple.into(), format!("NO .deb: {why}")]);
    }
    let tree = empty(scratch, &format!("deb-{}", build.triple))?;
    parts.lay_out(&tree.join("usr"), Manner::Debian)?;
    compress(&tree)?;
    let of_host = parts.host.as_ref().map(|(_, needed)| needed.as_str());
    let libraries = tree.join("usr").join(parts.libraries(Manner::Debian));
    let glibc = library::glibc(&libraries, of_host)?;
    let glibc = glibc.map_or(String::new(), |needed| format!(", libc6 (>= {needed})"));
    let control = filled(
        "deb/control",
        &[
            ("VERSION", &version.distribution()),
            ("ARCHITECTURE", build.debian),
            ("REPOSITORY", &of_workspace("repository")?),
            ("DESCRIPTION", &description()?),
            ("KIBIBYTES", &kibibytes(&tree)?.to_string()),
            ("GLIBC", &glibc),
        ],
    )?;
    // For `dpkg --verify`.
    let sums = "find usr -type f | LC_ALL=C sort | xargs -d '\\n' md5sum > DEBIAN/md5sums";
    write(&tree.join("DEBIAN/control"), &control)?;
    succeed(Command::new("sh").args(["-ec", sums]).current_dir(&tree))?;
    // Updates the linker's list of libraries.
    write(&tree.join("DEBIAN/triggers"), "activate-noawait ldconfig\n")?;
    for script in ["postinst", "prerm"] {
        let from = place::root().join("packaging/deb").join(script);
        put(&from, &tree.join("DEBIAN").join(script), 0o755)?;
    }
    let name = format!("wakepath_{}_{}.deb", version.distribution(), build.debian);
    let package = directory.join(name);
    succeed(
        Command::new("dpkg-deb")
            .arg("--root-owner-group")
            .args(match parts.compression {
                Compression::Best => ["-Zxz", "-z6"],
                Compression::Quick => ["-Zgzip", "-z1"],
            })
            .arg("--build")
            .args([&tree, &package])
            .env("SOURCE_DATE_EPOCH", epoch())
            .stdout(std::process::Stdio::null()),
    )?;
    row(build.triple, &package)
}

/// Debian's man pages and changelogs are compressed; its licences have one name.
fn compress(tree: &Path) -> Result<(), String> {
    let command = "gzip -9 --no-name usr/share/man/man1/*.1 usr/share/doc/wakepath/CHANGELOG.md && \
                   mv usr/share/doc/wakepath/CHANGELOG.md.gz usr/share/doc/wakepath/changelog.gz && \
                   cat usr/share/doc/wakepath/LICEN* > usr/share/doc/wakepath/copyright && \
                   rm usr/share/doc/wakepath/LICEN* && chmod -R go-w .";
    succeed(Command::new("sh").args(["-ec", command]).current_dir(tree))
}

/// The package's installed size, by Debian's rule.
fn kibibytes(tree: &Path) -> Result<u64, String> {
    files(tree)?.iter().try_fold(0, |sum, file| {
        let path = tree.join(file);
        let size = fs::metadata(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(sum + size.len().div_ceil(1024))
    })
}

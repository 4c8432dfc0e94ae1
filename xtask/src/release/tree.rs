//! Layout of installed files below a prefix.
//!
//! One list for archives and packages, so that a file has the same path however it was installed.

use super::{Build, host, library, succeed};
use crate::place;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Parts of all packages for one kind of machine.
pub(super) struct Parts {
    /// How it was built.
    pub(super) build: &'static Build,
    /// The static program.
    pub(super) program: PathBuf,
    /// The controller host, if it could be built, with the glibc that it needs.
    pub(super) host: Option<(PathBuf, String)>,
    /// The built library for C, if it could be built.
    pub(super) library: Option<PathBuf>,
    /// The compiled half of the Python package, if it could be built.
    pub(super) module: Option<PathBuf>,
    /// The version that is packed.
    pub(super) version: String,
    /// Completions, and man pages in `man/`.
    pub(super) documents: PathBuf,
    /// Licences of the code in the program.
    pub(super) licences: PathBuf,
    /// How well the packages are compressed.
    pub(super) compression: Compression,
}

/// How much work compression is worth.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    /// For publication.
    Best,
    /// For a test.
    Quick,
}

/// Whose places for files it is laid out in: distributions differ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Debian's packages.
    Debian,
    /// Fedora's.
    Fedora,
    /// A prefix of anybody's.
    Plain,
}

impl Parts {
    /// Library directory below a prefix.
    pub(super) fn libraries(&self, manner: Manner) -> &'static str {
        match manner {
            Manner::Debian => self.build.debian_libraries,
            Manner::Fedora => self.build.rpm_libraries,
            Manner::Plain => "lib",
        }
    }

    /// Lays everything out below `prefix`.
    pub(super) fn lay_out(&self, prefix: &Path, manner: Manner) -> Result<(), String> {
        let zsh = match manner {
            Manner::Debian => "share/zsh/vendor-completions/_wakepath",
            Manner::Fedora | Manner::Plain => "share/zsh/site-functions/_wakepath",
        };
        library::lay_out(self, prefix, self.libraries(manner))?;
        let root = place::root();
        put(&self.program, &prefix.join("bin/wakepath"), 0o755)?;
        put(
            &root.join("packaging/wakepath-rights"),
            &prefix.join("bin/wakepath-rights"),
            0o755,
        )?;
        if let Some((host, _)) = &self.host {
            put(host, &prefix.join("bin/wakepath-controller-host"), 0o755)?;
        }
        let mut files = vec![
            (host::header(), "include/wakepath_controller.h"),
            (
                self.documents.join("wakepath.bash"),
                "share/bash-completion/completions/wakepath",
            ),
            (self.documents.join("wakepath.zsh"), zsh),
            (
                self.documents.join("wakepath.fish"),
                "share/fish/vendor_completions.d/wakepath.fish",
            ),
            (
                self.licences.clone(),
                "share/doc/wakepath/LICENCES-OF-OTHERS",
            ),
        ];
        for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            files.push((root.join(name), ""));
        }
        for (from, to) in &files {
            let to = match (*to, from.file_name()) {
                ("", Some(name)) => prefix.join("share/doc/wakepath").join(name),
                (to, _) => prefix.join(to),
            };
            put(from, &to, 0o644)?;
        }
        let man = self.documents.join("man");
        let said = |error: std::io::Error| format!("{}: {error}", man.display());
        for page in fs::read_dir(&man).map_err(said)? {
            let page = page.map_err(said)?;
            let to = prefix.join("share/man/man1").join(page.file_name());
            put(&page.path(), &to, 0o644)?;
        }
        Ok(())
    }
}

/// Copies a file to a place whose directories it makes.
pub(super) fn put(from: &Path, to: &Path, mode: u32) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{} to {}: {error}", from.display(), to.display());
    for directory in to.parent().into_iter().flat_map(Path::ancestors) {
        if directory.exists() {
            break;
        }
        fs::create_dir_all(directory).map_err(said)?;
    }
    fs::copy(from, to).map_err(said)?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).map_err(said)
}

/// Files and links below a directory, as paths from there, sorted.
pub(super) fn files(directory: &Path) -> Result<Vec<String>, String> {
    let said = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut found = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(&at).map_err(said)? {
            let entry = entry.map_err(said)?;
            if entry.file_type().map_err(said)?.is_dir() {
                left.push(entry.path())
            } else {
                found.push(
                    entry
                        .path()
                        .strip_prefix(directory)
                        .unwrap_or(&entry.path())
                        .to_string_lossy()
                        .into_owned(),
                )
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Modification time of every file in a release, in seconds since 1970: the commit's, so that the
/// same commit produces the same bytes.
pub(super) fn epoch() -> String {
    if let Ok(epoch) = std::env::var("SOURCE_DATE_EPOCH") {
        return epoch;
    }
    let output = Command::new("git")
        .args(["log", "-1", "--format=%ct"])
        .current_dir(place::root())
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.ok()
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| "0".into())
}

/// An empty directory of that name in another.
pub(super) fn empty(within: &Path, name: &str) -> Result<PathBuf, String> {
    let directory = within.join(name);
    let said = |error| format!("{}: {error}", directory.display());
    if directory.exists() {
        fs::remove_dir_all(&directory).map_err(said)?;
    }
    fs::create_dir_all(&directory).map_err(said)?;
    // Whatever this process's mask is: the packages' directories are open to all.
    succeed(Command::new("chmod").arg("0755").arg(&directory))?;
    Ok(directory)
}

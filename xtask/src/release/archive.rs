//! The archive for one kind of machine: `wakepath-VERSION-TRIPLE.tar.gz`.
//!
//! It has one directory whose contents belong under a prefix such as /usr/local. The same tree
//! gives the same bytes.

use super::tree::{Compression, Manner, Parts, empty, epoch, put};
use super::version::Version;
use super::{megabytes, succeed};
use crate::place;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes it and returns its row.
pub(super) fn make(
    parts: &Parts,
    version: &Version,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<String>, String> {
    let name = format!("wakepath-{}-{}", version.cargo(), parts.build.triple);
    let tree = empty(scratch, &name)?;
    parts.lay_out(&tree, Manner::Plain)?;
    let archive = directory.join(format!("{name}.tar.gz"));
    packed(scratch, &name, &archive, parts.compression)?;
    row(parts.build.triple, &archive)
}

/// Puts the project's licences and pages of its documentation into the tree of a program's own archive. Returns
/// their directory.
pub(super) fn documented(tree: &Path, name: &str, pages: &[&str]) -> Result<PathBuf, String> {
    let root = place::root();
    let documents = tree.join("share/doc").join(name);
    for file in ["LICENSE-MIT", "LICENSE-APACHE"].iter().chain(pages) {
        let file = root.join(file);
        let to = documents.join(file.file_name().unwrap_or_default());
        put(&file, &to, 0o644)?;
    }
    Ok(documents)
}

/// Packs the directory of that name in `scratch`.
pub(super) fn packed(
    scratch: &Path,
    name: &str,
    archive: &Path,
    compression: Compression,
) -> Result<(), String> {
    let command = "tar --create --format=gnu --sort=name --owner=0 --group=0 --numeric-owner \
                   --mode=u+rw,go+r-w --mtime=@\"$1\" --directory=\"$2\" \"$3\" > \"$4.tar\" && \
                   gzip \"$5\" --no-name < \"$4.tar\" > \"$4\" && rm \"$4.tar\"";
    succeed(
        Command::new("sh")
            .args(["-ec", command, "sh", &epoch()])
            .args([scratch, Path::new(name), archive])
            .arg(match compression {
                Compression::Best => "-9",
                Compression::Quick => "-1",
            }),
    )
}

/// The row of a file for a kind of machine.
pub(super) fn row(of: &str, file: &Path) -> Result<Vec<String>, String> {
    let size = std::fs::metadata(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    Ok(vec![
        of.to_owned(),
        format!("{name}, {}", megabytes(size.len())),
    ])
}

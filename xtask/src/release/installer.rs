//! `install.sh` of this release: the script in `packaging/` with the version and the check sums of the
//! archives inside, so that it needs to trust nothing that it downloads.

use super::succeed;
use super::template::{filled, of_workspace, write};
use super::tree::files;
use super::version::Version;
use std::path::Path;
use std::process::Command;

/// Makes it for the archives in `directory`; returns its row.
pub(super) fn make(version: &Version, directory: &Path) -> Result<Vec<String>, String> {
    let mut archives = files(directory)?;
    archives.retain(|name| name.ends_with(".tar.gz"));
    let output = Command::new("sha256sum")
        .args(&archives)
        .current_dir(directory)
        .output()
        .map_err(|error| format!("sha256sum: {error}"))?;
    let sums = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || sums.lines().count() != archives.len() {
        return Err(format!("sha256sum: {}", output.status));
    }
    let script = filled(
        "install.sh",
        &[
            ("VERSION", version.cargo()),
            ("REPOSITORY", &of_workspace("repository")?),
            ("CHECK_SUMS", sums.trim_end()),
        ],
    )?;
    let file = directory.join("install.sh");
    write(&file, &script)?;
    succeed(Command::new("chmod").arg("0755").arg(&file))?;
    let what = format!("install.sh, for {} archives", archives.len());
    Ok(vec!["installer".into(), what])
}

//! The package for Fedora, SUSE and their derivatives, made by rpmbuild from `packaging/rpm`.
//!
//! Like Debian's it grants nothing when installed.

use super::archive::row;
use super::succeed;
use super::template::{description, filled, of_workspace, write};
use super::tree::{Compression, Manner, Parts, empty, epoch, files};
use super::version::Version;
use crate::tools::missing_program;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// Counts packagings of one version.
const RELEASE: &str = "1";

/// Makes it and returns its row.
pub(super) fn make(
    parts: &Parts,
    version: &Version,
    directory: &Path,
    scratch: &Path,
) -> Result<Vec<String>, String> {
    let build = parts.build;
    if let Some(why) = missing_program(&["rpmbuild"]) {
        return Ok(vec![build.triple.into(), format!("NO .rpm: {why}")]);
    }
    let work = empty(scratch, &format!("rpm-{}", build.triple))?;
    let tree = empty(&work, "tree")?;
    parts.lay_out(&tree.join("usr"), Manner::Fedora)?;
    let files = files(&tree)?;
    let mut list: Vec<String> = files.iter().map(|file| listed(file)).collect();
    list.extend(owned(&files).iter().map(|path| format!("%dir /{path}")));
    let spec = filled(
        "rpm/wakepath.spec",
        &[
            ("VERSION", &version.distribution()),
            ("RELEASE", RELEASE),
            ("DESCRIPTION", &description()?),
            ("REPOSITORY", &of_workspace("repository")?),
            ("TREE", &tree.to_string_lossy()),
            (
                "PAYLOAD",
                match parts.compression {
                    Compression::Best => "w9.gzdio",
                    Compression::Quick => "w1.gzdio",
                },
            ),
            ("FILES", &list.join("\n")),
        ],
    )?;
    let spec_file = work.join("wakepath.spec");
    write(&spec_file, &spec)?;
    let mut command = Command::new("rpmbuild");
    command.args(["-bb", "--quiet", "--target", build.rpm]);
    command.arg(format!("--define=_topdir {}", work.display()));
    command.arg(format!("--define=_rpmdir {}", directory.display()));
    command.arg("--define=_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm");
    command.env("SOURCE_DATE_EPOCH", epoch());
    succeed(command.arg(&spec_file).stdout(Stdio::null()))?;
    let version = version.distribution();
    let name = format!("wakepath-{version}-{RELEASE}.{}.rpm", build.rpm);
    row(build.triple, &directory.join(name))
}

/// Directories that the package owns because no other package does: a shell that isn't installed
/// has no directory for its completions.
fn owned(files: &[String]) -> BTreeSet<String> {
    const OF_THE_SYSTEM: [&str; 9] = [
        "usr/bin",
        "usr/include",
        "usr/lib",
        "usr/lib64",
        "usr/share",
        "usr/share/doc",
        "usr/share/man",
        "usr/share/man/man1",
        "usr",
    ];
    let above = |file: &String| {
        let above: Vec<String> = Path::new(file)
            .ancestors()
            .skip(1)
            .map(|path| path.to_string_lossy().into_owned())
            .collect();
        above
    };
    let mut found: BTreeSet<String> = files.iter().flat_map(above).collect();
    found.retain(|path| !path.is_empty() && !OF_THE_SYSTEM.contains(&path.as_str()));
    found
}

/// A line of `%files`. `wakepath-rights` changes owner and mode of programs, which `rpm --verify` is not to
/// call damage; their contents it still compares.
fn listed(file: &str) -> String {
    match file {
        "usr/bin/wakepath" | "usr/bin/wakepath-controller-host" => {
            format!("%verify(not mode group caps) %attr(0755,root,root) /{file}")
        }
        file if file.starts_with("usr/bin/") => format!("%attr(0755,root,root) /{file}"),
        file if file.starts_with("usr/share/doc/") => format!("%doc %attr(0644,root,root) /{file}"),
        file => format!("%attr(0644,root,root) /{file}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_that_no_other_package_must_have_are_owned() {
        let files = ["usr/bin/wakepath", "usr/share/zsh/site-functions/_wakepath"];
        let owned = owned(&files.map(Into::into));
        assert_eq!(
            owned.into_iter().collect::<Vec<_>>(),
            ["usr/share/zsh", "usr/share/zsh/site-functions"]
        );
    }
}

//! Programs for guests of another architecture than the host's.
//!
//! They come from Debian's packages with all dependencies, fetched and unpacked, never installed.
//! Their loader can't run here, so the needed libraries are read from their files.

use crate::apt::Client;
use crate::architecture::Architecture;
use crate::cache::Cache;
use crate::fault::ProgramFault;
use crate::{LabError, Result, elf, packages, programs};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use wakepath_guest::cpio::Entry;

/// Program directories of Debian's packages.
const PROGRAMS: [&str; 4] = ["usr/bin", "usr/sbin", "bin", "sbin"];
/// Their library directories, in the order of the loader; an architecture's own are one level
/// below.
const LIBRARIES: [&str; 2] = ["lib", "usr/lib"];

/// A directory with `package` and all its dependencies, laid out as if installed.
///
/// # Errors
/// If a package isn't available.
pub fn fetch(package: &str, architecture: Architecture, cache: &Cache) -> Result<PathBuf> {
    let client = Client::for_architecture(architecture.of_debian(), "", cache)?;
    packages::with_dependencies(package, &client, cache)
}

/// Adds `program` from such a directory, with its loader and libraries at their own paths.
pub(crate) fn add(
    files: &mut BTreeMap<String, Entry>,
    root: &Path,
    program: &str,
    architecture: Architecture,
) -> Result<()> {
    let at = |place: String| {
        let path = inside(root, &place)?;
        path.is_file().then_some((place, path))
    };
    let own = PROGRAMS.map(|place| format!("{place}/{program}"));
    let found = own.into_iter().find_map(at);
    let mut wanted = vec![found.ok_or_else(|| LabError::Program {
        path: root.join(program),
        why: ProgramFault::NotInPackage,
    })?];
    while let Some((place, path)) = wanted.pop() {
        if files.contains_key(&place) {
            continue;
        }
        let bytes = fs::read(&path).map_err(|e| LabError::io("read", &path, e))?;
        let wrong = |why| LabError::Program {
            path: path.clone(),
            why,
        };
        let head = elf::read(&bytes).map_err(|why| wrong(why.into()))?;
        for name in &head.needed {
            let below = LIBRARIES.iter().flat_map(|place| {
                let own = architecture.libraries();
                [format!("{place}/{own}/{name}"), format!("{place}/{name}")]
            });
            let library = { below }.find_map(at);
            wanted.push(library.ok_or_else(|| {
                let name = name.clone();
                wrong(ProgramFault::LibraryMissing { name })
            })?);
        }
        if let Some(interpreter) = &head.interpreter {
            let place = interpreter.trim_start_matches('/').to_owned();
            let loader = at(place).ok_or_else(|| {
                let name = interpreter.clone();
                wrong(ProgramFault::LoaderMissing { name })
            })?;
            wanted.push(loader);
        }
        let entry = programs::entry(&place, bytes, &head);
        files.insert(place, entry);
    }
    Ok(())
}

/// The file with that name below `root`, with links followed as if `root` were the root directory;
/// none leads out of it.
fn inside(root: &Path, place: &str) -> Option<PathBuf> {
    let mut left: Vec<String> = place.split('/').rev().map(str::to_owned).collect();
    let mut path = PathBuf::new();
    // More links than any loader follows (path_resolution(7)): a circle.
    let mut links = 0;
    while let Some(part) = left.pop() {
        match part.as_str() {
            "" | "." => continue,
            ".." => {
                path.pop();
                continue;
            }
            _ => path.push(part),
        }
        if let Ok(target) = fs::read_link(root.join(&path)) {
            links += 1;
            if links > 40 {
                return None;
            }
            if target.is_absolute() {
                path = PathBuf::new()
            } else {
                path.pop();
            }
            let target = target.to_str()?.to_owned();
            left.extend(target.split('/').rev().map(str::to_owned));
        }
    }
    Some(root.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_as_in_the_guest_and_never_lead_out() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir_all(root.join("usr/lib/a")).unwrap();
        fs::write(root.join("usr/lib/a/real"), "x").unwrap();
        symlink("usr/lib", root.join("lib")).unwrap();
        symlink("/lib/a/real", root.join("usr/lib/a/absolute")).unwrap();
        symlink(
            "../../../../../usr/lib/a/real",
            root.join("usr/lib/a/above"),
        )
        .unwrap();
        symlink("circle", root.join("circle")).unwrap();
        let real = Some(root.join("usr/lib/a/real"));
        for place in [
            "lib/a/real",
            "lib/a/absolute",
            "lib/a/above",
            "/lib/./a/real",
        ] {
            assert_eq!(inside(root, place), real, "{place}");
        }
        assert_eq!(inside(root, "circle"), None);
        assert_eq!(
            inside(root, "../../etc/passwd"),
            Some(root.join("etc/passwd"))
        );
    }

    #[test]
    fn a_program_comes_with_what_its_file_asks_for_and_what_is_missing_is_named() {
        let Some(architecture) = Architecture::of_this_program() else {
            return;
        };
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        let head = elf::read(&own).unwrap();
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir_all(root.join("usr/bin")).unwrap();
        fs::write(root.join("usr/bin/own"), &own).unwrap();
        let mut files = BTreeMap::new();
        let first = add(&mut files, root, "own", architecture);
        if let Some(name) = head.needed.first() {
            let said = first.unwrap_err().to_string();
            assert!(
                said.contains(&format!("its library {name} is missing")),
                "{said}"
            );
        }
        let place = format!("lib/{}", architecture.libraries());
        fs::create_dir_all(root.join(&place)).unwrap();
        // Any program without libraries will do.
        let mut plain = vec![0; 64];
        plain.copy_from_slice(&own[..64]);
        plain[0x1c..0x20].fill(0);
        plain[0x20..0x28].fill(0);
        plain[0x2a..0x2e].fill(0);
        plain[0x38..0x3a].fill(0);
        for name in &head.needed {
            fs::write(root.join(&place).join(name), &plain).unwrap();
        }
        if let Some(interpreter) = &head.interpreter {
            let path = root.join(interpreter.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &plain).unwrap();
        }
        let mut files = BTreeMap::new();
        add(&mut files, root, "own", architecture).unwrap();
        assert!(files.contains_key("usr/bin/own"));
        for name in &head.needed {
            let place = format!("{place}/{name}");
            assert!(files.contains_key(&place), "{place}: {:?}", files.keys());
        }
        assert!(add(&mut files, root, "other", architecture).is_err());
    }
}

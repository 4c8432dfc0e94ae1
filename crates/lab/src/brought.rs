//! Files that a user adds to a guest, and values for files of the guest's kernel.
//!
//! Reads files of this host and writes none.

use crate::architecture::Architecture;
use crate::{LabError, Result, programs};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use wakepath_guest::cpio::{Entry, Kind};
use wakepath_guest::order::{OrderedWrite, PROGRAM_PATH};

/// Reasons to reject a file or value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BroughtFault {
    /// No place in the guest.
    #[error("give HOST=GUEST, GUEST from the root of the guest's files and without `..`")]
    Place,
    /// A place that the kernel has for itself.
    #[error("the guest's kernel shows files of its own there; `--init-write` writes into one")]
    OfTheKernel,
    /// A place of the laboratory's own.
    #[error("the laboratory puts a file of its own there")]
    OfTheLaboratory,
    /// Two for one place.
    #[error("something else comes to {}", place.display())]
    Twice {
        /// The place in the guest.
        place: PathBuf,
    },
    /// A link, which could lead round in a circle.
    #[error("{} is a link to a directory: bring that by itself", link.display())]
    Link {
        /// The link.
        link: PathBuf,
    },
    /// Neither file nor directory.
    #[error("{} is neither a file nor a directory", path.display())]
    Kind {
        /// The file's path.
        path: PathBuf,
    },
    /// A value for no file of the kernel's.
    #[error("give PATH=VALUE, PATH below /proc or /sys")]
    Write,
}

/// A file or directory to bring, and its place in the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Brought {
    given: String,
    host: PathBuf,
    guest: PathBuf,
}

impl Brought {
    /// Reads `HOST=GUEST`, or a path that is the same in the guest.
    pub fn parse(given: &str) -> Result<Self> {
        let wrong = |fault| LabError::Bring {
            given: given.to_owned(),
            fault,
        };
        // A host's path can contain the sign too; the guest's begins at its root.
        let at = given.rfind("=/");
        let (host, guest) = match at {
            Some(at) => (&given[..at], &given[at + 1..]),
            None => (given, given),
        };
        let parts = Path::new(guest).components();
        let plain = { parts }.all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
        if host.is_empty()
            || !guest.starts_with('/')
            || !plain
            || guest.trim_matches('/').is_empty()
        {
            return Err(wrong(BroughtFault::Place));
        }
        let host = PathBuf::from(host);
        let guest = match (guest.ends_with('/'), host.file_name()) {
            (true, Some(name)) => Path::new(guest).join(name),
            _ => PathBuf::from(guest),
        };
        let is_in = |place: &str| guest.starts_with(place);
        match () {
            () if is_in("/proc") || is_in("/sys") => Err(wrong(BroughtFault::OfTheKernel)),
            () if is_in("/lab") || is_in(PROGRAM_PATH) => Err(wrong(BroughtFault::OfTheLaboratory)),
            () => Ok(Self {
                given: given.to_owned(),
                host,
                guest,
            }),
        }
    }

    /// Adds its files. A program is added with its libraries, if the guest can run it.
    pub fn add(
        &self,
        files: &mut BTreeMap<String, Entry>,
        architecture: Architecture,
    ) -> Result<()> {
        let mut libraries = BTreeMap::new();
        self.walk(&self.host, &self.guest, &mut |path, entry| {
            let is_program = matches!(
                &entry.kind,
                Kind::File {
                    executable: true,
                    ..
                }
            );
            if is_program && programs::is_one(path)? {
                programs::refuse_other(path, architecture)?;
                programs::add(
                    &mut libraries,
                    path,
                    Path::new("/").join(&entry.path).as_path(),
                )?;
            }
            if files.contains_key(&entry.path) {
                Err(self.wrong(BroughtFault::Twice {
                    place: Path::new("/").join(&entry.path),
                }))
            } else {
                files.insert(entry.path.clone(), entry);
                Ok(())
            }
        })?;
        for (path, entry) in libraries {
            files.entry(path).or_insert(entry);
        }
        Ok(())
    }

    fn walk(
        &self,
        host: &Path,
        guest: &Path,
        found: &mut dyn FnMut(&Path, Entry) -> Result<()>,
    ) -> Result<()> {
        let failed = |error| LabError::io("read", host, error);
        let metadata = fs::metadata(host).map_err(failed)?;
        let path = guest.display().to_string().trim_matches('/').to_owned();
        if metadata.is_dir() {
            if host.is_symlink() && host != self.host {
                let link = host.to_owned();
                return Err(self.wrong(BroughtFault::Link { link }));
            }
            let mut names = Vec::new();
            for entry in fs::read_dir(host).map_err(failed)? {
                names.push(entry.map_err(failed)?.file_name());
            }
            names.sort();
            return names
                .iter()
                .try_for_each(|name| self.walk(&host.join(name), &guest.join(name), found));
        }
        if !metadata.is_file() {
            let path = host.to_owned();
            return Err(self.wrong(BroughtFault::Kind { path }));
        }
        let kind = Kind::File {
            executable: metadata.permissions().mode() & 0o111 != 0,
            bytes: fs::read(host).map_err(failed)?,
        };
        found(host, Entry { path, kind })
    }

    fn wrong(&self, fault: BroughtFault) -> LabError {
        LabError::Bring {
            given: self.given.clone(),
            fault,
        }
    }
}

/// Reads `PATH=VALUE` for a file of the guest's kernel.
pub(crate) fn written(given: &str) -> Result<OrderedWrite> {
    let wrong = || LabError::InitWrite {
        given: given.to_owned(),
        fault: BroughtFault::Write,
    };
    let (path, value) = given.split_once('=').ok_or_else(wrong)?;
    let of_the_kernel = ["/proc/", "/sys/"]
        .iter()
        .any(|place| path.starts_with(place));
    let climbs = Path::new(path)
        .components()
        .any(|part| part == Component::ParentDir);
    if of_the_kernel && !climbs && !path.ends_with('/') {
        Ok(OrderedWrite {
            path: path.to_owned(),
            value: value.to_owned(),
        })
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn own() -> Architecture {
        Architecture::of_this_program().unwrap()
    }

    fn added(given: &str) -> std::result::Result<BTreeMap<String, Entry>, String> {
        let mut files = BTreeMap::new();
        let brought = Brought::parse(given).and_then(|one| one.add(&mut files, own()));
        brought.map(|()| files).map_err(|error| error.to_string())
    }

    #[test]
    fn files_and_directories_come_to_their_places_and_programs_with_their_libraries() {
        let place = tempfile::tempdir().unwrap();
        let host = place.path();
        fs::create_dir_all(host.join("a=b/inner")).unwrap();
        fs::write(host.join("a=b/inner/x"), "x").unwrap();
        fs::write(host.join("a=b/y"), "y").unwrap();
        symlink("y", host.join("a=b/z")).unwrap();
        let at = host.display();
        let found = added(&format!("{at}/a=b=/etc/c")).unwrap();
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["etc/c/inner/x", "etc/c/y", "etc/c/z"]);
        let kind = Kind::File {
            executable: false,
            bytes: b"y".to_vec(),
        };
        assert_eq!(found["etc/c/z"].kind, kind);
        let found = added(&format!("{at}/a=b/y=/data/")).unwrap();
        assert!(found.contains_key("data/y"), "{:?}", found.keys());
        let found = added("/bin/cat=/opt/cat").unwrap();
        let whole = fs::read("/bin/cat").unwrap();
        let kind = Kind::File {
            executable: true,
            bytes: whole,
        };
        assert_eq!(found["opt/cat"].kind, kind);
        assert!(found.keys().any(|path| path.contains("libc.so")) || found.len() == 1);
    }

    #[test]
    fn what_can_not_be_brought_is_named_with_its_reason() {
        let place = tempfile::tempdir().unwrap();
        let host = place.path();
        fs::create_dir(host.join("d")).unwrap();
        symlink("..", host.join("d/up")).unwrap();
        fs::write(host.join("y"), "y").unwrap();
        let at = host.display();
        for (given, why) in [
            ("y".to_owned(), "give HOST=GUEST"),
            ("=/etc/y".to_owned(), "give HOST=GUEST"),
            (format!("{at}/y=/"), "give HOST=GUEST"),
            (format!("{at}/y=/a/../b"), "give HOST=GUEST"),
            (format!("{at}/y=/proc/y"), "--init-write"),
            (format!("{at}/y=/lab/order.json"), "file of its own"),
            (format!("{at}/y=/bin/wakepath"), "file of its own"),
            (format!("{at}/gone=/y"), "can't read"),
            (format!("{at}/d=/d"), "is a link to a directory"),
            ("/dev/null=/y".to_owned(), "neither a file nor a directory"),
        ] {
            let said = added(&given).unwrap_err();
            assert!(said.contains(why), "{given}: {said}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
        let mut files = added(&format!("{at}/y=/y")).unwrap();
        let twice = Brought::parse(&format!("{at}/y=/y")).unwrap();
        let said = twice.add(&mut files, own()).unwrap_err().to_string();
        assert!(said.contains("something else comes to /y"), "{said}");
    }

    #[test]
    fn a_value_is_for_a_file_of_the_kernels() {
        let found = written("/proc/sys/kernel/core_pattern=|a=b").unwrap();
        assert_eq!(found.path, "/proc/sys/kernel/core_pattern");
        assert_eq!(found.value, "|a=b");
        for wrong in [
            "/proc/sys/a",
            "/etc/a=1",
            "/proc/../etc/a=1",
            "=1",
            "/proc/=1",
        ] {
            assert!(written(wrong).is_err(), "{wrong}");
        }
    }
}

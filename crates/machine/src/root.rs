//! The directory at which a machine's files start: `/` for this host, or a recorded tree. It
//! reads whole small files and directories; it never writes and never leaves its tree by `..`.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use crate::{Misread, Reading};
use wakepath_timeline::CpuSet;

/// No kernel text file that is read here is longer, not even `/proc/interrupts` of a big server.
const LARGEST_FILE: u64 = 8 << 20;

/// Root of a machine's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    directory: PathBuf,
}

impl Root {
    /// This machine.
    pub fn host() -> Self {
        Self::at("/")
    }

    /// A recorded tree: `/proc/stat` is read from `directory/proc/stat`.
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// Whether this is the running machine and not a recorded tree.
    pub fn is_host(&self) -> bool {
        self.directory == Path::new("/")
    }

    /// The bytes of a file, 8 MiB at most.
    pub fn bytes(&self, path: &str) -> Reading<Vec<u8>> {
        self.first_bytes(path, LARGEST_FILE)
    }

    /// At most the first `limit` bytes of a file; for devices that answer every read again.
    pub fn first_bytes(&self, path: &str, limit: u64) -> Reading<Vec<u8>> {
        let Some(real) = self.resolve(path) else {
            return Reading::unreadable(path, "", "the path leads out of the tree");
        };
        let mut content = Vec::new();
        match File::open(real).and_then(|file| file.take(limit).read_to_end(&mut content)) {
            Ok(_) => Reading::found(content, path),
            Err(error) => refused(path, &error),
        }
    }

    /// The text of a file without white space and NUL bytes at its end (device-tree strings end in
    /// NUL). Invalid UTF-8 becomes replacement characters.
    pub fn text(&self, path: &str) -> Reading<String> {
        self.bytes(path).map(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            text.trim_end_matches(|c: char| c.is_whitespace() || c == '\0')
                .to_owned()
        })
    }

    /// A file's text, parsed by a function that reports faults.
    pub fn parsed<T>(
        &self,
        path: &str,
        parser: impl FnOnce(&str) -> Result<T, Misread>,
    ) -> Reading<T> {
        self.text(path).parse(|text| parser(text))
    }

    /// A file that holds one number.
    pub fn number<T: FromStr>(&self, path: &str) -> Reading<T> {
        self.parsed(path, |text| {
            text.trim().parse().map_err(|_| Misread::NotANumber)
        })
    }

    /// A file that holds a list of CPUs.
    pub fn cpus(&self, path: &str) -> Reading<CpuSet> {
        self.parsed(path, |text| Ok(text.parse()?))
    }

    /// The names in a directory, sorted; names that are not UTF-8 are left out.
    pub fn names(&self, path: &str) -> Reading<Vec<String>> {
        let Some(real) = self.resolve(path) else {
            return Reading::unreadable(path, "", "the path leads out of the tree");
        };
        match fs::read_dir(real) {
            Ok(entries) => {
                let mut names: Vec<String> = entries
                    .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                    .collect();
                names.sort_unstable();
                Reading::found(names, path)
            }
            Err(error) => refused(path, &error),
        }
    }

    /// The numbers of entries named `prefix` and a number, such as `cpu0`, `cpu1`, sorted. Empty if
    /// the directory can't be listed.
    pub fn numbered<T: FromStr + Ord>(&self, path: &str, prefix: &str) -> Vec<T> {
        let names = self.names(path);
        let mut numbers: Vec<T> = names
            .known()
            .into_iter()
            .flatten()
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Whether something is there under that path, readable or not.
    pub fn exists(&self, path: &str) -> bool {
        self.resolve(path)
            .is_some_and(|real| fs::symlink_metadata(real).is_ok())
    }

    /// A symbolic link's target as text; none if it is no link or not UTF-8.
    pub fn link_text(&self, path: &str) -> Option<String> {
        self.link(path)?.into_os_string().into_string().ok()
    }

    /// A symbolic link's target. A recorded tree might have come through an archive or a file
    /// system without links: there, a file in the link's place contains its text.
    pub(crate) fn link(&self, path: &str) -> Option<PathBuf> {
        let link = fs::read_link(self.resolve(path)?).ok();
        if link.is_some() || self.is_host() {
            return link;
        }
        self.text(path).known().map(PathBuf::from)
    }

    /// The real path of something in this tree, for questions that don't concern its content.
    pub(crate) fn place_of(&self, path: &str) -> Option<PathBuf> {
        self.resolve(path)
    }

    /// The path below this root, unless it climbs (a cgroup path can contain `..`).
    fn resolve(&self, path: &str) -> Option<PathBuf> {
        let relative = path.trim_start_matches('/');
        let climbs = Path::new(relative)
            .components()
            .any(|part| !matches!(part, Component::Normal(_)));
        (!climbs).then(|| self.directory.join(relative))
    }
}

/// The reading that an I/O error implies.
fn refused<T>(path: &str, error: &io::Error) -> Reading<T> {
    let path = path.to_owned();
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Reading::Absent { path },
        ErrorKind::PermissionDenied => Reading::Denied { path },
        _ => Reading::Unreadable {
            path,
            text: String::new(),
            why: error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_climbs_out_of_the_tree_is_not_followed() {
        let root = Root::at(env!("CARGO_MANIFEST_DIR"));
        assert!(matches!(
            root.text("/src/../../../Cargo.toml"),
            Reading::Unreadable { .. }
        ));
        assert!(root.text("/Cargo.toml").known().is_some());
    }

    #[test]
    fn a_missing_file_is_absent_and_a_directory_unreadable() {
        let root = Root::at(env!("CARGO_MANIFEST_DIR"));
        assert!(root.text("/no/such/file").is_absent());
        assert!(root.text("/Cargo.toml/below-a-file").is_absent());
        assert!(matches!(root.text("/src"), Reading::Unreadable { .. }));
    }

    #[test]
    fn a_known_value_names_the_path_on_the_machine() {
        let root = Root::at(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(root.text("/Cargo.toml").path(), "/Cargo.toml");
    }
}

//! Directories of a service's segments, and their size.
//!
//! The oldest are removed when they exceed the limit. Anything else in their directory is not the
//! service's, doesn't count and stays.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Mutex;
use wakepath_directory::Directory;

/// Lists the segments that this service created and has not removed: a directory with a similar
/// name can be another service's on the same disk.
const LEDGER: &str = "segments.json";
/// Most foreign names to list.
const MOST_TOLD: usize = 5;

/// The segments of a service.
#[derive(Debug)]
pub(crate) struct Segments {
    /// The service's own directory, with the ledger.
    service: Directory,
    directory: Directory,
    own: Mutex<BTreeSet<String>>,
}

/// Foreign entries in the segments' directory, which are left alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Strange {
    /// The names, each with the reason if a segment can't be removed.
    pub(crate) names: Vec<String>,
}

impl Segments {
    /// For this service; `directory` can be on another disk, if its administrator put a link there.
    ///
    /// # Errors
    /// If the ledger can't be read.
    pub(crate) fn new(service: &Directory, directory: Directory) -> io::Result<Self> {
        let own = match service.read(LEDGER)? {
            // One that can't be understood names nothing, so that nothing is removed.
            Some(text) => serde_json::from_slice(&text).unwrap_or_default(),
            None => BTreeSet::new(),
        };
        Ok(Self {
            service: service.clone(),
            directory,
            own: Mutex::new(own),
        })
    }

    /// The directory that they are in.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Creates a new one, after recording it in the ledger.
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::AlreadyExists`] if the name is taken, by any program.
    pub(crate) fn make(&self, name: &str) -> io::Result<PathBuf> {
        if self.directory.holds(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.own(name)?;
        self.directory.make_below(name)
    }

    /// Adds a segment created elsewhere, such as a round, to the ledger.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn own(&self, name: &str) -> io::Result<()> {
        let mut own = self.own.lock().map_err(|_| io::ErrorKind::Other)?;
        if own.insert(name.to_owned()) {
            self.write(&own)
        } else {
            Ok(())
        }
    }

    fn write(&self, own: &BTreeSet<String>) -> io::Result<()> {
        self.service.put(LEDGER, &serde_json::to_vec(own)?)
    }

    /// Removes the service's oldest segments, except `but`, until all have at most `most` bytes;
    /// returns the foreign entries.
    ///
    /// # Errors
    /// If the directory can't be listed or the ledger can't be written.
    pub(crate) fn keep(&self, most: u64, but: &[String]) -> io::Result<Strange> {
        let mut own = self.own.lock().map_err(|_| io::ErrorKind::Other)?;
        let mut strange = Strange::default();
        let mut all: Vec<(String, u64)> = Vec::new();
        let names = self.directory.names()?;
        for name in &names {
            match own.contains(name).then(|| bytes_of(&self.directory, name)) {
                Some(Ok(bytes)) => all.push((name.clone(), bytes)),
                Some(Err(error)) => strange.names.push(format!("{name} ({error})")),
                None => strange.names.push(name.clone()),
            }
        }
        // Their names end with their time.
        all.sort_by(|(a, _), (b, _)| time_of(a).cmp(time_of(b)));
        let mut bytes: u64 = all.iter().map(|(_, bytes)| bytes).sum();
        for (name, its) in all {
            if bytes <= most {
                break;
            }
            if but.contains(&name) {
                continue;
            }
            match self.directory.remove_below(&name) {
                Ok(()) => bytes -= its,
                Err(error) => strange.names.push(format!("{name} ({error})")),
            }
        }
        let before = own.len();
        own.retain(|name| self.directory.holds(name));
        if own.len() != before {
            self.write(&own)?;
        }
        strange.names.sort_unstable();
        Ok(strange)
    }
}

impl Strange {
    /// A sentence for the user; `None` if there are no such entries.
    pub(crate) fn sentence(&self, segments: &Directory) -> Option<String> {
        let told: Vec<&str> = self
            .names
            .iter()
            .take(MOST_TOLD)
            .map(|name| &**name)
            .collect();
        let more = match self.names.len().saturating_sub(MOST_TOLD) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!told.is_empty()).then(|| {
            format!(
                "{}: not of this recording, so never removed and not counted in --keep: {}{more}",
                segments.path().display(),
                told.join(", ")
            )
        })
    }
}

fn time_of(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(_, time)| time)
}

/// Bytes that a segment's files take on the disk, those reserved ahead included.
fn bytes_of(segments: &Directory, name: &str) -> io::Result<u64> {
    let segment = segments.below(name)?;
    let entries = std::fs::read_dir(segment.lasting_path())?.flatten();
    let files = entries.filter_map(|entry| entry.metadata().ok());
    Ok(files.map(|of| of.len().max(of.blocks() * 512)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use wakepath_directory::Trust;

    fn segments(place: &Path) -> Segments {
        let service = Directory::make(place, Trust::Any).unwrap();
        let directory = Directory::make(&place.join("segments"), Trust::Any).unwrap();
        Segments::new(&service, directory).unwrap()
    }

    fn sorted(directory: &Directory) -> Vec<String> {
        let mut names = directory.names().unwrap();
        names.sort_unstable();
        names
    }

    #[test]
    fn the_oldest_go_first_and_those_under_way_stay() {
        let place = tempfile::tempdir().unwrap();
        for name in ["b-1", "a-2", "b-3", "a-4"] {
            // Each by another recorder: the ledger is on disk.
            let path = segments(place.path()).make(name).unwrap();
            std::fs::write(path.join("samples.log"), vec![7; 8192]).unwrap();
        }
        let segments = segments(place.path());
        let strange = segments.keep(20_000, &["b-1".to_owned()]).unwrap();
        assert_eq!(strange, Strange::default());
        assert_eq!(sorted(segments.directory()), ["a-4", "b-1"]);
    }

    #[test]
    fn what_is_somebody_else_s_stays_and_is_named_and_ends_nothing() {
        let place = tempfile::tempdir().unwrap();
        let segments = segments(place.path());
        let there = |name: &str| segments.directory().path_of(name);
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("a"), vec![7; 8192]).unwrap();
        std::fs::write(there("0-0"), vec![7; 8192]).unwrap();
        // Another service's, by its name and content.
        std::fs::create_dir(there("loop-20200101T000000Z")).unwrap();
        std::fs::write(
            there("loop-20200101T000000Z").join("samples.log"),
            [7; 8192],
        )
        .unwrap();
        symlink(elsewhere.path(), there("linked-1")).unwrap();
        let own = segments.make("loop-3").unwrap();
        std::fs::write(own.join("samples.log"), vec![7; 8192]).unwrap();
        // One of our own, replaced by a link since.
        segments.make("loop-2").unwrap();
        std::fs::remove_dir(there("loop-2")).unwrap();
        symlink(elsewhere.path(), there("loop-2")).unwrap();

        let strange = segments.keep(0, &[]).unwrap();
        let left = ["0-0", "linked-1", "loop-2", "loop-20200101T000000Z"];
        assert_eq!(sorted(segments.directory()), left);
        assert!(elsewhere.path().join("a").exists());
        assert_eq!(strange.names.len(), 4);
        let said = strange.sentence(segments.directory()).unwrap();
        assert!(left.iter().all(|name| said.contains(name)), "{said}");
        let taken = segments.make("loop-20200101T000000Z").unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(segments.keep(0, &[]).unwrap(), strange, "not made its own");
    }

    #[test]
    fn without_its_ledger_nothing_is_removed() {
        let place = tempfile::tempdir().unwrap();
        segments(place.path()).make("loop-1").unwrap();
        std::fs::write(place.path().join(LEDGER), "{").unwrap();
        let segments = segments(place.path());
        assert_eq!(segments.keep(0, &[]).unwrap().names, ["loop-1"]);
        assert_eq!(sorted(segments.directory()), ["loop-1"]);
    }
}

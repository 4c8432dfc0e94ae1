//! Room on the disk: the directory made and known again, the oldest segments removed when there are too many bytes
//! of them. It reads no run.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use wakepath_directory::Directory;

/// What makes a directory one of a service.
pub const MARK: &str = "service.json";
/// What is beside it in a directory that rounds of a scenario are measured into: how many, and of what.
pub const PLAN: &str = "rounds.json";
/// Where the run directories are.
pub(crate) const SEGMENTS: &str = "segments";
/// The version of the form of all this.
const FORM: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    wakepath_service: u32,
}

/// Whether a directory is one of a service.
pub fn is_service(directory: &Path) -> bool {
    directory.join(MARK).is_file()
}

/// What is wrong with a directory that is to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing is in it.
    New,
    /// It is one already.
    Known,
    /// It is one of a later version.
    Strange,
    /// Rounds of a scenario are in it, which are no program's.
    Rounds,
    /// Something else is in it.
    Other,
}

/// Whether rounds of a scenario are measured into a directory.
pub fn has_rounds(directory: &Path) -> bool {
    is_service(directory) && directory.join(PLAN).is_file()
}

/// What is in a directory.
pub(crate) fn standing(directory: &Directory) -> io::Result<Standing> {
    match directory.read(MARK)? {
        None if directory
            .names()?
            .iter()
            .all(|name| matches!(&name[..], "lock" | PLAN)) =>
        {
            Ok(Standing::New)
        }
        None => Ok(Standing::Other),
        Some(text) => Ok(match serde_json::from_slice(&text) {
            Ok(Mark {
                wakepath_service: FORM,
            }) => match directory.holds(PLAN) {
                true => Standing::Rounds,
                false => Standing::Known,
            },
            _ => Standing::Strange,
        }),
    }
}

/// Makes an empty directory one of a service.
pub(crate) fn make(directory: &Directory) -> io::Result<()> {
    let mark = Mark {
        wakepath_service: FORM,
    };
    directory.put(MARK, &serde_json::to_vec(&mark)?)
}

/// Removes the oldest segments but these until all have at most so many bytes; returns the bytes that are left.
pub(crate) fn keep(segments: &Directory, most: u64, but: &[String]) -> io::Result<u64> {
    let mut all: Vec<(String, u64)> = Vec::new();
    for name in segments.names()? {
        let bytes = bytes_of(&segments.path_of(&name));
        all.push((name, bytes));
    }
    // Their names end with their time.
    all.sort_by(|(a, _), (b, _)| time_of(a).cmp(time_of(b)));
    let mut bytes: u64 = all.iter().map(|(_, bytes)| bytes).sum();
    for (name, its) in all {
        if bytes <= most {
            break;
        }
        if !but.contains(&name) {
            segments.remove_below(&name)?;
            bytes -= its;
        }
    }
    Ok(bytes)
}

fn time_of(name: &str) -> &str {
    name.rsplit_once('-').map_or(name, |(_, time)| time)
}

/// Bytes that its files take on the disk, those reserved ahead included.
fn bytes_of(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.metadata().ok())
        .map(|of| of.len().max(of.blocks() * 512))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_directory::Trust;

    #[test]
    fn the_oldest_go_first_and_those_under_way_stay() {
        let place = tempfile::tempdir().unwrap();
        let segments = Directory::make(place.path(), Trust::Any).unwrap();
        for name in ["b-1", "a-2", "b-3", "a-4"] {
            let path = segments.make_below(name).unwrap();
            std::fs::write(path.join("samples.log"), vec![7; 8192]).unwrap();
        }
        let left = keep(&segments, 20_000, &["b-1".to_owned()]).unwrap();
        let mut names = segments.names().unwrap();
        names.sort();
        assert_eq!((left, names), (16_384, vec!["a-4".into(), "b-1".into()]));
    }
}

//! Settings of the tracer that apply to the whole kernel, changed for a while. Their old values are written
//! down first, so that those of a killed process are restored together with its instance.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::{ProbeError, Result};
use crate::tracefs::read_text;

/// The directory of the notes: until the next boot, when the kernel has forgotten the settings too.
const RECORDS: &str = "/run";

/// The only settings that are restored from a record, whatever else it contains.
const KNOWN: [&str; 4] = [
    "osnoise/cpus",
    "osnoise/runtime_us",
    "osnoise/period_us",
    "osnoise/timerlat_period_us",
];

/// A setting that was changed.
struct Change {
    name: String,
    before: String,
    ours: String,
}

/// Changed settings, put back when dropped.
pub(crate) struct Borrowed {
    root: PathBuf,
    record: PathBuf,
}

impl Borrowed {
    /// Changes settings, named by their files below `root`, for the process whose instance has the
    /// name `owner`.
    ///
    /// # Errors
    /// [`ProbeError::Io`]; changes made until then are reverted.
    pub(crate) fn set(root: &Path, owner: &str, settings: &[(&str, String)]) -> Result<Self> {
        Self::recorded_in(Path::new(RECORDS), root, owner, settings)
    }

    fn recorded_in(
        records: &Path,
        root: &Path,
        owner: &str,
        settings: &[(&str, String)],
    ) -> Result<Self> {
        let mut text = String::new();
        for (name, ours) in settings {
            let path = root.join(name);
            let before = read_text(&path).map_err(ProbeError::io("read", &path))?;
            text += &format!("{name}\t{}\t{ours}\n", before.trim());
        }
        let record = records.join(owner);
        let written = || -> std::io::Result<File> {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o600);
            let mut file = options.open(&record)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            Ok(file)
        };
        written().map_err(ProbeError::io("write", &record))?;
        let borrowed = Self {
            root: root.to_owned(),
            record: record.clone(),
        };
        for (name, ours) in settings {
            let path = root.join(name);
            fs::write(&path, ours).map_err(ProbeError::io("write", &path))?;
        }
        Ok(borrowed)
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        put_back(&self.root, &self.record);
    }
}

/// Puts back what a dead process had changed whose instance has the name `owner`.
pub(crate) fn put_back_of(root: &Path, owner: &str) {
    put_back(root, &Path::new(RECORDS).join(owner));
}

/// Puts back what is still as we wrote it, last change first.
fn put_back(root: &Path, record: &Path) {
    let Ok(text) = read_text(record) else { return };
    for change in text.lines().rev().filter_map(change) {
        let path = root.join(&change.name);
        let now = read_text(&path).unwrap_or_default();
        if now.trim() == change.ours {
            let _ = fs::write(&path, &change.before);
        }
    }
    let _ = fs::remove_file(record);
}

fn change(line: &str) -> Option<Change> {
    let mut fields = line.split('\t').map(str::to_owned);
    let change = Change {
        name: fields.next()?,
        before: fields.next()?,
        ours: fields.next()?,
    };
    KNOWN.contains(&change.name.as_str()).then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of this test alone, removed at its end.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let name = format!("wakepath-borrowed-{name}-{}", std::process::id());
            let place = Self(std::env::temp_dir().join(name));
            fs::create_dir_all(place.0.join("osnoise")).unwrap();
            place.write("osnoise/cpus", "0-3\n");
            place.write("osnoise/period_us", "1000000\n");
            place
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.0.join(name), text).unwrap();
        }

        fn read(&self, name: &str) -> String {
            read_text(&self.0.join(name)).unwrap()
        }

        fn borrow(&self) -> Result<Borrowed> {
            let settings = [
                ("osnoise/cpus", "1".into()),
                ("osnoise/period_us", "500000".into()),
            ];
            Borrowed::recorded_in(&self.0, &self.0, "wakepath-1-2-3-measures", &settings)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn settings_are_as_before_when_it_is_over() {
        let place = Place::new("over");
        let borrowed = place.borrow().unwrap();
        assert_eq!(place.read("osnoise/period_us"), "500000");
        drop(borrowed);
        assert_eq!(place.read("osnoise/cpus"), "0-3");
        assert_eq!(place.read("osnoise/period_us"), "1000000");
        assert!(!place.0.join("wakepath-1-2-3-measures").exists());
    }

    #[test]
    fn what_a_killed_process_left_is_put_back_and_what_others_changed_since_is_not() {
        let place = Place::new("killed");
        std::mem::forget(place.borrow().unwrap());
        place.write("osnoise/period_us", "250000\n");
        put_back(&place.0, &place.0.join("wakepath-1-2-3-measures"));
        assert_eq!(place.read("osnoise/cpus"), "0-3");
        assert_eq!(place.read("osnoise/period_us"), "250000\n");
    }

    #[test]
    fn a_record_of_other_files_changes_nothing() {
        let place = Place::new("hostile");
        place.write("other", "kept");
        place.write(
            "record",
            "../other\tgone\tkept\nother\tgone\tkept\nosnoise/cpus\n\n",
        );
        put_back(&place.0, &place.0.join("record"));
        assert_eq!(place.read("other"), "kept");
        assert_eq!(place.read("osnoise/cpus"), "0-3\n");
    }

    #[test]
    fn a_setting_that_is_not_there_leaves_all_as_it_was() {
        let place = Place::new("missing");
        fs::remove_file(place.0.join("osnoise/period_us")).unwrap();
        assert!(place.borrow().is_err());
        assert_eq!(place.read("osnoise/cpus"), "0-3\n");
        assert!(!place.0.join("wakepath-1-2-3-measures").exists());
    }
}

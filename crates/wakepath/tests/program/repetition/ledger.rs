//! Progress of a campaign, a line for each guest in a file: an interrupted campaign resumes there, and
//! counts only guests that ran. It starts no guest.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const NAME: &str = "guests.jsonl";

/// A guest that ended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// `debian:stock` or `debian:rt`.
    pub kernel: String,
    /// All that decides its samples: the initramfs with program, scenario and seed, kernel, emulator.
    pub guest: String,
    /// SHA-256 of its samples' file, shortened.
    pub digest: String,
    /// How often emulators were stopped since the guest before ended.
    pub stops: u64,
}

/// The file, and what it holds.
pub struct Ledger {
    file: File,
    /// Its directory, with the kept runs.
    pub directory: PathBuf,
    entries: Vec<Entry>,
}

impl Ledger {
    /// Opens the ledger of a directory, which is created if missing.
    pub fn open(directory: &Path) -> Self {
        std::fs::create_dir_all(directory).unwrap();
        let path = directory.join(NAME);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // A kill may have cut the last line off: that guest is made again, and the next line begins on its own.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let entries = whole.lines().filter_map(entry).collect();
        let mut options = OpenOptions::new();
        let file = options.create(true).append(true).open(&path).unwrap();
        file.set_len(whole.len() as u64).unwrap();
        Self {
            file,
            directory: directory.to_owned(),
            entries,
        }
    }

    /// Keeps a guest that ended.
    pub fn add(&mut self, entry: Entry) {
        let line = json!({"kernel": entry.kernel, "guest": entry.guest, "digest": entry.digest, "stops": entry.stops});
        self.file.write_all(format!("{line}\n").as_bytes()).unwrap();
        self.entries.push(entry);
    }

    /// Sets the count aside: the next campaign begins its own.
    pub fn set_aside(self) {
        let done = self.directory.join("guests-done.jsonl");
        std::fs::rename(self.directory.join(NAME), done).unwrap();
    }

    /// How often each digest of a guest came.
    pub fn digests(&self, guest: &str) -> BTreeMap<&str, usize> {
        let mut digests = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| entry.guest == guest) {
            *digests.entry(&*entry.digest).or_default() += 1;
        }
        digests
    }

    /// How often emulators were stopped while these guests ran.
    pub fn stops(&self, guests: &[&str]) -> u64 {
        let ran = |entry: &&Entry| guests.contains(&&*entry.guest);
        self.entries
            .iter()
            .filter(ran)
            .map(|entry| entry.stops)
            .sum()
    }
}

fn entry(line: &str) -> Option<Entry> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| Some(value[key].as_str()?.to_owned());
    Some(Entry {
        kernel: text("kernel")?,
        guest: text("guest")?,
        digest: text("digest")?,
        stops: value["stops"].as_u64()?,
    })
}

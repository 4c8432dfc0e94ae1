//! Counts of the campaign by cell. With `WAKEPATH_PLAYED_DIRECTORY` they are kept in a file for each policy, so
//! that an interrupted campaign resumes; counts of another build of this program don't count.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// Observations of a cell.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Counts {
    /// Seeds drawn from, and the sets among them that have a bound.
    pub drawn: u64,
    pub sets: u64,
    /// Sets in which every deadline is proved.
    pub proved: u64,
    /// Bounds that were compared, jobs that were played, and bounds that were reached.
    pub bounds: u64,
    pub jobs: u64,
    pub reached: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Self) {
        self.drawn += other.drawn;
        self.sets += other.sets;
        self.proved += other.proved;
        self.bounds += other.bounds;
        self.jobs += other.jobs;
        self.reached += other.reached;
    }
}

pub struct Ledger {
    file: Option<PathBuf>,
    /// First line of the file: the build.
    build: String,
    pub cells: BTreeMap<String, Counts>,
}

impl Ledger {
    /// The kept counts for `policy`, or none.
    pub fn open(policy: &str) -> Self {
        let directory = std::env::var_os("WAKEPATH_PLAYED_DIRECTORY").map(PathBuf::from);
        let name = policy.replace([' ', ','], "-");
        let file = directory.map(|directory| directory.join(format!("{name}.txt")));
        Self::read(file, this_build())
    }

    /// Counts that are not kept.
    pub fn none() -> Self {
        Self::read(None, String::new())
    }

    fn read(file: Option<PathBuf>, build: String) -> Self {
        let text = file.as_deref().map(std::fs::read_to_string);
        let text = text.and_then(Result::ok).unwrap_or_default();
        let cells = match text.strip_prefix(&format!("{build}\n")) {
            Some(lines) => lines.lines().filter_map(entry).collect(),
            None => BTreeMap::new(),
        };
        Self { file, build, cells }
    }

    /// Writes all counts at once: a campaign may be killed at any time.
    pub fn keep(&self) {
        let Some(file) = &self.file else { return };
        let mut text = format!("{}\n", self.build);
        for (name, counts) in &self.cells {
            let Counts {
                drawn,
                sets,
                proved,
                bounds,
                jobs,
                reached,
            } = counts;
            let _ = writeln!(
                text,
                "{drawn} {sets} {proved} {bounds} {jobs} {reached} {name}"
            );
        }
        let new = file.with_extension("new");
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("."))).expect("a directory");
        std::fs::write(&new, text).expect("written");
        std::fs::rename(new, file).expect("renamed");
    }
}

fn entry(line: &str) -> Option<(String, Counts)> {
    let mut words = line.splitn(7, ' ');
    let mut number = || words.next()?.parse().ok();
    let counts = Counts {
        drawn: number()?,
        sets: number()?,
        proved: number()?,
        bounds: number()?,
        jobs: number()?,
        reached: number()?,
    };
    Some((words.next()?.to_owned(), counts))
}

fn this_build() -> String {
    let program = std::env::current_exe().and_then(std::fs::read);
    let mut hasher = DefaultHasher::new();
    hasher.write(&program.expect("the program of this test"));
    format!("build {:016x}", hasher.finish())
}

#[test]
fn kept_counts_are_read_by_the_same_build_alone() {
    let directory = std::env::temp_dir().join(format!("wakepath-played-{}", std::process::id()));
    let file = directory.join("p-fp.txt");
    let open = |build: &str| Ledger::read(Some(file.clone()), build.into());
    let mut ledger = open("build 1");
    let counts = Counts {
        drawn: 9,
        sets: 8,
        proved: 7,
        bounds: 6,
        jobs: 5,
        reached: 4,
    };
    ledger.cells.insert("jitter + a chain".into(), counts);
    ledger.keep();
    let (same, other) = (open("build 1"), open("build 2"));
    std::fs::remove_dir_all(&directory).expect("removed");
    assert_eq!(same.cells, ledger.cells);
    assert!(other.cells.is_empty());
}

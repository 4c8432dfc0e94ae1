//! The rooms that read runs open no file but by [`wakepath_directory::Directory`]: the calls that would
//! wait for a pipe or follow a link are counted in their sources.

use std::path::{Path, PathBuf};

/// Rooms, and their files that read other things than runs: the kernel's files, or a file that the
/// user named.
const ROOMS: [(&str, &[&str]); 6] = [
    ("archive", &["lock.rs", "digest.rs"]),
    ("assess", &[]),
    ("report", &[]),
    ("evidence", &[]),
    ("explain", &[]),
    ("service", &["traces.rs", "full_speed.rs", "program.rs"]),
];

/// The same of single files of the command and of the laboratory.
const FILES: [&str; 9] = [
    "lab/src/again/kept.rs",
    "wakepath/src/verbs/kept.rs",
    "wakepath/src/verbs/runs.rs",
    "wakepath/src/verbs/show.rs",
    "wakepath/src/verbs/explain.rs",
    "wakepath/src/verbs/report/mod.rs",
    "wakepath/src/verbs/recover.rs",
    "wakepath/src/verbs/rate/terms.rs",
    "wakepath/src/verbs/unattended/plan.rs",
];

const CALLS: [&str; 6] = [
    "fs::read(",
    "fs::read_to_string(",
    "File::open(",
    "File::create(",
    "fs::write(",
    "OpenOptions",
];

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            // A module of tests in a file of its own.
            false if path.ends_with("tests.rs") => {}
            false => found.push(path),
        }
    }
}

#[test]
fn files_of_runs_are_opened_by_one_function() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut all: Vec<PathBuf> = FILES.iter().map(|file| crates.join(file)).collect();
    for (room, but) in ROOMS {
        let mut found = Vec::new();
        sources(&crates.join(room).join("src"), &mut found);
        assert!(!found.is_empty(), "{room}");
        found.retain(|path| !but.iter().any(|but| path.ends_with(but)));
        all.extend(found);
    }
    let mut calls = Vec::new();
    for path in all {
        // A figure's style, a font.
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
        for call in CALLS {
            // FeatherTraceFile::open and WholeFile::create are ours.
            let is_own = |at: usize| shipped[..at].ends_with(char::is_alphanumeric);
            if shipped.match_indices(call).any(|(at, _)| !is_own(at)) {
                calls.push(format!("{}: {call}", path.display()));
            }
        }
    }
    assert!(calls.is_empty(), "{calls:#?}");
}

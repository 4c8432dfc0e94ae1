//! Every seed unchanged, and damaged at random.
//!
//! Cut off, with bytes changed, doubled and mixed with another's; the same damage in every run. The
//! fuzzer covers what needs coverage guidance.

use proptest::test_runner::{RngAlgorithm, TestRng};
use std::fs;
use std::path::{Path, PathBuf};
use wakepath_hostile_input as hostile;

/// Damaged copies of each set of seeds.
const COPIES: usize = 3000;

#[test]
fn damaged_scenarios() {
    let seeds = [
        "scenarios",
        "crates/scenario/tests/good",
        "crates/scenario/tests/bad",
    ];
    try_all(&seeds, |bytes| {
        hostile::scenario(&String::from_utf8_lossy(bytes))
    });
}

#[test]
fn damaged_recordings() {
    try_all(&["crates/archive/tests/fixtures"], hostile::recording);
}

#[test]
fn damaged_words_of_a_loop() {
    let folder = ["crates/hostile-input/seeds/told"];
    assert!(seeds(&folder).iter().all(|seed| hostile::told(seed)));
    try_all(&folder, |bytes| {
        hostile::told(bytes);
    });
}

#[test]
fn damaged_seals_and_keys() {
    let folder = ["crates/hostile-input/seeds/evidence"];
    assert!(seeds(&folder).iter().all(|seed| hostile::evidence(seed)));
    try_all(&folder, |bytes| {
        hostile::evidence(bytes);
    });
}

#[test]
fn damaged_journals() {
    try_all(&["crates/tuning/tests/journals"], |bytes| {
        hostile::journal(&String::from_utf8_lossy(bytes));
    });
}

#[test]
fn damaged_files_of_a_kernel() {
    try_all(&["fixtures/machines/virtual-two-cpus"], |bytes| {
        hostile::kernel_files(&String::from_utf8_lossy(bytes));
    });
}

#[test]
fn damaged_files_of_other_tools() {
    let folder = ["crates/import/tests/fixtures"];
    // The directory also has a program's source, a README, perf's own listing and the parts of a
    // directory.
    let taken = seeds(&folder)
        .iter()
        .filter(|seed| hostile::imported_file(seed))
        .count();
    assert!(taken >= 13, "{taken} real files were taken");
    try_all(&folder, |bytes| {
        hostile::imported_file(bytes);
    });
}

#[test]
fn damaged_directories_of_other_tools() {
    let folder = [
        "crates/import/tests/fixtures/ros2",
        "crates/import/tests/fixtures/one/lttng",
        "crates/import/tests/fixtures/one/lttng-2",
    ];
    let taken = seeds(&folder)
        .iter()
        .filter(|seed| hostile::imported_directory(seed))
        .count();
    // Of each the metadata and the stream with the timers.
    assert_eq!(taken, 6, "real files were taken");
    try_all(&folder, |bytes| {
        hostile::imported_directory(bytes);
    });
}

fn try_all(folders: &[&str], reader: impl Fn(&[u8])) {
    let seeds = seeds(folders);
    for seed in &seeds {
        reader(seed);
    }
    let mut random = TestRng::deterministic_rng(RngAlgorithm::XorShift);
    for _ in 0..COPIES {
        let seed = &seeds[below(&mut random, seeds.len())];
        let other = &seeds[below(&mut random, seeds.len())];
        reader(&damaged(seed, other, &mut random));
    }
}

/// The files in and below these folders, the same order in every run.
fn seeds(folders: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of seeds") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path)
            } else {
                files.push(path)
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "no seed");
    let seeds = files.iter().map(|file| fs::read(file).expect("a seed"));
    seeds.collect()
}

/// Some of the bytes changed, left out, doubled, or taken from the other seed.
fn damaged(seed: &[u8], other: &[u8], random: &mut TestRng) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=below(random, 4) {
        let at = below(random, bytes.len() + 1);
        let length = below(random, 64).min(bytes.len() - at);
        match below(random, 6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let doubled = bytes[at..at + length].to_vec();
                drop(bytes.splice(at..at, doubled));
            }
            3 => {
                let from = below(random, other.len() + 1);
                let to = (from + below(random, 64)).min(other.len());
                drop(bytes.splice(at..at, other[from..to].iter().copied()));
            }
            4 if at < bytes.len() => bytes[at] ^= 1 << below(random, 8),
            _ => {
                let telling = [0, b'-', b'9', b'\n', b'"', b'[', b'=', 0x1b, 0x7f, 0xff];
                bytes.insert(at, telling[below(random, telling.len())]);
            }
        }
    }
    bytes
}

/// A number below `end`, or zero if `end` is zero.
fn below(random: &mut TestRng, end: usize) -> usize {
    use proptest::prelude::Rng as _;
    match end {
        0 => 0,
        end => usize::try_from(random.next_u64() % end as u64).expect("below a usize"),
    }
}

//! Random damage to the files of runs with a trouble: no damage makes one of them pass, and none makes
//! a reader panic.

use super::Random;
use super::faults::{Trouble, plant};
use super::made_up::MadeUp;
use std::fs;
use std::path::{Path, PathBuf};
use wakepath_archive::Run;
use wakepath_assess::Assessment;
use wakepath_verdict::Outcome;

/// Damaged copies of each run.
const COPIES: u64 = 30;

pub fn no_damage_makes_a_run_pass() {
    campaign(11, 4);
}

// Ignored: the stage `planted` of ./test --deep runs it: minutes.
pub fn none_of_twelve_thousand_damaged_runs_passes() {
    campaign(12, 12_000 / COPIES);
}

fn campaign(seed: u64, runs: u64) {
    let place = tempfile::tempdir().unwrap();
    let mut random = Random(seed);
    let (mut judged, mut refused) = (0_u64, 0_u64);
    let mut tried = 0;
    while tried < runs {
        let path = place.path().join("run");
        let trouble = Trouble::ALL[random.below(Trouble::ALL.len())];
        let run = MadeUp::random(&mut random);
        // Of a disk that was full from the start there is nothing to damage.
        if plant(trouble, run, &mut random, &path) && !files(&path).is_empty() {
            tried += 1;
            for _ in 0..COPIES {
                let (file, kept) = damage(&path, &mut random);
                match outcome(&path) {
                    Some(outcome) => {
                        assert_ne!(outcome, Outcome::Passed, "{trouble:?}, {file:?}");
                        judged += 1;
                    }
                    None => refused += 1,
                }
                fs::write(file, kept).unwrap();
            }
        }
        let _ = fs::remove_dir_all(&path);
    }
    println!("planted: {judged} damaged runs judged, none passed; {refused} refused");
    // Nearly all are refused: their files have digests.
    assert_eq!(judged + refused, runs * COPIES);
}

fn outcome(path: &Path) -> Option<Outcome> {
    let run = Run::open(path).ok()?;
    Some(Assessment::new(&run).ok()?.outcome)
}

fn files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file());
    files.sort();
    files
}

/// Damages one file; which, and its bytes before.
fn damage(path: &Path, random: &mut Random) -> (PathBuf, Vec<u8>) {
    let mut files = files(path);
    let file = files.swap_remove(random.below(files.len()));
    let kept = fs::read(&file).unwrap();
    let mut bytes = kept.clone();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(4) {
            0 => bytes.truncate(at),
            1 => {
                let to = (at + random.below(64)).min(bytes.len());
                bytes.drain(at..to);
            }
            2 if at < bytes.len() => bytes[at] = b"0123456789\"{}[],:-\n\0"[random.below(20)],
            _ if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            _ => bytes.push(0),
        }
    }
    fs::write(&file, bytes).unwrap();
    (file, kept)
}

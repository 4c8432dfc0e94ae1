//! A pipe, a device, a link or a file of holes in one run's directory: no verb hangs or fills the memory,
//! and the other runs are shown as ever.

use super::runs::{NAMES, with_runs};
use crate::started::binary;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

wakepath_test_program::tests![
    what_lies_in_one_run_s_place_keeps_no_verb_busy,
    a_timeline_replaces_a_link_and_does_not_follow_it,
];

/// Files that are read of a run, whole or in pieces.
const FILES: [&str; 8] = [
    "answer.json",
    "explanation.json",
    "overheads.json",
    "manifest.json",
    "samples.parquet",
    "samples.log",
    "segment-0.events",
    "stacks.json",
];

fn plant(what: &str, path: &Path) {
    let _ = std::fs::remove_file(path);
    match what {
        "a pipe" => {
            let rights = rustix::fs::Mode::from_raw_mode(0o644);
            rustix::fs::mkfifoat(rustix::fs::CWD, path, rights).unwrap();
        }
        "a device" => symlink("/dev/zero", path).unwrap(),
        _ => File::create(path).unwrap().set_len(1 << 40).unwrap(),
    }
}

/// With little memory, and not for long.
fn bounded(place: &Path, words: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", "ulimit -v 2000000; exec timeout 20 \"$0\" \"$@\""])
        .arg(binary())
        .args(words)
        .current_dir(place)
        .output()
        .unwrap()
}

fn what_lies_in_one_run_s_place_keeps_no_verb_busy() {
    for what in ["a pipe", "a device", "holes"] {
        for file in FILES {
            let place = with_runs();
            let bad = place.path().join("wakepath-runs").join(NAMES[0]);
            plant(what, &bad.join(file));
            let listed = bounded(place.path(), &["runs"]);
            let said = String::from_utf8_lossy(&listed.stdout).into_owned();
            assert_eq!(
                listed.status.code(),
                Some(0),
                "{what} as {file}: {listed:?}"
            );
            for name in NAMES {
                assert!(said.contains(name), "{what} as {file}: {said}");
            }
            for verb in ["show", "report", "explain"] {
                let ended = bounded(place.path(), &[verb, NAMES[0]]);
                let code = ended.status.code();
                assert!(
                    code.is_some_and(|code| code < 4),
                    "{verb}, {what} as {file}: {ended:?}"
                );
            }
        }
    }
}

fn a_timeline_replaces_a_link_and_does_not_follow_it() {
    let place = with_runs();
    let (theirs, timeline) = (place.path().join("theirs"), place.path().join("timeline"));
    std::fs::write(&theirs, "theirs").unwrap();
    symlink(&theirs, &timeline).unwrap();
    bounded(
        place.path(),
        &["explain", NAMES[0], "--perfetto", "timeline"],
    );
    assert_eq!(std::fs::read(&theirs).unwrap(), b"theirs");
}

//! `tune apply` killed while it changes a tree of settings, and taken back. The tests of the crate `tuning`
//! change and compare this machine's own settings, on request.

use super::{Moments, Traces};
use crate::started::{Place, Start};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

wakepath_test_program::tests![
    ;
    settings_are_as_before_after_a_kill_and_a_revert,
];

const KILLS: u32 = 40;

/// The plan's changes on a machine of two CPUs.
const TREE: &[(&str, &str)] = &[
    ("proc/sys/kernel/random/boot_id", "0123"),
    ("proc/sys/kernel/osrelease", "6.6.1"),
    ("sys/devices/system/cpu/online", "0-1"),
    ("sys/devices/system/cpu/isolated", ""),
    ("sys/devices/virtual/workqueue/cpumask", "3"),
    ("proc/irq/default_smp_affinity", "3"),
    ("proc/irq/36/smp_affinity_list", "0-1"),
    ("proc/irq/36/effective_affinity_list", "1"),
    (
        "proc/interrupts",
        "  CPU0 CPU1\n 36: 1 2 PCI-MSIX 1-edge eth0\n",
    ),
    ("proc/sys/vm/stat_interval", "1"),
    ("proc/sys/vm/compact_unevictable_allowed", "1"),
    ("proc/sys/kernel/timer_migration", "1"),
    ("proc/sys/kernel/watchdog_cpumask", "0-1"),
];

/// A machine's settings in a folder.
pub fn tree(root: &Path) {
    for (path, content) in TREE {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

/// Every file of the tree but the journal's.
pub fn files(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path == root.join("run") => {}
                true => open.push(path),
                false => {
                    let text = std::fs::read_to_string(&path).unwrap();
                    found.insert(path, text.trim().to_owned());
                }
            }
        }
    }
    found
}

fn apply(root: &Path) -> Start {
    let words = [
        "tune", "apply", "--yes", "--rate", "250Hz", "--cpu", "1", "--root",
    ];
    Start::command_in(Place::new(), &words).with(&[root])
}

// Ignored: the stage `kills` of ./test --deep runs it: minutes.
fn settings_are_as_before_after_a_kill_and_a_revert() {
    let place = Place::new();
    let root = place.path().join("tree");
    tree(&root);
    let before = files(&root);
    let traces = Traces::now();
    let begun = Instant::now();
    let whole = apply(&root).finish();
    let longest = begun.elapsed();
    assert!(matches!(whole.code(), Some(0 | 3)), "{}", whole.said());
    assert_ne!(files(&root), before, "{}", whole.said());
    let revert = || {
        Start::command(&["tune", "revert", "--root"])
            .with(&[&root])
            .finish()
    };
    let reverted = revert();
    assert_eq!(files(&root), before, "{}", reverted.said());
    let mut moments = Moments::new(4);
    let (mut killed, mut changed) = (0, 0);
    for attempt in 0.. {
        if killed == KILLS {
            break;
        }
        assert!(attempt < 10 * KILLS, "it is hardly ever there to be killed");
        let mut running = apply(&root).start();
        std::thread::sleep(moments.next(longest.max(Duration::from_millis(5))));
        // One that has ended is no longer ours to kill: its number may be another's by now.
        let struck = !running.has_ended();
        if struck {
            running.signal(Signal::KILL);
        }
        running.finish();
        // Only an ordinary file can be caught between its truncation and its writing; a kernel setting
        // can't, and its previous value would be unknown.
        let now = files(&root);
        let is_cut_short =
            |(path, text): (&PathBuf, &String)| text.is_empty() && before.get(path) != Some(text);
        if now.iter().any(is_cut_short) {
            std::fs::remove_dir_all(&root).unwrap();
            tree(&root);
            continue;
        }
        killed += u32::from(struck);
        changed += u32::from(struck && now != before);
        let reverted = revert();
        assert!(
            !reverted.complaints.contains("panicked"),
            "{}",
            reverted.said()
        );
        assert_eq!(files(&root), before, "kill {killed}: {}", reverted.said());
    }
    traces.assert_unchanged("tune apply");
    println!(
        "\nkills: tune apply: {killed} kills, {changed} of them with settings already changed; all as \
         before after a revert"
    );
}

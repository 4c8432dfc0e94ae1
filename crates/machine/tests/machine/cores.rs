//! Real-time cores, recognised by their files in prepared trees.

use std::fs;
use std::path::PathBuf;
use wakepath_machine::{Facts, Root, Topic};
use wakepath_timeline::Policy;

wakepath_test_program::tests![
    a_machine_without_cores_says_nothing_of_any,
    evl_is_told_with_its_abi_its_gravity_and_who_may_enter,
    cobalt_and_litmus_are_told_by_their_own_files,
    files_of_a_core_that_can_t_be_understood_are_said_to_be_so,
    another_gravity_is_a_serious_change,
    a_policy_of_litmus_is_refused_where_the_core_would_refuse_it,
    a_policy_whose_core_is_missing_unknown_or_stopped_is_refused_in_one_line,
];

const EVL: &[(&str, &str)] = &[
    ("dev/evl/control", ""),
    ("sys/devices/virtual/evl/control/abi", "32\n"),
    ("sys/devices/virtual/evl/control/state", "running\n"),
    ("sys/devices/virtual/evl/control/cpus", "0-1\n"),
    (
        "sys/devices/virtual/clock/monotonic/gravity",
        "0i 2000k 3449u\n",
    ),
];

const COBALT: &[(&str, &str)] = &[
    ("proc/xenomai/version", "3.2.7\n"),
    (
        "proc/xenomai/clock/coreclk",
        "gravity: irq=50 kernel=1020 user=1021\ndevices: timer=lapic-deadline, clock=tsc\n",
    ),
];

/// A tree of files, removed at its end.
struct Tree(PathBuf);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("wakepath-cores-{}-{number}", std::process::id());
        let new = Self(std::env::temp_dir().join(name));
        for (path, text) in files {
            let path = new.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        new
    }

    fn facts(&self) -> Facts {
        Facts::read(&Root::at(&self.0))
    }

    fn lines(&self) -> Vec<String> {
        let summary = self.facts().summary().into_iter();
        let cores = summary.filter(|line| line.topic == Topic::Core);
        cores.map(|line| line.text).collect()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn a_machine_without_cores_says_nothing_of_any() {
    let tree = Tree::new(&[("proc/version", "Linux version 6.1.0\n")]);
    assert!(tree.facts().varying.cores.is_empty());
    assert!(tree.lines().is_empty());
}

fn evl_is_told_with_its_abi_its_gravity_and_who_may_enter() {
    let tree = Tree::new(EVL);
    assert_eq!(
        tree.lines(),
        ["EVL, ABI 32, running, on CPU 0-1; timer gravity 3449 ns; usable by this user"]
    );
    let written = serde_json::to_string(&tree.facts()).unwrap();
    let read: Facts = serde_json::from_str(&written).unwrap();
    assert_eq!(read.varying.cores, tree.facts().varying.cores);
}

fn cobalt_and_litmus_are_told_by_their_own_files() {
    let tree = Tree::new(&[
        COBALT[0],
        COBALT[1],
        ("proc/litmus/active_plugin", "P-FP\n"),
        ("proc/litmus/plugins/loaded", "PSN-EDF\nP-FP\nLinux\n"),
        ("proc/litmus/release_master", "NO_CPU\n"),
        ("proc/litmus/plugins/C-EDF/cluster", "L2\n"),
    ]);
    let lines = tree.lines();
    assert_eq!(
        lines[0],
        "Xenomai Cobalt 3.2.7; timer gravity 1021 ns; access absent (/proc/self/status)"
    );
    assert_eq!(
        lines[1],
        "LITMUS^RT, plugin P-FP (loaded: PSN-EDF, P-FP, Linux), release master NO_CPU; \
         access absent (/dev/litmus/ctrl)"
    );
}

fn files_of_a_core_that_can_t_be_understood_are_said_to_be_so() {
    let tree = Tree::new(&[
        ("dev/evl/control", ""),
        ("sys/devices/virtual/evl/control/abi", "newest\n"),
        ("sys/devices/virtual/clock/monotonic/gravity", "none\n"),
    ]);
    let line = &tree.lines()[0];
    assert!(line.contains("ABI not understood"), "{line}");
    assert!(line.contains("gravity not understood"), "{line}");
}

fn another_gravity_is_a_serious_change() {
    let before = Tree::new(EVL).facts();
    let mut files = EVL.to_vec();
    files[4].1 = "0i 2000k 1000u\n";
    let after = Tree::new(&files).facts();
    let changes = after.changes_since(&before);
    let change = changes.iter().find(|c| c.what.contains("gravity"));
    let change = change.expect("the gravity has changed");
    assert_eq!((&*change.before, &*change.after), ("3449", "1000"));
}

fn a_policy_of_litmus_is_refused_where_the_core_would_refuse_it() {
    const FILES: &[(&str, &str)] = &[
        ("proc/litmus/active_plugin", "P-FP\n"),
        (
            "proc/litmus/plugins/loaded",
            "C-EDF\nPSN-EDF\nP-FP\nLinux\n",
        ),
        ("proc/litmus/release_master", "0\n"),
        ("dev/litmus/ctrl", ""),
    ];
    let task = wakepath_timeline::LitmusTask::default();
    let first = |partition| Policy::LitmusPFp {
        priority: 10,
        partition,
        task,
    };
    let edf = Policy::LitmusPsnEdf {
        partition: None,
        task,
    };
    let asked = |files: &[(&str, &str)], policy, cpus: &[u16], may_switch| {
        let cores = Tree::new(files).facts().varying.cores;
        let refusal = cores.litmus_refusal(policy, cpus, may_switch);
        assert!(refusal.as_ref().is_none_or(|line| !line.contains('\n')));
        refusal
    };
    assert_eq!(asked(FILES, first(None), &[1], false), None);
    let other = asked(FILES, edf, &[1], false).unwrap();
    assert!(other.contains("active plugin is P-FP") && other.contains("--switch-plugin"));
    assert_eq!(asked(FILES, edf, &[1], true), None);
    for refusal in [
        asked(FILES, first(Some(0)), &[0, 1], false),
        asked(FILES, first(None), &[0], false),
    ] {
        assert!(
            refusal
                .unwrap()
                .contains("CPU 0 is LITMUS^RT's release master")
        );
    }
    let global = Policy::LitmusGsnEdf { task };
    let without = asked(FILES, global, &[1], true).unwrap();
    assert!(without.contains("built without GSN-EDF"), "{without}");
    let missing = asked(&[], first(None), &[1], true).unwrap();
    assert!(missing.contains("no LITMUS^RT") && missing.contains("measure FIFO 90"));
    assert_eq!(
        asked(FILES, Policy::Fifo { priority: 1 }, &[0], false),
        None
    );
}

fn a_policy_whose_core_is_missing_unknown_or_stopped_is_refused_in_one_line() {
    let asked = |files: &[(&str, &str)], policy| {
        let refusal = Tree::new(files).facts().varying.cores.refusal(policy);
        assert!(refusal.as_ref().is_none_or(|line| !line.contains('\n')));
        refusal
    };
    let (evl, linux) = (
        Policy::EvlFifo { priority: 80 },
        Policy::Fifo { priority: 80 },
    );
    assert_eq!(asked(EVL, evl), None);
    assert_eq!(asked(&[], linux), None);
    let missing = asked(&[], evl).unwrap();
    assert!(missing.contains("no EVL core") && missing.contains("measure FIFO 80"));
    let changed = |path: &'static str, text: &'static str| {
        let files = EVL.iter().filter(|(other, _)| *other != path);
        files.copied().chain([(path, text)]).collect::<Vec<_>>()
    };
    let unknown = asked(&changed("sys/devices/virtual/evl/control/abi", "33\n"), evl);
    assert!(unknown.unwrap().contains("ABI 33"));
    let stopped = changed("sys/devices/virtual/evl/control/state", "stopped\n");
    assert!(asked(&stopped, evl).unwrap().contains("core is stopped"));

    let cobalt = Policy::CobaltFifo { priority: 80 };
    assert_eq!(asked(COBALT, cobalt), None);
    // One core is not the other.
    assert!(asked(EVL, cobalt).unwrap().contains("no Cobalt core"));
    assert!(asked(COBALT, evl).unwrap().contains("no EVL core"));
    let of_nobody = (
        "proc/self/status",
        "Gid:\t7\t7\t7\t7\nGroups:\t8\nCapEff:\t0\n",
    );
    let closed: Vec<_> = COBALT.iter().copied().chain([of_nobody]).collect();
    assert!(
        asked(&closed, cobalt)
            .unwrap()
            .contains("may not enter the Cobalt core")
    );
    let group = ("sys/module/xenomai/parameters/allowed_group", "8\n");
    let in_it: Vec<_> = closed.into_iter().chain([group]).collect();
    assert_eq!(asked(&in_it, cobalt), None);
}

//! `kill -9` after every step of an application, then `revert`: the settings must be as before.
//!
//! Always on a tree of files; on this machine, with its real settings, only on request.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use wakepath_machine::Root;
use wakepath_readiness::{Inspection, InterruptLines, LoopAtHand, Processes, Report};
use wakepath_test_program::not_run;
use wakepath_tuning::{Event, Options, Plan, Step, System, apply, revert, revert_when_free};

wakepath_test_program::tests![
    applies_and_is_killed_when_told,
    a_tree_is_as_before_after_a_kill_at_every_step_and_a_revert,
    a_revert_waits_while_the_journal_is_locked,
    what_somebody_else_changed_meanwhile_is_left_and_told,
    a_change_that_fails_takes_back_those_before_it,
    a_step_whose_file_can_t_be_opened_is_skipped_and_named,
    a_journal_that_a_link_stands_for_or_others_may_write_is_refused,
    a_last_line_that_was_cut_off_counts_as_not_written,
    a_journal_of_another_boot_restores_nothing,
    a_journal_that_somebody_wrote_in_reaches_no_other_file,
    a_journal_below_a_directory_that_everybody_writes_is_refused,
    this_machine_is_as_before_after_a_kill_at_every_step_and_a_revert,
];

const WHERE: &str = "WAKEPATH_TUNING_TEST_ROOT";
const WHEN: &str = "WAKEPATH_TUNING_TEST_KILL_AT";
const THIS_MACHINE: &str = "WAKEPATH_TUNE_THIS_MACHINE";

fn steps(root: Root, cpu: u16) -> Vec<Step> {
    let subject = LoopAtHand {
        period_ns: 4_000_000,
        latency_ns: Some(400_000),
        cpus: [cpu].into_iter().collect(),
        priority: Some(80),
        program: None,
    };
    let seen = Inspection::read(root, subject, Duration::ZERO);
    let report = Report::new(&seen);
    let options = Options {
        no_throttling: true,
    };
    let mut steps = Plan::new(&seen, &report, options).now;
    // A test must not move or pause the host's programs: `programs` tests that with its own
    // programs, and the laboratory in its guests.
    steps.retain(|step| !["rivals", "cpusets", "partition"].contains(&step.id.as_str()));
    steps
}

/// A tree with the settings of a plan on a machine with two CPUs. Without control groups: the
/// kernel fills a new group's directory, but a tree's stays empty.
fn tree() -> tempfile::TempDir {
    let files = [
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
        ("proc/sys/kernel/sched_rt_runtime_us", "950000"),
        ("proc/sys/kernel/sched_rt_period_us", "1000000"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always"),
    ];
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    directory
}

/// Every file of a tree but the journal.
fn files(directory: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path == directory.join("run") {
                continue;
            }
            if path.is_dir() {
                found.insert(path.clone(), "directory".into());
                open.push(path);
            } else {
                let text = std::fs::read_to_string(&path).unwrap();
                found.insert(path, text.trim().to_owned());
            }
        }
    }
    found
}

/// The part that is killed; run as an ordinary test it does nothing.
fn applies_and_is_killed_when_told() {
    let Some(root) = std::env::var_os(WHERE) else {
        return;
    };
    let at: usize = std::env::var(WHEN).unwrap().parse().unwrap();
    let (system, steps) = if root == "/" {
        (System::host(), steps(Root::host(), 1))
    } else {
        (System::at(&root), steps(Root::at(&root), 1))
    };
    let mut events = 0;
    let mut watch = |_: Event| {
        if events == at {
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
        }
        events += 1;
    };
    apply(&steps, &system, &mut watch).unwrap();
    println!("events: {events}");
}

/// Applies in a separate process that is killed at this event; returns whether it lived to its end.
fn killed_at(root: &Path, event: usize) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::applies_and_is_killed_when_told",
            "--nocapture",
        ])
        .env(WHERE, root)
        .env(WHEN, event.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(
            output.status.signal(),
            Some(9),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    output.status.success()
}

fn a_tree_is_as_before_after_a_kill_at_every_step_and_a_revert() {
    let directory = tree();
    let system = System::at(directory.path());
    let before = files(directory.path());
    let mut event = 0;
    while !killed_at(directory.path(), event) {
        revert(&system).unwrap();
        assert_eq!(files(directory.path()), before, "killed at event {event}");
        event += 1;
    }
    assert!(event > 20, "{event}");
    // Applied to its end this time.
    assert_ne!(files(directory.path()), before);
    assert!(revert(&system).unwrap().unwrap().left.is_empty());
    assert_eq!(files(directory.path()), before);
}

fn a_revert_waits_while_the_journal_is_locked() {
    let directory = tree();
    let system = System::at(directory.path());
    let before = files(directory.path());
    let steps = steps(Root::at(directory.path()), 1);
    let reverted = std::thread::scope(|scope| {
        let mut waiting = None;
        let mut begin_waiting = |_| {
            // The journal is locked while this runs.
            if waiting.is_none() {
                let error = revert(&system).unwrap_err().to_string();
                assert!(error.contains("another wakepath is tuning"), "{error}");
                waiting = Some(scope.spawn(|| revert_when_free(&system)));
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        apply(&steps, &system, &mut begin_waiting).unwrap();
        waiting.unwrap().join().unwrap()
    });
    assert!(reverted.unwrap().unwrap().left.is_empty());
    assert_eq!(files(directory.path()), before);
}

fn what_somebody_else_changed_meanwhile_is_left_and_told() {
    let directory = tree();
    let system = System::at(directory.path());
    let steps = steps(Root::at(directory.path()), 1);
    apply(&steps, &system, &mut |_| {}).unwrap();
    let file = directory.path().join("proc/sys/vm/stat_interval");
    std::fs::write(&file, "5").unwrap();
    let reverted = revert(&system).unwrap().unwrap();
    assert_eq!(reverted.left.len(), 1);
    assert!(
        reverted.left[0]
            .why
            .contains("set to 5 by another program since")
    );
    assert_eq!(std::fs::read_to_string(file).unwrap(), "5");
    assert!(revert(&system).unwrap().is_none());
}

fn a_change_that_fails_takes_back_those_before_it() {
    let directory = tree();
    let system = System::at(directory.path());
    let before = files(directory.path());
    let mut steps = steps(Root::at(directory.path()), 1);
    let missing = wakepath_tuning::Action::write("/proc/sys/kernel/no_such_thing", "1");
    steps.last_mut().unwrap().actions.push(missing);
    let error = apply(&steps, &system, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("all earlier changes were undone"), "{error}");
    assert_eq!(files(directory.path()), before);
}

fn a_step_whose_file_can_t_be_opened_is_skipped_and_named() {
    let directory = tree();
    let system = System::at(directory.path());
    let before = files(directory.path());
    let mut steps = steps(Root::at(directory.path()), 1);
    // Root can open every file in a tree, so a link is used as one that can't be opened.
    let closed = directory.path().join("sys/kernel/closed");
    std::os::unix::fs::symlink("mm/transparent_hugepage/enabled", &closed).unwrap();
    let skipped = steps[0].id.clone();
    let action = wakepath_tuning::Action::write("/sys/kernel/closed", "1");
    steps[0].actions.push(action);
    let applied = apply(&steps, &system, &mut |_| {}).unwrap();
    assert_eq!(applied.skipped.len(), 1);
    assert_eq!(applied.skipped[0].step, skipped);
    assert!(applied.skipped[0].why.contains("/sys/kernel/closed"));
    assert!(applied.changed > 0, "the others are carried out");
    revert(&system).unwrap().unwrap();
    std::fs::remove_file(closed).unwrap();
    assert_eq!(files(directory.path()), before);
}

fn a_journal_that_a_link_stands_for_or_others_may_write_is_refused() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = tree();
    let system = System::at(directory.path());
    let steps = steps(Root::at(directory.path()), 1);
    let before = files(directory.path());
    let run = directory.path().join("run");
    std::fs::create_dir(&run).unwrap();
    symlink("/tmp", run.join("wakepath")).unwrap();
    let error = apply(&steps, &system, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("a link or no directory"), "{error}");
    std::fs::remove_file(run.join("wakepath")).unwrap();

    std::fs::create_dir(run.join("wakepath")).unwrap();
    let rights = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(run.join("wakepath"), rights).unwrap();
    let error = apply(&steps, &system, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("closed to others (700)"), "{error}");

    let rights = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(run.join("wakepath"), rights).unwrap();
    symlink("/etc/passwd", run.join("wakepath/journal")).unwrap();
    assert!(apply(&steps, &system, &mut |_| {}).is_err());
    std::fs::remove_file(run.join("wakepath/journal")).unwrap();
    assert_eq!(files(directory.path()), before);
    apply(&steps, &system, &mut |_| {}).unwrap();
    // A second application would lose the first one's old values.
    let error = apply(&steps, &system, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("wakepath tune revert"), "{error}");
}

fn a_last_line_that_was_cut_off_counts_as_not_written() {
    let directory = tree();
    let system = System::at(directory.path());
    let before = files(directory.path());
    let steps = steps(Root::at(directory.path()), 1);
    apply(&steps, &system, &mut |_| {}).unwrap();
    let path = directory.path().join("run/wakepath/journal");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"entry\":\"intended\",\"numb")).unwrap();
    assert!(revert(&system).unwrap().unwrap().left.is_empty());
    assert_eq!(files(directory.path()), before);
    // Damage before the last line is an error, not skipped.
    apply(&steps, &system, &mut |_| {}).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("intended", "intendet", 1)).unwrap();
    assert!(
        revert(&system)
            .unwrap_err()
            .to_string()
            .contains("line 2 is damaged")
    );
}

fn a_journal_of_another_boot_restores_nothing() {
    let directory = tree();
    let system = System::at(directory.path());
    let steps = steps(Root::at(directory.path()), 1);
    apply(&steps, &system, &mut |_| {}).unwrap();
    let applied = files(directory.path());
    let boot_id = directory.path().join("proc/sys/kernel/random/boot_id");
    std::fs::write(&boot_id, "4567").unwrap();
    let error = revert(&system).unwrap_err().to_string();
    assert!(error.contains("from an earlier boot (0123)"), "{error}");
    std::fs::write(&boot_id, "0123").unwrap();
    assert_eq!(files(directory.path()), applied);
    assert!(revert(&system).unwrap().unwrap().left.is_empty());
}

/// A forged journal is refused, or restores nothing that is not a setting.
fn a_journal_that_somebody_wrote_in_reaches_no_other_file() {
    let directory = tree();
    let system = System::at(directory.path());
    let steps = steps(Root::at(directory.path()), 1);
    let path = directory.path().join("run/wakepath/journal");
    std::fs::create_dir(directory.path().join("etc")).unwrap();
    let victim = directory.path().join("etc/passwd");
    std::fs::write(&victim, "10").unwrap();
    for target in [
        "/etc/passwd",
        "/proc/../etc/passwd",
        "/sys/../../etc/passwd",
    ] {
        apply(&steps, &system, &mut |_| {}).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("/proc/sys/vm/stat_interval", target)).unwrap();
        let reverted = revert(&system).unwrap().unwrap();
        assert_eq!(reverted.left.len(), 1, "{target}: {reverted:?}");
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "10", "{target}");
        std::fs::write(directory.path().join("proc/sys/vm/stat_interval"), "1").unwrap();
    }
    // Lines in another order, left out, or twice.
    apply(&steps, &system, &mut |_| {}).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for (what, lines) in [
        ("no first line", lines[1..].to_vec()),
        ("two first lines", [&lines[..1], &lines[..]].concat()),
        ("a change left out", [&lines[..1], &lines[3..]].concat()),
    ] {
        std::fs::write(&path, format!("{}\n", lines.join("\n"))).unwrap();
        let error = revert(&system).unwrap_err().to_string();
        assert!(error.contains("is damaged"), "{what}: {error}");
    }
    // A second name for it would be cut and written through.
    std::fs::write(&path, &text).unwrap();
    std::fs::hard_link(&path, directory.path().join("etc/second")).unwrap();
    let error = revert(&system).unwrap_err().to_string();
    assert!(
        error.contains("not a regular file with one name"),
        "{error}"
    );
    std::fs::remove_file(directory.path().join("etc/second")).unwrap();
    // A line longer than one read would be cut.
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len((16 << 20) + 1).unwrap();
    let error = revert(&system).unwrap_err().to_string();
    assert!(error.contains("longer than 16 MiB"), "{error}");
    file.set_len(text.len() as u64).unwrap();
    assert!(revert(&system).unwrap().unwrap().left.is_empty());
}

fn a_journal_below_a_directory_that_everybody_writes_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tree();
    let run = directory.path().join("run");
    std::fs::create_dir(&run).unwrap();
    let rights = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&run, rights).unwrap();
    let system = System::at(directory.path());
    let steps = steps(Root::at(directory.path()), 1);
    let error = apply(&steps, &system, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("other users can write in it"), "{error}");
}

/// All settings of a machine that the plan can change.
fn snapshot() -> BTreeMap<String, String> {
    let root = Root::host();
    let mut found = BTreeMap::new();
    let mut file = |path: String| {
        let text = root.text(&path).to_string();
        found.insert(path, text);
    };
    for name in [
        "sched_rt_runtime_us",
        "timer_migration",
        "watchdog_cpumask",
        "numa_balancing",
    ] {
        file(format!("/proc/sys/kernel/{name}"));
    }
    for name in ["stat_interval", "compact_unevictable_allowed"] {
        file(format!("/proc/sys/vm/{name}"));
    }
    for name in ["cpumask", "cpumask_requested", "writeback/cpumask"] {
        file(format!("/sys/devices/virtual/workqueue/{name}"));
    }
    for cpu in 0..2 {
        let cpu = format!("/sys/devices/system/cpu/cpu{cpu}");
        file(format!("{cpu}/power/pm_qos_resume_latency_us"));
    }
    file("/proc/irq/default_smp_affinity".into());
    file("/sys/kernel/mm/transparent_hugepage/enabled".into());
    file("/sys/kernel/rcu_expedited".into());
    for line in InterruptLines::read(&root).lines {
        found.insert(
            format!("interrupt {} {}", line.number, line.action),
            line.requested.to_string(),
        );
    }
    for thread in Processes::read(&root)
        .of_kernel()
        .filter(|thread| !thread.not_movable)
    {
        let allowed = thread.allowed.as_ref().map(ToString::to_string);
        found.insert(
            format!("thread {} {}", thread.pid, thread.name),
            allowed.unwrap_or_default(),
        );
    }
    let groups = root.names("/sys/fs/cgroup/cpuset");
    let groups = groups.known().map(|names| names.join(" "));
    found.insert("cpusets".into(), groups.unwrap_or_default());
    found
}

/// Settings that differ. Kernel threads come and go, so only those present in both count.
fn differences(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let keys = before.keys().chain(after.keys());
    let in_both = |key: &&String| before.contains_key(*key) && after.contains_key(*key);
    keys.filter(|key| !key.starts_with("thread ") || in_both(key))
        .filter(|key| before.get(*key) != after.get(*key))
        .map(|key| format!("{key}: {:?} → {:?}", before.get(key), after.get(key)))
        .collect()
}

fn this_machine_is_as_before_after_a_kill_at_every_step_and_a_revert() {
    if std::env::var_os(THIS_MACHINE).is_none() || !rustix::process::geteuid().is_root() {
        not_run(format!(
            "this changes the settings of this machine for some seconds; as root, with \
             {THIS_MACHINE}=1, it does"
        ));
    }
    let system = System::host();
    let before = snapshot();
    let mut event = 0;
    while !killed_at(Path::new("/"), event) {
        let reverted = revert(&system).unwrap().unwrap();
        assert!(
            reverted.left.is_empty(),
            "killed at event {event}: {:?}",
            reverted.left
        );
        let differences = differences(&before, &snapshot());
        assert!(
            differences.is_empty(),
            "killed at event {event}: {differences:?}"
        );
        event += 1;
    }
    assert!(!differences(&before, &snapshot()).is_empty());
    let reverted = revert(&system).unwrap().unwrap();
    assert!(reverted.left.is_empty(), "{:?}", reverted.left);
    let differences = differences(&before, &snapshot());
    assert!(differences.is_empty(), "{differences:?}");
    println!(
        "killed at {event} events; {} settings compared",
        before.len()
    );
}

//! Traces of tuning in a guest of two CPUs, in which it can change the whole machine: another program reads
//! all of its settings before, during and after.

use super::{Place, lacking, text};
use std::collections::BTreeMap;
use std::path::Path;

wakepath_test_program::tests![
    ;
    after_a_revert_no_setting_and_no_thread_s_cpus_differ_on_an_rt_kernel,
];

/// Folders of settings.
const SETTINGS: &str = "/proc/sys /proc/irq /sys/devices/virtual/workqueue /sys/kernel/mm \
                        /sys/kernel/rcu_expedited /sys/devices/system/cpu /sys/fs/cgroup \
                        /sys/module/printk";

/// Files in them that count or measure, and are no setting; a process's own number and group.
const NO_SETTINGS: [&str; 16] = [
    "/proc/sys/fs/dentry-state",
    "/proc/sys/fs/file-nr",
    "/proc/sys/fs/inode-",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/kernel/pty/nr",
    "/proc/sys/kernel/random/",
    "/spurious",
    "/transparent_hugepage/khugepaged/full_scans",
    "/transparent_hugepage/khugepaged/pages_collapsed",
    "/cpuidle/",
    "/cgroup.procs",
    "/cgroup.threads",
    ".pressure",
    ".stat",
    "_stat",
    // Where the kernel sends an interrupt, within what is set.
    "/effective_affinity",
];

// Ignored: the stage `lab` runs it: half a minute of a CPU.
fn after_a_revert_no_setting_and_no_thread_s_cpus_differ_on_an_rt_kernel() {
    let place = Place::new("tuned");
    let settings = format!("-/bin/grep -rsI '' {SETTINGS}");
    // The main threads of all processes; nothing below them that is not theirs.
    let threads = "-/bin/grep -rsE --include=status --exclude-dir=task --exclude-dir=net \
                   --exclude-dir=fd --exclude-dir=fdinfo --exclude-dir=map_files --exclude-dir=attr \
                   --exclude-dir=sys --exclude-dir=irq '^(Name|Cpus_allowed_list|PPid):' /proc/";
    let mut arguments = vec!["lab", "exec", "--kernel", "debian:rt", "--cpus", "2"];
    arguments.extend(["--directory", "out"]);
    // An interrupt that a driver manages may refuse: exit code 3.
    let apply = "-tune apply --rate 1kHz --cpu 1 --yes";
    for before in [
        &settings,
        threads,
        apply,
        &settings,
        threads,
        "tune revert",
        &settings,
    ] {
        arguments.extend(["--before", before]);
    }
    let last = threads.trim_start_matches('-').split_whitespace();
    let last: Vec<&str> = last.map(|word| word.trim_matches('\'')).collect();
    arguments.push("--");
    arguments.extend(&last);
    let output = place.wakepath(&arguments);
    if let Some(why) = lacking(&output) {
        wakepath_test_program::not_run(why);
    }
    assert!(output.status.success(), "{}", text(&output.stderr));
    let guest = place.0.join("out/debian-rt");
    let read =
        |number: u32| std::fs::read_to_string(guest.join(format!("command-{number}.out"))).unwrap();

    let [before, meanwhile, after] = [1, 4, 7].map(|number| of_settings(&read(number)));
    assert!(before.len() > 500, "{}", before.len());
    let partition = "/sys/fs/cgroup/wakepath/cpuset.cpus.partition";
    assert_eq!(meanwhile[partition], "isolated", "{}", read(3));
    let changed = differences(&before, &meanwhile);
    assert!(changed.len() > 20, "{changed:?}");
    let left = differences(&before, &after);
    assert!(left.is_empty(), "{left:#?}");

    let [before, meanwhile, after] = [2, 5, 8].map(|number| cpus_of_kernel_threads(&read(number)));
    let changed = differences(&before, &meanwhile);
    assert!(changed.len() > 10, "{changed:?}");
    let mut left = differences(&before, &after);
    // A thread of an interrupt that arrived in the meantime is where the kernel sends that interrupt now.
    let effective = read(7);
    left.retain(|thread| !is_where_its_interrupt_is(thread, &after[thread], &effective));
    assert!(left.is_empty(), "{left:#?} of {after:#?}");
    let interrupt_threads = before.keys().filter(|name| name.contains(" irq/"));
    assert!(interrupt_threads.count() >= 4, "{before:#?}");
}

/// Each setting's text, by its file.
fn of_settings(found: &str) -> BTreeMap<String, String> {
    let mut settings: BTreeMap<String, String> = BTreeMap::new();
    for line in found.lines() {
        let Some((file, value)) = line.split_once(':') else {
            continue;
        };
        if !NO_SETTINGS.iter().any(|part| file.contains(part)) {
            let text = settings.entry(file.to_owned()).or_default();
            *text += value;
        }
    }
    settings
}

/// Where each thread of the kernel may run, by its number and name; those of kthreadd (2), without
/// workers, which come and go.
fn cpus_of_kernel_threads(found: &str) -> BTreeMap<String, String> {
    let mut processes: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for line in found.lines() {
        let mut parts = line.splitn(3, ':');
        if let (Some(file), Some(field), Some(value)) = (parts.next(), parts.next(), parts.next()) {
            let process = Path::new(file).parent().unwrap().to_str().unwrap();
            processes
                .entry(process)
                .or_default()
                .insert(field, value.trim());
        }
    }
    let of_kernel = processes
        .into_iter()
        .filter(|(_, fields)| fields.get("PPid") == Some(&"2"))
        .filter(|(_, fields)| !fields["Name"].starts_with("kworker/"));
    of_kernel
        .map(|(process, fields)| {
            let name = format!("{process} {}", fields["Name"]);
            (name, fields["Cpus_allowed_list"].to_owned())
        })
        .collect()
}

/// Names that are in only one of them, or differ between them.
fn differences(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
    names.sort();
    names.dedup();
    let differs = |name: &&String| one.get(*name) != other.get(*name);
    names.into_iter().filter(differs).cloned().collect()
}

fn is_where_its_interrupt_is(thread: &str, cpus: &str, settings: &str) -> bool {
    let number = thread
        .split_once(" irq/")
        .and_then(|(_, rest)| rest.split_once('-'));
    number.is_some_and(|(number, _)| {
        let line = format!("/proc/irq/{number}/effective_affinity_list:{cpus}");
        settings.lines().any(|found| found == line)
    })
}

//! The live machine compared with other sources.
//!
//! Nothing here depends on the machine that runs the tests.

use std::time::{Duration, Instant};
use wakepath_test_program::not_run;

use wakepath_machine::{Facts, Root};

wakepath_test_program::tests![
    the_release_is_the_one_that_uname_reports,
    the_affinity_is_the_one_the_scheduler_reports,
    memory_and_uptime_are_those_the_kernel_reports,
    the_limits_are_those_the_system_call_reports,
    reading_is_quick_and_two_readings_differ_in_no_setting,
    whoever_may_use_fifo_according_to_the_facts_can,
];

fn the_release_is_the_one_that_uname_reports() {
    let facts = Facts::read(&Root::host());
    let uname = rustix::system::uname();
    assert_eq!(
        facts.fixed.kernel.release.known().map(String::as_str),
        uname.release().to_str().ok()
    );
    assert_eq!(
        facts.fixed.kernel.version.known().map(String::as_str),
        uname.version().to_str().ok()
    );
}

fn the_affinity_is_the_one_the_scheduler_reports() {
    let facts = Facts::read(&Root::host());
    let affinity = facts
        .varying
        .process
        .affinity
        .known()
        .expect("affinity")
        .clone();
    // nproc counts this process's CPUs; a quota can make Rust's count smaller.
    let set = rustix::thread::sched_getaffinity(None).expect("sched_getaffinity");
    assert_eq!(affinity.len(), set.count() as usize);
    let online = facts
        .varying
        .cpu_time
        .online
        .known()
        .expect("online CPUs")
        .clone();
    assert!(
        affinity.without(&online).is_empty(),
        "{affinity} of {online}"
    );
    let counted = facts
        .varying
        .cpu_time
        .ticks
        .known()
        .expect("/proc/stat")
        .len();
    assert_eq!(counted, online.len());
}

fn memory_and_uptime_are_those_the_kernel_reports() {
    let facts = Facts::read(&Root::host());
    let info = rustix::system::sysinfo();
    let bytes = info.totalram as u64 * u64::from(info.mem_unit);
    assert_eq!(
        facts.varying.memory.total_kib.known(),
        Some(&(bytes / 1024))
    );
    let uptime = *facts.varying.cpu_time.uptime_ms.known().expect("uptime") as f64 / 1e3;
    assert!((uptime - info.uptime as f64).abs() < 5.0);
}

fn the_limits_are_those_the_system_call_reports() {
    use rustix::process::{Resource, getrlimit};
    use wakepath_machine::Limit;
    let facts = Facts::read(&Root::host());
    let limits = *facts.varying.process.limits.known().expect("limits");
    let expected = |resource| {
        getrlimit(resource)
            .current
            .map_or(Limit::Unlimited, Limit::Of)
    };
    assert_eq!(limits.priority, expected(Resource::Rtprio));
    assert_eq!(limits.nice, expected(Resource::Nice));
    assert_eq!(limits.locked_memory, expected(Resource::Memlock));
}

fn reading_is_quick_and_two_readings_differ_in_no_setting() {
    let first = Facts::read(&Root::host());
    // The best of several: other tests share the machine.
    let mut best = Duration::MAX;
    let mut last = first.clone();
    for _ in 0..5 {
        let start = Instant::now();
        last = Facts::read(&Root::host());
        best = best.min(start.elapsed());
    }
    assert!(best < Duration::from_millis(100), "took {best:?}");
    let serious = |change: &wakepath_machine::Change| {
        change.severity == wakepath_machine::Severity::Serious && !change.what.contains("taken by")
    };
    let changes: Vec<_> = last
        .changes_since(&first)
        .into_iter()
        .filter(serious)
        .collect();
    assert_eq!(changes, []);
}

fn whoever_may_use_fifo_according_to_the_facts_can() {
    // Reference: `chrt` asks the kernel in a separate process.
    let facts = Facts::read(&Root::host());
    let asked = std::process::Command::new("chrt")
        .args(["-f", "1", "true"])
        .output();
    let Ok(output) = asked else {
        not_run("chrt is not installed");
    };
    let privileges = facts.privileges();
    if privileges.filtered {
        not_run("a system call filter may refuse what the rights allow");
    }
    assert_eq!(
        privileges.fifo.is_allowed(),
        output.status.success(),
        "{:?}",
        privileges.fifo
    );
}

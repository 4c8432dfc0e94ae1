//! Placement of timers of a CPU without a tick, on prepared trees.

use std::fs;
use std::path::PathBuf;
use wakepath_machine::{Root, timers_elsewhere};
use wakepath_timeline::CpuSet;

wakepath_test_program::tests![
    a_cpu_without_a_tick_has_its_timers_on_the_housekeeping_cpus,
    timers_stay_where_they_are_armed_otherwise,
];

/// A machine of four CPUs, removed at its end.
struct Machine(PathBuf);

impl Machine {
    fn new(tickless: &str, migration: &str) -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("wakepath-timer-place-{}-{number}", std::process::id());
        let new = Self(std::env::temp_dir().join(name));
        for (path, text) in [
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/system/cpu/nohz_full", tickless),
            ("proc/sys/kernel/timer_migration", migration),
        ] {
            let path = new.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        new
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn elsewhere(tickless: &str, migration: &str, cpus: &str) -> String {
    let machine = Machine::new(tickless, migration);
    let cpus: CpuSet = cpus.parse().unwrap();
    timers_elsewhere(&Root::at(&machine.0), &cpus).to_string()
}

fn a_cpu_without_a_tick_has_its_timers_on_the_housekeeping_cpus() {
    assert_eq!(elsewhere("2-3\n", "1\n", "3"), "0-1");
    // A loop on a housekeeping CPU as well: that one is measured in any case.
    assert_eq!(elsewhere("2-3\n", "1\n", "1,3"), "0");
}

fn timers_stay_where_they_are_armed_otherwise() {
    assert_eq!(elsewhere("2-3\n", "0\n", "3"), "");
    assert_eq!(elsewhere("2-3\n", "1\n", "1"), "");
    // A kernel that supports it without the parameter, and one that doesn't support it.
    assert_eq!(elsewhere("(null)\n", "1\n", "1"), "");
    assert_eq!(elsewhere("\n", "1\n", "1"), "");
}

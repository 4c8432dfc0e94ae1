//! Changes of the machine during a run that count, and those that don't.

use wakepath_machine::{
    Change, ClockReadings, Facts, MemoryActivity, MemoryLimitHits, Reading, Root, Severity,
};

wakepath_test_program::tests![
    a_clock_rate_that_moves_within_its_bounds_is_no_change,
    a_governor_or_a_bound_that_changes_is_serious,
    a_cpu_that_goes_off_line_is_serious,
    a_fan_that_starts_is_noted_and_throttling_warns,
    a_quota_that_was_used_up_is_serious_and_names_its_group,
    a_memory_limit_that_was_reached_is_a_warning_and_names_its_file,
    stolen_time_is_given_in_ticks_and_as_a_share,
    a_counter_that_went_backwards_says_nothing,
    pages_read_back_from_swap_are_a_warning,
    a_stepped_wall_clock_is_reported_and_a_slewed_or_suspended_one_is_not_taken_for_it,
    another_boot_is_one_change_and_not_a_hundred,
    a_setting_that_vanishes_is_a_change_and_one_never_read_is_not,
    the_most_severe_change_comes_first,
    idle_states_and_limits_are_compared_on_the_cpus_that_are_in_both,
];

fn machine(name: &str) -> Facts {
    Facts::read(&Root::at(format!(
        "{}/../../fixtures/machines/{name}",
        env!("CARGO_MANIFEST_DIR")
    )))
}

fn set<T>(reading: &mut Reading<T>, change: impl FnOnce(&mut T)) {
    match reading {
        Reading::Known { value, .. } => change(value),
        _ => panic!("not known"),
    }
}

/// The only change between a machine and the same one after `edit`.
fn only_change(name: &str, edit: impl FnOnce(&mut Facts)) -> Change {
    let before = machine(name);
    let mut after = before.clone();
    edit(&mut after);
    let mut changes = after.changes_since(&before);
    assert_eq!(changes.len(), 1, "{changes:?}");
    changes.remove(0)
}

fn a_clock_rate_that_moves_within_its_bounds_is_no_change() {
    let before = machine("raspberry-pi-5");
    let mut after = before.clone();
    set(
        &mut after.varying.frequency.policies[0].current_khz,
        |khz| *khz = 2_400_000,
    );
    assert_eq!(after.changes_since(&before), []);
}

fn a_governor_or_a_bound_that_changes_is_serious() {
    let change = only_change("raspberry-pi-5", |facts| {
        let policy = &mut facts.varying.frequency.policies[0];
        set(&mut policy.governor, |name| {
            *name = "performance".to_owned()
        });
    });
    assert_eq!(change.what, "governor of CPUs 0-3");
    assert_eq!(
        (change.before.as_str(), change.after.as_str()),
        ("ondemand", "performance")
    );
    assert_eq!(
        change.path,
        "/sys/devices/system/cpu/cpufreq/policy0/scaling_governor"
    );
    assert_eq!(change.severity, Severity::Serious);
    let bound = only_change("raspberry-pi-5", |facts| {
        set(
            &mut facts.varying.frequency.policies[0].maximum_khz,
            |khz| *khz = 1_500_000,
        );
    });
    assert_eq!(bound.severity, Severity::Serious);
}

fn a_cpu_that_goes_off_line_is_serious() {
    let change = only_change("raspberry-pi-5", |facts| {
        set(&mut facts.varying.cpu_time.online, |list| {
            *list = "0-2".parse().unwrap()
        });
    });
    assert_eq!(
        (change.before.as_str(), change.after.as_str()),
        ("0-3", "0-2")
    );
    assert_eq!(change.severity, Severity::Serious);
}

fn a_fan_that_starts_is_noted_and_throttling_warns() {
    let fan = only_change("jetson-orin-nano", |facts| {
        set(&mut facts.varying.cooling.devices[0].state, |state| {
            *state = 5
        });
    });
    assert_eq!(fan.severity, Severity::Note);
    let slowed = only_change("jetson-orin-nano", |facts| {
        set(&mut facts.varying.cooling.devices[1].state, |state| {
            *state = 7
        });
    });
    assert_eq!(slowed.severity, Severity::Warning);
    let counted = only_change("fedora-desktop", |facts| {
        set(
            &mut facts.varying.cooling.heat_throttling[2].core,
            |count| *count += 1,
        );
    });
    assert_eq!(
        (counted.before.as_str(), counted.after.as_str()),
        ("3", "4")
    );
}

fn a_quota_that_was_used_up_is_serious_and_names_its_group() {
    let change = only_change("fedora-desktop", |facts| {
        let counts = &mut facts.varying.cgroup.throttled[0].since_made;
        counts.times += 60;
        counts.stopped_us += 2_300_000;
    });
    assert_eq!(change.severity, Severity::Serious);
    assert!(
        change
            .what
            .ends_with("/app.slice/run.scope ran into its CPU quota"),
        "{}",
        change.what
    );
    assert_eq!(change.after, "60 times, 2300000 µs in all");
    assert!(change.path.ends_with("/cpu.max"), "{}", change.path);
}

fn a_memory_limit_that_was_reached_is_a_warning_and_names_its_file() {
    let file = "/sys/fs/cgroup/robot/memory.events";
    let hits = |max| Reading::found(MemoryLimitHits { high: 0, max }, file);
    let mut before = machine("fedora-desktop");
    before.varying.cgroup.memory_limit_hits = hits(3);
    let mut after = before.clone();
    after.varying.cgroup.memory_limit_hits = hits(8);
    let changes = after.changes_since(&before);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(changes[0].severity, Severity::Warning);
    assert_eq!(
        (changes[0].path.as_str(), changes[0].after.as_str()),
        (file, "8")
    );
}

fn stolen_time_is_given_in_ticks_and_as_a_share() {
    let change = only_change("raspberry-pi-5", |facts| {
        set(&mut facts.varying.cpu_time.ticks, |cpus| {
            cpus[1].steal += 5;
            cpus[0].idle += 95;
        });
    });
    assert_eq!(change.after, "5 ticks of 10 ms, 5 % of all CPU time");
    assert_eq!(change.severity, Severity::Serious);
}

fn a_counter_that_went_backwards_says_nothing() {
    let before = machine("fedora-desktop");
    let mut after = before.clone();
    set(&mut after.varying.cpu_time.ticks, |cpus| cpus[0].steal = 0);
    set(&mut after.varying.memory.activity, |counts| {
        *counts = MemoryActivity::default()
    });
    set(
        &mut after.varying.cooling.heat_throttling[0].core,
        |count| *count = 0,
    );
    assert_eq!(after.changes_since(&before), []);
}

fn pages_read_back_from_swap_are_a_warning() {
    let change = only_change("fedora-desktop", |facts| {
        set(&mut facts.varying.memory.activity, |counts| {
            counts.swapped_in += 3
        });
    });
    assert_eq!(
        (change.before.as_str(), change.after.as_str()),
        ("120", "123")
    );
}

fn a_stepped_wall_clock_is_reported_and_a_slewed_or_suspended_one_is_not_taken_for_it() {
    let second = 1_000_000_000;
    let start = ClockReadings {
        wall_ns: 7 * second,
        monotonic_ns: 5,
        boot_ns: 5,
    };
    let mut before = machine("raspberry-pi-5");
    before.varying.clocks = Some(start);
    let after = |wall_extra: i64, slept: i64| {
        let mut after = before.clone();
        let hour = 3600 * second;
        after.varying.clocks = Some(ClockReadings {
            wall_ns: start.wall_ns + hour + slept + wall_extra,
            monotonic_ns: start.monotonic_ns + hour as u64,
            boot_ns: start.boot_ns + (hour + slept) as u64,
        });
        after.changes_since(&before)
    };
    assert_eq!(after(0, 0), []);
    // 400 ppm for an hour is 1.44 s of slewing.
    assert_eq!(after(1_440_000_000, 0), []);
    let stepped = after(-2_000_000_000, 0);
    assert_eq!(stepped[0].after, "-2.000 s");
    let suspended = after(0, 9 * second);
    assert_eq!(suspended.len(), 1);
    assert_eq!(suspended[0].what, "the machine was suspended");
}

fn another_boot_is_one_change_and_not_a_hundred() {
    let change = only_change("fedora-desktop", |facts| {
        set(&mut facts.fixed.kernel.boot_id, |id| {
            *id = "another".to_owned()
        });
        set(&mut facts.varying.cpu_time.ticks, |cpus| cpus[0].steal = 99);
    });
    assert_eq!(change.what, "the machine was rebooted");
}

fn a_setting_that_vanishes_is_a_change_and_one_never_read_is_not() {
    let vanished = only_change("fedora-desktop", |facts| {
        let path = "/sys/kernel/sched_ext/state".to_owned();
        facts.varying.real_time.extension_state = Reading::Absent { path };
    });
    assert!(vanished.after.contains("absent"));
    let before = machine("fedora-desktop");
    let mut after = before.clone();
    after.varying.real_time.extension_state = Reading::NotRead;
    assert_eq!(after.changes_since(&before), []);
}

fn the_most_severe_change_comes_first() {
    let before = machine("jetson-orin-nano");
    let mut after = before.clone();
    set(&mut after.varying.cooling.devices[0].state, |state| {
        *state = 5
    });
    set(&mut after.varying.latency_request.bound_us, |bound| {
        *bound = 2_000_000_000
    });
    let changes = after.changes_since(&before);
    assert_eq!(changes[0].what, "requested wake-up latency bound");
    assert_eq!(
        (changes[0].before.as_str(), changes[0].after.as_str()),
        ("0 µs", "no bound")
    );
    assert_eq!(changes[1].severity, Severity::Note);
}

fn idle_states_and_limits_are_compared_on_the_cpus_that_are_in_both() {
    let change = only_change("fedora-desktop", |facts| {
        set(&mut facts.varying.idle.groups, |groups| {
            groups[0].states[5].disabled = true
        });
    });
    assert_eq!(change.what, "idle states of CPUs 0-3");
    assert_eq!(change.before, "POLL C1 C1E C3 C6 C7s");
    assert_eq!(change.after, "POLL C1 C1E C3 C6");
    let limit = only_change("fedora-desktop", |facts| {
        set(&mut facts.varying.idle.resume_latency[0].limit, |text| {
            *text = "n/a".to_owned()
        });
    });
    assert_eq!((limit.before.as_str(), limit.after.as_str()), ("0", "n/a"));
    let before = machine("fedora-desktop");
    let mut after = before.clone();
    set(&mut after.varying.idle.groups, |groups| {
        groups[0].cpus = "0-2".parse().unwrap()
    });
    after.varying.idle.resume_latency[0].cpus = "0-2".parse().unwrap();
    assert_eq!(after.changes_since(&before), []);
}

//! Known values of the trees in `fixtures/machines`.

use wakepath_machine::{
    CacheSizes, CgroupLayout, CpuThrottling, Facts, Permission, PreemptionModel, Reading, Root,
    Standing, SummaryLine, Topic, VirtualisedBy,
};

wakepath_test_program::tests![
    the_virtual_machine_is_recognised_and_its_preemption_is_not_taken_as_confirmed,
    the_raspberry_pi_has_one_policy_for_four_cores_and_no_supply_alarm,
    the_beaglebone_has_one_cpu_and_refuses_fifo_even_to_root,
    the_fedora_desktop_follows_what_was_chosen_at_run_time_not_what_was_requested,
    the_jetson_shows_its_power_mode_the_cpus_off_line_and_who_holds_the_latency_device,
    every_machine_survives_the_archive_and_shows_no_change_against_itself,
    facts_of_an_older_or_a_newer_version_can_still_be_read,
    a_summary_names_what_matters_on_each_machine,
];

fn machine(name: &str) -> Facts {
    let folder = format!(
        "{}/../../fixtures/machines/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    assert!(
        std::path::Path::new(&folder).is_dir(),
        "no fixture {folder}"
    );
    Facts::read(&Root::at(folder))
}

const ALL: [&str; 7] = [
    "virtual-two-cpus",
    "laboratory-stock",
    "laboratory-rt",
    "raspberry-pi-5",
    "beaglebone-black",
    "fedora-desktop",
    "jetson-orin-nano",
];

fn known<T: Clone>(reading: &Reading<T>) -> T {
    reading
        .known()
        .unwrap_or_else(|| panic!("not known: {}", reading.path()))
        .clone()
}

fn the_virtual_machine_is_recognised_and_its_preemption_is_not_taken_as_confirmed() {
    let facts = machine("virtual-two-cpus");
    assert_eq!(known(&facts.fixed.kernel.release), "6.18.44");
    let preemption = &facts.varying.preemption;
    assert_eq!(preemption.model, PreemptionModel::None);
    assert_eq!(preemption.standing, Standing::AsConfigured);
    assert_eq!(preemption.evidence, "/proc/config.gz");
    assert!(preemption.remedy.is_some());
    let beneath = facts.fixed.virtualisation.conclusion();
    assert!(
        matches!(&beneath, VirtualisedBy::Hypervisor { name: Some(name), .. } if name == "KVM"),
        "{beneath:?}"
    );
    assert_eq!(
        facts.caches(),
        CacheSizes {
            l1d: Some(32 << 10),
            l2: Some(512 << 10),
            l3: Some(32 << 20)
        }
    );
    assert!(facts.varying.frequency.policies.is_empty());
    assert!(facts.varying.idle.groups.is_absent());
    assert_eq!(facts.varying.cgroup.layout, CgroupLayout::Hybrid);
    assert_eq!(
        known(&facts.varying.cgroup.real_time[0].runtime_us),
        950_000
    );
    assert_eq!(facts.privileges().fifo.remedy(), None);
    assert_eq!(
        known(&facts.varying.latency_request.bound_us),
        2_000_000_000
    );
    assert_eq!(known(&facts.varying.interrupts).len(), 2);
}

fn the_raspberry_pi_has_one_policy_for_four_cores_and_no_supply_alarm() {
    let facts = machine("raspberry-pi-5");
    assert_eq!(
        facts.fixed.platform.name().unwrap(),
        "Raspberry Pi 5 Model B Rev 1.0"
    );
    let kinds = known(&facts.fixed.cpus.models);
    assert_eq!(kinds.len(), 1);
    assert_eq!(kinds[0].name.as_deref(), Some("Cortex-A76"));
    assert_eq!(kinds[0].cpus.to_string(), "0-3");
    let preemption = &facts.varying.preemption;
    assert_eq!(
        (preemption.model, preemption.standing),
        (PreemptionModel::Full, Standing::InEffect)
    );
    let policy = &facts.varying.frequency.policies[0];
    assert_eq!(known(&policy.cpus).to_string(), "0-3");
    assert_eq!(known(&policy.governor), "ondemand");
    assert_eq!(known(&policy.maximum_khz), 2_400_000);
    let cooling = &facts.varying.cooling;
    assert_eq!(cooling.under_voltage.len(), 1);
    assert_eq!(known(&cooling.under_voltage[0].monitor), "rpi_volt");
    assert_eq!(known(&cooling.under_voltage[0].alarm), 0);
    assert!(cooling.devices[0].is_fan());
    assert_eq!(cooling.hottest_millidegrees(), Some(48_250));
    assert_eq!(known(&facts.varying.cpu_time.isolated).to_string(), "3");
    assert_eq!(known(&facts.varying.process.affinity).to_string(), "0-2");
    assert_eq!(facts.caches().l3, Some(2 << 20));
    assert_eq!(facts.fixed.cpus.last_level_groups().len(), 1);
    assert_eq!(
        facts.fixed.virtualisation.conclusion(),
        VirtualisedBy::NoSign
    );
    assert!(!known(&facts.fixed.command_line.text).contains("D8:3A"));
    let privileges = facts.privileges();
    assert!(privileges.fifo.remedy().unwrap().contains("LimitRTPRIO=99"));
    assert!(privileges.deadline.remedy().is_some());
    assert!(matches!(
        privileges.memory_lock,
        Permission::Allowed {
            up_to: Some(1_056_796_672),
            ..
        }
    ));
}

fn the_beaglebone_has_one_cpu_and_refuses_fifo_even_to_root() {
    let facts = machine("beaglebone-black");
    assert_eq!(known(&facts.varying.cpu_time.online).len(), 1);
    assert_eq!(
        known(&facts.fixed.cpus.models)[0].name.as_deref(),
        Some("Cortex-A8")
    );
    assert_eq!(facts.caches(), CacheSizes::default());
    assert!(facts.fixed.cpus.caches.is_absent());
    assert_eq!(facts.varying.preemption.model, PreemptionModel::Full);
    let deepest = facts.varying.idle.deepest_enabled().unwrap();
    assert_eq!(
        (deepest.name.as_str(), deepest.latency_us),
        ("mpu_gate", 130)
    );
    assert_eq!(
        known(&facts.varying.frequency.policies[0].transition_latency_ns),
        300_000
    );
    let group = &facts.varying.cgroup;
    assert_eq!(group.layout, CgroupLayout::Hybrid);
    assert_eq!(known(&group.group), "/user.slice");
    let budgets: Vec<i64> = group
        .real_time
        .iter()
        .map(|own| known(&own.runtime_us))
        .collect();
    assert_eq!(budgets, [0, 950_000]);
    assert!(group.quotas.is_empty());
    let privileges = facts.privileges();
    let remedy = privileges.fifo.remedy().unwrap();
    assert!(
        remedy.contains("/sys/fs/cgroup/cpu,cpuacct/user.slice/cpu.rt_runtime_us"),
        "{remedy}"
    );
    assert!(privileges.nice.is_allowed() && privileges.memory_lock.is_allowed());
}

fn the_fedora_desktop_follows_what_was_chosen_at_run_time_not_what_was_requested() {
    let facts = machine("fedora-desktop");
    let preemption = &facts.varying.preemption;
    // The command line requests voluntary, and so does the configuration.
    assert_eq!(
        (preemption.model, preemption.standing),
        (PreemptionModel::Lazy, Standing::InEffect)
    );
    assert_eq!(facts.fixed.config.is_set("NO_HZ_FULL"), Some(true));
    assert_eq!(facts.fixed.config.is_set("RT_GROUP_SCHED"), Some(false));
    assert!(facts.fixed.cpus.has_shared_cores());
    assert_eq!(
        known(&facts.fixed.cpus.models)[0].microcode.as_deref(),
        Some("0xf8")
    );
    assert_eq!(known(&facts.varying.cpu_time.nohz_full).len(), 0);
    let groups = known(&facts.varying.idle.groups);
    assert_eq!((groups.len(), groups[0].states.len()), (1, 7));
    // C8 (200 µs) is switched off.
    assert_eq!(
        facts.varying.idle.deepest_enabled().unwrap().latency_us,
        124
    );
    let servers = known(&facts.varying.real_time.fair_server);
    assert_eq!((servers.len(), servers[3].runtime_ns), (4, 50_000_000));
    let group = &facts.varying.cgroup;
    assert_eq!(group.layout, CgroupLayout::V2);
    assert_eq!(group.quotas.len(), 1);
    assert_eq!(
        (group.quotas[0].runtime_us, group.quotas[0].period_us),
        (150_000, 100_000)
    );
    assert_eq!(
        group.throttled[0].since_made,
        CpuThrottling {
            periods: 40,
            times: 2,
            stopped_us: 31_000
        }
    );
    assert_eq!(
        group.cpus.path(),
        "/sys/fs/cgroup/user.slice/cpuset.cpus.effective"
    );
    assert_eq!(known(&facts.varying.memory.swap_used_kib), 88_604);
    assert_eq!(known(&facts.varying.cooling.heat_throttling[0].package), 7);
    let privileges = facts.privileges();
    assert!(matches!(
        privileges.fifo,
        Permission::Allowed {
            up_to: Some(95),
            ..
        }
    ));
    assert!(privileges.filtered);
}

fn the_jetson_shows_its_power_mode_the_cpus_off_line_and_who_holds_the_latency_device() {
    let facts = machine("jetson-orin-nano");
    let present = known(&facts.fixed.cpus.present);
    assert_eq!(
        present
            .without(&known(&facts.varying.cpu_time.online))
            .to_string(),
        "4-5"
    );
    assert_eq!(
        known(&facts.varying.cooling.jetson_power_mode),
        "pmode:0001"
    );
    let slowing = facts
        .varying
        .cooling
        .devices
        .iter()
        .find(|device| !device.is_fan())
        .unwrap();
    assert_eq!(known(&slowing.state), 3);
    let request = &facts.varying.latency_request;
    assert_eq!(known(&request.bound_us), 0);
    assert_eq!(
        known(&request.holders).processes,
        [(777, "jetson_holder".to_owned())]
    );
    assert_eq!(facts.fixed.config.is_set("RT_GROUP_SCHED"), Some(true));
    // RT_GROUP_SCHED under version 2 has no budget file, so nothing refuses root.
    assert!(facts.privileges().fifo.is_allowed());
}

fn every_machine_survives_the_archive_and_shows_no_change_against_itself() {
    for name in ALL {
        let facts = machine(name);
        let json = serde_json::to_string(&facts).unwrap();
        let back: Facts = serde_json::from_str(&json).unwrap();
        assert_eq!(back, facts, "{name}");
        assert_eq!(facts.changes_since(&back), [], "{name}");
        assert!(json.len() < 100_000, "{name}: {} bytes", json.len());
    }
}

fn facts_of_an_older_or_a_newer_version_can_still_be_read() {
    let sparse: Facts = serde_json::from_str(r#"{"fixed":{"kernel":{}}}"#).unwrap();
    assert_eq!(sparse.fixed.kernel.release, Reading::NotRead);
    let newer = r#"{"varying":{"preemption":{"model":"eager","standing":"guessed"},
        "debug_files":"remote","cgroup":{"layout":"v3"},"later":1},"more":[]}"#;
    let newer: Facts = serde_json::from_str(newer).unwrap();
    assert_eq!(newer.varying.preemption.model, PreemptionModel::Unknown);
    assert_eq!(newer.varying.cgroup.layout, CgroupLayout::Unknown);
    // And facts with little in them can be compared and summed up.
    assert_eq!(newer.changes_since(&machine("raspberry-pi-5")), []);
    assert!(!sparse.summary().is_empty());
}

fn a_summary_names_what_matters_on_each_machine() {
    let expected = [
        (
            "virtual-two-cpus",
            Topic::Preemption,
            "as configured, not confirmed",
        ),
        ("raspberry-pi-5", Topic::Cpus, "4 × Cortex-A76"),
        ("beaglebone-black", Topic::IdleStates, "mpu_gate (130 µs"),
        (
            "fedora-desktop",
            Topic::RealTime,
            "fair server 50000 of 1000000 µs",
        ),
        (
            "jetson-orin-nano",
            Topic::IdleStates,
            "0 µs is requested by jetson_holder (777)",
        ),
    ];
    for (name, topic, part) in expected {
        let summary = machine(name).summary();
        let found = summary.iter().find(|line| line.topic == topic).unwrap();
        assert!(found.text.contains(part), "{name}: {}", found.text);
        for SummaryLine { topic, text, .. } in &summary {
            assert!(
                !text.is_empty() && !text.contains('\n'),
                "{name}: {topic}: {text}"
            );
        }
    }
}

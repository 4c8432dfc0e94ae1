//! Plans for recorded and typed machines, and for trees that hold one bad thing each.

use std::path::{Path, PathBuf};
use std::time::Duration;
use wakepath_machine::Root;
use wakepath_readiness::{Inspection, LoopAtHand, Program, Report};
use wakepath_tuning::{Action, Options, Plan, Step};

wakepath_test_program::tests![
    one_cpu_gets_an_honest_plan,
    the_cpu_that_shares_the_loop_s_core_is_emptied_too,
    on_the_only_core_a_sibling_is_left_for_the_rest,
    each_kind_of_bad_setting_has_its_exact_command,
    a_setting_that_debugfs_refuses_is_no_step_and_is_named,
    rivals_are_paused_but_for_the_one_that_guards_against_heat,
    control_groups_of_version_1_move_the_programs_apart,
    the_interrupt_that_the_program_waits_for_comes_to_the_loop,
    nothing_that_is_bad_is_dropped_without_a_word,
    cpus_of_threads_that_the_kernel_changes_by_itself_are_noted_before_it_does,
];

fn subject(cpu: u16) -> LoopAtHand {
    LoopAtHand {
        period_ns: 4_000_000,
        latency_ns: Some(400_000),
        cpus: [cpu].into_iter().collect(),
        priority: Some(80),
        program: None,
    }
}

fn plan_for(directory: &Path, subject: LoopAtHand) -> Plan {
    let seen = Inspection::read(Root::at(directory), subject, Duration::ZERO);
    Plan::new(&seen, &Report::new(&seen), Options::default())
}

fn machine(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/machines/{name}"))
}

/// Two CPUs and these files.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let always = [
        ("sys/devices/system/cpu/online", "0-1"),
        ("sys/devices/system/cpu/isolated", ""),
        ("proc/sys/kernel/osrelease", "6.12.1"),
    ];
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in always.iter().chain(files) {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    directory
}

fn step<'a>(plan: &'a Plan, id: &str) -> &'a Step {
    let found = plan.now.iter().find(|step| step.id == id);
    found.unwrap_or_else(|| panic!("no step {id}: {plan}"))
}

fn commands(plan: &Plan, id: &str) -> Vec<String> {
    step(plan, id).actions.iter().map(Action::command).collect()
}

/// `/proc/PID/stat` of a process with this name, state and flags.
fn stat(pid: u32, name: &str, state: char, flags: u32) -> String {
    format!(
        "{pid} ({name}) {state} 2 0 0 0 -1 {flags} 0 0 0 0 0 0 0 0 20 0 1 0 {} 0 0 0 0 0 0 0 0 0 0 0 \
         0 0 0 17 0 0 0 0 0 0",
        pid * 10
    )
}

fn one_cpu_gets_an_honest_plan() {
    let plan = plan_for(&machine("beaglebone-black"), subject(0));
    assert!(plan.others.is_empty());
    assert!(plan.notes[0].contains("nothing can be isolated"), "{plan}");
    // Actions without a target are left out.
    for gone in [
        "partition",
        "cpusets",
        "workqueues",
        "kernel-threads",
        "interrupts",
    ] {
        assert!(plan.now.iter().all(|step| step.id != gone), "{gone}");
    }
    // A clock and idle states can be steadied on one CPU too.
    assert!(
        commands(&plan, "frequency")[0].starts_with("echo 'performance'"),
        "{plan}"
    );
    step(&plan, "idle-states");
    // A problem that prevents the loop must be reported.
    assert!(
        plan.by_hand.iter().any(|text| text.starts_with("S3 ")),
        "{plan}"
    );
    let parameters = plan.parameters();
    assert!(!parameters.contains("isolcpus") && !parameters.contains("irqaffinity"));
}

fn the_cpu_that_shares_the_loop_s_core_is_emptied_too() {
    let plan = plan_for(&machine("fedora-desktop"), subject(3));
    assert!(!plan.idle.is_empty(), "{plan}");
    assert!(plan.others.without(&plan.idle) == plan.others);
    let both = format!(
        "{}",
        [&[3], plan.idle.numbers()]
            .concat()
            .into_iter()
            .collect::<wakepath_timeline::CpuSet>()
    );
    let partition = commands(&plan, "partition");
    assert!(
        partition.contains(&format!(
            "echo '{both}' > /sys/fs/cgroup/wakepath/cpuset.cpus"
        )),
        "{partition:?}"
    );
    // Under the partition the sibling is nobody's; the desktop's writers are paused first.
    assert!(plan.by_hand.iter().all(|text| !text.starts_with("T2 ")));
    assert_eq!(plan.now[0].id, "rivals");
}

fn on_the_only_core_a_sibling_is_left_for_the_rest() {
    let place = "sys/devices/system/cpu/cpu1/topology/thread_siblings_list";
    let directory = tree(&[("sys/devices/system/cpu/smt/active", "1"), (place, "0-1")]);
    let plan = plan_for(directory.path(), subject(1));
    assert_eq!((plan.idle.len(), plan.others.to_string()), (0, "0".into()));
    assert!(
        plan.by_hand.iter().any(|text| text.starts_with("T2 ")),
        "{plan}"
    );
}

fn a_setting_that_debugfs_refuses_is_no_step_and_is_named() {
    // For root a directory is a file that exists and can't be read.
    let directory = tree(&[
        ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC"),
        ("proc/cmdline", "preempt=none"),
        ("sys/kernel/debug/sched/preempt/closed", ""),
    ]);
    let plan = plan_for(directory.path(), subject(1));
    assert!(
        plan.now.iter().all(|step| step.id != "preemption"),
        "{plan}"
    );
    let named = |text: &String| text.contains("/sys/kernel/debug/sched/preempt can't be opened");
    assert!(plan.notes.iter().any(named), "{plan}");
    let bad = plan.by_hand.iter().any(|text| text.starts_with("K2 "));
    assert!(
        bad || plan.boot.iter().any(|step| step.check == "K2"),
        "{plan}"
    );
}

fn each_kind_of_bad_setting_has_its_exact_command() {
    let directory = tree(&[
        ("proc/sys/kernel/watchdog", "1"),
        ("proc/sys/kernel/nmi_watchdog", "1"),
        ("proc/sys/kernel/watchdog_cpumask", "0-1"),
        ("proc/sys/kernel/printk", "7\t4\t1\t7"),
        (
            "proc/consoles",
            "ttyS0                -W- (EC  a)    4:64\n",
        ),
        ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC"),
        (
            "sys/kernel/debug/sched/preempt",
            "none (voluntary) full lazy",
        ),
        ("sys/kernel/mm/ksm/run", "1"),
        ("sys/kernel/rcu_expedited", "1"),
        ("sys/class/net/eth0/queues/rx-0/rps_cpus", "3"),
        ("sys/class/net/eth0/queues/tx-0/xps_cpus", "2"),
        ("sys/devices/virtual/workqueue/cpumask", "3"),
        ("sys/devices/virtual/workqueue/writeback/cpumask", "3"),
    ]);
    let plan = plan_for(directory.path(), subject(1));
    let kernel = "/proc/sys/kernel";
    assert_eq!(
        commands(&plan, "lockup-detectors"),
        [
            format!("echo '0' > {kernel}/nmi_watchdog"),
            format!("echo '0' > {kernel}/watchdog_cpumask")
        ]
    );
    assert_eq!(
        commands(&plan, "console"),
        [format!("echo '1 4 1 7' > {kernel}/printk")]
    );
    assert_eq!(
        commands(&plan, "preemption"),
        ["echo 'full' > /sys/kernel/debug/sched/preempt"]
    );
    assert_eq!(
        commands(&plan, "page-merging"),
        ["echo '2' > /sys/kernel/mm/ksm/run"]
    );
    assert_eq!(
        commands(&plan, "packet-steering"),
        [
            "echo '1' > /sys/class/net/eth0/queues/rx-0/rps_cpus",
            "echo '0' > /sys/class/net/eth0/queues/tx-0/xps_cpus"
        ]
    );
    assert_eq!(commands(&plan, "workqueues").len(), 2);
    assert!(
        plan.parameters().contains("workqueue.unbound_cpus=0"),
        "{plan}"
    );
    assert!(
        plan.parameters()
            .contains("rcupdate.rcu_normal_after_boot=1")
    );
    // Without control groups of version 2 only the boot can isolate.
    assert!(plan.parameters().contains("isolcpus=domain,managed_irq,1"));
}

fn rivals_are_paused_but_for_the_one_that_guards_against_heat() {
    let names = [
        (50, "irqbalance"),
        (51, "tuned"),
        (52, "thermald"),
        (53, "bash"),
    ];
    let mut files = Vec::new();
    for (pid, name) in names {
        files.push((format!("proc/{pid}/stat"), stat(pid, name, 'S', 0x40_0000)));
        files.push((format!("proc/{pid}/environ"), "A=1".into()));
    }
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let directory = tree(&files);
    let plan = plan_for(directory.path(), subject(1));
    assert_eq!(
        commands(&plan, "rivals"),
        ["kill -STOP 50    # irqbalance", "kill -STOP 51    # tuned"]
    );
    assert_eq!(plan.now[0].id, "rivals");
    assert!(
        plan.rivals.len() == 1 && plan.rivals[0].contains("thermald"),
        "{plan}"
    );
    // Once paused they don't interfere.
    for (pid, name) in names {
        let path = directory.path().join(format!("proc/{pid}/stat"));
        std::fs::write(path, stat(pid, name, 'T', 0x40_0000)).unwrap();
    }
    let plan = plan_for(directory.path(), subject(1));
    assert!(plan.now.iter().all(|step| step.id != "rivals") && plan.rivals.is_empty());
}

fn control_groups_of_version_1_move_the_programs_apart() {
    let program = stat(60, "flyer", 'S', 0x40_0000);
    let directory = tree(&[
        ("sys/fs/cgroup/cpuset/cpuset.cpus", "0-1"),
        ("sys/fs/cgroup/cpuset/cpuset.mems", "0"),
        ("proc/60/stat", &program),
    ]);
    let mut subject = subject(1);
    subject.program = Some(Program {
        name: "flyer".into(),
        pid: Some(60),
    });
    let plan = plan_for(directory.path(), subject);
    let top = "/sys/fs/cgroup/cpuset";
    let actions = commands(&plan, "cpusets");
    assert!(actions.contains(&format!(
        "for pid in $(cat {top}/cgroup.procs); do echo $pid > {top}/wakepath-others/cgroup.procs; done"
    )));
    assert!(actions.contains(&format!("echo '0' > {top}/cpuset.sched_load_balance")));
    assert_eq!(
        actions.last().unwrap(),
        &format!("echo 60 > {top}/wakepath-loop/cgroup.procs    # flyer")
    );
}

fn the_interrupt_that_the_program_waits_for_comes_to_the_loop() {
    let program = stat(60, "flyer", 'S', 0x40_0000);
    let directory = tree(&[
        (
            "proc/interrupts",
            "  CPU0 CPU1\n 36: 9 9 chip 1-edge spidev0.0\n 37: 9 9 chip 2-edge eth0\n",
        ),
        ("proc/irq/36/smp_affinity_list", "0"),
        ("proc/irq/36/effective_affinity_list", "0"),
        ("proc/irq/37/smp_affinity_list", "0-1"),
        ("proc/irq/37/effective_affinity_list", "1"),
        ("proc/60/stat", &program),
        ("proc/60/fd/3", "/dev/spidev0.0"),
    ]);
    let mut subject = subject(1);
    subject.program = Some(Program {
        name: "flyer".into(),
        pid: Some(60),
    });
    let plan = plan_for(directory.path(), subject);
    assert_eq!(
        commands(&plan, "interrupts"),
        [
            "echo 1 > /proc/irq/36/smp_affinity_list    # chip 1-edge spidev0.0",
            "echo 0 > /proc/irq/37/smp_affinity_list    # chip 2-edge eth0"
        ]
    );
}

fn nothing_that_is_bad_is_dropped_without_a_word() {
    for (name, cpu) in [
        ("beaglebone-black", 0),
        ("fedora-desktop", 3),
        ("jetson-orin-nano", 3),
        ("raspberry-pi-5", 3),
        ("virtual-two-cpus", 1),
        ("laboratory-stock", 1),
        ("laboratory-rt", 1),
    ] {
        let seen = Inspection::read(Root::at(machine(name)), subject(cpu), Duration::ZERO);
        let report = Report::new(&seen);
        let plan = Plan::new(&seen, &report, Options::default());
        for judged in report.bad().filter(|judged| judged.id != "T1") {
            let id = &judged.id;
            let stepped = plan.now.iter().any(|step| step.checks.contains(id));
            let booted = plan.boot.iter().any(|step| step.check == *id);
            let told = plan
                .by_hand
                .iter()
                .any(|text| text.starts_with(&format!("{id} ")));
            assert!(stepped || booted || told, "{name}: {id}\n{plan}");
        }
        for step in &plan.now {
            for words in [&step.reason, &step.effect, &step.cost, &step.undo] {
                assert!(!words.is_empty(), "{name}: {}", step.id);
            }
        }
    }
}

fn cpus_of_threads_that_the_kernel_changes_by_itself_are_noted_before_it_does() {
    let kernel = 0x0020_0000;
    let threads = [
        (21, "irq/36-eth0", "1", kernel),
        (22, "irq/37-spi0", "0", kernel),
        (23, "pinned_by_hand", "1", kernel),
        (24, "everywhere", "0-1", kernel),
        // Bound for good, or no thread of the kernel.
        (25, "ksoftirqd/1", "1", kernel | 0x0400_0000),
        (26, "irq/38-a_fake", "1", 0),
    ];
    let files: Vec<(String, String)> = threads
        .iter()
        .flat_map(|(pid, name, cpus, flags)| {
            let status = format!("Cpus_allowed_list:\t{cpus}\n");
            [
                (format!("proc/{pid}/stat"), stat(*pid, name, 'S', *flags)),
                (format!("proc/{pid}/status"), status),
            ]
        })
        .collect();
    let mut all: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    all.extend([
        (
            "proc/self/mountinfo",
            "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        ),
        ("proc/self/cgroup", "0::/\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu"),
        (
            "proc/interrupts",
            "  CPU0 CPU1\n 36: 1 2 PCI-MSIX 1-edge eth0\n",
        ),
        ("proc/irq/36/smp_affinity_list", "0-1"),
        ("proc/irq/36/effective_affinity_list", "1"),
    ]);
    let plan = plan_for(tree(&all).path(), subject(1));
    let noted = |id: &str| -> Vec<u32> {
        let actions = &step(&plan, id).actions;
        let noted: Vec<u32> = actions
            .iter()
            .map_while(|action| match action {
                Action::Remember { pid, .. } => Some(*pid),
                _ => None,
            })
            .collect();
        let later = &actions[noted.len()..];
        assert!(
            !later
                .iter()
                .any(|action| matches!(action, Action::Remember { .. })),
            "before everything else: {actions:?}"
        );
        noted
    };
    // A partition restores all CPUs to every thread that had fewer; an interrupt moves its thread.
    assert_eq!(noted("partition"), [21, 22, 23]);
    assert_eq!(noted("interrupts"), [21, 22]);
    assert_eq!(
        commands(&plan, "interrupts")[0],
        "taskset -pc 21    # irq/36-eth0: noted, for the undo"
    );
}

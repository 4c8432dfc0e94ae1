//! The plan: from what was inspected, which settings to change in which order, and why. Pure: it
//! reads nothing that the inspection has not read, but for whether a file is there.
//!
//! The order is that in which isolation takes hold: control groups before what they carry with
//! them, kernel threads and interrupts next, clocks and idle states after, throttling last, so that
//! a loop which misbehaves meanwhile is still stopped.

use crate::{Action, Compare, Step};
use serde::{Deserialize, Serialize};
use wakepath_machine::{CgroupLayout, CpuList};
use wakepath_readiness::{Inspection, LoopAtHand, Report, State, time};

/// What the user wants beyond the usual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Switch real-time throttling and the fair server off: a loop that spins then locks up its
    /// CPU.
    pub no_throttling: bool,
}

/// A parameter for the boot loader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootStep {
    /// As it is written: `rcu_nocbs=3`.
    pub parameter: String,
    /// The check that it answers.
    pub check: String,
    /// Why it can't be done while the machine runs.
    pub reason: String,
    /// What it costs.
    pub cost: String,
}

/// The plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The loop.
    pub subject: LoopAtHand,
    /// The CPUs for everything else; empty on a machine with one.
    pub others: CpuList,
    /// What can be changed while the machine runs, in order.
    pub now: Vec<Step>,
    /// What needs a reboot.
    pub boot: Vec<BootStep>,
    /// Programs that would undo it; they must go first.
    pub rivals: Vec<String>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl Plan {
    /// The plan for an inspected machine.
    pub fn of(seen: &Inspection, report: &Report, options: Options) -> Self {
        let mut planner = Planner {
            seen,
            report,
            others: seen.others(),
            steps: Vec::new(),
            notes: Vec::new(),
        };
        let alone = planner.others.is_empty();
        if alone {
            planner.notes.push(
                "one CPU for all: nothing can be isolated. What is left: a priority above the \
                 interrupt threads (PREEMPT_RT) for the loop, locked memory, a steady clock, \
                 shallow idle states, and less other work. An interrupt handler, a SoftIRQ and a \
                 section of the kernel that can't be preempted delay the loop as before"
                    .into(),
            );
        } else {
            planner.control_group();
            planner.workqueues();
            planner.kernel_threads();
            planner.interrupts();
        }
        planner.housekeeping();
        planner.memory();
        planner.frequency();
        planner.idle_states();
        if options.no_throttling {
            planner.throttling();
        }
        let boot = if alone { Vec::new() } else { planner.boot() };
        planner.remarks();
        Self {
            subject: seen.subject.clone(),
            others: planner.others.clone(),
            rivals: rivals(report),
            now: planner.steps,
            boot,
            notes: planner.notes,
        }
    }

    /// The parameters of the boot steps on one line.
    pub fn parameters(&self) -> String {
        let all: Vec<&str> = self
            .boot
            .iter()
            .map(|step| step.parameter.as_str())
            .collect();
        all.join(" ")
    }
}

fn rivals(report: &Report) -> Vec<String> {
    let bad = |id: &&str| report.state_of(id) == Some(State::Bad);
    let mut rivals = Vec::new();
    for id in ["Q9", "V1"].iter().copied().filter(bad) {
        if let Some(judged) = report.checks.iter().find(|judged| judged.id == id) {
            rivals.push(format!("{}: {}", judged.finding.found, judged.remedy_now));
        }
    }
    rivals
}

struct Planner<'a> {
    seen: &'a Inspection,
    report: &'a Report,
    others: CpuList,
    steps: Vec<Step>,
    notes: Vec<String>,
}

impl Planner<'_> {
    fn bad(&self, id: &str) -> bool {
        self.report.state_of(id) == Some(State::Bad)
    }

    fn add(&mut self, id: &str, checks: &[&str], texts: [&str; 4], actions: Vec<Action>) {
        if actions.is_empty() {
            return;
        }
        let [reason, effect, cost, undo] = texts.map(str::to_owned);
        self.steps.push(Step {
            id: id.to_owned(),
            checks: checks.iter().map(|id| (*id).to_owned()).collect(),
            reason,
            effect,
            cost,
            undo,
            actions,
        });
    }

    /// The other CPUs as the kernel's mask.
    fn others_mask(&self) -> String {
        let mut words: Vec<u32> = Vec::new();
        for &cpu in self.others.numbers() {
            let (word, bit) = ((cpu / 32) as usize, cpu % 32);
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << bit;
        }
        let mut text = String::new();
        for (position, word) in words.iter().rev().enumerate() {
            match position {
                0 => text.push_str(&format!("{word:x}")),
                _ => text.push_str(&format!(",{word:08x}")),
            }
        }
        text
    }

    /// Version 2: an isolated partition. Version 1: sets for the loop and for the rest, to put
    /// programs in. Without either, affinity alone.
    fn control_group(&mut self) {
        let root = &self.seen.root;
        let own = self.seen.subject.cpus.to_string();
        let isolated = self.seen.facts.varying.cpu_time.isolated.known();
        if isolated.is_some_and(|isolated| self.seen.subject.cpus.without(isolated).is_empty()) {
            self.notes
                .push("the loop's CPU is isolated already; no control group is made".into());
            return;
        }
        let v2 = "/sys/fs/cgroup";
        let controllers = root.text(&format!("{v2}/cgroup.controllers"));
        let has_v2 = controllers
            .known()
            .is_some_and(|list| list.split_whitespace().any(|name| name == "cpuset"));
        let v1 = "/sys/fs/cgroup/cpuset";
        if has_v2 && self.seen.facts.varying.cgroup.layout == CgroupLayout::V2 {
            let group = format!("{v2}/wakepath");
            let actions = vec![
                Action::compared(
                    format!("{v2}/cgroup.subtree_control"),
                    "+cpuset",
                    Compare::Word,
                ),
                Action::Directory {
                    path: group.clone(),
                },
                Action::compared(format!("{group}/cpuset.cpus"), &own, Compare::Cpus),
                Action::write(format!("{group}/cpuset.cpus.partition"), "isolated"),
            ];
            self.add(
                "partition",
                &["B5"],
                [
                    "the scheduler may put any program on the loop's CPU",
                    "no program but those in the group runs there; unbound kernel work leaves it",
                    "the CPU is lost to everything else",
                    "write `member`, remove the group",
                ],
                actions,
            );
            self.notes.push(format!(
                "the loop belongs into the group: echo PID > {group}/cgroup.procs"
            ));
        } else if root.exists(&format!("{v1}/cpuset.cpus")) {
            let memory = root.text(&format!("{v1}/cpuset.mems"));
            let memory = memory.known().cloned().unwrap_or_else(|| "0".into());
            let others = self.others.to_string();
            let mut actions = Vec::new();
            for (name, cpus) in [("wakepath-loop", &own), ("wakepath-others", &others)] {
                let group = format!("{v1}/{name}");
                actions.push(Action::Directory {
                    path: group.clone(),
                });
                actions.push(Action::compared(
                    format!("{group}/cpuset.cpus"),
                    cpus,
                    Compare::Cpus,
                ));
                actions.push(Action::compared(
                    format!("{group}/cpuset.mems"),
                    &memory,
                    Compare::Cpus,
                ));
            }
            actions.push(Action::write(
                format!("{v1}/wakepath-loop/cpuset.sched_load_balance"),
                "0",
            ));
            self.add(
                "cpusets",
                &["B5"],
                [
                    "the scheduler may put any program on the loop's CPU",
                    "sets to keep the loop and the other programs apart",
                    "none by itself",
                    "move their programs out, remove the sets",
                ],
                actions,
            );
            self.notes.push(format!(
                "control groups of version 1 isolate nobody by themselves: put the loop into \
                 {v1}/wakepath-loop (echo PID > tasks) and the other programs into \
                 {v1}/wakepath-others; programs are not moved for you"
            ));
        } else {
            self.notes.push(
                "no cpusets here: affinity alone keeps others off the loop's CPU, and a program \
                 started later may land on it"
                    .into(),
            );
        }
    }

    fn workqueues(&mut self) {
        if !self.bad("W1") {
            return;
        }
        let folder = "/sys/devices/virtual/workqueue";
        let mask = self.others_mask();
        let mut actions = vec![Action::compared(
            format!("{folder}/cpumask"),
            &mask,
            Compare::Mask,
        )];
        let writeback = format!("{folder}/writeback/cpumask");
        if self.seen.root.exists(&writeback) {
            actions.push(Action::compared(writeback, &mask, Compare::Mask));
        }
        self.add(
            "workqueues",
            &["W1"],
            [
                "unbound work of drivers and file systems may run on the loop's CPU",
                "it runs elsewhere; an ordinary loop is no longer preempted by it",
                "it takes longer under load",
                "write the old mask",
            ],
            actions,
        );
    }

    fn kernel_threads(&mut self) {
        let mut threads: Vec<_> = self
            .seen
            .processes
            .of_kernel()
            .filter(|thread| !thread.not_movable)
            .filter(|thread| {
                let allowed = thread.allowed.as_ref();
                allowed.is_some_and(|cpus| !self.seen.on_loop(cpus).is_empty())
            })
            // A thread bound to the loop's CPU alone serves that CPU.
            .filter(|thread| {
                let allowed = thread.allowed.as_ref();
                allowed.is_some_and(|cpus| !cpus.without(&self.seen.subject.cpus).is_empty())
                    || thread.name.starts_with("rcuo")
            })
            .collect();
        // kthreadd first: what it starts meanwhile inherits where it may run.
        threads.sort_by_key(|thread| (thread.name != "kthreadd", thread.pid));
        let actions = threads
            .iter()
            .map(|thread| Action::Thread {
                pid: thread.pid,
                name: thread.name.clone(),
                started: thread.started,
                cpus: self.others.clone(),
            })
            .collect();
        self.add(
            "kernel-threads",
            &["W2", "W3"],
            [
                "threads of the kernel that could run elsewhere may run on the loop's CPU",
                "they run elsewhere, and so do those started later",
                "they share the other CPUs",
                "their old CPUs",
            ],
            actions,
        );
    }

    fn interrupts(&mut self) {
        let mut actions = Vec::new();
        if self.bad("Q2") {
            actions.push(Action::compared(
                "/proc/irq/default_smp_affinity",
                self.others_mask(),
                Compare::Mask,
            ));
        }
        for line in &self.seen.interrupts.lines {
            let requested = line.requested.known();
            let effective = line.effective.known();
            let here = |list: Option<&CpuList>| {
                list.is_some_and(|cpus| !self.seen.on_loop(cpus).is_empty())
            };
            // A line without a device behind its chip has nobody to interrupt for.
            if here(requested) || here(effective) {
                actions.push(Action::Interrupt {
                    number: line.number,
                    device: line.action.clone(),
                    cpus: self.others.clone(),
                });
            }
        }
        self.add(
            "interrupts",
            &["Q1", "Q2"],
            [
                "devices interrupt the loop's CPU",
                "their handlers and SoftIRQs run elsewhere",
                "the other CPUs take them all; keep the loop's own device where the loop is",
                "their old CPUs",
            ],
            actions,
        );
    }

    fn housekeeping(&mut self) {
        let mut actions = Vec::new();
        if self.bad("S5") && !self.others.is_empty() {
            actions.push(Action::compared(
                "/proc/sys/kernel/watchdog_cpumask",
                self.others.to_string(),
                Compare::Cpus,
            ));
        }
        for (check, path, value) in [
            ("W5", "/proc/sys/vm/stat_interval", "10"),
            ("S6", "/proc/sys/kernel/timer_migration", "0"),
            ("W4", "/sys/kernel/rcu_expedited", "0"),
        ] {
            if self.bad(check) {
                actions.push(Action::write(path, value));
            }
        }
        self.add(
            "housekeeping",
            &["S5", "W5", "S6", "W4"],
            [
                "periodic work of the kernel runs on every CPU",
                "less of it, and not on the loop's CPU where that can be chosen",
                "memory statistics are up to 10 s old; a lock-up of the loop's CPU is not noticed",
                "the old values",
            ],
            actions,
        );
    }

    fn memory(&mut self) {
        let mut actions = Vec::new();
        if self.bad("M3") {
            actions.push(Action::write(
                "/proc/sys/vm/compact_unevictable_allowed",
                "0",
            ));
        }
        if self.bad("M4") {
            actions.push(Action::compared(
                "/sys/kernel/mm/transparent_hugepage/enabled",
                "madvise",
                Compare::Chosen,
            ));
        }
        if self.bad("M6") {
            actions.push(Action::write("/proc/sys/kernel/numa_balancing", "0"));
        }
        self.add(
            "memory",
            &["M3", "M4", "M6"],
            [
                "the kernel moves pages under the loop, which then waits in a fault",
                "locked pages stay where they are",
                "large allocations may find less contiguous memory",
                "the old values",
            ],
            actions,
        );
        if self.bad("M5") {
            self.notes.push(
                "ksm/run = 2 unmerges pages and can't be taken back by writing 1: do it by hand \
                 (M5)"
                    .into(),
            );
        }
    }

    fn frequency(&mut self) {
        let mut actions = Vec::new();
        for policy in &self.seen.facts.varying.frequency.policies {
            let own = policy.cpus.known();
            let concerned = own.is_some_and(|cpus| !self.seen.on_loop(cpus).is_empty());
            let governor = policy.governor.known();
            if concerned && self.bad("F1") && governor.is_some_and(|name| name != "performance") {
                actions.push(Action::write(policy.governor.path(), "performance"));
            }
        }
        self.add(
            "frequency",
            &["F1"],
            [
                "the clock follows the load, and a loop that mostly sleeps is no load",
                "the highest clock at once",
                "heat and energy; a hot machine slows down by itself",
                "the old governor",
            ],
            actions,
        );
    }

    fn idle_states(&mut self) {
        if !self.bad("F3") {
            return;
        }
        let bound_us = (self.seen.subject.noticeable_ns() / 1_000).max(1);
        let actions = self
            .seen
            .subject
            .cpus
            .numbers()
            .iter()
            .map(|cpu| {
                let cpu = format!("/sys/devices/system/cpu/cpu{cpu}");
                Action::write(
                    format!("{cpu}/power/pm_qos_resume_latency_us"),
                    bound_us.to_string(),
                )
            })
            .collect();
        let reason = format!(
            "waking from the deepest idle state takes more than {}",
            time(self.seen.subject.noticeable_ns())
        );
        self.add(
            "idle-states",
            &["F3", "F4"],
            [
                &reason,
                "the loop's CPU sleeps no deeper; the others do as before",
                "heat and energy of one CPU, and less boost for the others",
                "the old bound",
            ],
            actions,
        );
    }

    fn throttling(&mut self) {
        let mut actions = Vec::new();
        if self.bad("S1") {
            actions.push(Action::write("/proc/sys/kernel/sched_rt_runtime_us", "-1"));
        }
        if self.bad("S2") {
            for cpu in self.seen.subject.cpus.numbers() {
                let folder = format!("/sys/kernel/debug/sched/fair_server/cpu{cpu}");
                actions.push(Action::write(format!("{folder}/runtime"), "0"));
            }
        }
        self.add(
            "throttling",
            &["S1", "S2"],
            [
                "asked for by --no-throttling",
                "a real-time loop is never stopped for ordinary threads",
                "a real-time loop that spins locks its CPU up, on one CPU the machine",
                "the old values",
            ],
            actions,
        );
    }

    fn boot(&self) -> Vec<BootStep> {
        let own = &self.seen.subject.cpus;
        let mut steps = Vec::new();
        let mut add = |parameter: String, check: &str, reason: &str, cost: &str| {
            steps.push(BootStep {
                parameter,
                check: check.to_owned(),
                reason: reason.to_owned(),
                cost: cost.to_owned(),
            });
        };
        let built = |option| self.seen.facts.fixed.config.is_set(option);
        if self.bad("W3") && built("RCU_NOCB_CPU") != Some(false) {
            add(
                format!("rcu_nocbs={own}"),
                "W3",
                "CPUs can be added to the offloaded ones at boot alone",
                "callbacks run in threads, which costs a little on the other CPUs",
            );
        }
        if self.bad("Q1") || self.bad("Q2") {
            add(
                format!("irqaffinity={}", self.others),
                "Q2",
                "interrupts requested before anybody can write are placed right from the start",
                "none",
            );
        }
        if self.bad("Q3") {
            add(
                format!("isolcpus=managed_irq,{own}"),
                "Q3",
                "a driver that manages its interrupts takes no other word",
                "best effort: a queue whose CPUs are all isolated stays there",
            );
        }
        if self.bad("K2") && built("PREEMPT_DYNAMIC") == Some(true) {
            add(
                "preempt=full".into(),
                "K2",
                "lasts; at run time it needs debugfs",
                "a little throughput",
            );
        }
        steps
    }

    /// What is bad and that no step answers.
    fn remarks(&mut self) {
        let built = |option| self.seen.facts.fixed.config.is_set(option);
        if self.bad("W3") && built("RCU_NOCB_CPU") == Some(false) {
            self.notes.push(
                "the kernel is built without RCU_NOCB_CPU: the loop's CPU keeps its own callbacks"
                    .into(),
            );
        }
        for (id, note) in [
            ("K1", "no setting replaces a PREEMPT_RT kernel (K1)"),
            (
                "X1",
                "what the hypervisor takes, no setting here gives back (X1)",
            ),
            (
                "S3",
                "SCHED_FIFO is refused until the control group has a real-time budget (S3)",
            ),
            (
                "T2",
                "a sibling shares the loop's core: keep it idle, or switch SMT off (T2)",
            ),
            ("T3", "choose another CPU for the loop with --cpu (T3)"),
            (
                "F8",
                "the machine is slowed down by heat: cool it first (F8)",
            ),
            (
                "V3",
                "periodic services run: mask them for the mission (V3)",
            ),
            (
                "D1",
                "a serial console writes messages: sysctl kernel.printk='1 4 1 7' (D1)",
            ),
        ] {
            if self.bad(id) {
                self.notes.push(note.to_owned());
            }
        }
    }
}

//! Keeps other programs off the loop's CPU.
//!
//! An isolated partition (control groups version 2), two sets with the programs moved apart
//! (version 1), or only affinity; and the CPUs that share the loop's core.

use super::{Planner, Words};
use crate::loop_group::{V1_OTHERS, V1_OWN, V1_TOP, V2_OWN, V2_TOP};
use crate::{Action, Compare};
use wakepath_machine::CgroupLayout;
use wakepath_readiness::Inspection;
use wakepath_timeline::CpuSet;

/// The CPUs that share a core with the loop, if others remain. Taking them offline would break
/// affinities and partitions; keeping them idle gives the core to the loop just as well.
pub(super) fn siblings(seen: &Inspection) -> CpuSet {
    let own = &seen.subject.cpus;
    let siblings: CpuSet = seen
        .facts
        .fixed
        .cpus
        .places
        .iter()
        .filter(|place| own.contains(place.cpu))
        .filter_map(|place| place.siblings.known())
        .flat_map(|siblings| siblings.without(own).numbers().to_vec())
        .filter(|&cpu| seen.online().contains(cpu))
        .collect();
    if seen.others().without(&siblings).is_empty() {
        CpuSet::default()
    } else {
        siblings
    }
}

impl Planner<'_> {
    pub(super) fn isolation(&mut self) {
        let isolated = self.seen.facts.varying.cpu_time.isolated.known();
        if isolated.is_some_and(|isolated| self.emptied().without(isolated).is_empty()) {
            self.note("the loop's CPU is isolated already; no control group is made");
            return;
        }
        if self.has_partitions() {
            self.partition();
        } else if self.seen.root.exists(&format!("{V1_TOP}/cpuset.cpus")) {
            self.sets();
        } else {
            self.note(
                "no cpusets here: affinity alone keeps others off the loop's CPU, and a program started later can \
                 run on it",
            );
        }
    }

    /// Whether the kernel can isolate CPUs while it runs.
    pub(super) fn has_partitions(&self) -> bool {
        let controllers = self.seen.root.text(&format!("{V2_TOP}/cgroup.controllers"));
        let has_cpusets = controllers
            .known()
            .is_some_and(|list| list.split_whitespace().any(|name| name == "cpuset"));
        has_cpusets && self.seen.facts.varying.cgroup.layout == CgroupLayout::V2
    }

    fn partition(&mut self) {
        let mut actions = self.remember_placed_threads();
        actions.extend([
            Action::compared(
                format!("{V2_TOP}/cgroup.subtree_control"),
                "+cpuset",
                Compare::Word,
            ),
            Action::Directory {
                path: V2_OWN.into(),
            },
            Action::compared(
                format!("{V2_OWN}/cpuset.cpus"),
                self.emptied().to_string(),
                Compare::Cpus,
            ),
            Action::write(format!("{V2_OWN}/cpuset.cpus.partition"), "isolated"),
        ]);
        actions.extend(self.program(V2_TOP, V2_OWN));
        self.add(
            "partition",
            &["B5", "S4", "T2"],
            Words {
                reason: "the scheduler can put any program on the loop's CPU",
                effect: "only programs of the group run there; unbound kernel work leaves it",
                cost: "the CPU is unavailable to everything else; systemd no longer counts the loop's \
                       program to its service",
                undo: "programs go back to their group, `member` is written, the group removed",
            },
            actions,
        );
        self.own_place(V2_OWN);
    }

    fn sets(&mut self) {
        let memory = self.seen.root.text(&format!("{V1_TOP}/cpuset.mems"));
        let memory = memory.known().cloned().unwrap_or_else(|| "0".into());
        let mut actions = Vec::new();
        for (group, cpus) in [(V1_OWN, self.emptied()), (V1_OTHERS, self.others.clone())] {
            actions.push(Action::Directory { path: group.into() });
            for (file, value) in [
                ("cpuset.cpus", cpus.to_string()),
                ("cpuset.mems", memory.clone()),
            ] {
                actions.push(Action::compared(
                    format!("{group}/{file}"),
                    value,
                    Compare::Cpus,
                ));
            }
        }
        actions.push(Action::Programs {
            from: V1_TOP.into(),
            to: V1_OTHERS.into(),
        });
        // Without balancing above them, the sets are separate scheduling domains.
        for group in [V1_OWN, V1_TOP] {
            actions.push(Action::write(
                format!("{group}/cpuset.sched_load_balance"),
                "0",
            ));
        }
        actions.extend(self.program(V1_TOP, V1_OWN));
        self.add(
            "cpusets",
            &["B5", "S4", "T2"],
            Words {
                reason: "the scheduler can put any program on the loop's CPU",
                effect: "programs of the top set, and their children, run only on the other CPUs; nothing is \
                         balanced to the loop's CPU",
                cost: "the CPU is unavailable to everything else",
                undo: "balancing on, programs back to the top set, sets removed",
            },
            actions,
        );
        self.note(
            "programs in their own CPU sets (containers) are not moved, and can run on the \
             loop's CPU if their set holds it",
        );
        self.own_place(V1_OWN);
    }

    /// The loop's program into the loop's group, if one runs.
    fn program(&self, hierarchy: &str, group: &str) -> Option<Action> {
        let pid = self.seen.subject.program.as_ref()?.pid?;
        let process = self.seen.processes.numbered(pid)?;
        Some(Action::Member {
            pid,
            name: process.name.clone(),
            started: process.started,
            hierarchy: hierarchy.to_owned(),
            group: group.strip_prefix(hierarchy)?.to_owned(),
        })
    }

    fn own_place(&mut self, group: &str) {
        self.note(format!(
            "measuring commands put their loop into {group} automatically; your own program: \
             --program NAME, or echo PID > {group}/cgroup.procs"
        ));
    }
}

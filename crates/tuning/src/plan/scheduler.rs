//! The scheduler: preemption model at run time, and limits that stop real-time loops.

use super::{Planner, Words};
use crate::{Action, Compare};

impl Planner<'_> {
    pub(super) fn preemption(&mut self) {
        let path = "/sys/kernel/debug/sched/preempt";
        if !self.bad("K2") || !self.seen.root.exists(path) || !self.can_be_read(path) {
            return;
        }
        self.add(
            "preemption",
            &["K2"],
            Words {
                reason: "long sections of the kernel are not preempted",
                effect: "the loop waits only for spinlocks and interrupts",
                cost: "a little throughput",
                undo: "the old choice",
            },
            vec![Action::compared(path, "full", Compare::Chosen)],
        );
    }

    /// Whether a file of debugfs can be opened. Secure Boot and the kernel's lockdown list the
    /// files but refuse access: the step then can't work, and is reported instead.
    fn can_be_read(&mut self, path: &str) -> bool {
        let read = self.seen.root.text(path);
        let is_open = read.known().is_some();
        if !is_open {
            self.note(format!(
                "omitted: {path} can't be opened, as with Secure Boot or kernel lockdown"
            ));
        }
        is_open
    }

    pub(super) fn throttling(&mut self) {
        let mut actions = Vec::new();
        if self.bad("S1") {
            actions.push(Action::write("/proc/sys/kernel/sched_rt_runtime_us", "-1"));
        }
        if self.bad("S2") {
            for cpu in self.seen.subject.cpus.numbers() {
                let path = format!("/sys/kernel/debug/sched/fair_server/cpu{cpu}/runtime");
                if self.can_be_read(&path) {
                    actions.push(Action::write(path, "0"));
                }
            }
        }
        self.add(
            "throttling",
            &["S1", "S2"],
            Words {
                reason: "requested by --no-throttling",
                effect: "real-time loops are never stopped in favour of ordinary threads",
                cost: "a spinning real-time loop locks up its CPU; with one CPU, the machine",
                undo: "the old values",
            },
            actions,
        );
    }
}

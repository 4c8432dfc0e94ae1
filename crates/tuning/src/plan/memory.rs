//! Settings that move the loop's pages, or cause page faults on them.

use super::{Planner, Words};
use crate::{Action, Compare};

impl Planner<'_> {
    pub(super) fn memory(&mut self) {
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
            Words {
                reason: "the kernel moves pages under the loop, which then waits in a fault; \
                         khugepaged compacts memory for every program",
                effect: "locked pages are not moved; huge pages only for programs that request them",
                cost: "large allocations may find less contiguous memory; programs that used huge pages without requesting them run slower",
                undo: "the old values",
            },
            actions,
        );
    }

    pub(super) fn merging(&mut self) {
        if !self.bad("M5") {
            return;
        }
        self.add(
            "page-merging",
            &["M5"],
            Words {
                reason: "a write to a page that was merged with equal ones is a fault that \
                         copies it",
                effect: "each program has its own pages again, and ksmd is idle",
                cost: "the memory that merging saved; unmerging takes time once",
                undo: "merging resumes; the same pages are merged again over time",
            },
            vec![Action::write("/sys/kernel/mm/ksm/run", "2")],
        );
    }
}

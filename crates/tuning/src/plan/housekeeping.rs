//! Periodic work of the kernel on every CPU, and messages on a slow console.

use super::{Planner, Words};
use crate::{Action, Compare};

impl Planner<'_> {
    pub(super) fn housekeeping(&mut self) {
        let actions = [
            ("W5", "/proc/sys/vm/stat_interval", "10"),
            ("S6", "/proc/sys/kernel/timer_migration", "0"),
            ("W4", "/sys/kernel/rcu_expedited", "0"),
        ]
        .into_iter()
        .filter(|(check, ..)| self.bad(check))
        .map(|(_, path, value)| Action::write(path, value))
        .collect();
        self.add(
            "housekeeping",
            &["W5", "S6", "W4"],
            Words {
                reason: "the kernel folds statistics, moves timers or ends grace periods on every \
                         CPU",
                effect: "less of it on the loop's CPU",
                cost: "memory statistics are up to 10 s old; idle CPUs keep their own timers; \
                       grace periods take longer",
                undo: "the old values",
            },
            actions,
        );
    }

    /// The detectors watch the loop's CPU as well; with nowhere else to go only the one by NMI is
    /// switched off.
    pub(super) fn lockup_detectors(&mut self) {
        if !self.bad("S5") {
            return;
        }
        let folder = "/proc/sys/kernel";
        let mut actions = Vec::new();
        let by_nmi = self
            .seen
            .root
            .number::<u32>(&format!("{folder}/nmi_watchdog"));
        if by_nmi.known() == Some(&1) {
            actions.push(Action::write(by_nmi.path(), "0"));
        }
        let mask = format!("{folder}/watchdog_cpumask");
        if !self.others.is_empty() && self.seen.root.exists(&mask) {
            let others = self.others.to_string();
            actions.push(Action::compared(mask, others, Compare::Cpus));
        }
        self.add(
            "lockup-detectors",
            &["S5"],
            Words {
                reason: "the lock-up detectors wake up on the loop's CPU every few seconds; the NMI watchdog \
                         interrupts even code with interrupts off",
                effect: "neither does",
                cost: "lock-ups of the loop's CPU are not detected, nor hard lock-ups of any CPU",
                undo: "the old values",
            },
            actions,
        );
    }

    pub(super) fn console(&mut self) {
        if !self.bad("D1") {
            return;
        }
        let path = "/proc/sys/kernel/printk";
        let levels = self.seen.root.text(path);
        let Some(levels) = levels.known() else {
            return;
        };
        let rest: Vec<&str> = levels.split_whitespace().skip(1).collect();
        let value = format!("1 {}", rest.join(" "));
        self.add(
            "console",
            &["D1"],
            Words {
                reason: "kernel messages are written to the serial line byte by byte, with interrupts off",
                effect: "only emergencies are written there; the log keeps all messages",
                cost: "warnings no longer appear on the console",
                undo: "the old levels",
            },
            vec![Action::compared(path, value.trim(), Compare::Words)],
        );
    }
}

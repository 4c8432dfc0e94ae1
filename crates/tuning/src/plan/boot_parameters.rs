//! Settings that need a kernel parameter.

use super::Planner;
use serde::{Deserialize, Serialize};

/// A parameter for the boot loader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootStep {
    /// As it is written: `rcu_nocbs=3`.
    pub parameter: String,
    /// The check that it answers.
    pub check: String,
    /// Reason why it can't be done while the machine runs.
    pub reason: String,
    /// Cost.
    pub cost: String,
}

impl Planner<'_> {
    pub(super) fn boot_parameters(&self) -> Vec<BootStep> {
        let mut steps = if self.others.is_empty() {
            Vec::new()
        } else {
            self.apart()
        };
        let mut add = |parameter: &str, check: &str, reason: &str, cost: &str| {
            steps.push(step(parameter.to_owned(), check, reason, cost));
        };
        if self.bad("K2") && self.built("PREEMPT_DYNAMIC") == Some(true) {
            add(
                "preempt=full",
                "K2",
                "persists; at run time it needs debugfs",
                "a little throughput",
            );
        }
        if self.bad("W4") {
            add(
                "rcupdate.rcu_normal_after_boot=1",
                "W4",
                "persists, and only the boot itself is sped up",
                "grace periods take longer",
            );
        }
        // The parameter exists since Linux 5.9.
        if self.bad("F1") && self.seen.kernel_at_least(5, 9) == Some(true) {
            add(
                "cpufreq.default_governor=performance",
                "F1",
                "persists, and is in effect from the start",
                "heat and energy of every CPU, not only the loop's",
            );
        }
        steps
    }

    /// Parameters that isolate the loop's CPU.
    fn apart(&self) -> Vec<BootStep> {
        let own = self.emptied();
        let others = &self.others;
        let mut steps = Vec::new();
        let mut add = |parameter: String, check: &str, reason: &str, cost: &str| {
            steps.push(step(parameter, check, reason, cost));
        };
        let isolated = self.seen.facts.varying.cpu_time.isolated.known();
        let is_isolated = isolated.is_some_and(|isolated| own.without(isolated).is_empty());
        match (is_isolated || self.has_partitions(), self.bad("Q3")) {
            (true, false) => {}
            (true, true) => add(
                format!("isolcpus=managed_irq,{own}"),
                "Q3",
                "the only way to move interrupts that a driver manages",
                "best effort: a queue whose CPUs are all isolated stays there",
            ),
            (false, _) => add(
                format!("isolcpus=domain,managed_irq,{own}"),
                "B5",
                "without control groups of version 2 no CPU can be isolated while the kernel runs",
                "the CPU is unavailable to everything else until the next boot; the kernel's \
                 documentation calls it deprecated",
            ),
        }
        if self.bad("W3") && self.built("RCU_NOCB_CPU") != Some(false) {
            add(
                format!("rcu_nocbs={own}"),
                "W3",
                "CPUs can be offloaded only at boot",
                "callbacks run in threads, at a small cost on the other CPUs",
            );
        }
        if self.bad("Q1") || self.bad("Q2") {
            add(
                format!("irqaffinity={others}"),
                "Q2",
                "interrupts requested early in the boot are placed correctly from the start",
                "none",
            );
        }
        // The parameter exists since Linux 6.6.
        if self.bad("W1") && self.seen.kernel_at_least(6, 6) == Some(true) {
            add(
                format!("workqueue.unbound_cpus={others}"),
                "W1",
                "persists, and is in effect from the start",
                "unbound work takes longer under load",
            );
        }
        steps
    }

    pub(super) fn built(&self, option: &str) -> Option<bool> {
        self.seen.facts.fixed.config.is_set(option)
    }
}

fn step(parameter: String, check: &str, reason: &str, cost: &str) -> BootStep {
    BootStep {
        parameter,
        check: check.to_owned(),
        reason: reason.to_owned(),
        cost: cost.to_owned(),
    }
}

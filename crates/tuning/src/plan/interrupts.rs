//! Affinity of device interrupts, and steering of network packets' SoftIRQs.

use super::{Planner, Words};
use crate::{Action, Compare};
use wakepath_readiness::packet_queues;
use wakepath_timeline::CpuSet;

impl Planner<'_> {
    pub(super) fn interrupts(&mut self) {
        let mut actions = Vec::new();
        if self.bad("Q2") {
            actions.push(Action::compared(
                "/proc/irq/default_smp_affinity",
                self.others.mask(),
                Compare::Mask,
            ));
        }
        let own = wakepath_readiness::own_interrupts(self.seen);
        for line in &self.seen.interrupts.lines {
            let here = |list: Option<&CpuSet>| list.is_some_and(|cpus| self.concerns(cpus));
            let cpus = match own.contains(&line.number) {
                // An interrupt that the loop waits for is best handled on the loop's CPU.
                true => &self.seen.subject.cpus,
                false if here(line.requested.known()) || here(line.effective.known()) => {
                    &self.others
                }
                false => continue,
            };
            actions.push(Action::Interrupt {
                number: line.number,
                device: line.action.clone(),
                cpus: cpus.clone(),
            });
        }
        if !actions.is_empty() {
            actions.splice(0..0, self.remember_interrupt_threads());
        }
        self.add(
            "interrupts",
            &["Q1", "Q2", "Q4", "Q5"],
            Words {
                reason: "devices interrupt the loop's CPU",
                effect: "their handlers and SoftIRQs run elsewhere; those of a device that the \
                         loop's program holds open, on the loop's CPU",
                cost: "the other CPUs take them all; interrupts managed by a driver can refuse to move",
                undo: "the old CPUs",
            },
            actions,
        );
    }

    pub(super) fn packet_steering(&mut self) {
        if !self.bad("Q8") {
            return;
        }
        let actions = packet_queues(self.seen)
            .into_iter()
            .filter_map(|queue| {
                let cpus = queue.cpus.known()?;
                self.concerns(cpus).then(|| {
                    let left = cpus.without(&self.emptied());
                    Action::compared(queue.cpus.path(), left.mask(), Compare::Mask)
                })
            })
            .collect();
        self.add(
            "packet-steering",
            &["Q8"],
            Words {
                reason: "network packets are steered to the loop's CPU, with their SoftIRQs",
                effect: "they are processed on other CPUs",
                cost: "less parallel network processing",
                undo: "the old masks",
            },
            actions,
        );
    }
}

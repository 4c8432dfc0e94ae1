//! Programs that change the same settings on their own.
//!
//! They are paused, not ended: that needs no service manager, starts no program, and can be
//! reverted exactly.

use super::{Planner, Words};
use crate::Action;
use wakepath_readiness::rivals;

/// Protects against heat, so the plan must not pause it.
const GUARDIAN: &str = "thermald";

impl Planner<'_> {
    pub(super) fn rivals(&mut self) {
        let mut names: Vec<&str> = Vec::new();
        if self.bad("Q9") && !self.others.is_empty() {
            names.push(rivals::BALANCER);
        }
        if self.bad("V1") {
            let writers = rivals::WRITERS.iter().copied();
            names.extend(writers.filter(|name| *name != GUARDIAN));
        }
        let actions = self
            .seen
            .processes
            .running(&names)
            .map(|process| Action::Pause {
                pid: process.pid,
                name: process.name.clone(),
                started: process.started,
            })
            .collect();
        self.add(
            "rivals",
            &["Q9", "V1"],
            Words {
                reason: "these write the same settings at a time of their own",
                effect: "they are paused and can't revert the settings",
                cost: "they do nothing while paused: interrupts are not rebalanced, profiles not switched; \
                       D-Bus requests to them time out",
                undo: "they resume",
            },
            actions,
        );
    }

    /// Those that no step pauses.
    pub(super) fn rivals_left(&self) -> Vec<String> {
        match self.bad("V1") {
            true => self
                .seen
                .processes
                .running(&[GUARDIAN])
                .map(|process| {
                    format!(
                        "{GUARDIAN} ({}) guards against heat and writes frequencies: systemctl \
                         stop {GUARDIAN} only where the cooling is sure",
                        process.pid
                    )
                })
                .collect(),
            false => Vec::new(),
        }
    }
}

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
                reason: "these programs also write the same settings",
                effect: "they are paused and can't revert the settings",
                cost: "while paused they don't rebalance interrupts or switch profiles; D-Bus requests to them time \
                       out",
                undo: "they resume",
            },
            actions,
        );
    }

    /// Those that no step pauses.
    pub(super) fn rivals_left(&self) -> Vec<String> {
        if self.bad("V1") {
            self
                .seen
                .processes
                .running(&[GUARDIAN])
                .map(|process| {
                    format!(
                        "{GUARDIAN} ({}) protects against overheating and writes frequencies: systemctl stop \
                         {GUARDIAN} only if the cooling is sufficient",
                        process.pid
                    )
                })
                .collect()
        } else {
            Vec::new()
        }
    }
}

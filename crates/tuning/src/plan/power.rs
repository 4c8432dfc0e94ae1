//! Frequency and idle states of the loop's CPUs.

use super::{Planner, Words};
use crate::Action;
use wakepath_machine::FrequencyPolicy;
use wakepath_timeline::duration::length;

impl Planner<'_> {
    pub(super) fn frequency(&mut self) {
        let mut actions = Vec::new();
        for policy in self.own_policies() {
            let governor = policy.governor.known();
            if self.bad("F1") && governor.is_some_and(|name| name != "performance") {
                actions.push(Action::write(policy.governor.path(), "performance"));
            }
            if !self.bad("F2") {
                continue;
            }
            // After the governor: under `performance` some drivers take no other preference.
            let preference = policy.energy_preference.known();
            if preference.is_some_and(|name| name != "performance") {
                let path = policy.energy_preference.path();
                actions.push(Action::write(path, "performance"));
            }
            if let (Some(low), Some(high)) =
                (policy.minimum_khz.known(), policy.maximum_khz.known())
                && low < high
            {
                let path = policy.minimum_khz.path();
                actions.push(Action::write(path, high.to_string()));
            }
        }
        self.add(
            "frequency",
            &["F1", "F2"],
            Words {
                reason: "the clock frequency follows the load, and a loop that mostly sleeps causes too little load",
                effect: "always the highest allowed clock frequency",
                cost: "heat and energy, including CPUs that share the clock; a hot machine throttles",
                undo: "the old governor, preference and range",
            },
            actions,
        );
    }

    fn own_policies(&self) -> Vec<&FrequencyPolicy> {
        let all = self.seen.facts.varying.frequency.policies.iter();
        all.filter(|policy| {
            let own = policy.cpus.known();
            own.is_some_and(|cpus| !self.seen.on_loop(cpus).is_empty())
        })
        .collect()
    }

    pub(super) fn idle_states(&mut self) {
        if !self.bad("F3") {
            return;
        }
        let noticeable_ns = self.seen.subject.noticeable_ns();
        let bound_us = (noticeable_ns / 1_000).max(1);
        let mut actions = Vec::new();
        for &cpu in self.seen.subject.cpus.numbers() {
            let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
            let bound = format!("{folder}/power/pm_qos_resume_latency_us");
            if self.seen.root.exists(&bound) {
                actions.push(Action::write(bound, bound_us.to_string()));
                continue;
            }
            // Kernels without per-CPU bounds: the states themselves.
            let states = self.seen.facts.varying.idle.states_of(cpu);
            for (number, state) in states.into_iter().flatten().enumerate() {
                if state.latency_us > bound_us && !state.disabled {
                    let path = format!("{folder}/cpuidle/state{number}/disable");
                    actions.push(Action::write(path, "1"));
                }
            }
        }
        let reason = format!(
            "waking from the deepest idle state takes more than {}",
            length(noticeable_ns)
        );
        self.add(
            "idle-states",
            &["F3", "F4"],
            Words {
                reason: &reason,
                effect: "the loop's CPU sleeps less deeply; the others are unchanged",
                cost: "heat and energy of one CPU, and less turbo for the others",
                undo: "the old bound, or the states allowed again",
            },
            actions,
        );
    }
}

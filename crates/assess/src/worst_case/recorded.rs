//! The bound that sections of the run itself compose, phase by phase and CPU by CPU, where the kernel's events told
//! them; held against what the loop's real-time conditions waited there.

use super::composed::{Composed, compose};
use super::{BoundMetric, BoundOrder, Bounded, Bounds};
use serde::Serialize;
use wakepath_archive::{KernelSections, Run, SectionKind, SectionsEffect};
use wakepath_machine::{Facts, PreemptionModel};
use wakepath_schedulability::sections::Composition;

/// Sections of a CPU in a phase from the kernel's events.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedSections {
    /// The phase.
    pub phase: String,
    /// The CPU.
    pub cpu: u16,
    /// How long events were recorded, in nanoseconds.
    pub observed_ns: u64,
    /// Events that were lost.
    pub lost: u64,
    /// The bound.
    pub composed: Option<Composed>,
    /// Why there is none, in one line.
    pub refused: Option<String>,
    /// Effect of recording on the wake-ups of a parallel thread: the sections contain it too.
    pub effect: SectionsEffect,
}

impl Bounds {
    /// With the bounds composed of the run's own sections.
    pub(super) fn with_recorded(mut self, run: &Run, order: &BoundOrder) -> Self {
        if self.metric != BoundMetric::Latency {
            return self;
        }
        let model = preemption(run);
        for one in merged(&run.manifest.kernel_sections) {
            let shown = self.conditions.iter().any(|known| known.phase == one.phase);
            if shown && order.phase.as_ref().is_none_or(|phase| *phase == one.phase) {
                self.recorded.push(recorded(&one, model, &self.conditions));
            }
        }
        self
    }
}

/// When the run's kernel let a woken thread take the CPU, as it was read back.
fn preemption(run: &Run) -> PreemptionModel {
    let facts = run.manifest.facts.first();
    let facts = facts.and_then(|taken| Facts::of_json(&taken.facts).ok());
    facts.map_or(PreemptionModel::Unknown, |facts| {
        facts.varying.preemption.model
    })
}

fn recorded(
    one: &KernelSections,
    model: PreemptionModel,
    conditions: &[Bounded],
) -> RecordedSections {
    let found = bound(one, model, conditions);
    let (composed, refused) = match found {
        Ok(composed) => (Some(composed), None),
        Err(why) => (None, Some(why)),
    };
    RecordedSections {
        phase: one.phase.clone(),
        cpu: one.cpu,
        observed_ns: one.observed_ns,
        lost: one.lost,
        composed,
        refused,
        effect: one.effect,
    }
}

fn bound(
    one: &KernelSections,
    model: PreemptionModel,
    conditions: &[Bounded],
) -> Result<Composed, String> {
    if let Some(why) = &one.not_available {
        return Err(why.clone());
    }
    if let PreemptionModel::None | PreemptionModel::Voluntary = model {
        return Err(format!(
            "this kernel can be preempted only at preemption points (preemption: {}), and no event marks the \
             sections between them; fix: boot with preempt=full",
            model.word()
        ));
    }
    if one.effect.with.samples == 0 {
        return Err("the events contain no wake-up, so the path from the scheduler to a thread is unknown; fix: record longer"
            .into());
    }
    let most = |kind: Option<SectionKind>| kind.map_or(0, |kind| kind.longest_ns);
    let parts = Composition {
        off: one.preemption_off.longest_ns,
        before_scheduler: most(one.before_scheduler),
        scheduler: most(one.scheduler),
        switch: most(one.switch),
        own_interrupt: one.own_interrupt_ns,
        back: one.after_scheduler_ns,
        interference: one.interference_ns,
    };
    // A thread of lower priority waits for others too.
    let waited = conditions
        .iter()
        .filter(|condition| condition.real_time && condition.phase == one.phase)
        .map(|condition| condition.examined.observed.largest)
        .max();
    let source = format!("{}, CPU {}, from the kernel's events", one.phase, one.cpu);
    compose(&parts.sections(1), &source, waited.unwrap_or(0)).map_err(|error| error.to_string())
}

/// Repetitions of a phase as one: the longest of all.
fn merged(all: &[KernelSections]) -> Vec<KernelSections> {
    let mut found: Vec<KernelSections> = Vec::new();
    for one in all {
        let same = |known: &&mut KernelSections| known.phase == one.phase && known.cpu == one.cpu;
        let Some(known) = found.iter_mut().find(same) else {
            found.push(one.clone());
            continue;
        };
        // A fact known from one repetition is known.
        if known.not_available.is_some() || one.not_available.is_some() {
            if known.not_available.is_some() {
                *known = one.clone();
            }
            continue;
        }
        let longer = |a: Option<SectionKind>, b: Option<SectionKind>| {
            a.into_iter().chain(b).max_by_key(|kind| kind.longest_ns)
        };
        let off = [known.preemption_off, one.preemption_off];
        known.preemption_off.longest_ns = off
            .map(|kind| kind.longest_ns)
            .into_iter()
            .max()
            .unwrap_or(0);
        known.before_scheduler = longer(known.before_scheduler, one.before_scheduler);
        known.scheduler = longer(known.scheduler, one.scheduler);
        known.switch = longer(known.switch, one.switch);
        known.own_interrupt_ns = known.own_interrupt_ns.max(one.own_interrupt_ns);
        known.after_scheduler_ns = known.after_scheduler_ns.max(one.after_scheduler_ns);
        known.interference_ns = known.interference_ns.max(one.interference_ns);
        known.observed_ns += one.observed_ns;
        known.lost += one.lost;
        // The effect of the repetition in which it was largest.
        if known.effect.with.largest_ns < one.effect.with.largest_ns {
            known.effect = one.effect;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_archive::StageLatency;

    fn kind(longest_ns: u64) -> SectionKind {
        SectionKind {
            longest_ns,
            count: 1,
        }
    }

    fn sections() -> KernelSections {
        let woken = StageLatency {
            samples: 10,
            ..StageLatency::default()
        };
        KernelSections {
            phase: "stress".into(),
            cpu: 3,
            preemption_off: kind(60_000),
            before_scheduler: Some(kind(2_000)),
            scheduler: Some(kind(10_000)),
            switch: Some(kind(4_000)),
            own_interrupt_ns: 5_000,
            after_scheduler_ns: 1_000,
            interference_ns: 12_000,
            effect: SectionsEffect {
                period_ns: 1_000_000,
                with: woken,
                without: woken,
            },
            ..KernelSections::default()
        }
    }

    #[test]
    fn a_phases_sections_compose_its_bound_and_repetitions_the_longest_of_each() {
        let alone = bound(&sections(), PreemptionModel::Full, &[]).unwrap();
        assert_eq!(alone.latency_ns, 90_000);
        let longer = KernelSections {
            preemption_off: kind(50_000),
            scheduler: Some(kind(11_000)),
            ..sections()
        };
        let both = merged(&[sections(), longer]);
        assert_eq!(both.len(), 1);
        let found = bound(&both[0], PreemptionModel::RealTime, &[]).unwrap();
        assert_eq!(found.latency_ns, 91_000);
    }

    #[test]
    fn what_has_no_bound_says_why() {
        let voluntary = bound(&sections(), PreemptionModel::Voluntary, &[]).unwrap_err();
        assert!(voluntary.contains("preemption: voluntary"), "{voluntary}");
        let lacking = KernelSections {
            not_available: Some("this kernel has none".into()),
            ..sections()
        };
        assert_eq!(
            bound(&lacking, PreemptionModel::Full, &[]).unwrap_err(),
            "this kernel has none"
        );
        let mut unwoken = sections();
        unwoken.effect.with.samples = 0;
        assert!(bound(&unwoken, PreemptionModel::Full, &[]).is_err());
    }
}

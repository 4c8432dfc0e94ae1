//! How early the timers of real-time cores expire on each side: latencies of a core are held against nothing without
//! it. It corrects none.

use super::differences::Subject;
use wakepath_machine::RealTimeCores;

/// The cores of a machine with their gravity: `EVL 3000 ns`; `no core`.
pub(super) fn gravities(cores: &RealTimeCores) -> String {
    let told: Vec<String> = named(cores)
        .map(|(core, gravity)| format!("{core} {gravity}"))
        .collect();
    if told.is_empty() {
        "no core".to_owned()
    } else {
        told.join(", ")
    }
}

/// Whether two machines have the same cores, however early their timers are.
pub(super) fn are_the_same(one: &RealTimeCores, two: &RealTimeCores) -> bool {
    let names = |cores| named(cores).map(|(core, _)| core);
    names(one).eq(names(two))
}

fn named(cores: &RealTimeCores) -> impl Iterator<Item = (&'static str, String)> {
    let of_evl = cores.evl.as_ref().map(|core| ("EVL", &core.gravity_ns));
    let cobalt = cores.cobalt.as_ref();
    let of_cobalt = cobalt.map(|core| ("Cobalt", &core.gravity_ns));
    let both = of_evl.into_iter().chain(of_cobalt);
    both.map(|(core, gravity)| match gravity.known() {
        Some(ns) => (core, format!("{ns} ns")),
        None => (core, "unknown".to_owned()),
    })
}

/// A note for the reader of latencies on a core; `None` if no side measured one.
pub(super) fn told(base: &[Subject], against: &[Subject]) -> Option<String> {
    let is_of_a_core = |subject: &Subject| {
        let own = subject.scenario.tasks.iter().filter_map(|task| task.policy);
        let mut policies = subject.scenario.policies.iter().copied().chain(own);
        policies.any(|policy| policy.is_of_a_co_kernel())
    };
    let side = |subjects: &[Subject]| {
        let mut told: Vec<String> = subjects
            .iter()
            .map(|subject| match &subject.facts {
                Some(facts) => gravities(&facts.varying.cores),
                None => "not recorded".to_owned(),
            })
            .collect();
        told.dedup();
        told.join("; ")
    };
    let any = base.iter().chain(against).any(is_of_a_core);
    any.then(|| {
        format!(
            "a real-time core's timers expire early by its gravity, and its latencies are that much \
             smaller: {} in the base, {} on the other side",
            side(base),
            side(against)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_machine::{CobaltCore, EvlCore, Reading};

    #[test]
    fn cores_are_named_with_how_early_their_timers_are() {
        let evl = |ns| RealTimeCores {
            evl: Some(EvlCore {
                gravity_ns: Reading::found(ns, "gravity"),
                ..EvlCore::default()
            }),
            ..RealTimeCores::default()
        };
        let cobalt = RealTimeCores {
            cobalt: Some(CobaltCore::default()),
            ..RealTimeCores::default()
        };
        assert_eq!(gravities(&evl(3_000)), "EVL 3000 ns");
        assert_eq!(gravities(&cobalt), "Cobalt unknown");
        assert_eq!(gravities(&RealTimeCores::default()), "no core");
        assert!(are_the_same(&evl(3_000), &evl(1)));
        assert!(!are_the_same(&evl(3_000), &cobalt));
    }
}

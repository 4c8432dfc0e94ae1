//! The sections of a run for scripts. Times in virtual nanoseconds.

use super::told::{ConditionSections, RunSections, SectionFound};
use crate::sections::Variable;
use serde_json::{Value, json};

/// All of it.
pub fn to_json(run: &RunSections) -> Value {
    let conditions = run.conditions.iter();
    let conditions: Vec<Value> = conditions
        .map(|one| of(one, run.ns_per_instruction))
        .collect();
    json!({
        "ns_per_instruction": run.ns_per_instruction,
        "preemption": run.preemption,
        "conditions": conditions,
        "left_out": run.left_out,
    })
}

fn of(condition: &ConditionSections, ns: u64) -> Value {
    let figures = &condition.figures;
    let variable = |of: &Variable| {
        json!({
            "longest_ns": of.most() * ns,
            "count": of.count,
            "total_ns": of.total * ns,
        })
    };
    let interrupts = condition.interrupts.iter().map(|(name, found, apart)| {
        json!({
            "name": name,
            "of": variable(found),
            "apart_ns": apart.map(|apart| apart * ns),
        })
    });
    let longest = condition.longest.iter().map(|found| {
        let SectionFound {
            began,
            ended,
            variable: of,
            within,
        } = found;
        let functions = within.iter().flat_map(|within| &within.functions);
        let functions: Vec<Value> = functions
            .map(|one| json!({ "symbol": one.symbol, "own": one.own }))
            .collect();
        json!({
            "began": began,
            "ended": ended,
            "of": variable(of),
            "stack": within.as_ref().map(|within| &within.stack),
            "functions": functions,
        })
    });
    let sweep = &figures.sweep;
    let shares = [0.1, 0.01, 0.001, 0.000_1, 0.000_01];
    let latencies =
        shares.map(|share| json!({ "share": share, "ns": sweep.exceeded_by(share) * ns }));
    json!({
        "condition": condition.condition,
        "phase": condition.phase,
        "sampled_ns": figures.sampled * ns,
        "cycles": figures.cycles,
        "any_instant_ns": figures.largest() * ns,
        "bound_ns": figures.bound * ns,
        "faults": figures.faults(),
        "preemption_off": variable(&figures.off),
        "before_scheduler": variable(&figures.before_scheduler),
        "scheduler": variable(&figures.scheduler),
        "switch": variable(&figures.switch),
        "after_scheduler_ns": figures.back * ns,
        "own_interrupt_ns": figures.own_interrupt * ns,
        "interrupts_in_the_bound_ns": figures.interference * ns,
        "interrupts": interrupts.collect::<Vec<_>>(),
        "path_ns": figures.path * ns,
        "longest_wait_ns": sweep.longest_wait() * ns,
        "latencies_exceeded_by": latencies,
        "instants": sweep.instants(),
        "instants_with_a_wait": sweep.waiting(),
        "within_a_tenth_at_cycle": figures.within_tenth,
        "within_a_tenth_expected_after_cycles": figures.expected_cycles(),
        "longest": longest.collect::<Vec<_>>(),
        "kept_from_ns": condition.shortest * ns,
    })
}

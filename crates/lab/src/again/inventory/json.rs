//! The sections of a run for scripts. Times in virtual nanoseconds.

use super::told::{ConditionSections, RunSections, SectionFound};
use crate::sections::Variable;
use crate::window::Within;
use serde_json::{Value, json};

/// All of it.
pub fn to_json(run: &RunSections) -> Value {
    let conditions = run.conditions.iter();
    let conditions: Vec<Value> = conditions
        .map(|one| of(one, run.ns_per_instruction))
        .collect();
    json!({
        "ns_per_instruction": run.ns_per_instruction,
        "cost_model": run.cost_model,
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
    let functions = |within: &Option<Within>| -> Vec<Value> {
        let all = within.iter().flat_map(|within| &within.functions);
        all.map(|one| json!({ "symbol": one.symbol, "own": one.own }))
            .collect()
    };
    let interrupts = condition.interrupts.iter().map(|found| {
        let heaviest = found.within.as_ref().map(Within::heaviest);
        json!({
            "name": found.entry,
            "of": variable(&found.variable),
            "apart_ns": found.apart.map(|apart| apart * ns),
            "heaviest": heaviest,
            "functions": functions(&found.within),
        })
    });
    let longest = condition.longest.iter().map(|found| {
        let SectionFound {
            began,
            ended,
            variable: of,
            within,
        } = found;
        json!({
            "began": began,
            "ended": ended,
            "of": variable(of),
            "stack": within.as_ref().map(|within| &within.stack),
            "functions": functions(within),
        })
    });
    let scheduled = condition.as_scheduled;
    let sweep = &figures.sweep;
    let shares = [0.1, 0.01, 0.001, 0.000_1, 0.000_01];
    let latencies =
        shares.map(|share| json!({ "share": share, "ns": sweep.exceeded_by(share) * ns }));
    json!({
        "condition": condition.condition,
        "phase": condition.phase,
        "latency_of_wake_ups_max_ns": figures.sampled * ns,
        "latency_as_scheduled_max_ns": scheduled.map(|one| one.largest_ns),
        "skipped": scheduled.map(|one| one.skipped),
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
        "longest_delay_ns": sweep.longest_delay() * ns,
        "latencies_exceeded_by": latencies,
        "instants": sweep.instants(),
        "instants_with_a_wait": sweep.waiting(),
        "within_a_tenth_at_cycle": figures.within_tenth,
        "within_a_tenth_expected_after_cycles": figures.expected_cycles(),
        "longest": longest.collect::<Vec<_>>(),
        "kept_from_ns": condition.shortest * ns,
    })
}

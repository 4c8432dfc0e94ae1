//! Costs as JSON, for scripts and for the run's directory.
//!
//! Holds the core's figures and each cycle's cost. Times in nanoseconds.

use super::RunCosts;
use serde_json::{Value, json};

/// All of it.
pub fn to_json(run: &RunCosts) -> Value {
    let model = run.model;
    let parameters = &model.parameters;
    let caches = parameters.caches;
    let caches = caches.map(|size| json!({ "lines": size.lines, "ways": size.ways }));
    let conditions = run.conditions.iter().map(|condition| {
        let cycles = condition.cycles.iter().map(|cycle| {
            let of = cycle.execution;
            json!({
                "latency_ns": cycle.latency.map(|(cost, _)| model.ns(cost)),
                "latency_virtual_ns": cycle.latency.map(|(_, ns)| ns),
                "execution_ns": model.ns(of.total()),
                "execution_virtual_ns": cycle.execution_ns,
                "instructions_ns": model.ns(of.instructions),
                "code_ns": model.ns(of.code),
                "data_ns": model.ns(of.data),
                "lines_ns": model.ns(of.lines),
            })
        });
        json!({
            "condition": condition.condition,
            "phase": condition.phase,
            "cycles": cycles.collect::<Vec<_>>(),
        })
    });
    json!({
        "cost_model": {
            "name": model.name,
            "about": model.about,
            "mhz": model.mhz,
            "extra_quarters": parameters.extra,
            "wait_quarters": parameters.wait,
            "line_near_quarters": parameters.line_near,
            "line_memory_quarters": parameters.line_memory,
            "caches": caches,
            "sources": model.sources,
        },
        "conditions": conditions.collect::<Vec<_>>(),
    })
}

//! Modelled cost of a run's cycles.
//!
//! The run is repeated with a model of a core in the emulator's plugin. Its virtual time must come
//! out the same.

mod heard;
mod json;
mod text;

pub use json::to_json as costs_json;
pub use text::to_text as costs_text;

use super::error::{AgainError, NoBlocks};
use super::guest::Again;
use super::line::Noting;
use super::repeat::{follower, once_more, refuse_another_run};
use super::wanted::{Wanted, was_woken};
use crate::cost::{CostModel, Spent};
use crate::guests::Stopped;
use crate::host::Host;
use heard::Heard;

/// Modelled costs of a run's cycles.
#[derive(Debug, Clone)]
pub struct RunCosts {
    /// The cost model.
    pub model: &'static CostModel,
    /// Each condition's, in their order.
    pub conditions: Vec<ConditionCosts>,
}

/// A condition's cycles.
#[derive(Debug, Clone)]
pub struct ConditionCosts {
    /// Its name, and the phase's.
    pub condition: String,
    /// Phase.
    pub phase: String,
    /// Its cycles in the order of execution.
    pub cycles: Vec<CycleCost>,
}

/// Modelled cost of a cycle, next to its virtual time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CycleCost {
    /// From its first reading of the clock to its last.
    pub execution: Spent,
    /// The same in virtual nanoseconds.
    pub execution_ns: u64,
    /// From the due time to the first reading of the clock, in quarters of a cycle and in virtual
    /// nanoseconds; none if the cycle didn't wait.
    pub latency: Option<(u64, u64)>,
}

/// Repeats the run and models the cost of the `wanted` cycles.
///
/// # Errors
/// If the run comes out differently, or one of its loops isn't found.
pub fn costs(
    model: &'static CostModel,
    again: &Again,
    wanted: &Wanted,
    host: &Host,
    stopped: Stopped<'_>,
) -> Result<RunCosts, AgainError> {
    let noting = Noting {
        costs: Some(model.parameters),
        ..Noting::default()
    };
    let latencies = wanted.latencies(again.ns_per_instruction.into());
    let mut heard = Heard::new(follower(again, wanted), &latencies);
    once_more(again, &noting, &mut heard, host, stopped)?;
    refuse_another_run(again)?;
    again.clean_up();
    let mut conditions: Vec<ConditionCosts> = Vec::new();
    for (number, (of, thread)) in wanted.loops.iter().zip(&wanted.threads).enumerate() {
        for &index in &of.wanted {
            let sample = &of.samples[index];
            let (execution, latency) = heard.times(number, index).map_err(|why: NoBlocks| {
                let (segment, cycle) = (thread.segment, sample.cycle);
                AgainError::Blocks {
                    segment,
                    cycle,
                    why,
                }
            })?;
            let latency_ns = u64::try_from(sample.latency_ns()).ok();
            let latency_ns = latency_ns.filter(|_| was_woken(sample));
            let cost = CycleCost {
                execution,
                execution_ns: sample.end_ns.saturating_sub(sample.wake_ns),
                latency: latency_ns.map(|ns| (latency, ns)),
            };
            let known = conditions.iter_mut().find(|known| {
                (&known.condition, &known.phase) == (&thread.condition, &thread.phase)
            });
            match known {
                Some(known) => known.cycles.push(cost),
                None => conditions.push(ConditionCosts {
                    condition: thread.condition.clone(),
                    phase: thread.phase.clone(),
                    cycles: vec![cost],
                }),
            }
        }
    }
    Ok(RunCosts { model, conditions })
}

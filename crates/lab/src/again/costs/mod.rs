//! What a run's cycles would cost by a model of a core: the run made once more, with the emulator's plugin
//! carrying the model along. The run's own time is what it was, and must come out the same.

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

/// What a run's cycles would cost.
#[derive(Debug, Clone)]
pub struct RunCosts {
    /// By which model.
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

/// What a cycle would cost, beside its virtual time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CycleCost {
    /// From its first reading of the clock to its last.
    pub execution: Spent,
    /// The same in virtual nanoseconds.
    pub execution_ns: u64,
    /// From due to its first reading, in quarters of a cycle and in virtual nanoseconds, where it was woken.
    pub latency: Option<(u64, u64)>,
}

/// Makes the run again and tells what the `wanted` cycles would cost.
///
/// # Errors
/// Where the run does not come out the same, or a loop is not found in it.
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
            let (execution, latency) = heard.of(number, index).map_err(|why: NoBlocks| {
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

//! A real-time core's own latencies next to the loop's, and the share of each step: the timer's
//! handler, the core's scheduler, the way into user space. From the recording alone; not part of
//! the verdict.

use serde::Serialize;
use wakepath_archive::{CoreLatency, CoreStageLatency};
use wakepath_verdict::Judgement;

/// A core's own latencies with those of the loops that they were measured for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BesideTheCore {
    /// The task, where tasks are judged one by one.
    pub task: Option<String>,
    /// The core's measurement.
    pub core: CoreLatency,
    /// From the due time to the loop's first instruction, over the cycles that ran; `None` if none
    /// did.
    pub the_loop: Option<LoopLatency>,
    /// Share of each step, if both of its ends were measured and the gravity is known.
    pub adds: Added,
}

/// The loop's latencies, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoopLatency {
    /// Cycles.
    pub cycles: u64,
    /// The least.
    pub smallest_ns: i64,
    /// The mean.
    pub mean_ns: f64,
    /// The largest, which is no bound.
    pub largest_ns: i64,
}

/// Means from the instant at which the timer is to expire, which is the due time less its gravity, each less the one
/// before it; in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Added {
    /// From there to the timer's handler.
    pub interrupt_ns: Option<f64>,
    /// From the handler to a thread of the kernel: the cost of the core's scheduler.
    pub scheduler_ns: Option<f64>,
    /// From there to the loop: what user space costs.
    pub user_space_ns: Option<f64>,
}

/// All that cores measured in the run, each with the loops that it was for.
pub(crate) fn of_all(measured: &[CoreLatency], judgements: &[Judgement]) -> Vec<BesideTheCore> {
    let with_loops = measured.iter().flat_map(|core| {
        let of_it = judgements.iter().filter(move |judgement| {
            let name = &judgement.name;
            let task = name.task.as_ref();
            let policy = name.policy.map(|policy| policy.to_string());
            name.phase == core.phase
                && policy.is_none_or(|policy| policy == core.policy)
                && task.is_none_or(|task| core.threads.contains(task))
        });
        let found: Vec<_> = of_it
            .map(|judgement| beside(core, judgement.name.task.clone(), the_loop(judgement)))
            .collect();
        if found.is_empty() {
            vec![beside(core, None, None)]
        } else {
            found
        }
    });
    with_loops.collect()
}

fn the_loop(judgement: &Judgement) -> Option<LoopLatency> {
    let latency = judgement.cycles.latency_as_executed.as_ref()?;
    Some(LoopLatency {
        cycles: latency.count,
        smallest_ns: latency.min,
        mean_ns: latency.mean,
        largest_ns: latency.max,
    })
}

fn beside(
    core: &CoreLatency,
    task: Option<String>,
    the_loop: Option<LoopLatency>,
) -> BesideTheCore {
    BesideTheCore {
        task,
        adds: added(core, the_loop),
        core: core.clone(),
        the_loop,
    }
}

fn added(core: &CoreLatency, the_loop: Option<LoopLatency>) -> Added {
    let Some(gravity) = core.gravity else {
        return Added::default();
    };
    let from_expiry = |mean_ns: f64, gravity_ns: i64| mean_ns + gravity_ns as f64;
    let of_stage = |stage: Option<CoreStageLatency>, gravity_ns: i64| {
        stage.map(|stage| from_expiry(stage.mean_ns as f64, gravity_ns))
    };
    let handler = of_stage(core.handler, gravity.handler_ns);
    let thread = of_stage(core.thread, gravity.thread_ns);
    let the_loop = the_loop.map(|of| from_expiry(of.mean_ns, gravity.program_ns));
    let less = |to: Option<f64>, from: Option<f64>| Some(to? - from?);
    Added {
        interrupt_ns: handler,
        scheduler_ns: less(thread, handler),
        user_space_ns: less(the_loop, thread),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_archive::CoreGravity;

    fn stage(mean_ns: i64) -> Option<CoreStageLatency> {
        Some(CoreStageLatency {
            periods: 1_000,
            mean_ns,
            ..CoreStageLatency::default()
        })
    }

    fn core(gravity: Option<CoreGravity>) -> CoreLatency {
        CoreLatency {
            condition: "EVL FIFO 80".into(),
            phase: "idle".into(),
            gravity,
            handler: stage(700),
            thread: stage(-900),
            ..CoreLatency::default()
        }
    }

    const LOOP: LoopLatency = LoopLatency {
        cycles: 300,
        smallest_ns: -1_000,
        mean_ns: -940.0,
        largest_ns: -800,
    };

    /// The three expire 0, 2000 and 3000 ns early: 700, 1100 and 2060 ns after that.
    #[test]
    fn each_step_adds_what_is_more_from_the_instant_at_which_its_own_timer_expires() {
        let gravity = CoreGravity {
            handler_ns: 0,
            thread_ns: 2_000,
            program_ns: 3_000,
        };
        let expected = Added {
            interrupt_ns: Some(700.0),
            scheduler_ns: Some(400.0),
            user_space_ns: Some(960.0),
        };
        assert_eq!(added(&core(Some(gravity)), Some(LOOP)), expected);
        let without_a_loop = added(&core(Some(gravity)), None);
        assert_eq!(without_a_loop.scheduler_ns, Some(400.0));
        assert_eq!(without_a_loop.user_space_ns, None);
    }

    #[test]
    fn without_the_gravity_nothing_is_taken_apart() {
        assert_eq!(added(&core(None), Some(LOOP)), Added::default());
    }
}

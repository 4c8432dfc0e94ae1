//! A real-time core's own latencies at the end of a phase, under its loads, for comparison with the loop's:
//! measured by the core for a separate process, while no loop runs.

use crate::MeasureError;
use crate::measurement::Running;
use crate::own_executable;
use crate::plan::{PhaseRun, Segment};
use crate::supervisor::{Child, Heard};
use std::time::{Duration, Instant};
use wakepath_archive::{CoreGravity, CoreLatency, CoreStageLatency, Event};
use wakepath_machine::TimerGravity;
use wakepath_measured_loop::CoreLatencyReply;
use wakepath_rt::core_latency::{CoreLatencyOrder, CoreStage};

/// Between two looks at the interrupt.
const TICK: Duration = Duration::from_millis(100);
/// Beyond the time that a measurement takes; then its process is held for dead.
const PATIENCE: Duration = Duration::from_secs(20);

/// One measurement of a core in one phase.
struct Asked {
    order: CoreLatencyOrder,
    condition: String,
    threads: Vec<String>,
}

impl Running<'_> {
    /// Has the cores measure themselves for those of their policies that were measured in this phase.
    ///
    /// # Errors
    /// If the run can't continue.
    pub(crate) fn core_latencies(&mut self, run: &PhaseRun) -> Result<(), MeasureError> {
        // Once is enough to hold the loop's against, and each time takes seconds.
        let (Some(for_ns), 0) = (self.scenario.core_latency_ns, run.repetition) else {
            return Ok(());
        };
        let measured = run.segments.iter().filter(|segment| {
            let planned = &segment.planned;
            let key = (planned.condition.clone(), planned.phase.clone());
            !self.unavailable.contains_key(&key)
        });
        let phase = &self.scenario.phases[run.phase].name;
        for asked in asked(measured, (for_ns / 1_000_000_000) as u32) {
            let mut latency = CoreLatency {
                phase: phase.clone(),
                policy: asked.order.policy.to_string(),
                cpu: asked.order.cpu,
                period_ns: asked.order.period_ns,
                gravity: TimerGravity::new(asked.order.policy).map(gravity),
                condition: asked.condition,
                threads: asked.threads,
                ..CoreLatency::default()
            };
            for stage in [CoreStage::Handler, CoreStage::Thread] {
                let order = CoreLatencyOrder {
                    stage,
                    ..asked.order
                };
                match self.core_latency(&order)? {
                    None => return Ok(()),
                    Some(CoreLatencyReply::Measured(found)) => {
                        let of_stage = match stage {
                            CoreStage::Handler => &mut latency.handler,
                            CoreStage::Thread => &mut latency.thread,
                        };
                        *of_stage = Some(stage_latency(&found));
                    }
                    // What keeps it from the one keeps it from the other.
                    Some(CoreLatencyReply::Not(why)) => {
                        latency.not_available = Some(why);
                        break;
                    }
                }
            }
            self.recording
                .append(Event::CoreLatency(Box::new(latency)))?;
        }
        Ok(())
    }

    /// One measurement; `None` where the run is to end.
    fn core_latency(
        &mut self,
        order: &CoreLatencyOrder,
    ) -> Result<Option<CoreLatencyReply>, MeasureError> {
        let not = |why: String| Ok(Some(CoreLatencyReply::Not(why)));
        let shared = self.recording.memory.file();
        let child = Child::start(&own_executable(), "core-latency", shared, None);
        let mut child: Child<CoreLatencyReply> = match child {
            Ok(child) => child,
            Err(error) => return not(error.to_string()),
        };
        if let Err(error) = child.say(order) {
            return not(format!("{error}: {}", child.end()));
        }
        let patience = Duration::from_nanos(order.takes_ns()) + PATIENCE;
        let begun = Instant::now();
        let reply = loop {
            let heard = child.hear(TICK);
            self.run_goes_on()?;
            match heard {
                Heard::Said(reply) => break Some(reply),
                Heard::Gone => break Some(CoreLatencyReply::Not(child.end())),
                Heard::Nothing if self.interrupt.requested() => break None,
                Heard::Nothing if begun.elapsed() > patience => {
                    let why = format!("no answer within {} s", patience.as_secs());
                    break Some(CoreLatencyReply::Not(why));
                }
                Heard::Nothing => {}
            }
        };
        child.kill();
        Ok(reply)
    }

    fn run_goes_on(&mut self) -> Result<(), MeasureError> {
        self.observer.tick();
        self.recording.listen(self.observer)
    }
}

/// Each policy of a core with each period and CPU once, whatever was measured by it.
fn asked<'a>(segments: impl Iterator<Item = &'a Segment>, seconds: u32) -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    for segment in segments.filter(|segment| !segment.planned.traced) {
        for thread in &segment.loop_spec.threads {
            let preparation = &thread.preparation;
            if !preparation.policy.is_of_a_co_kernel() {
                continue;
            }
            let cpus = preparation.cpus.as_deref().unwrap_or_default();
            let order = CoreLatencyOrder {
                policy: preparation.policy,
                stage: CoreStage::Handler,
                cpu: cpus.first().copied().unwrap_or(0),
                period_ns: thread.period_ns,
                seconds,
            };
            let condition = &segment.planned.condition;
            let alike = |known: &&mut Asked| known.order == order && known.condition == *condition;
            match all.iter_mut().find(alike) {
                Some(known) if known.threads.contains(&thread.name) => {}
                Some(known) => known.threads.push(thread.name.clone()),
                None => all.push(Asked {
                    order,
                    condition: condition.clone(),
                    threads: vec![thread.name.clone()],
                }),
            }
        }
    }
    all
}

fn gravity(of: TimerGravity) -> CoreGravity {
    CoreGravity {
        handler_ns: of.handler_ns,
        thread_ns: of.thread_ns,
        program_ns: of.program_ns,
    }
}

fn stage_latency(of: &wakepath_rt::core_latency::CoreLatency) -> CoreStageLatency {
    CoreStageLatency {
        periods: of.periods,
        smallest_ns: of.smallest_ns,
        mean_ns: of.mean_ns,
        largest_ns: of.largest_ns,
        overruns: of.overruns,
        cpu: of.cpu,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{HostCpus, Plan};
    use wakepath_scenario::{KnownCpus, Scenario};

    fn asked_of(text: &str) -> Vec<Asked> {
        let (scenario, _) =
            Scenario::parse_with_warnings(text, "a test", &KnownCpus::first(2)).unwrap();
        let host = HostCpus {
            allowed: vec![0, 1],
            isolated: vec![],
        };
        let plan = Plan::new(&scenario, host);
        asked(plan.segments(), 1)
    }

    #[test]
    fn linuxs_own_policies_ask_for_nothing_and_each_of_a_core_once() {
        let all = asked_of(
            "name = \"a\"\nrate = \"1 kHz\"\ncycles = 10\nrepetitions = 2\ncpu = 1\n\
             policies = [\"FIFO 80\", \"COBALT FIFO 80\", \"COBALT FIFO 90\"]\n\
             [[phases]]\nname = \"idle\"\n",
        );
        let found: Vec<_> = all
            .iter()
            .map(|asked| (asked.condition.as_str(), asked.order.cpu))
            .collect();
        assert_eq!(found, [("COBALT FIFO 80", 1), ("COBALT FIFO 90", 1)]);
        assert_eq!(all[0].order.period_ns, 1_000_000);
    }

    #[test]
    fn tasks_that_differ_in_period_or_policy_ask_each_for_itself() {
        let all = asked_of(
            "name = \"a\"\ncycles = 10\n[[phases]]\nname = \"idle\"\n\
             [[tasks]]\nname = \"fast\"\ncpu = 1\nperiod = \"1 ms\"\npolicy = \"COBALT FIFO 90\"\n\
             [[tasks]]\nname = \"slow\"\ncpu = 1\nperiod = \"4 ms\"\npolicy = \"COBALT FIFO 80\"\n\
             [[tasks]]\nname = \"linux\"\ncpu = 1\nperiod = \"4 ms\"\npolicy = \"FIFO 70\"\n",
        );
        let threads: Vec<_> = all.iter().map(|asked| asked.threads.join(", ")).collect();
        assert_eq!(threads, ["fast", "slow"]);
    }
}

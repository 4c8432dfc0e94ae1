//! The log's entries on a segment's threads: their terms at the start, their counts at the end.

use wakepath_archive::{
    CoreCounts, CountersRead, Effective, PageFaults, ThreadEnd, ThreadEnded, ThreadStarted,
};
use wakepath_measured_loop::{LoopSpec, ThreadEndReport, ThreadReady};
use wakepath_rt::shared::SharedMemory;
use wakepath_timeline::DueTimes;

/// How a loop's process ended.
pub(super) enum LoopEnd {
    Reported(Vec<ThreadEndReport>),
    /// It told nothing of its threads, or never ran: this is the end of each.
    Of(ThreadEnd),
}

/// The threads of a loop; without an instant to begin at (0) they never ran.
pub(super) fn started_threads(
    spec: &LoopSpec,
    start_ns: u64,
    ready: &[ThreadReady],
) -> Vec<ThreadStarted> {
    (0..)
        .zip(&spec.threads)
        .map(|(thread, spec)| {
            let effective = ready.get(usize::from(thread)).map(|ready| &ready.effective);
            ThreadStarted {
                thread,
                name: spec.name.clone(),
                due: DueTimes {
                    start_ns,
                    period_ns: spec.period_ns,
                },
                requested: spec.preparation.policy,
                effective: Effective {
                    text: effective.map_or("not in effect".into(), |e| e.policy.to_string()),
                    details: details(ready.get(usize::from(thread))),
                },
                cpus: effective.map_or_else(
                    || spec.preparation.cpus.clone().unwrap_or_default(),
                    |effective| effective.cpus.clone(),
                ),
                first_judged_cycle: spec.first_judged_cycle,
                end_cycle: spec.end_cycle,
            }
        })
        .collect()
}

/// The settings in effect for a thread, with its number: kernel events name threads by it.
fn details(ready: Option<&ThreadReady>) -> serde_json::Value {
    let effective = ready.map(|ready| &ready.effective);
    let mut details = serde_json::to_value(effective).unwrap_or_default();
    if let (Some(ready), Some(details)) = (ready, details.as_object_mut()) {
        details.insert("thread_id".into(), ready.thread_id.into());
    }
    details
}

/// The threads' ends, with the counts of both ends of their rings.
pub(super) fn ended_threads(
    spec: &LoopSpec,
    end: &LoopEnd,
    recorded: &[u64],
    no_counters: Vec<Option<String>>,
    memory: &SharedMemory,
) -> Vec<ThreadEnded> {
    let ended = |thread: usize| match end {
        LoopEnd::Reported(reports) => reports.get(thread).map(|report| {
            let modules = report.modules.clone();
            let counted = report.counted.map(CountersRead::from);
            (
                report.why.clone(),
                Some(report.page_faults),
                modules,
                counted,
                report.on_a_core.map(core_counts),
            )
        }),
        LoopEnd::Of(end) => Some((end.clone(), None, Vec::new(), None, None)),
    };
    (0..spec.threads.len())
        .map(|thread| {
            let (ended, page_faults, modules, counted, on_a_core) = ended(thread).unwrap_or((
                ThreadEnd::failed("the loop reported nothing about this thread"),
                None,
                Vec::new(),
                None,
                None,
            ));
            let missing = no_counters.get(thread).cloned().flatten();
            let missing = missing.map(|reason| CountersRead::Missing { reason });
            let indices = memory.indices(thread as u32);
            let counts = [indices.written(), indices.lost(), indices.skipped()];
            let most = spec.threads[thread].end_cycle;
            // A program of the user's own may have written over them.
            let can_be = counts.iter().all(|&count| count <= most);
            let [written, lost, skipped] = counts.map(|count| count.min(most));
            ThreadEnded {
                thread: thread as u16,
                written,
                recorded: recorded.get(thread).copied().unwrap_or(0),
                lost,
                skipped: can_be.then_some(skipped),
                modules: if can_be { modules } else { Vec::new() },
                counters: counted.or(missing),
                on_a_core,
                ended: if can_be {
                    ended
                } else {
                    ThreadEnd::failed(
                        "the counts in its shared memory are corrupt: something overwrote them",
                    )
                },
                page_faults: page_faults.map(|faults| PageFaults {
                    minor: faults.minor,
                    major: faults.major,
                }),
            }
        })
        .collect()
}

fn core_counts(of: wakepath_rt::CoreCounts) -> CoreCounts {
    CoreCounts {
        mode_switches: of.mode_switches,
        context_switches: of.context_switches,
        calls: of.calls,
        remote_wake_ups: of.remote_wake_ups,
        page_faults: of.page_faults,
        run_time_ns: of.run_time_ns,
    }
}

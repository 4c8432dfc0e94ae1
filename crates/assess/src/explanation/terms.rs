//! What the explainer is told of a segment beside its loops: which threads are wakepath's own, and
//! what the drivers say of the CPUs' idle states.

use wakepath_archive::{FactsTaken, OwnRole, SegmentRecord, VirtualTime};
use wakepath_explain::{IdleExits, Options, Own, OwnThread};
use wakepath_machine::{Facts, IdleGroup};

/// The terms of one segment of a run, on a machine of these facts and in this time.
pub fn options(
    facts: &[FactsTaken],
    virtual_time: Option<&VirtualTime>,
    record: &SegmentRecord,
    loops: &[Option<u32>],
) -> Options {
    Options {
        usual: None,
        own: own(record, loops),
        idle_exits: idle_exits(facts),
        // Several take turns, each while the others stand still.
        never_still: virtual_time.is_some_and(|time| time.cpus == 1),
    }
}

/// Its recorded processes; without a record, whatever is called wakepath.
fn own(record: &SegmentRecord, loops: &[Option<u32>]) -> Own {
    let recorded = record.trace.as_ref().and_then(|trace| trace.own.as_ref());
    let Some(processes) = recorded else {
        return Own::Named("wakepath".into());
    };
    let mut threads = Vec::new();
    for process in processes.iter().filter(|process| process.role.is_tool()) {
        for thread in &process.threads {
            let number = thread.thread;
            // What else runs in the loop's process is the controller's, and not ours.
            let is_controller = process.role == OwnRole::Loop && number != process.process;
            if is_controller || loops.contains(&Some(number)) {
                continue;
            }
            threads.push(OwnThread {
                thread: number,
                from_ns: thread.from_ns,
                to_ns: thread.to_ns.unwrap_or(u64::MAX),
            });
        }
    }
    Own::Threads(threads)
}

/// The drivers' figures from the first facts that have them.
fn idle_exits(facts: &[FactsTaken]) -> IdleExits {
    let groups = facts.iter().find_map(|taken| {
        let facts = Facts::of_json(&taken.facts).ok()?;
        facts.varying.idle.groups.known().cloned()
    });
    let figures = |group: &IdleGroup| {
        let numbered = (0..).zip(&group.states);
        let states: Vec<(u32, u64)> = numbered
            .map(|(state, of)| (state, of.latency_us.saturating_mul(1000)))
            .collect();
        let cpus = group.cpus.numbers().to_vec();
        cpus.into_iter().flat_map(move |cpu| {
            let states = states.clone().into_iter();
            states.map(move |(state, ns)| ((cpu, state), ns))
        })
    };
    IdleExits::new(groups.iter().flatten().flat_map(figures))
}

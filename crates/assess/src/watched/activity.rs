//! A watched run's activations, out of its trace: the same each time it is read, so that what is
//! explained tomorrow is what was watched today.

use std::collections::{BTreeMap, BTreeSet};
use wakepath_archive::{ArchiveError, SegmentRecord, ThreadRecord, Trace};
use wakepath_explain::watch::{Activations, MarkedSections, Row, ThreadActivity, ThreadSections};
use wakepath_timeline::What;

/// What some threads did.
pub struct Seen {
    /// Their activations, by thread number.
    pub activity: BTreeMap<u32, ThreadActivity>,
    /// Their sections between marks.
    pub sections: BTreeMap<u32, ThreadSections>,
    /// Runs of sections that are left out for want of room.
    pub beyond: u64,
    /// Threads in which an executor of ROS 2 ran callbacks.
    pub executors: BTreeSet<u32>,
}

/// Activity of the threads with these numbers.
///
/// # Errors
/// When the trace can't be read.
pub fn activity(
    trace: &Trace,
    threads: impl IntoIterator<Item = u32>,
) -> Result<Seen, ArchiveError> {
    let mut sections = MarkedSections::default();
    let mut activations = Activations::new(threads);
    let mut executors = BTreeSet::new();
    for event in trace.events()? {
        let event = event?;
        activations.event(&event);
        sections.event(&event);
        if matches!(&event.what, What::Call(call) if &*call.function == wakepath_ros2::BEGINS) {
            executors.insert(event.current);
        }
    }
    let (sections, beyond) = sections.finish();
    Ok(Seen {
        activity: activations.finish(),
        sections,
        beyond,
        executors,
    })
}

/// The samples of a watched segment's threads, at the instants at which they happened: the archive has them on even
/// rows. By the kernel's number of the thread and which of its timers it is, where several begin cycles of their own.
///
/// # Errors
/// When the trace can't be read.
pub fn rows(record: &SegmentRecord, trace: &Trace) -> Result<BTreeMap<RowOf, Row>, ArchiveError> {
    let records = record.threads.iter();
    let of_thread = |of: &ThreadRecord| RowOf::recorded(of).map(|of| of.thread);
    let irregular = records.filter(|of| comes_without_period(of));
    let irregular: BTreeSet<u32> = irregular.filter_map(of_thread).collect();
    // The cycles of a timer of ROS 2 are its callbacks, and on an even row already.
    let woken = || record.threads.iter().filter(|of| !is_callback(of));
    let wanted: Vec<RowOf> = woken().filter_map(RowOf::recorded).collect();
    // A pool's doings show in all of its threads.
    let pools = woken().flat_map(pool);
    let seen = activity(trace, wanted.iter().map(|of| of.thread).chain(pools))?;
    let mut rows = BTreeMap::new();
    for (thread, activity) in seen.activity {
        if wanted.iter().all(|of| of.thread != thread) {
            continue;
        }
        // Another thread that decided it may not be recorded.
        let tasks = match activity.tasks() {
            Ok(tasks) if !irregular.contains(&thread) => tasks,
            _ => activity.irregular().into_iter().collect(),
        };
        for task in tasks {
            let timer = task.timer;
            rows.insert(RowOf { thread, timer }, task.row());
        }
    }
    Ok(rows)
}

/// Which cycles a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowOf {
    /// The kernel's number of the thread.
    pub thread: u32,
    /// Which of its timers, where several begin cycles of their own.
    pub timer: Option<usize>,
}

impl RowOf {
    /// As in a run's record; `None` if it has none.
    pub fn recorded(record: &ThreadRecord) -> Option<Self> {
        let number = |name| record.effective.details.get(name)?.as_u64();
        Some(Self {
            thread: u32::try_from(number("thread_id")?).ok()?,
            timer: number("timer").and_then(|timer| usize::try_from(timer).ok()),
        })
    }
}

/// The threads any of which runs the next cycle of the program of this one.
fn pool(record: &ThreadRecord) -> Vec<u32> {
    let pool = record.effective.details.get("pool").cloned();
    pool.and_then(|pool| serde_json::from_value(pool).ok())
        .unwrap_or_default()
}

/// Whether a recorded thread is a timer of ROS 2, whose callbacks are the cycles.
fn is_callback(record: &ThreadRecord) -> bool {
    record.effective.details.get("callback") == Some(&true.into())
}

/// Whether a recorded thread sleeps for a time after each cycle, instead of until its next due time.
pub fn sleeps_for_time(record: &ThreadRecord) -> bool {
    let slept = record.effective.details.get("sleeps_ns");
    slept.is_some_and(serde_json::Value::is_u64)
}

/// Whether a recorded thread's cycles come without a period, so that its row's period is no limit to anything.
pub fn comes_without_period(record: &ThreadRecord) -> bool {
    record.effective.details.get("periodic") == Some(&false.into())
}

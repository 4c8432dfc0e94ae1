//! A watched run's activations, out of its trace: the same each time it is read, so that what is
//! explained tomorrow is what was watched today.

use std::collections::BTreeMap;
use wakepath_archive::{ArchiveError, SegmentRecord, Trace};
use wakepath_explain::Untold;
use wakepath_explain::watch::{Activations, Row, ThreadActivity, row};

/// What the threads of these numbers did.
///
/// # Errors
/// When the trace can't be read.
pub fn activity(
    trace: &Trace,
    threads: impl IntoIterator<Item = u32>,
) -> Result<BTreeMap<u32, ThreadActivity>, ArchiveError> {
    let mut untold = Untold::default();
    let mut activations = Activations::new(threads);
    for event in trace.events()? {
        let event = event?;
        if let Some(switch) = untold.before(&event) {
            activations.untold(&switch);
        }
        activations.event(&event);
    }
    Ok(activations.finish())
}

/// The samples of a watched segment's threads, by thread number of the kernel, at the instants at
/// which they happened: the archive has them on even rows.
///
/// # Errors
/// When the trace can't be read.
pub fn rows(record: &SegmentRecord, trace: &Trace) -> Result<BTreeMap<u32, Row>, ArchiveError> {
    let numbers = record.threads.iter().filter_map(|thread| {
        let number = thread.effective.details.get("thread_id")?.as_u64()?;
        u32::try_from(number).ok()
    });
    let activity = activity(trace, numbers)?;
    let rows = activity.into_iter().filter_map(|(number, activity)| {
        let rhythm = activity.rhythm().ok()?;
        Some((number, row(activity.turns(rhythm), rhythm)))
    });
    Ok(rows.collect())
}

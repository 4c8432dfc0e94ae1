//! A watched run's activations, out of its trace: the same each time it is read, so that what is
//! explained tomorrow is what was watched today.

use std::collections::BTreeMap;
use wakepath_archive::{ArchiveError, SegmentRecord, Trace};
use wakepath_explain::Untold;
use wakepath_explain::watch::{
    Activations, MarkedSections, Row, ThreadActivity, ThreadSections, row,
};

/// What some threads did.
pub struct Seen {
    /// Their activations, by thread number.
    pub activity: BTreeMap<u32, ThreadActivity>,
    /// Their sections between marks.
    pub sections: BTreeMap<u32, ThreadSections>,
    /// Runs of sections that are left out for want of room.
    pub beyond: u64,
}

/// What the threads of these numbers did.
///
/// # Errors
/// When the trace can't be read.
pub fn activity(
    trace: &Trace,
    threads: impl IntoIterator<Item = u32>,
) -> Result<Seen, ArchiveError> {
    let mut untold = Untold::default();
    let mut sections = MarkedSections::default();
    let mut activations = Activations::new(threads);
    for event in trace.events()? {
        let event = event?;
        if let Some(switch) = untold.before(&event) {
            activations.untold(&switch);
        }
        activations.event(&event);
        sections.event(&event);
    }
    let (sections, beyond) = sections.finish();
    Ok(Seen {
        activity: activations.finish(),
        sections,
        beyond,
    })
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
    let seen = activity(trace, numbers)?;
    let rows = seen.activity.into_iter().filter_map(|(number, activity)| {
        let rhythm = activity.rhythm().ok()?;
        Some((number, row(activity.turns(rhythm), rhythm)))
    });
    Ok(rows.collect())
}

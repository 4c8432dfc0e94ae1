//! Makes a run of a watch that was killed. No file of the watch is removed before the run is complete, and
//! the trace never is.

use super::watching::outside;
use super::{Begin, WatchError, record};
use wakepath_archive::watch::Session;
use wakepath_archive::{
    ArchiveError, Ending, LogWriter, SegmentTraced, Trace, TraceDescription, discard_in,
};
use wakepath_assess::watched::Figures;
use wakepath_directory::Directory;
use wakepath_explain::Places;

/// The result of recovering a killed watch.
pub enum Recovered {
    /// It is a run now, with these figures.
    Run(Figures),
    /// It had recorded nothing, and what it had begun is removed.
    Empty,
    /// No thread was seen to wake up, so that there is no run; the trace stays as it is.
    NothingWoken(Figures),
    /// Its trace can't be read, so that there is no run; it stays as it is.
    NoTrace(ArchiveError),
}

/// Makes a run of a killed watch; does nothing and returns `None` if the directory holds none. The watching
/// process must be known to be gone.
///
/// # Errors
/// When trace or session can't be read, or nothing be written.
pub fn recover(directory: &Directory, begin: Begin<'_>) -> Result<Option<Recovered>, WatchError> {
    let Some(mut session) = Session::left_in(directory)? else {
        return Ok(None);
    };
    let trace = match Trace::open_in(directory, 0) {
        Err(error @ ArchiveError::NotRecognised { .. }) => {
            return Ok(Some(Recovered::NoTrace(error)));
        }
        opened => opened?,
    };
    let Some(trace) = trace else {
        discard_in(directory)?;
        Session::forget(directory)?;
        return Ok(Some(Recovered::Empty));
    };
    let traced = traced(&trace)?;
    // Stacks are stored when a watch ends.
    let figures = Figures::new(&session, &trace, &traced, None, Places::default())?;
    if figures.threads.is_empty() {
        return Ok(Some(Recovered::NothingWoken(figures)));
    }
    session.notes.extend(outside(&session));
    let ending = Ending::Failed {
        reason: "wakepath watch was killed; its recording was recovered".into(),
    };
    // The log that the watch began is empty: the new one takes its place when it is whole. Stopped
    // before, all of this is done again; after, the run is finished as any other.
    let log = LogWriter::replace_in(directory)?;
    record(log, directory, &figures, session, traced, ending, begin)?;
    Ok(Some(Recovered::Run(figures)))
}

/// Figures of a trace that might have no end.
fn traced(trace: &Trace) -> Result<SegmentTraced, ArchiveError> {
    let TraceDescription { began_ns, .. } = *trace.description();
    let mut last_ns = began_ns;
    for event in trace.events()? {
        last_ns = last_ns.max(event?.at_ns);
    }
    let lost = trace
        .end()
        .map_or(0, |end| end.cpus.iter().map(|cpu| cpu.lost).sum());
    let events = trace.events_recorded();
    Ok(SegmentTraced {
        segment: 0,
        events,
        taken: events,
        lost,
        wall_ns: last_ns - began_ns,
        ..SegmentTraced::default()
    })
}

//! A watch that was killed, made a run of what it had recorded. Nothing of the old directory goes
//! before the new one is whole.

use super::session::Session;
use super::{Figures, record};
use std::fs;
use std::path::Path;
use wakepath_archive::{Ending, LogWriter, SegmentTraced, Trace, TraceDescription, trace_name};

type Failure = Box<dyn std::error::Error>;

/// Makes a run of a killed watch; `None`, and nothing done, where the directory holds none. The
/// watching process must be known to be gone.
///
/// # Errors
/// When trace or session can't be read, when no thread is periodic, or nothing be written.
pub fn recover(directory: &Path) -> Result<Option<Figures>, Failure> {
    let Some(mut session) = Session::left_in(directory)? else {
        return Ok(None);
    };
    let trace = Trace::open(directory, 0)?.ok_or("the watch was killed before it recorded")?;
    let traced = traced(&trace)?;
    let figures = Figures::of(&session, &trace, &traced)?;
    if figures.threads.is_empty() {
        return Err(format!(
            "{}: the watch was killed, and no thread is periodic in what it recorded ({} events)",
            directory.display(),
            figures.events
        )
        .into());
    }
    session.notes.extend(session.outside());
    let name = directory
        .file_name()
        .ok_or("the run directory has no name")?;
    let mut new_name = name.to_owned();
    new_name.push(".recovering");
    let new = directory.with_file_name(new_name);
    // Of an earlier recovery that was killed too: links and what can be made again.
    if new.exists() {
        fs::remove_dir_all(&new)?;
    }
    let log = LogWriter::create(&new)?;
    let file = trace_name(0);
    let (from, to) = (directory.join(&file), new.join(&file));
    fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(|_| ()))?;
    let ending = Ending::Failed {
        reason: "wakepath watch was killed, and what it had recorded recovered".into(),
    };
    record(log, &new, &figures, session, traced, ending)?;
    fs::remove_dir_all(directory)?;
    fs::rename(&new, directory)?;
    Ok(Some(figures))
}

/// What is known of a trace that may have no end.
fn traced(trace: &Trace) -> Result<SegmentTraced, Failure> {
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

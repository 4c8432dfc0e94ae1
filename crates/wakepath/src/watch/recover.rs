//! A watch that was killed, made a run of what it had recorded. Nothing of the old directory goes
//! before the new one is whole.

use super::{Figures, record, text};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use wakepath_archive::{
    Ending, LogWriter, MANIFEST_NAME, SegmentTraced, Trace, TraceDescription, trace_name,
};
use wakepath_measure::watch::Session;

type Failure = Box<dyn std::error::Error>;

/// What became of a killed watch.
pub enum Recovered {
    /// It is a run now, with these figures.
    Run(Figures),
    /// Nothing that a run can be made of was there, and what was is removed.
    Nothing {
        /// What was found, as a person reads it.
        found: String,
    },
}

/// Makes a run of a killed watch; `None`, and nothing done, where the directory holds none. The
/// watching process must be known to be gone. As where a watch ends by itself, one that saw no
/// periodic thread leaves nothing.
///
/// # Errors
/// When trace or session can't be read, or nothing be written.
pub fn recover(directory: &Path) -> Result<Option<Recovered>, Failure> {
    let Some(mut session) = Session::left_in(directory)? else {
        return Ok(None);
    };
    let nothing = |found: String| {
        remove(directory)?;
        Ok(Some(Recovered::Nothing { found }))
    };
    let trace = match session.threads.is_empty() {
        true => None,
        false => Trace::open(directory, 0)?,
    };
    let Some(trace) = trace else {
        return nothing("it was killed before it had recorded anything".into());
    };
    let traced = traced(&trace)?;
    let figures = Figures::of(&session, &trace, &traced)?;
    if figures.threads.is_empty() {
        return nothing(format!(
            "no thread was periodic in the {} kernel events of {:.1} s that it had recorded\n{}",
            figures.events,
            figures.watched_ns as f64 / 1e9,
            text(&figures).trim()
        ));
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
    take_over(&new, directory)?;
    Ok(Some(Recovered::Run(figures)))
}

/// Puts the files of the new run in the place of the old ones. Until its manifest is there, which comes
/// last, all can be done again; what else lies in the directory stays.
fn take_over(new: &Path, directory: &Path) -> Result<(), Failure> {
    // The new run has made its samples out of its log; in the old one there are none.
    absent(&directory.join("samples.log"))?;
    let mut names = Vec::new();
    for entry in fs::read_dir(new)? {
        names.push(entry?.file_name());
    }
    names.sort_by_key(|name| name.as_os_str() == MANIFEST_NAME);
    for name in names {
        let from = new.join(&name);
        fs::rename(&from, directory.join(&name))?;
        // Two names of one file, as the trace has, are both left by a rename.
        absent(&from)?;
    }
    for name in Session::FILES {
        absent(&directory.join(name))?;
    }
    Ok(fs::remove_dir(new)?)
}

/// Removes a file that may not be there.
fn absent(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("{}: {error}", path.display()).into())
        }
        _ => Ok(()),
    }
}

/// Removes what a watch writes before it is a run; whatever else lies there stays, and the directory
/// with it.
fn remove(directory: &Path) -> Result<(), Failure> {
    let own = [trace_name(0), "samples.log".into()];
    for name in own.iter().map(String::as_str).chain(Session::FILES) {
        absent(&directory.join(name))?;
    }
    // It fails where somebody else's files are left, as it should.
    let _ = fs::remove_dir(directory);
    Ok(())
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

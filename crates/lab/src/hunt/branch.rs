//! A branch of a snapshot: the guest continues with programs, recorded so that it can be repeated.

use super::crash::Crash;
use super::files::Unnamed;
use super::observer::{DONE, Observer, Progress};
use super::section::Section;
use super::snapshot::{On, Snapshot};
use crate::again::{AgainError, attend};
use crate::emulation::cpu_time;
use crate::window::Within;
use crate::{HuntError, LabError};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wakepath_guest::hunt::Program;

/// How often a branch is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// CPU time of the host in which a program must end, and of the branch's start.
const PROGRAM: Duration = Duration::from_secs(20);
const START: Duration = Duration::from_secs(30);
/// Factor of the time over the CPU time.
const BUSY: u32 = 20;

/// Observations of a branch.
#[derive(Debug, Clone)]
pub(super) struct Branch {
    /// For each program that ended its longest section of each place, the longest first.
    pub sections: Vec<Vec<Section>>,
    /// Instructions that each of these took.
    pub costs: Vec<u64>,
    /// Crash or warning, with the number of the program.
    pub crash: Option<(usize, Crash)>,
    /// Digest of all its stretches.
    pub digest: u64,
    /// Content of the examined section.
    pub within: Option<Within>,
}

/// Runs programs in a new branch. `examined` is the entry and exit of the section to look into.
pub(super) fn run(
    snapshot: &Snapshot,
    programs: &[Program],
    examined: Option<(String, String)>,
    on: On<'_>,
) -> Result<Branch, AgainError> {
    let texts: Vec<String> = programs.iter().map(ToString::to_string).collect();
    let text = texts.join("\n");
    let file = Unnamed::in_memory(format!("{:8}{text}", text.len()).as_bytes())?;
    let (console, sent) = (Unnamed::in_memory(b"")?, Unnamed::in_memory(b"")?);
    let arguments = snapshot.branch(&console, &sent, &file);
    let (ours, theirs) = UnixStream::pair()?;
    let (control, output) = UnixStream::pair()?;
    let progress = Progress::default();
    let mut observer = Observer::new(&snapshot.symbols, snapshot.preemption, &progress, examined);
    let mut hung = None;
    let (said, attended) = std::thread::scope(|scope| {
        let observer = &mut observer;
        let attending = scope.spawn(move || attend(ours, &snapshot.noting, observer));
        let ended = (|| {
            let mut running = on.start(&arguments, &theirs, &File::from(OwnedFd::from(output)))?;
            let mut errors = running.0.stderr.take();
            // If it fails, the emulator ends, and its last line is reported.
            let _control = snapshot.load(control);
            let (mut since, mut seen, mut before) = (Instant::now(), 0, Duration::ZERO);
            while progress.load(Ordering::Relaxed) != DONE {
                if (on.stopped)() {
                    return Err(LabError::Interrupted);
                }
                let done = progress.load(Ordering::Relaxed);
                let used = cpu_time(running.0.id());
                if done != seen {
                    (since, seen, before) = (Instant::now(), done, used);
                }
                let limit = if done == 0 { START + PROGRAM } else { PROGRAM };
                if used > before + limit || since.elapsed() > limit * BUSY {
                    hung = Some(done);
                    break;
                }
                if running.0.try_wait().is_ok_and(|ended| ended.is_some()) {
                    break;
                }
                std::thread::sleep(LOOK);
            }
            drop(running);
            let mut said = Vec::new();
            if let Some(errors) = &mut errors {
                let _ = errors.read_to_end(&mut said);
            }
            Ok(said)
        })();
        // The other end is closed with this one: the emulator is gone.
        drop(theirs);
        (ended, attending.join())
    });
    let said = said?;
    match attended.map_err(|_| AgainError::Unattended)? {
        // An emulator that is killed can leave half a message.
        Err(error) if !is_end(&error) => return Err(error.into()),
        _ => {}
    }
    let done = progress.load(Ordering::Relaxed);
    let is_whole = done == DONE;
    let ended = if is_whole { programs.len() } else { done };
    let (console, log) = (console.lines()?, sent.lines()?);
    if !is_whole && observer.last.is_none() && done == 0 {
        return Err(LabError::from(HuntError::NoBranch {
            why: match String::from_utf8_lossy(&said).lines().last() {
                Some(line) => line.to_owned(),
                None => "the emulator ended and reported nothing".into(),
            },
        })
        .into());
    }
    let under_way = observer
        .last
        .map_or(done.min(programs.len() - 1), |(program, _)| program);
    let crash = if is_whole {
        Crash::in_log(&log)
    } else {
        Some((under_way, Crash::of_end(&console, &log, hung.is_some())))
    };
    let mut sections = observer.sections(programs);
    sections.truncate(ended);
    Ok(Branch {
        sections,
        costs: observer.costs,
        crash,
        digest: observer.digest,
        within: observer.within,
    })
}

/// Whether the line ended because the emulator did.
fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

//! State of a step's directory, whatever ended the command that measured there, and its cleaning.

use crate::terminal::tell;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use wakepath_archive::{Run, Shortfall};
use wakepath_directory::{Directory, Trust};

type Failure = Box<dyn std::error::Error>;

/// Time for a run to end in order after the command that ordered it was killed, and a margin.
const ENDING: Duration = Duration::from_secs(10);

/// State of a step's directory.
pub(super) enum DirectoryState {
    /// Nothing is there.
    Absent,
    /// No sample: refused before the first, or killed.
    Empty,
    /// Samples that are not all.
    CutShort,
    /// A complete run.
    Complete(Box<Run>),
}

impl DirectoryState {
    /// Reads it. Waits for a run that is ending because its command was killed, and completes one that was
    /// killed during its conversion: no sample is missing.
    ///
    /// # Errors
    /// If another command measures there.
    pub(super) fn read(directory: &Path, trust: Trust) -> Result<Self, Failure> {
        if directory.symlink_metadata().is_err() {
            return Ok(Self::Absent);
        }
        if let Some(by) = writer_after_a_while(directory) {
            return Err(format!(
                "{}: this run is still under way ({by} writes it); resume after it has ended",
                directory.display()
            )
            .into());
        }
        let run = match Run::open(directory) {
            Ok(run) if run.shortfalls() == [Shortfall::NotFinished] => {
                let finished = Directory::to_write(directory, trust)
                    .is_ok_and(|place| wakepath_archive::finish_in(&place).is_ok());
                if finished {
                    Run::open(directory)
                } else {
                    Ok(run)
                }
            }
            other => other,
        };
        Ok(match run {
            Ok(run) if run.is_complete() => Self::Complete(Box::new(run)),
            Ok(run) if has_samples(&run) => Self::CutShort,
            Ok(_) => Self::Empty,
            Err(_) if is_empty(directory) => Self::Empty,
            // An unreadable run might hold samples.
            Err(_) => Self::CutShort,
        })
    }

    /// Makes room for a new run: moves samples to the first free name below `leftovers`, and removes what has none.
    pub(super) fn clear(self, directory: &Path, leftovers: &Path) -> Result<(), Failure> {
        match self {
            Self::Absent | Self::Complete(_) => Ok(()),
            Self::Empty => Ok(self
                .remove_empty(directory)
                .map_err(|error| format!("{}: {error}", directory.display()))?),
            Self::CutShort => set_aside(directory, leftovers),
        }
    }

    /// Removes a directory without samples.
    pub(super) fn remove_empty(&self, directory: &Path) -> io::Result<()> {
        match self {
            Self::Empty => std::fs::remove_dir_all(directory),
            Self::Absent | Self::CutShort | Self::Complete(_) => Ok(()),
        }
    }
}

fn has_samples(run: &Run) -> bool {
    let mut threads = run.manifest.segments.iter().flat_map(|of| &of.threads);
    threads.any(|thread| thread.recorded > 0)
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
}

fn set_aside(directory: &Path, leftovers: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| format!("{}: {error}", directory.display());
    std::fs::create_dir_all(leftovers)
        .map_err(|error| format!("{}: {error}", leftovers.display()))?;
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let numbered = |count: u32| leftovers.join(format!("{name}-cut-short-{count}"));
    let mut names = (1..).map(numbered);
    if let Some(free) = names.find(|name| name.symlink_metadata().is_err()) {
        std::fs::rename(directory, &free).map_err(failed)?;
        tell!(
            "{name} was cut short; its measurements are in {}",
            free.display()
        );
    }
    Ok(())
}

/// The process that writes a run, after one whose command was just killed had time to end.
fn writer_after_a_while(directory: &Path) -> Option<String> {
    let writer = Run::writer(directory)?;
    tell!("{}: waiting for {writer} to end", directory.display());
    let begun = Instant::now();
    loop {
        match Run::writer(directory) {
            Some(_) if begun.elapsed() < ENDING => std::thread::sleep(Duration::from_millis(50)),
            writer => return writer,
        }
    }
}

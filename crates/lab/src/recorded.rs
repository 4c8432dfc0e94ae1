//! Reads the laboratory's runs from their directories.

use crate::divergence::Stream;
use crate::fault::FileFault;
use crate::{LabError, Result};
use std::path::Path;
use wakepath_archive::Run;
use wakepath_guest::order::{COMMANDS_NAME, CommandEnd, complaint_name, output_name};

/// All samples of a run in virtual time, in the order of execution.
///
/// # Errors
/// [`LabError::RealTime`], and if the run can't be read.
pub fn streams(directory: &Path) -> Result<Vec<Stream>> {
    let run = Run::open(directory)?;
    if run.manifest.virtual_time.is_none() {
        return Err(LabError::RealTime {
            run: directory.to_owned(),
        });
    }
    let mut streams = Vec::new();
    for segment in &run.manifest.segments {
        for thread in &segment.threads {
            streams.push(Stream {
                segment: segment.segment,
                thread: thread.thread,
                condition: format!("{}, {}", segment.condition, segment.phase),
                samples: run.samples(segment.segment, thread.thread)?,
            });
        }
    }
    Ok(streams)
}

/// Output of a guest's last command.
#[derive(Debug)]
pub struct CommandSaid {
    /// Its exit code, or [`LabError::Signal`].
    pub exit_code: Result<u8>,
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error.
    pub complaint: Vec<u8>,
}

/// Output of the last command recorded in a guest's directory.
///
/// # Errors
/// If no command is recorded.
pub fn last_command(directory: &Path) -> Result<CommandSaid> {
    let read = |name: &str| {
        let path = directory.join(name);
        std::fs::read(&path).map_err(|error| LabError::io("read", &path, error))
    };
    let ends: serde_json::Result<Vec<CommandEnd>> = serde_json::from_slice(&read(COMMANDS_NAME)?);
    let ends = ends.map_err(|source| LabError::File {
        path: directory.join(COMMANDS_NAME),
        fault: FileFault::NotUnderstood {
            is_not: "no commands' ends",
            source,
            remedy: None,
        },
    })?;
    let last = ends.last().ok_or(LabError::NoCommand)?;
    Ok(CommandSaid {
        exit_code: match last.exit_code.map(u8::try_from) {
            Some(Ok(code)) => Ok(code),
            _ => Err(LabError::Signal {
                command: last.command.join(" "),
            }),
        },
        output: read(&output_name(ends.len()))?,
        complaint: read(&complaint_name(ends.len()))?,
    })
}

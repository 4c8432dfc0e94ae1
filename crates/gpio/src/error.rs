//! Errors of a line, one sentence each: problem, line, and what would be right.

use crate::LineName;
use std::io;

/// Reasons why a line can't be requested or used.
#[derive(Debug, thiserror::Error)]
pub enum GpioError {
    /// Nothing to choose from.
    #[error(
        "this machine has no GPIO chip for programs (/dev/gpiochip*); load the kernel driver of one"
    )]
    NoChips,
    /// No chip has that name.
    #[error("there is no GPIO chip {chip}; there are {others}")]
    NoSuchChip {
        /// As requested.
        chip: String,
        /// Those that there are.
        others: String,
    },
    /// The chip's file is not this user's to open.
    #[error("/dev/{chip} can't be opened; run as root, or as a member of its group")]
    NotAllowed {
        /// Its file's name.
        chip: String,
    },
    /// A file, but no chip's.
    #[error("/dev/{chip} is not a GPIO chip; there are {others}")]
    NoChip {
        /// Its file's name.
        chip: String,
        /// Those that there are.
        others: String,
    },
    /// The chip has fewer lines.
    #[error(
        "there is no line {line}: {chip} ({label}) has lines 0 to {last}",
        chip = line.chip,
        last = lines.saturating_sub(1)
    )]
    NoSuchLine {
        /// As requested.
        line: LineName,
        /// The chip's label.
        label: String,
        /// Its number of lines.
        lines: u32,
    },
    /// Another process uses it.
    #[error("line {line}{called} is in use by {consumer}; free it there, or give another")]
    InUse {
        /// As requested.
        line: LineName,
        /// Its name on the board in brackets, if it has one.
        called: String,
        /// Its user.
        consumer: String,
    },
    /// It can't be driven.
    #[error("line {line}{called} can't be driven: the kernel refuses it as an output ({source})")]
    NoOutput {
        /// As requested.
        line: LineName,
        /// Its name on the board in brackets, if it has one.
        called: String,
        /// The system's error.
        source: io::Error,
    },
    /// It can't report edges.
    #[error(
        "line {line}{called} can't be read back: the kernel refuses its edge events ({source}); use a line whose \
         chip has interrupts"
    )]
    NoEdges {
        /// As requested.
        line: LineName,
        /// Its name on the board in brackets, if it has one.
        called: String,
        /// The system's error.
        source: io::Error,
    },
    /// One line can't be both.
    #[error(
        "{line} can't be driven and read back at the same time; give a second line, and wire the two"
    )]
    SameLine {
        /// As requested.
        line: LineName,
    },
    /// The two lines have nothing to do with each other.
    #[error(
        "no edge arrived on {read} while {driven} was driven; wire line {driven} to line {read}"
    )]
    NotWired {
        /// The line that is driven.
        driven: LineName,
        /// The line that is read.
        read: LineName,
    },
    /// A system call failed.
    #[error("line {line}: {action}: {source}")]
    System {
        /// Which line.
        line: LineName,
        /// The action that failed.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// The library's error as the system's.
pub(crate) fn system(error: gpiocdev_uapi::Error) -> io::Error {
    match error {
        gpiocdev_uapi::Error::Os(number) => io::Error::from_raw_os_error(number.0),
        other => io::Error::other(other.to_string()),
    }
}

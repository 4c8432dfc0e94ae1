//! Drives a GPIO line at due times and reads the edges on a second line wired to it.
//!
//! The kernel timestamps the edges. Uses the GPIO character device, version 2 of its interface
//! (linux/gpio.h, Linux 5.10). It judges nothing, and writes no file.
//!
//! The loop has its own process ([`run_as_child`]), which dies with the one that started it
//! ([`drive`]): the kernel releases lines when the descriptor of their request is closed, for
//! whatever reason.

// A terminal, a pipe or a log that is gone must not end a process that records, loads or loops: `eprintln!` panics then.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod chip;
mod driver;
mod edges;
mod error;
mod line;
mod output;
mod process;
mod protocol;
pub mod record;
mod steps;

pub use driver::{DriveError, Driven, drive};
pub use error::GpioError;
pub use line::{LineName, NoLineName};
pub use process::run_as_child;
pub use protocol::{Order, StepOrder};

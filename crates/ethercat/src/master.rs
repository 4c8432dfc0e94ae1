//! A bus in operation, as loads and loops use it.
//!
//! The program that has a master passes [`StartMaster`]; the others need none of its dependencies.

use crate::{EthercatError, Link};
use std::time::Duration;

/// Brings the devices on a link into operation, for exchanges every period. Outputs are zero.
pub type StartMaster = fn(Link, Duration) -> Result<Box<dyn Master>, EthercatError>;

/// A bus in operation.
pub trait Master {
    /// Sends the process data and waits for them until `deadline_ns` of the monotonic clock, 150 ms at most.
    fn exchange(&mut self, deadline_ns: u64) -> Exchange;

    /// Offset of one device's clock from the reference, in nanoseconds, as that device reports it:
    /// of another device each time. `None` without an answer until `deadline_ns`, or if there is
    /// only one clock.
    fn clock_difference(&mut self, deadline_ns: u64) -> Option<u32>;

    /// One line: the state of the bus, by the last exchange without a correct answer. A link that
    /// is down now is the cause, whether frames could not be sent or were lost on their way.
    fn describe(&self, exchanged: Exchange) -> String;

    /// Expected working counter.
    fn expected(&self) -> u16;

    /// Number of devices.
    fn devices(&self) -> u16;

    /// Number of answers so far that came after their exchange was over.
    fn late(&self) -> u64;

    /// Name of the bus for messages.
    fn bus(&self) -> &str;
}

/// How one exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// All devices took part.
    Right {
        /// The reference clock's time when the frame passed, in nanoseconds; `None` if no device
        /// has one.
        clock_ns: Option<u64>,
    },
    /// The frame returned, but not all devices took part.
    WrongCounter {
        /// The working counter.
        counted: u16,
    },
    /// It did not return in time.
    Unanswered,
    /// It could not be sent: the link is down.
    NotSent,
}

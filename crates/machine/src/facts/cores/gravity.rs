//! Time by which a real-time core's timers expire early, by their purpose.
//!
//! Read from its files.

use super::{EVL_GRAVITY, number};
use crate::{Misread, Root};
use wakepath_rt::ask_cobalt;
use wakepath_timeline::Policy;

/// Cobalt's clock, which must only be read while the core runs; otherwise the kernel faults.
pub(super) const COBALT_CLOCK: &str = "/proc/xenomai/clock/coreclk";

/// Gravity of a core's timers, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimerGravity {
    /// For timers that only call a handler.
    pub handler_ns: i64,
    /// For timers that wake a kernel thread.
    pub thread_ns: i64,
    /// For timers that wake a program's thread.
    pub program_ns: i64,
}

impl TimerGravity {
    /// That of the policy's core, if it reports one.
    pub fn new(policy: Policy) -> Option<Self> {
        let root = Root::host();
        match policy {
            Policy::EvlFifo { .. } => root.parsed(EVL_GRAVITY, Self::of_evl).known().copied(),
            Policy::CobaltFifo { .. } => {
                ask_cobalt().ok()?;
                root.parsed(COBALT_CLOCK, Self::of_cobalt).known().copied()
            }
            _ => None,
        }
    }

    /// `0i 2000k 3449u`: for interrupts, kernel threads, programs (`gravity_show` in kernel/evl/clock.c).
    pub(super) fn of_evl(text: &str) -> Result<Self, Misread> {
        let mark = |mark: char| {
            let mut words = text.split_whitespace();
            number(words.find_map(|word| word.strip_suffix(mark)))
        };
        Ok(Self {
            handler_ns: mark('i')?,
            thread_ns: mark('k')?,
            program_ns: mark('u')?,
        })
    }

    /// `gravity: irq=50 kernel=1020 user=1020` among other lines (kernel/cobalt/clock.c).
    pub(super) fn of_cobalt(text: &str) -> Result<Self, Misread> {
        let mut lines = text.lines();
        let line = lines.find(|line| line.trim_start().starts_with("gravity:"));
        let key = |key: &str| {
            let mut words = line.unwrap_or_default().split_whitespace();
            number(words.find_map(|word| word.strip_prefix(key)))
        };
        Ok(Self {
            handler_ns: key("irq=")?,
            thread_ns: key("kernel=")?,
            program_ns: key("user=")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evls_are_told_apart_by_their_marks() {
        let expected = TimerGravity {
            handler_ns: 0,
            thread_ns: 2_000,
            program_ns: 3_449,
        };
        assert_eq!(TimerGravity::of_evl("0i 2000k 3449u").ok(), Some(expected));
        assert!(TimerGravity::of_evl("0i 2000k").is_err());
    }

    #[test]
    fn cobalts_stand_on_a_line_of_its_clock() {
        let clock = "gravity: irq=50 kernel=1020 user=1021\n devices: timer=lapic\n";
        let expected = TimerGravity {
            handler_ns: 50,
            thread_ns: 1_020,
            program_ns: 1_021,
        };
        assert_eq!(TimerGravity::of_cobalt(clock).ok(), Some(expected));
        assert!(TimerGravity::of_cobalt("devices: timer=lapic").is_err());
    }
}

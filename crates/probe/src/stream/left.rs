//! How a thread left its CPU, by the bits of `prev_state` as this kernel prints them.

use wakepath_timeline::Left;

use super::format::EventFormat;

/// Bits of `prev_state`, as this kernel prints them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StateBits {
    sleeping: u64,
    stopped: u64,
    dead: u64,
    /// Preempted: the thread could have run on, whatever else is set.
    preempted: u64,
}

impl StateBits {
    /// The letters are those of `/proc/PID/stat`. I is a kernel thread without work: it sleeps.
    pub(super) fn new(format: &EventFormat) -> Self {
        let names = format.printed_names();
        let bits = |letters: &[&str]| {
            let mine = names
                .iter()
                .filter(|(_, name)| letters.contains(&name.as_str()));
            mine.fold(0, |bits, (bit, _)| bits | bit)
        };
        Self {
            sleeping: bits(&["S", "I"]),
            stopped: bits(&["T", "t"]),
            dead: bits(&["X", "Z"]),
            // `TASK_REPORT_MAX`: the bit above all that have a letter.
            preempted: names.iter().map(|(bit, _)| bit << 1).max().unwrap_or(0),
        }
    }

    pub(super) fn left(&self, state: u64) -> Left {
        let bits = state & (self.preempted | self.preempted.wrapping_sub(1));
        match bits {
            0 => Left::Runnable,
            bits if bits & self.preempted != 0 => Left::Runnable,
            bits if bits & self.dead != 0 => Left::Dead,
            bits if bits & self.stopped != 0 => Left::Stopped,
            bits if bits & self.sleeping != 0 => Left::Sleeping,
            _ => Left::Blocked,
        }
    }
}

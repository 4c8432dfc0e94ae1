//! fork, exec, exit and mmap over and over: page tables, page faults and run queues.

use super::Disturbance;
use crate::counters::Slot;
use crate::{kernel, launch};
use rustix::process::{WaitOptions, waitpid};
use std::convert::Infallible;

pub(crate) const DISTURBS: &[Disturbance] = &[
    Disturbance::ProcessCreation,
    Disturbance::MemoryMaps,
    Disturbance::SystemCalls,
];

/// Mapped, touched and unmapped in every round.
const MAPPED_BYTES: usize = 1 << 20;

/// Runs until it is killed; one count per round in which everything succeeded.
pub(crate) fn run(counter: &Slot) -> Result<Infallible, String> {
    loop {
        let child = kernel::fork_a_child_that_exits().map_err(|error| format!("fork: {error}"))?;
        waitpid(Some(child), WaitOptions::empty()).map_err(|error| format!("wait: {error}"))?;
        let status = launch::nothing().map_err(|error| format!("exec: {error}"))?;
        if !status.success() {
            return Err(format!("the program that does nothing ended with {status}"));
        }
        kernel::map_touch_and_unmap(MAPPED_BYTES).map_err(|error| format!("mmap: {error}"))?;
        counter.add(1);
    }
}

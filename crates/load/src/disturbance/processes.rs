//! fork, exec, exit and mmap over and over: page tables, page faults and run queues.

use crate::counters::Slot;
use crate::ended::Ended;
use crate::{kernel, launch};
use rustix::process::{WaitOptions, waitpid};
use std::convert::Infallible;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[
    Disturbance::ProcessCreation,
    Disturbance::MemoryMaps,
    Disturbance::SystemCalls,
];

/// Mapped, touched and unmapped in every round.
const MAPPED_BYTES: usize = 1 << 20;

/// Runs until it is killed; one count per round in which everything succeeded.
pub(crate) fn run(counter: &Slot) -> Result<Infallible, Ended> {
    loop {
        let child = kernel::fork_a_child_that_exits().map_err(Ended::system("fork"))?;
        waitpid(Some(child), WaitOptions::empty()).map_err(Ended::system("wait"))?;
        let status = launch::nothing().map_err(Ended::system("exec"))?;
        if !status.success() {
            return Err(Ended::Nothing { status });
        }
        kernel::map_touch_and_unmap(MAPPED_BYTES).map_err(Ended::system("mmap"))?;
        counter.add(1);
    }
}

//! Forks of a large process: page tables copied, pages copied as they are written, all of it taken down.

use crate::counters::Slot;
use crate::ended::Ended;
use crate::kernel::Written;
use crate::{LoadError, memory_budget};
use rustix::process::{WaitOptions, waitpid};
use std::convert::Infallible;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] =
    &[Disturbance::ProcessCreation, Disturbance::MemoryMaps];

/// Size for each worker, if there is enough memory: 16 384 pages of 4 KiB.
const LARGEST_BYTES: u64 = 64 << 20;
/// Below this size a process doesn't count as large.
const SMALLEST_BYTES: u64 = 4 << 20;

/// Bytes of each of `workers`. Half of the budget is reserved for the pages that their children
/// copy.
pub(crate) fn bytes(workers: u32, budget: u64) -> Result<u64, LoadError> {
    match memory_budget::share(LARGEST_BYTES, workers, budget / 2) {
        share if share >= SMALLEST_BYTES => Ok(share),
        _ => Err(LoadError::TooLittleRoom {
            load: "address-spaces".into(),
            resource: "a quarter of the available memory",
            available: budget,
            needed: 2 * SMALLEST_BYTES * u64::from(workers),
        }),
    }
}

/// Runs until it is killed; one count per child that was born, wrote and ended well.
pub(crate) fn run(counter: &Slot, bytes: u64) -> Result<Infallible, Ended> {
    let bytes = usize::try_from(bytes).map_err(|_| Ended::TooMany { bytes })?;
    let memory = Written::new(bytes).map_err(Ended::system("mmap"))?;
    loop {
        let child = memory
            .fork_a_child_that_writes()
            .map_err(Ended::system("fork"))?;
        let ended = waitpid(Some(child), WaitOptions::empty()).map_err(Ended::system("wait"))?;
        match ended {
            Some((_, status)) if status.exit_status() == Some(0) => counter.add(1),
            ended => {
                let status = format!("{ended:?}");
                return Err(Ended::GroupMember { status });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_share_half_of_the_budget_and_too_little_is_refused() {
        assert_eq!(bytes(1, 1 << 30).unwrap(), 64 << 20);
        assert_eq!(bytes(4, 64 << 20).unwrap(), 8 << 20);
        let error = bytes(4, 31 << 20).unwrap_err();
        assert!(matches!(error, LoadError::TooLittleRoom { .. }), "{error}");
    }
}

//! Thousands of files closed at one instant, the ends of pipes: none is freed at once, all are after the same
//! grace period (RCU), in a SoftIRQ that on a stock kernel comes before every thread.

use crate::counters::Counters;
use crate::disturbance::storm::Storm;
use crate::ended::Ended;
use crate::kernel;
use crate::plan::{Assignment, Job};
use rustix::fd::OwnedFd;
use rustix::pipe::{PipeFlags, pipe_with};
use std::convert::Infallible;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Rcu, Disturbance::SystemCalls];

/// Files of one worker. A pipe is three things to be freed, and more than 10 000 must wait for one grace
/// period: from there on a kernel frees thousands in one go (`qhimark` in kernel/rcu/tree.c).
pub(crate) const ALONE: u32 = 32_768;

/// Runs until it is killed; counts files that it closed.
pub(crate) fn run(
    counters: &Counters,
    assignment: &Assignment,
    slot: u32,
    files: u32,
) -> Result<Infallible, Ended> {
    let job = |files| Job::RcuStorm { files };
    let mut storm = Storm::begin(counters, assignment, files, job)?;
    let counter = counters.slot(slot);
    loop {
        let instant = storm.next()?;
        let pipes = (storm.files / 2).max(1);
        let mut files: Vec<OwnedFd> = Vec::new();
        storm.until(instant, || {
            for _ in 0..pipes {
                let ends = pipe_with(PipeFlags::CLOEXEC).map_err(Ended::system("pipe"))?;
                files.extend(<[OwnedFd; 2]>::from(ends));
            }
            Ok(())
        })?;
        let closed = files.len() as u64;
        kernel::close_at_once(files);
        counter.add(closed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, eventfd};
    use rustix::fd::AsRawFd;
    use rustix::io::fcntl_getfd;

    #[test]
    fn files_are_closed_all_and_no_other() {
        let open = || eventfd(0, EventfdFlags::CLOEXEC).unwrap();
        let (first, between, last) = (open(), open(), open());
        let numbers = [first.as_raw_fd(), last.as_raw_fd()];
        kernel::close_at_once(vec![last, first]);
        assert!(fcntl_getfd(&between).is_ok());
        // Another test may have opened a file meanwhile that has taken the number.
        let ours = |number: &i32| {
            let link = std::fs::read_link(format!("/proc/self/fd/{number}"));
            link.is_ok_and(|link| link.to_string_lossy().contains("eventfd"))
        };
        assert!(!numbers.iter().any(ours), "{numbers:?}");
    }
}

//! Thousands of files closed at one instant: none is freed at once, all are after the same grace period
//! (RCU), in a SoftIRQ that on a stock kernel comes before every thread.

use crate::counters::Counters;
use crate::disturbance::storm::{Storm, next_after, now, sleep_until};
use crate::ended::Ended;
use crate::kernel;
use crate::plan::{Assignment, Job};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::convert::Infallible;
use std::time::Duration;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Rcu, Disturbance::SystemCalls];

/// Files of one worker. Where more than 10 000 wait for one grace period, a kernel frees thousands in one go
/// (`qhimark` in kernel/rcu/tree.c); a quick one has freed many before the last is closed.
pub(crate) const ALONE: u32 = 65_536;
/// Between two instants.
const EVERY: Duration = Duration::from_millis(50);

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
        storm.is_whole()?;
        let open = |_| eventfd(0, EventfdFlags::CLOEXEC);
        let files: Result<Vec<OwnedFd>, _> = (0..storm.files).map(open).collect();
        let files = files.map_err(Ended::system("eventfd"))?;
        let closed = files.len() as u64;
        // A process that is not ready by then closes its files at the next instant.
        sleep_until(next_after(now(), EVERY))?;
        kernel::close_at_once(files);
        counter.add(closed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

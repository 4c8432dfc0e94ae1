//! Thousands of timers that expire at the same time.
//!
//! The kernel handles them in one interrupt; a real-time kernel leaves them to a thread.

use crate::disturbance::storm::Storm;
use crate::ended::Ended;
use crate::plan::Job;
use crate::worker::Worker;
use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::convert::Infallible;
use std::time::Duration;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Timers, Disturbance::SystemCalls];

/// Timers of one worker: a stock kernel is kept from everything else for some 3 ms.
pub(crate) const ALONE: u32 = 16_384;

/// Runs until it is killed; counts timers that had expired when they were set again.
pub(crate) fn run(worker: &Worker<'_>, timers: u32) -> Result<Infallible, Ended> {
    let &Worker {
        counters,
        assignment,
        slot,
    } = worker;
    let job = |timers: u32| Job::Load {
        load: "timer-storm".into(),
        amount: timers.into(),
    };
    let mut storm = Storm::begin(counters, assignment, timers, job)?;
    let flags = TimerfdFlags::CLOEXEC;
    let make = |_| timerfd_create(TimerfdClockId::Monotonic, flags);
    let timers: Vec<OwnedFd> = (0..storm.files)
        .map(make)
        .collect::<Result<_, _>>()
        .map_err(Ended::system("timerfd_create"))?;
    let counter = counters.slot(slot);
    let mut are_set = false;
    loop {
        let instant = storm.next()?;
        storm.until(instant, || {
            let expired = set_all(&timers, instant).map_err(Ended::system("timerfd_settime"))?;
            // Timers that were never set are no work.
            if are_set {
                counter.add(expired);
            }
            Ok(())
        })?;
        are_set = true;
    }
}

/// Sets all timers to one time; returns how many of them had expired.
fn set_all(timers: &[OwnedFd], instant: Duration) -> rustix::io::Result<u64> {
    let once = Itimerspec {
        it_interval: Timespec::default(),
        it_value: Timespec {
            tv_sec: instant.as_secs() as i64,
            tv_nsec: instant.subsec_nanos() as _,
        },
    };
    let mut expired = 0;
    for timer in timers {
        let before = timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once)?;
        expired += u64::from(before.it_value == Timespec::default());
    }
    Ok(expired)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_counts_when_it_has_expired_and_not_when_it_still_waits() {
        let make = |_| timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC);
        let timers: Vec<OwnedFd> = (0..3).map(make).collect::<Result<_, _>>().unwrap();
        let (passed, never) = (Duration::from_nanos(1), Duration::from_secs(1 << 30));
        assert_eq!(set_all(&timers, never).unwrap(), 3, "none was set before");
        assert_eq!(set_all(&timers, passed).unwrap(), 0, "all were waiting");
        assert_eq!(set_all(&timers, never).unwrap(), 3, "all had expired");
    }
}

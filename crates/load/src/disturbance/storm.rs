//! Common parts of storms: numbers of files and processes, and common times.
//!
//! A storm uses as many processes as the limit on open files requires, which all act at the same
//! times. It opens no file itself.

use crate::counters::Counters;
use crate::ended::Ended;
use crate::launch;
use crate::plan::{Assignment, Job};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::process::Child;
use std::time::Duration;

/// Limit for all workers: each file takes the kernel some 700 bytes.
const OF_ALL: u32 = 131_072;
/// Time between two storms.
const EVERY: Duration = Duration::from_millis(100);
/// Files that a process needs in addition to those of the storm.
const BESIDE: u32 = 32;

/// Number of files for each of `workers`; `alone` for a single one.
pub(crate) fn at_once(workers: u32, alone: u32) -> u32 {
    alone.min(OF_ALL / workers.max(1)).max(1)
}

/// One process's part of a storm.
pub(crate) struct Storm {
    /// Files of this process.
    pub(crate) files: u32,
    /// The process with the remaining files.
    rest: Option<Child>,
    /// Time that this process needed to prepare for the last storm.
    took: Duration,
}

impl Storm {
    /// Takes as many of the `wanted` files as this process can open, and starts another process for
    /// the rest.
    pub(crate) fn begin(
        counters: &Counters,
        assignment: &Assignment,
        wanted: u32,
        job: impl Fn(u32) -> Job,
    ) -> Result<Self, Ended> {
        let files = wanted.min(most_files()?);
        let start = |rest: u32| {
            let child = Assignment {
                parent: rustix::process::getpid().as_raw_pid(),
                job: job(rest),
                ..assignment.clone()
            };
            launch::worker_of_a_worker(&child, counters)
                .map_err(Ended::system("cannot start a process of the storm"))
        };
        let rest = match wanted - files {
            0 => None,
            rest => Some(start(rest)?),
        };
        Ok(Self {
            files,
            rest,
            took: Duration::ZERO,
        })
    }

    /// The next storm that leaves time to prepare for it.
    pub(crate) fn next(&mut self) -> Result<Duration, Ended> {
        self.is_whole()?;
        Ok(instant_after(now(), self.took))
    }

    /// Whether the other processes still have the rest.
    pub(crate) fn is_whole(&mut self) -> Result<(), Ended> {
        let Some(rest) = &mut self.rest else {
            return Ok(());
        };
        match rest.try_wait().map_err(Ended::system("wait"))? {
            None => Ok(()),
            Some(status) => Err(Ended::GroupMember {
                status: status.to_string(),
            }),
        }
    }

    /// Runs `prepare`, and waits until the time of the storm has passed.
    pub(crate) fn until(
        &mut self,
        instant: Duration,
        prepare: impl FnOnce() -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        let began = now();
        prepare()?;
        self.took = now().saturating_sub(began);
        sleep_until(instant)
    }
}

/// Returns when that time of the monotonic clock has passed.
pub(crate) fn sleep_until(instant: Duration) -> Result<(), Ended> {
    let at = Timespec::try_from(instant).map_err(|_| Ended::TooMany { bytes: u64::MAX })?;
    while clock_nanosleep_absolute(ClockId::Monotonic, &at).is_err() {}
    Ok(())
}

/// The next multiple of `every` after `now`.
pub(crate) fn next_after(now: Duration, every: Duration) -> Duration {
    let number = now.as_nanos() / every.as_nanos() + 1;
    every * u32::try_from(number).unwrap_or(u32::MAX)
}

/// The next storm, at multiples of an interval that is at least twice the preparation time:
/// processes with similar preparation times get the same storm.
fn instant_after(now: Duration, took: Duration) -> Duration {
    let mut every = EVERY;
    while every < 2 * took {
        every *= 2;
    }
    next_after(now + every / 2, every)
}

pub(crate) fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Number of additional files that this process can open with its limit raised as far as allowed.
fn most_files() -> Result<u32, Ended> {
    let limit = getrlimit(Resource::Nofile);
    let highest = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, highest).map_err(Ended::system("setrlimit"))?;
    let may = limit
        .maximum
        .map_or(u32::MAX, |most| u32::try_from(most).unwrap_or(u32::MAX));
    match may.saturating_sub(BESIDE) {
        0 => Err(Ended::FewFiles { limit: may }),
        most => Ok(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_workers_share_what_there_is() {
        assert_eq!(at_once(1, 16_384), 16_384);
        assert_eq!(at_once(8, 16_384), 16_384);
        assert_eq!(at_once(64, 16_384), 2_048);
        assert_eq!(at_once(1 << 20, 16_384), 1);
    }

    #[test]
    fn an_instant_is_far_enough_away_to_prepare_for_and_the_same_for_all() {
        let ms = Duration::from_millis;
        assert_eq!(instant_after(ms(1_000), ms(0)), ms(1_100));
        assert_eq!(instant_after(ms(1_049), ms(0)), ms(1_100));
        assert_eq!(instant_after(ms(1_051), ms(0)), ms(1_200));
        assert_eq!(instant_after(ms(1_000), ms(60)), ms(1_200));
        assert_eq!(instant_after(ms(1_090), ms(90)), ms(1_200));
        assert_eq!(instant_after(ms(1_110), ms(90)), ms(1_400));
    }
}

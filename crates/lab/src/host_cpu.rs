//! A host CPU for an emulator that can't record: its threads take turns on one, so that the main loop seldom runs while
//! the guest's CPUs do. With a second one free, guests with several CPUs did not repeat.

use crate::machine::argument;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::{Mutex, PoisonError};

/// The CPUs of the emulators that run now.
static TAKEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// One that an emulator keeps until it ends.
#[derive(Debug)]
pub(crate) struct HostCpu(usize);

impl HostCpu {
    /// The allowed CPU with the fewest emulators, if the guest of these arguments has several CPUs.
    pub(crate) fn for_guest(arguments: &[String]) -> Option<Self> {
        let guest_cpus = argument(arguments, "-smp")?.split(',').next()?;
        if guest_cpus == "1" {
            return None;
        }
        let allowed = sched_getaffinity(None).ok()?;
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let users = |cpu: &usize| taken.iter().filter(|of| *of == cpu).count();
        let allowed = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let cpu = allowed.min_by_key(users)?;
        taken.push(cpu);
        Some(Self(cpu))
    }

    /// Runs `start` with this CPU alone, which processes that it starts inherit. If that is not allowed they have all.
    pub(crate) fn started<T>(&self, start: impl FnOnce() -> T) -> T {
        let before = sched_getaffinity(None);
        let mut own = CpuSet::new();
        own.set(self.0);
        let is_set = sched_setaffinity(None, &own).is_ok();
        let started = start();
        if let (true, Ok(before)) = (is_set, before) {
            // It was allowed a moment ago.
            let _ = sched_setaffinity(None, &before);
        }
        started
    }
}

impl Drop for HostCpu {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = taken.iter().position(|of| *of == self.0) {
            taken.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cpus: &str) -> Option<HostCpu> {
        HostCpu::for_guest(&["-smp".to_owned(), cpus.to_owned()])
    }

    #[test]
    fn a_guest_with_several_cpus_has_one_of_the_host_s_and_the_thread_keeps_its_own() {
        assert!(of("1").is_none());
        let before = sched_getaffinity(None).unwrap();
        let first = of("2").unwrap();
        let allowed = first.started(|| sched_getaffinity(None).unwrap());
        assert_eq!((allowed.count(), allowed.is_set(first.0)), (1, true));
        assert_eq!(sched_getaffinity(None).unwrap(), before);
        if before.count() > 1 {
            assert_ne!(of("4,sockets=2").unwrap().0, first.0);
        }
    }
}

//! Sets and reads the CPUs of a thread.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// Pins the calling thread to `cpus`.
///
/// # Errors
/// `EINVAL` when none of them exists or a cpuset forbids them all; `EPERM` for a SCHED_DEADLINE
/// thread.
pub fn pin(cpus: &[u16]) -> std::io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if usize::from(cpu) >= CpuSet::MAX_CPU {
            return Err(std::io::Error::from(std::io::ErrorKind::InvalidInput));
        }
        set.set(cpu.into());
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Lets the calling thread run on every CPU that its cpuset allows.
///
/// # Errors
/// `EPERM` for a SCHED_DEADLINE thread.
pub fn widen() -> std::io::Result<()> {
    let mut set = CpuSet::new();
    // The kernel ignores CPUs that don't exist.
    (0..CpuSet::MAX_CPU).for_each(|cpu| set.set(cpu));
    Ok(sched_setaffinity(None, &set)?)
}

/// The CPUs of the calling thread, ascending.
///
/// # Errors
/// The kernel's error (a machine with more CPUs than the set holds).
pub fn current() -> std::io::Result<Vec<u16>> {
    of(None)
}

/// The CPUs on which a thread can run, ascending; `None`: the calling one.
///
/// # Errors
/// As [`current`], and `ESRCH` if there is no such thread.
pub fn of(thread: Option<Pid>) -> std::io::Result<Vec<u16>> {
    let set = sched_getaffinity(thread)?;
    Ok((0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .map(|cpu| cpu as u16)
        .collect())
}

/// The CPU on which the calling thread runs at this moment.
#[inline]
pub fn this_cpu() -> u16 {
    sched_getcpu() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_runs_where_it_was_pinned() {
        std::thread::spawn(|| {
            let last = *current().unwrap().last().unwrap();
            pin(&[last]).unwrap();
            assert_eq!(current().unwrap(), [last]);
            assert_eq!(this_cpu(), last);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_widened_thread_may_run_everywhere_again() {
        std::thread::spawn(|| {
            let before = current().unwrap();
            pin(&before[..1]).unwrap();
            widen().unwrap();
            let after = current().unwrap();
            assert!(
                before.iter().all(|cpu| after.contains(cpu)),
                "{before:?} → {after:?}"
            );
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_that_is_not_there_is_refused() {
        assert!(pin(&[1023]).is_err());
        assert!(pin(&[u16::MAX]).is_err());
    }
}

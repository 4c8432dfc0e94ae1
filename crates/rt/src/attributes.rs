//! Scheduling attributes through `sched_setattr` and `sched_getattr`: policy, nice, priority and
//! the deadline reservation. It decides nothing about order; [`crate::Preparation`] does.

#![allow(unsafe_code)] // Neither call has a wrapper in libc or rustix.

use std::io;
use wakepath_timeline::Policy;

// linux/sched.h; stable kernel interface.
const SCHED_OTHER: u32 = 0;
const SCHED_FIFO: u32 = 1;
const SCHED_RR: u32 = 2;
const SCHED_BATCH: u32 = 3;
const SCHED_IDLE: u32 = 5;
const SCHED_DEADLINE: u32 = 6;
const SCHED_FLAG_RESET_ON_FORK: u64 = 1;

/// `struct sched_attr`, version 0 (48 bytes), supported by every kernel since 3.14.
#[repr(C)]
#[derive(Default)]
struct SchedAttr {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Gives the thread `tid` (0: the calling one) a policy; for a real-time core's policy, Linux's
/// part of it.
///
/// # Errors
/// `EPERM` without the privilege; `EBUSY` if a deadline reservation isn't admitted; `EINVAL` for
/// parameters that the kernel refuses.
pub fn set(tid: i32, policy: Policy) -> io::Result<()> {
    let mut attr = SchedAttr {
        size: size_of::<SchedAttr>() as u32,
        ..SchedAttr::default()
    };
    match policy.in_linux() {
        Policy::Other { nice } => (attr.policy, attr.nice) = (SCHED_OTHER, nice.into()),
        Policy::Batch { nice } => (attr.policy, attr.nice) = (SCHED_BATCH, nice.into()),
        Policy::Idle => attr.policy = SCHED_IDLE,
        Policy::Fifo { priority } => (attr.policy, attr.priority) = (SCHED_FIFO, priority.into()),
        Policy::RoundRobin { priority } => {
            (attr.policy, attr.priority) = (SCHED_RR, priority.into())
        }
        Policy::Deadline {
            runtime_ns,
            deadline_ns,
            period_ns,
        } => {
            attr.policy = SCHED_DEADLINE;
            (attr.runtime, attr.deadline, attr.period) = (runtime_ns, deadline_ns, period_ns);
        }
        Policy::EvlFifo { .. }
        | Policy::CobaltFifo { .. }
        | Policy::LitmusPFp { .. }
        | Policy::LitmusPsnEdf { .. }
        | Policy::LitmusGsnEdf { .. }
        | Policy::LitmusCEdf { .. } => return Err(io::ErrorKind::InvalidInput.into()),
    }
    write(tid, &attr)
}

/// Keeps the policy of the thread `tid` (0: the calling one) from the threads and processes it
/// creates: they begin as OTHER nice 0. Read back, because an old kernel can ignore it.
///
/// # Errors
/// The kernel's error; [`io::ErrorKind::Unsupported`] if it is not in effect afterwards.
pub fn reset_on_fork(tid: i32) -> io::Result<()> {
    let mut attr = read(tid)?;
    attr.flags |= SCHED_FLAG_RESET_ON_FORK;
    write(tid, &attr)?;
    match read(tid)?.flags & SCHED_FLAG_RESET_ON_FORK {
        0 => Err(io::ErrorKind::Unsupported.into()),
        _ => Ok(()),
    }
}

fn write(tid: i32, attr: &SchedAttr) -> io::Result<()> {
    // SAFETY: `attr` is a valid sched_attr whose first field is its size; the kernel only reads it.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, tid, &raw const *attr, 0_u32) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn read(tid: i32) -> io::Result<SchedAttr> {
    let mut attr = SchedAttr::default();
    let size = size_of::<SchedAttr>() as u32;
    // SAFETY: `attr` has room for `size` bytes, which is all that the kernel writes.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, tid, &raw mut attr, size, 0_u32) };
    match result {
        0 => Ok(attr),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The policy in effect for the thread `tid` (0: the calling one).
///
/// # Errors
/// `ESRCH` if there is no such thread; [`io::ErrorKind::Unsupported`] for a policy that wakepath
/// doesn't know (such as SCHED_EXT), with its number.
pub fn get(tid: i32) -> io::Result<Policy> {
    let attr = read(tid)?;
    match attr.policy {
        SCHED_OTHER => Ok(Policy::Other {
            nice: attr.nice as i8,
        }),
        SCHED_BATCH => Ok(Policy::Batch {
            nice: attr.nice as i8,
        }),
        SCHED_IDLE => Ok(Policy::Idle),
        SCHED_FIFO => Ok(Policy::Fifo {
            priority: attr.priority as u8,
        }),
        SCHED_RR => Ok(Policy::RoundRobin {
            priority: attr.priority as u8,
        }),
        SCHED_DEADLINE => Ok(Policy::Deadline {
            runtime_ns: attr.runtime,
            deadline_ns: attr.deadline,
            period_ns: attr.period,
        }),
        number => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("the kernel reports scheduling policy number {number}, unknown here"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those that need no privilege; the others are set in `tests/rt`.
    #[test]
    fn what_is_set_is_read_back() {
        for policy in [
            Policy::Other { nice: 3 },
            Policy::Batch { nice: 5 },
            Policy::Idle,
        ] {
            std::thread::spawn(move || {
                set(0, policy).unwrap();
                assert_eq!(get(0).unwrap(), policy);
            })
            .join()
            .unwrap();
        }
    }

    #[test]
    fn impossible_parameters_are_refused_by_the_kernel() {
        let beyond_its_period = Policy::Deadline {
            runtime_ns: 5_000_000,
            deadline_ns: 4_000_000,
            period_ns: 4_000_000,
        };
        assert!(set(0, beyond_its_period).is_err());
        assert!(set(0, Policy::Fifo { priority: 100 }).is_err());
    }
}

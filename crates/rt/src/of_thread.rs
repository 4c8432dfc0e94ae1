//! Reads and sets another program's thread settings from outside.
//!
//! A thread itself uses [`crate::Preparation`].

use crate::announcement::Announced;
use crate::attributes;
use crate::prepare::Effective;
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use std::io;
use wakepath_timeline::{Policy, decoded};

/// Settings in effect for the thread `tid`, as the kernel reports them. Its timer slack is the
/// thread's own value, `timer_slack_ns`, if this process can't read it.
///
/// # Errors
/// `ESRCH` if there is no such thread; as [`attributes::get`].
pub fn effective(tid: u32, timer_slack_ns: u64) -> io::Result<Effective> {
    let id = pid(tid)?;
    let policy = attributes::get(tid.cast_signed())?;
    let set = sched_getaffinity(Some(id))?;
    let status = std::fs::read(format!("/proc/{tid}/status"))?;
    Ok(Effective {
        policy,
        cpus: (0..CpuSet::MAX_CPU)
            .filter(|&cpu| set.is_set(cpu))
            .map(|cpu| cpu as u16)
            .collect(),
        memory_locked: locked_kib(&decoded(&status)) > 0,
        timer_slack_ns: if policy.is_real_time() {
            0
        } else {
            slack_of(tid).unwrap_or(timer_slack_ns)
        },
    })
}

/// Settings in effect for a loop's thread. For one on EVL or Cobalt, the policy is that of the core
/// as long as Linux still shows the matching policy; otherwise the thread has left the core.
///
/// # Errors
/// As [`effective`].
pub fn effective_of(announced: &Announced) -> io::Result<Effective> {
    let mut is = effective(announced.thread_id, announced.timer_slack_ns)?;
    if let Some(policy) = announced.on_a_core
        && policy.in_linux() == is.policy
    {
        is.policy = policy;
    }
    Ok(is)
}

/// Puts the thread `tid` on these CPUs and under this policy, with this timer slack if the policy
/// has one: a thread that was real-time has lost its own. A SCHED_DEADLINE thread keeps its CPUs.
///
/// # Errors
/// The kernel's: `EPERM` without the right to it, `EBUSY` if a reservation is not admitted.
pub fn place(
    tid: u32,
    policy: Policy,
    cpus: Option<&[u16]>,
    timer_slack_ns: Option<u64>,
) -> io::Result<()> {
    if let (Some(cpus), false) = (cpus, matches!(policy, Policy::Deadline { .. })) {
        let mut set = CpuSet::new();
        let known = cpus.iter().map(|&cpu| usize::from(cpu));
        known
            .filter(|&cpu| cpu < CpuSet::MAX_CPU)
            .for_each(|cpu| set.set(cpu));
        sched_setaffinity(Some(pid(tid)?), &set)?;
    }
    if policy.is_of_a_core() {
        let why =
            "a thread can only enter a real-time core itself; no other thread can move it there";
        return Err(io::Error::new(io::ErrorKind::Unsupported, why));
    }
    attributes::set(tid.cast_signed(), policy)?;
    match timer_slack_ns {
        Some(slack_ns) if !policy.is_real_time() => {
            std::fs::write(slack_file(tid), slack_ns.max(1).to_string())
        }
        _ => Ok(()),
    }
}

/// The timer slack in nanoseconds, if this process has the right to read it (`CAP_SYS_NICE`).
fn slack_of(tid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(slack_file(tid)).ok()?;
    text.trim().parse().ok()
}

fn slack_file(tid: u32) -> String {
    format!("/proc/{tid}/timerslack_ns")
}

fn pid(tid: u32) -> io::Result<Pid> {
    Pid::from_raw(tid.cast_signed()).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// `VmLck` of a process's status (proc(5)), in KiB; 0 if it is missing.
fn locked_kib(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_thread_is_read_and_placed_from_outside() {
        let (say, hear) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let tid = rustix::thread::gettid().as_raw_nonzero().get();
            say.send(tid.unsigned_abs()).unwrap();
            let _ = ended.recv();
        });
        let tid = hear.recv().unwrap();
        let before = effective(tid, 50_000).unwrap();
        assert!(before.timer_slack_ns > 0);
        let last = *before.cpus.last().unwrap();
        let policy = Policy::Batch { nice: 3 };
        place(tid, policy, Some(&[last]), None).unwrap();
        let after = effective(tid, 50_000).unwrap();
        assert_eq!((after.policy, after.cpus), (policy, vec![last]));
        drop(end);
        thread.join().unwrap();
    }

    #[test]
    fn locked_memory_is_read_from_the_status() {
        assert_eq!(locked_kib("Name:\tx\nVmLck:\t    5136 kB\n"), 5136);
        assert_eq!(locked_kib("Name:\tx\n"), 0);
    }
}

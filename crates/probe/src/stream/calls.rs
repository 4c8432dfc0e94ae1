//! Which system calls are recorded, and which of them are about a descriptor. Pure.

use super::call_names;
use std::fmt::Write;
use wakepath_timeline::CallArgument;

/// Calls that neither wait nor take long, and that programs make by the million when they look at a clock in
/// a loop: they are left out, and their time counts as the program's own.
const LEFT_OUT: [&str; 5] = [
    "clock_gettime",
    "clock_gettime64",
    "gettimeofday",
    "getpid",
    "gettid",
];

/// The one call that is recorded of every thread on the machine: it concerns the thread whose CPUs it sets.
pub(super) const SETS_AFFINITY: &str = "sched_setaffinity";

/// Ranges of thread numbers in one filter: the kernel takes no more than a page of text, and looks
/// at each for each call.
const MOST_RANGES: usize = 16;

/// Calls whose first argument is a descriptor.
const OF_DESCRIPTOR: [&str; 49] = [
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "ioctl",
    "fcntl",
    "fcntl64",
    "fsync",
    "fdatasync",
    "syncfs",
    "sync_file_range",
    "ftruncate",
    "fallocate",
    "flock",
    "fstat",
    "fstat64",
    "lseek",
    "_llseek",
    "getdents64",
    "close",
    "dup",
    "dup2",
    "dup3",
    "send",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "recv",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "recvmmsg_time64",
    "connect",
    "accept",
    "accept4",
    "shutdown",
    "bind",
    "listen",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "epoll_ctl",
    "vmsplice",
];

/// The name by which programs know a call with this first argument: fork() of the C library is a clone() that does not
/// share the memory.
pub(super) fn known_as(name: &'static str, first: u32) -> &'static str {
    const CLONE_VM: u32 = 0x100;
    match name {
        "clone" if first & CLONE_VM == 0 => "fork",
        _ => name,
    }
}

/// Calls whose first argument is the address of what they wait for.
const OF_ADDRESS: [&str; 7] = [
    "futex",
    "futex_time64",
    "futex_wait",
    "futex_waitv",
    "poll",
    "ppoll",
    "ppoll_time64",
];
/// Addresses of programs are below.
const END_OF_ADDRESSES: u64 = 1 << 62;

/// A call's first argument, if that identifies what it works on or waits for.
pub(super) fn argument(name: &str, first: u64) -> Option<CallArgument> {
    // The kernel takes the lower half of a descriptor alone.
    let descriptor = first as u32;
    if OF_DESCRIPTOR.contains(&name) {
        (descriptor <= i32::MAX as u32).then_some(CallArgument::Descriptor(descriptor))
    } else if OF_ADDRESS.contains(&name) {
        (first < END_OF_ADDRESSES).then_some(CallArgument::Address(first))
    } else {
        None
    }
}

/// The kernel's filter for events of these threads; `None` without any. Numbers of other threads can fall between them if
/// there are many.
pub fn filter_threads(threads: &[u32]) -> Option<String> {
    let ranges = ranges(threads);
    if ranges.is_empty() {
        return None;
    }
    let ranges = ranges.iter().map(|(from, to)| {
        if from == to {
            format!("common_pid == {from}")
        } else {
            format!("(common_pid >= {from} && common_pid <= {to})")
        }
    });
    let ranges: Vec<String> = ranges.collect();
    Some(format!("({})", ranges.join(" || ")))
}

/// The kernel's filter for the calls of these threads, and for `sched_setaffinity` of any; as [`filter_threads`].
pub fn filter_calls(threads: &[u32]) -> Option<String> {
    let mut text = filter_threads(threads)?;
    for number in LEFT_OUT.iter().filter_map(|name| call_names::number(name)) {
        let _ = write!(text, " && id != {number}");
    }
    if let Some(number) = call_names::number(SETS_AFFINITY) {
        text = format!("({text}) || id == {number}");
    }
    Some(text)
}

/// Numbers as ranges, ascending, not too many: those with the smallest gaps are joined.
fn ranges(threads: &[u32]) -> Vec<(u32, u32)> {
    let mut sorted = threads.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for thread in sorted {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == thread => *to = thread,
            _ => ranges.push((thread, thread)),
        }
    }
    while ranges.len() > MOST_RANGES {
        let gap = |at: &usize| ranges[at + 1].0 - ranges[*at].1;
        let Some(least) = (0..ranges.len() - 1).min_by_key(gap) else {
            break;
        };
        ranges[least].1 = ranges.remove(least + 1).1;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_ranges_and_clocks_are_left_out() {
        let text = filter_calls(&[12, 10, 11, 40]).unwrap();
        assert!(
            text.starts_with("(((common_pid >= 10 && common_pid <= 12) || common_pid == 40) && "),
            "{text}"
        );
        let clock = format!("id != {}", libc::SYS_clock_gettime);
        assert!(text.contains(&clock), "{text}");
        let of_any = format!(") || id == {}", libc::SYS_sched_setaffinity);
        assert!(text.ends_with(&of_any), "{text}");
        assert_eq!(filter_calls(&[]), None);
    }

    #[test]
    fn a_clone_of_the_memory_is_a_fork() {
        const SIGCHLD: u32 = 17;
        const CLONE_CHILD_SETTID: u32 = 0x0100_0000;
        const OF_PTHREADS: u32 = 0x003d_0f00;
        assert_eq!(known_as("clone", SIGCHLD | CLONE_CHILD_SETTID), "fork");
        assert_eq!(known_as("clone", OF_PTHREADS), "clone");
        assert_eq!(known_as("clone3", 0), "clone3");
    }

    #[test]
    fn many_threads_fit_the_kernel_s_page() {
        let threads: Vec<u32> = (0..1_000).map(|n| 4_000_000 + 7 * n).collect();
        let text = filter_calls(&threads).unwrap();
        assert!(text.len() < 2_000, "{}", text.len());
        assert_eq!(ranges(&threads).len(), MOST_RANGES);
    }
}

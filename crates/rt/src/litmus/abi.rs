//! LITMUS^RT's interface, for its two generations: only numbers and layouts.
//!
//! From its kernel headers (include/litmus/rt_param.h, ctrlpage.h, unistd_64.h).
//!
//! Requests of the control device (2016.1 and later) have run in the laboratory (2017.1's on Linux
//! 4.9); the system calls of 2014.2 and 2015.1 follow the documents.

/// Device for requests, and for mapping the control page.
pub(super) const CONTROL: &str = "/dev/litmus/ctrl";
/// The active plugin; `Linux` means none.
pub(super) const ACTIVE_PLUGIN: &str = "/proc/litmus/active_plugin";
/// The CPU that releases jobs and runs none, or `NO_CPU`.
pub(super) const RELEASE_MASTER: &str = "/proc/litmus/release_master";

/// Ways to send requests to the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// By `ioctl` on the control device, whose numbers are plain integers.
    Requests,
    /// By its own system calls.
    SystemCalls,
}

/// A request to the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// No action: tests whether the core answers.
    Null,
    SetTask,
    GetTask,
    /// Waits until the thread's job of this number is released.
    WaitForJob,
}

impl Request {
    /// Its number among the control device's requests.
    pub(super) const fn of_the_device(self) -> u32 {
        match self {
            Self::Null => 2006,
            Self::SetTask => 2007,
            Self::GetTask => 2008,
            Self::WaitForJob => 2015,
        }
    }

    /// Its number among the system calls of x86-64.
    pub(super) const fn of_the_calls(self) -> libc::c_long {
        const FIRST: libc::c_long = 351;
        FIRST
            + match self {
                Self::SetTask => 0,
                Self::GetTask => 1,
                Self::WaitForJob => 8,
                Self::Null => 11,
            }
    }
}

/// The number of its scheduling policy on a kernel of this version. Number 6 became
/// SCHED_DEADLINE's in Linux 3.14; releases up to 2014.2 are based on older kernels.
pub(super) const fn policy_number(linux: (u32, u32)) -> i32 {
    match linux {
        (3, ..14) | (..3, _) => 6,
        _ => 7,
    }
}

/// `struct rt_task`. Times are nanoseconds.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Task {
    pub execution_cost: u64,
    pub period: u64,
    pub relative_deadline: u64,
    pub phase: u64,
    pub cpu: u32,
    pub priority: u32,
    /// 0 hard, 1 soft, 2 best effort.
    pub class: u32,
    /// 0 none, 1 at quanta, 2 precise.
    pub budget_policy: u32,
    /// 0 sporadic, 1 periodic, 2 early.
    pub release_policy: u32,
    pub padding: u32,
}

/// The priority of a task without one, whose plugin uses deadlines.
pub(super) const LOWEST_PRIORITY: u32 = 511;
pub(super) const SOFT: u32 = 1;
/// A job is released when the thread wakes up from a sleep, too.
pub(super) const SPORADIC: u32 = 0;

/// Argument of a request about a task's parameters. The kernel copies the size of its longest set
/// of arguments, which differs between releases; this is longer than all of them.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Arguments {
    pub thread: i32,
    pub padding: u32,
    pub task: *mut Task,
    pub rest: [u64; 6],
}

/// The page that the kernel shares with a thread. It keeps job numbers and times there for the thread to read.
#[repr(C)]
#[derive(Debug)]
pub(super) struct ControlPage {
    pub non_preemptive: u64,
    pub interrupts: u64,
    pub call_started: u64,
    pub interrupts_at_call: u64,
    pub deadline: u64,
    pub release: u64,
    pub job: u64,
}

/// Bytes of the mapping: the kernel gives one whole page.
pub(super) const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn structures_have_the_kernels_sizes_and_offsets_with_64_bits() {
        assert_eq!(size_of::<Task>(), 56);
        assert_eq!(size_of::<Arguments>(), 64);
        assert_eq!(offset_of!(Arguments, task), 8);
    }

    /// `lt_t` is `unsigned long long`, aligned to 8 bytes on ARM and to 4 on 32-bit x86: no
    /// later field could move; a structure that is shorter there is copied from a larger one here.
    #[test]
    fn fields_stand_where_the_kernel_reads_them_with_32_bits_too() {
        assert_eq!(offset_of!(Task, period), 8);
        assert_eq!(offset_of!(Task, relative_deadline), 16);
        assert_eq!(offset_of!(Task, phase), 24);
        assert_eq!(offset_of!(Task, cpu), 32);
        assert_eq!(offset_of!(Task, priority), 36);
        assert_eq!(offset_of!(Task, class), 40);
        assert_eq!(offset_of!(Task, budget_policy), 44);
        assert_eq!(offset_of!(Task, release_policy), 48);
        assert_eq!(offset_of!(ControlPage, deadline), 32);
        assert_eq!(offset_of!(ControlPage, release), 40);
        assert_eq!(offset_of!(ControlPage, job), 48);
        assert!(size_of::<ControlPage>() <= PAGE);
    }

    #[test]
    fn requests_have_the_numbers_that_were_seen_and_calls_those_of_the_documents() {
        let all = [
            Request::Null,
            Request::SetTask,
            Request::GetTask,
            Request::WaitForJob,
        ];
        assert_eq!(all.map(Request::of_the_device), [2006, 2007, 2008, 2015]);
        assert_eq!(all.map(Request::of_the_calls), [362, 351, 352, 359]);
    }

    #[test]
    fn the_policy_has_six_before_linux_gave_that_to_deadline() {
        assert_eq!((policy_number((3, 0)), policy_number((3, 10))), (6, 6));
        assert_eq!((policy_number((4, 1)), policy_number((4, 9))), (7, 7));
    }
}

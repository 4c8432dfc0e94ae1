//! A system call that a thread was in, and what its descriptor refers to. `explainer` finds it.

use crate::track::{Happened, Mark};
use foldhash::HashMap;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use wakepath_timeline::{CallArgument, CallTarget, one_line};

/// A system call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    /// Its name: `write`.
    pub name: Arc<str>,
    /// Its target, if it takes a descriptor that is known.
    pub target: Option<CallTarget>,
}

impl Call {
    /// Whether a thread sleeps in this call until an instant.
    pub(crate) fn is_sleep(&self) -> bool {
        sleeps(&self.name)
    }

    /// Whether a wait in this call may be for a lock that another thread holds: a mutex, a semaphore, a file's lock.
    pub(crate) fn is_for_lock(&self) -> bool {
        let locks = [
            "futex",
            "futex_time64",
            "futex_wait",
            "futex_waitv",
            "semop",
            "semtimedop",
            "semtimedop_time64",
            "flock",
            "fcntl",
            "fcntl64",
        ];
        locks.contains(&&*self.name)
    }

    /// Whether a thread waits in this call for whichever of several events comes first.
    pub(crate) fn is_for_any_event(&self) -> bool {
        waits_for_any_event(&self.name)
    }

    /// Whether a thread reads its timer in this call.
    pub(crate) fn is_of_timer(&self) -> bool {
        matches!(&self.target, Some(CallTarget::Other(word)) if &**word == "timerfd")
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}()", one_line(&self.name))?;
        match &self.target {
            None => Ok(()),
            Some(CallTarget::File(path)) => write!(f, " on the file {}", one_line(path)),
            Some(CallTarget::Device(path)) => write!(f, " on {}", one_line(path)),
            Some(CallTarget::Terminal(path)) => write!(f, " on the terminal {}", one_line(path)),
            Some(CallTarget::Pipe) => f.write_str(" on a pipe"),
            Some(CallTarget::Socket) => f.write_str(" on a socket"),
            Some(CallTarget::Other(word)) => write!(f, " on {}", one_line(word)),
        }
    }
}

/// Whether a thread starts another, or a process, by this call.
pub(crate) fn starts_another(name: &str) -> bool {
    ["clone", "clone3", "fork", "vfork"].contains(&name)
}

/// Whether a thread sleeps in the call of this name until an instant.
pub fn sleeps(name: &str) -> bool {
    matches!(
        name,
        "clock_nanosleep" | "clock_nanosleep_time64" | "nanosleep"
    )
}

/// Whether a thread waits in the call of this name for whichever of several events comes first. Not in one for requests
/// that it has made itself, as `io_getevents`.
pub fn waits_for_any_event(name: &str) -> bool {
    [
        "epoll_wait",
        "epoll_pwait",
        "epoll_pwait2",
        "poll",
        "ppoll",
        "select",
        "_newselect",
        "pselect6",
        "ppoll_time64",
        "pselect6_time64",
        "rt_sigtimedwait",
        "rt_sigtimedwait_time64",
    ]
    .contains(&name)
}

/// Whether the call of this name writes to a descriptor or sends through a socket.
pub(crate) fn sends(name: &str) -> bool {
    [
        "write", "writev", "pwrite64", "pwritev", "pwritev2", "send", "sendto", "sendmsg",
        "sendmmsg",
    ]
    .contains(&name)
}

/// Whether the call of this name takes data from a descriptor, in the order in which it comes.
pub(crate) fn receives(name: &str) -> bool {
    ["read", "readv", "recv", "recvfrom", "recvmsg", "recvmmsg"].contains(&name)
}

/// Whether it takes a connection.
pub(crate) fn accepts(name: &str) -> bool {
    ["accept", "accept4"].contains(&name)
}

/// Whether a wait in this call may be for a lock of the program; of a call that was not recorded that is the likeliest.
/// One that signals can't end is for a lock of the kernel's own.
pub(crate) fn may_be_lock(call: Option<&Call>, uninterruptible: bool) -> bool {
    !uninterruptible && call.is_none_or(Call::is_for_lock)
}

/// The argument that distinguishes a wait from others in the same call. A condition variable of the C library wakes its
/// waiters at two neighbouring words by turns.
pub(crate) fn waits_at(argument: Option<CallArgument>) -> Option<CallArgument> {
    const WORDS: u64 = 8;
    argument.map(|argument| match argument {
        CallArgument::Address(at) => CallArgument::Address(at - at % WORDS),
        other => other,
    })
}

/// A call that a thread has entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entered {
    pub call: Call,
    /// As from [`waits_at`].
    pub argument: Option<CallArgument>,
}

/// The watched program as far as it is known: its threads, and the targets of its descriptors.
#[derive(Debug, Default)]
pub(crate) struct Program {
    processes: HashMap<u32, u32>,
    descriptors: HashMap<(u32, u32), CallTarget>,
}

/// Descriptors that are remembered.
const MOST_DESCRIPTORS: usize = 1 << 14;

impl Program {
    pub fn follow(&mut self, thread: u32, process: u32) {
        self.processes.insert(thread, process);
    }

    pub fn refers_to(&mut self, process: u32, descriptor: u32, target: CallTarget) {
        if self.descriptors.len() == MOST_DESCRIPTORS {
            self.descriptors.clear();
        }
        self.descriptors.insert((process, descriptor), target);
    }

    /// A thread's call; closing a descriptor ends what it refers to.
    pub fn call(&mut self, thread: u32, name: &Arc<str>, descriptor: Option<u32>) -> Call {
        let process = self.processes.get(&thread);
        let key = process.copied().zip(descriptor);
        let target = match &**name {
            "close" | "dup2" | "dup3" => key.and_then(|key| self.descriptors.remove(&key)),
            _ => key.and_then(|key| self.descriptors.get(&key).cloned()),
        };
        Call {
            name: Arc::clone(name),
            target,
        }
    }

    /// A thread's process, if it is known.
    pub fn process(&self, thread: u32) -> Option<u32> {
        self.processes.get(&thread).copied()
    }

    /// Whether two threads are known to be of one process.
    pub fn is_of_one_process(&self, one: u32, other: u32) -> bool {
        let process = self.processes.get(&one);
        process.is_some() && process == self.processes.get(&other)
    }
}

/// The call that a thread is in after a mark; `before`: that before the mark.
pub(crate) fn follow(before: Option<Entered>, mark: &Mark) -> Option<Entered> {
    match &mark.what {
        Happened::CallEntered(entered) => Some(entered.clone()),
        Happened::CallLeft | Happened::CallsUnknown | Happened::Lost | Happened::Gap => None,
        _ => before,
    }
}

/// The call that a thread is in at an instant, from its marks and the call before the first of them.
pub(crate) fn at<'a>(
    marks: &'a VecDeque<Mark>,
    before: Option<&'a Entered>,
    at_ns: u64,
) -> Option<&'a Entered> {
    let after = marks.partition_point(|mark| mark.at_ns <= at_ns);
    for mark in marks.range(..after).rev() {
        match &mark.what {
            Happened::CallEntered(entered) => return Some(entered),
            Happened::CallLeft | Happened::CallsUnknown | Happened::Lost | Happened::Gap => {
                return None;
            }
            _ => {}
        }
    }
    before
}

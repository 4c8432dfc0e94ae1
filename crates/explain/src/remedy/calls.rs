//! Advice on a system call that takes long, or in which a loop waits. Whether that is for another thread is
//! in `super`.

use crate::call::{Call, accepts, receives, sends};
use crate::fix::{self, Remedy};
use wakepath_timeline::CallTarget;

/// Whether it is a call by which malloc and free ask the kernel for memory or return it.
pub(super) fn is_of_memory(name: &str) -> bool {
    [
        "mmap", "mmap2", "munmap", "mremap", "brk", "madvise", "mprotect",
    ]
    .contains(&name)
}

/// Of a call that takes long; `None` of one in which a thread waits for a lock, a time or any event.
pub(super) fn long(call: &Call) -> Option<Remedy> {
    let is_wait = call.is_for_any_event() || call.is_for_lock() || call.is_sleep();
    if is_wait {
        return None;
    }
    Some(of_kind(call).unwrap_or_else(|| fix::CALL_BEFORE.with(&[&call.name])))
}

/// Of a call in which the kernel itself works for long, as it does to read much of `/proc`: no device holds data back.
pub(super) fn working(call: &Call) -> Option<Remedy> {
    match call.target {
        None if is_read(&call.name) => Some(fix::READ_FILE_ELSEWHERE.plain()),
        _ => long(call),
    }
}

pub(super) fn is_read(name: &str) -> bool {
    receives(name) || ["pread64", "preadv", "preadv2"].contains(&name)
}

/// Of the call's kind; `None` if it has no advice.
pub(super) fn of_kind(call: &Call) -> Option<Remedy> {
    Some(match &*call.name {
        name if is_of_memory(name) => fix::KEEP_MEMORY.plain().with_trial(&[]),
        "fsync" | "fdatasync" | "syncfs" | "sync" | "sync_file_range" | "msync" => {
            fix::SYNC_ELSEWHERE.plain()
        }
        name if sends(name) => writes(call.target.as_ref()).plain(),
        name if is_read(name) => reads(call.target.as_ref()),
        "open" | "openat" | "openat2" | "creat" | "close" | "stat" | "lstat" | "fstat"
        | "newfstatat" | "statx" | "getdents64" | "rename" | "renameat" | "renameat2"
        | "unlink" | "unlinkat" | "ftruncate" | "fallocate" => fix::OPEN_BEFORE.plain(),
        "fork" | "vfork" | "clone" | "clone3" | "execve" | "wait4" | "waitid" => {
            fix::START_BEFORE.plain()
        }
        "sched_yield" => fix::BLOCK_INSTEAD.plain(),
        "connect" => fix::CONNECT_ELSEWHERE.plain(),
        name if accepts(name) => fix::ACCEPT_ELSEWHERE.plain(),
        "ioctl" => fix::DEVICE_ELSEWHERE.plain(),
        _ if call.is_for_any_event() => fix::POLL_WITHOUT_WAITING.plain(),
        _ => return None,
    })
}

fn writes(target: Option<&CallTarget>) -> &'static fix::Fix {
    match target {
        Some(CallTarget::Terminal(_) | CallTarget::Pipe) => &fix::PRINT_ELSEWHERE,
        Some(CallTarget::File(_)) => &fix::FILE_ELSEWHERE,
        Some(CallTarget::Socket) => &fix::SEND_ELSEWHERE,
        _ => &fix::WRITE_ELSEWHERE,
    }
}

/// A pipe or socket has no adapter that could hold data back.
fn reads(target: Option<&CallTarget>) -> Remedy {
    match target {
        Some(CallTarget::Device(path)) if path.starts_with("/dev/ttyUSB") => {
            fix::LATENCY_TIMER.with(&[path.trim_start_matches("/dev/")])
        }
        Some(CallTarget::File(_)) => fix::READ_FILE_ELSEWHERE.plain(),
        Some(CallTarget::Socket | CallTarget::Pipe) => fix::READ_ELSEWHERE.plain(),
        _ => fix::READ_DEVICE_ELSEWHERE.plain(),
    }
}

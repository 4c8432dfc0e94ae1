//! What can be done about a system call that takes long, or in which a loop waits. Whether that is
//! for another thread is in `super`.

use crate::call::Call;
use wakepath_timeline::CallTarget;

/// So that malloc and free ask the kernel for nothing once the loop runs.
pub(super) const KEEP_MEMORY: &str = "no allocation in the loop; or, before it starts, mlockall, \
    mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, -1), and allocate and free once as much as it \
    will need. mlockall alone moves the work from page faults into these calls";

/// Whether it is a call by which malloc and free ask the kernel for memory or return it.
pub(super) fn is_of_memory(name: &str) -> bool {
    [
        "mmap", "mmap2", "munmap", "mremap", "brk", "madvise", "mprotect",
    ]
    .contains(&name)
}

/// One sentence, or `None` where nothing fits.
pub(super) fn remedy(call: &Call) -> Option<String> {
    Some(match &*call.name {
        name if is_of_memory(name) => KEEP_MEMORY.into(),
        "fsync" | "fdatasync" | "syncfs" | "sync" | "sync_file_range" | "msync" => {
            "let another thread write and sync the file; the loop puts its data into a queue".into()
        }
        "write" | "writev" | "pwrite64" | "pwritev" | "pwritev2" | "send" | "sendto"
        | "sendmsg" | "sendmmsg" => writes(call.target.as_ref()),
        "read" | "readv" | "pread64" | "preadv" | "preadv2" | "recv" | "recvfrom" | "recvmsg"
        | "recvmmsg" => reads(call.target.as_ref()),
        "open" | "openat" | "openat2" | "creat" | "close" | "stat" | "lstat" | "fstat"
        | "newfstatat" | "statx" | "getdents64" | "rename" | "renameat" | "renameat2"
        | "unlink" | "unlinkat" | "ftruncate" | "fallocate" => {
            "open files before the loop starts, and let another thread work with them".into()
        }
        "fork" | "vfork" | "clone" | "clone3" | "execve" | "wait4" | "waitid" => {
            "start threads and processes before the loop".into()
        }
        "ioctl" => "let another thread talk to the device, and pass its data on".into(),
        "futex" | "futex_time64" | "clock_nanosleep" | "nanosleep" | "epoll_wait"
        | "epoll_pwait" | "poll" | "ppoll" | "select" | "pselect6" | "sched_yield" => return None,
        _ => format!(
            "call {}() before the loop starts, or let another thread do it",
            call.name
        ),
    })
}

fn writes(target: Option<&CallTarget>) -> String {
    match target {
        Some(CallTarget::Terminal(_) | CallTarget::Pipe) => {
            "no printing in the loop, since a full pipe or a slow terminal blocks it: put the text into a queue \
             in memory and let another thread write it, or set O_NONBLOCK and drop what does not fit"
        }
        Some(CallTarget::File(_)) => {
            "let another thread write the file; the loop puts its data into a queue in memory"
        }
        Some(CallTarget::Socket) => {
            "let another thread send, or set O_NONBLOCK and drop what does not fit"
        }
        _ => "let another thread write; the loop puts its data into a queue in memory",
    }
    .into()
}

fn reads(target: Option<&CallTarget>) -> String {
    match target {
        Some(CallTarget::Device(path)) if path.starts_with("/dev/ttyUSB") => format!(
            "a USB serial adapter may hold data back for its latency timer: echo 1 > \
             /sys/bus/usb-serial/devices/{}/latency_timer. Else let another thread read, or take the answer in \
             the next cycle",
            path.trim_start_matches("/dev/")
        ),
        Some(CallTarget::File(_)) => {
            "let another thread read the file, and pass the value on in memory".into()
        }
        _ => "let another thread read, or ask in one cycle and take the answer in a later one \
              (O_NONBLOCK). A serial adapter may hold data back for its latency timer"
            .into(),
    }
}

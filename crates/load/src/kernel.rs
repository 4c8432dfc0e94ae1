//! The few system calls without a safe wrapper. Nothing else in this crate is unsafe but the
//! mapping of the shared counters.
#![allow(unsafe_code)] // rustix marks these unsafe or lacks them; each is one call.

use rustix::io;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::Pid;
use rustix::thread::UnshareFlags;
use std::io::Error;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

/// Makes children that this thread creates later live in a new PID namespace.
///
/// Affects only the calling thread, so it is called from a separate thread.
///
/// # Errors
/// `EPERM` without CAP_SYS_ADMIN.
pub(crate) fn new_pid_namespace_for_children() -> io::Result<()> {
    // SAFETY: without UnshareFlags::FILES no file descriptor table is split.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWPID) }
}

/// Gives the calling process a separate mount table.
///
/// # Errors
/// `EPERM` without CAP_SYS_ADMIN.
pub(crate) fn new_mount_namespace() -> io::Result<()> {
    // SAFETY: without UnshareFlags::FILES no file descriptor table is split.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }
}

/// Sets SCHED_OTHER for the calling thread and clears reset-on-fork.
///
/// The system call itself, because musl's wrapper refuses to make it.
pub(crate) fn set_ordinary_policy() -> Result<(), Error> {
    let priority: libc::c_int = 0;
    // SAFETY: the kernel reads one int, struct sched_param's only member, and keeps no pointer.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_OTHER,
            std::ptr::from_ref(&priority),
        )
    };
    if answer == 0 {
        Ok(())
    } else {
        Err(Error::last_os_error())
    }
}

/// Restores the default action of every signal and unblocks all.
pub(crate) fn reset_signals() {
    // The Rust runtime ignores SIGPIPE here and restores it in children by itself.
    for signal in (1..=libc::SIGRTMAX()).filter(|&signal| signal != libc::SIGPIPE) {
        // SAFETY: SIG_DFL installs no handler. Signals that cannot be set (SIGKILL, those that
        // the C library keeps) return an error, which can be ignored.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: the set is initialised by sigemptyset before it is read.
    unsafe {
        let mut none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// A set of signals to block and to wait for.
pub(crate) struct SignalSet(libc::sigset_t);

impl SignalSet {
    /// The set of `signals`.
    pub(crate) fn new(signals: &[libc::c_int]) -> Self {
        // SAFETY: the set is initialised by sigemptyset; adding a valid number only sets a bit.
        unsafe {
            let mut set = std::mem::zeroed::<libc::sigset_t>();
            libc::sigemptyset(&raw mut set);
            for &signal in signals {
                libc::sigaddset(&raw mut set, signal);
            }
            Self(set)
        }
    }

    /// Blocks the set in this thread and those it creates later.
    pub(crate) fn block(&self) {
        // SAFETY: the set is initialised.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const self.0, std::ptr::null_mut()) };
    }

    /// Waits until one of the set is delivered and takes it.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        let mut signal = 0;
        // SAFETY: the set is initialised and `signal` outlives the call.
        let answer = unsafe { libc::sigwait(&raw const self.0, &raw mut signal) };
        if answer == 0 {
            Ok(())
        } else {
            Err(Error::from_raw_os_error(answer))
        }
    }
}

/// Forks a child that exits at once with status 0; a real fork, unlike the vfork that
/// [`std::process::Command`] prefers, so the page tables are copied.
pub(crate) fn fork_a_child_that_exits() -> Result<Pid, Error> {
    // SAFETY: the child makes one async-signal-safe call and never returns.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: _exit runs no destructors or handlers of the parent's copy.
            unsafe { libc::_exit(0) }
        }
        child => Pid::from_raw(child.max(0)).ok_or_else(Error::last_os_error),
    }
}

/// Number of packets dropped by a socket's full queue.
///
/// # Errors
/// Kernels before 4.12 don't report it.
pub(crate) fn dropped(socket: BorrowedFd<'_>) -> Result<u32, Error> {
    /// Place and number of the fields in `linux/sock_diag.h`: `SK_MEMINFO_DROPS` and `SK_MEMINFO_VARS`.
    const DROPS: usize = 8;
    let mut fields = [0_u32; DROPS + 1];
    let mut bytes = size_of_val(&fields) as libc::socklen_t;
    // SAFETY: the kernel writes at most `bytes`, the size of `fields`, and the number of bytes
    // written.
    let answer = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            fields.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    match answer {
        0 if bytes as usize == size_of_val(&fields) => Ok(fields[DROPS]),
        0 => Err(Error::from_raw_os_error(libc::ENOPROTOOPT)),
        _ => Err(Error::last_os_error()),
    }
}

/// Closes files by as few system calls as their numbers allow; kernels before 5.9 one by one.
pub(crate) fn close_at_once(files: Vec<OwnedFd>) {
    let mut numbers: Vec<RawFd> = files.into_iter().map(IntoRawFd::into_raw_fd).collect();
    numbers.sort_unstable();
    for run in numbers.chunk_by(|one, next| one + 1 == *next) {
        let (first, last) = (run[0] as libc::c_uint, run[run.len() - 1] as libc::c_uint);
        // SAFETY: every number between the two was owned here, and nobody else uses it.
        let answer = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        if answer != 0 {
            // SAFETY: likewise; nothing has closed it yet.
            let close = |&number: &RawFd| drop(unsafe { OwnedFd::from_raw_fd(number) });
            run.iter().for_each(close);
        }
    }
}

/// Private anonymous memory with all pages written.
pub(crate) struct Written {
    base: *mut u8,
    bytes: usize,
}

/// The child writes every eighth page, each of which is copied first.
const WRITTEN_AGAIN: usize = 8;

impl Written {
    /// Maps and writes it.
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::POPULATE,
            )?
        };
        let base = base.cast();
        Ok(Self { base, bytes })
    }

    /// Forks a child that writes some of its pages and exits with status 0.
    pub(crate) fn fork_a_child_that_writes(&self) -> Result<Pid, Error> {
        let page = rustix::param::page_size();
        // SAFETY: the child writes memory, makes one async-signal-safe call and never returns.
        match unsafe { libc::fork() } {
            // SAFETY: within the mapping, which is never unmapped; _exit runs no destructors or
            // handlers of the parent's copy.
            0 => unsafe {
                for offset in (0..self.bytes).step_by(page * WRITTEN_AGAIN) {
                    self.base.add(offset).write_volatile(2);
                }
                libc::_exit(0)
            },
            child => Pid::from_raw(child.max(0)).ok_or_else(Error::last_os_error),
        }
    }
}

/// Maps `bytes` of anonymous memory, writes to each page, and unmaps it.
pub(crate) fn map_touch_and_unmap(bytes: usize) -> io::Result<()> {
    let page = rustix::param::page_size();
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice, written within its
    // bounds and unmapped before anyone else learns of it.
    unsafe {
        let base = rustix::mm::mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )?;
        for offset in (0..bytes).step_by(page) {
            base.cast::<u8>().add(offset).write_volatile(1);
        }
        rustix::mm::munmap(base, bytes)
    }
}

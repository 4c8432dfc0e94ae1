//! System calls as programs make them, and what this process needs to run them.
#![allow(unsafe_code)] // Arbitrary system calls, and code that is made here, have no wrapper.

use crate::hunt::{Mark, STUB_BYTES, STUBS, STUBS_AT};
use std::ffi::CStr;
use std::io;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// `rdtsc; ret; nop`.
const STUB: [u8; STUB_BYTES as usize] = [0x0f, 0x31, 0xc3, 0x90];
const LENGTH: usize = (STUBS * STUB_BYTES) as usize;

/// Makes the code that marks consist of.
pub(super) fn make_marks() -> io::Result<()> {
    let place = STUBS_AT as *mut libc::c_void;
    let (writable, fixed) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
    );
    // SAFETY: a new mapping at a free address, or an error.
    let made = unsafe { libc::mmap(place, LENGTH, writable, fixed, -1, 0) };
    if made != place {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping has this length, is writable and nobody else's.
    let code = unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), LENGTH) };
    for stub in code.chunks_exact_mut(STUB.len()) {
        stub.copy_from_slice(&STUB);
    }
    // SAFETY: it changes the protection of the mapping made above, which nothing borrows any more.
    done(unsafe { libc::mprotect(place, LENGTH, libc::PROT_READ | libc::PROT_EXEC) })
}

/// Reads the clock at the mark's address.
pub(super) fn mark(mark: Mark) {
    let address = (STUBS_AT + mark.number() * STUB_BYTES) as *const ();
    // SAFETY: `make_marks` has put a function there that changes two registers, which the C calling
    // convention allows, and returns.
    unsafe {
        let stub: extern "C" fn() = std::mem::transmute(address);
        stub();
    }
}

/// Makes this process run before every other, but not its children. The system call itself: musl's function refuses.
pub(super) fn be_the_first_to_run() -> io::Result<()> {
    let highest: libc::c_int = 99;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    let priority = &raw const highest;
    // SAFETY: it reads one int, all of the kernel's `struct sched_param`.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, priority) };
    done(answer as libc::c_int)
}

/// A system call, and the result that the C library gives: -1 for all errors.
///
/// # Safety
/// The call can do anything to this process.
pub(super) unsafe fn call(number: u64, arguments: [u64; 6]) -> i64 {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the caller's.
    unsafe { libc::syscall(number as libc::c_long, a, b, c, d, e, f) }
}

/// Forks: the child's number in the parent, 0 in the child.
pub(super) fn fork() -> io::Result<i32> {
    // SAFETY: this process has one thread.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(child),
    }
}

/// Ends this process without further ado.
pub(super) fn exit() -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(0) }
}

/// Holds SIGCHLD back, so that [`wait_for`] finds it.
pub(super) fn hold_child_signals(held: bool) -> io::Result<()> {
    let how = if held {
        libc::SIG_BLOCK
    } else {
        libc::SIG_UNBLOCK
    };
    let set = child_signal();
    // SAFETY: it reads the set.
    done(unsafe { libc::sigprocmask(how, &raw const set, null_mut()) })
}

fn child_signal() -> libc::sigset_t {
    // SAFETY: a set is plain data, made empty before a signal is added.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        set
    }
}

/// Waits until a child has ended, or for a time.
pub(super) fn wait_for(child: i32, limit: Duration) {
    let set = child_signal();
    let began = Instant::now();
    loop {
        // SAFETY: it waits and writes no status.
        if unsafe { libc::waitpid(child, null_mut(), libc::WNOHANG) } != 0 {
            return;
        }
        let left = limit.saturating_sub(began.elapsed());
        let left = libc::timespec {
            tv_sec: left.as_secs() as _,
            tv_nsec: left.subsec_nanos().into(),
        };
        // SAFETY: it reads the set and the time. Children of the program can end the wait, too.
        if unsafe { libc::sigtimedwait(&raw const set, null_mut(), &raw const left) } < 0 {
            return;
        }
    }
}

/// Ends every other process and waits until none is left.
pub(super) fn end_all_others() {
    // SAFETY: the first process is spared, and it has no other children that it needs.
    unsafe {
        libc::kill(-1, libc::SIGKILL);
        while libc::waitpid(-1, null_mut(), libc::__WALL) > 0 {}
    }
}

/// Limits of a program: its files' bytes, their number, its processes' number, its memory.
pub(super) fn limit(as_root: bool) -> io::Result<()> {
    let limits = [
        (libc::RLIMIT_FSIZE, 64 << 20),
        (libc::RLIMIT_NOFILE, 4096),
        (libc::RLIMIT_NPROC, if as_root { 200 } else { 64 }),
        (libc::RLIMIT_AS, 1 << 30),
        (libc::RLIMIT_CORE, 0),
    ];
    for (which, most) in limits {
        let limit = libc::rlimit {
            rlim_cur: most,
            rlim_max: most,
        };
        // SAFETY: it reads the structure.
        done(unsafe { libc::setrlimit(which, &raw const limit) })?;
    }
    Ok(())
}

/// Replaces the three standard files by /dev/null, and goes into a directory.
pub(super) fn leave(directory: &CStr) -> io::Result<()> {
    // SAFETY: both paths end with a zero byte.
    unsafe {
        done(libc::chdir(directory.as_ptr()))?;
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for standard in 0..3 {
            done(libc::dup2(null, standard))?;
        }
        done(libc::close(null))
    }
}

/// Gives up all privileges.
pub(super) fn become_user(number: u32) -> io::Result<()> {
    // SAFETY: they change who this process is.
    unsafe {
        done(libc::setgroups(0, null_mut()))?;
        done(libc::setresgid(number, number, number))?;
        done(libc::setresuid(number, number, number))
    }
}

fn done(result: libc::c_int) -> io::Result<()> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

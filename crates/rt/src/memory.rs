//! Keeping page faults out of the loop: locking and prefaulting. It measures nothing; the count of
//! faults is in [`crate::PageFaults`].

use rustix::mm::{MlockAllFlags, mlockall};

/// Stack that [`prefault_stack`] touches, in bytes: far more than a control loop's call depth and
/// small against the 2 MiB (Rust) or 8 MiB (main) that a thread has.
pub const PREFAULTED_STACK_BYTES: usize = 256 * 1024;

/// Locks all present and future pages of the process.
///
/// # Errors
/// The kernel's error: `EPERM` or `ENOMEM` when neither `CAP_IPC_LOCK` nor `RLIMIT_MEMLOCK`
/// allows it.
pub fn lock_all() -> std::io::Result<()> {
    Ok(mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE)?)
}

/// Explains a refusal of [`lock_all`]. The kernel's message for a limit is "cannot allocate
/// memory".
pub fn why_not_locked(error: &std::io::Error) -> String {
    use rustix::io::Errno;
    use rustix::process::{Resource, getrlimit};
    let refused = [Errno::NOMEM, Errno::PERM].map(|errno| Some(errno.raw_os_error()));
    match getrlimit(Resource::Memlock).current {
        Some(bytes) if refused.contains(&error.raw_os_error()) => {
            format!("this user may lock {} KiB, RLIMIT_MEMLOCK", bytes / 1024)
        }
        _ => error.to_string(),
    }
}

/// Touches the stack below the caller, so that no page of it faults later. Locking is not enough,
/// because the stack grows on demand.
#[inline(never)]
pub fn prefault_stack() {
    let mut stack = [0_u8; PREFAULTED_STACK_BYTES];
    touch(&mut stack);
    // Keeps the array from being optimised away.
    std::hint::black_box(&stack);
}

/// Writes one byte in every page of `memory`, so that each is present and private.
pub fn touch(memory: &mut [u8]) {
    // 4 KiB is the smallest page on every supported target; larger pages are touched more than
    // once, which does no harm.
    for page in memory.chunks_mut(4096) {
        page[0] = std::hint::black_box(page[0]);
    }
}

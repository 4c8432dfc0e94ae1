//! Keeps inherited descriptors from the programs that this process starts.
//!
//! None is closed here, so code that uses one continues to work.

#![allow(unsafe_code)] // A system call that rustix does not have.

/// The first after standard input, output and error.
const FIRST: libc::c_uint = 3;

/// Marks all of them to be closed in programs that are started later. No effect before Linux 5.11.
pub fn close_in_children() {
    // SAFETY: it changes flags of descriptors, and reads no memory.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            FIRST,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_program_that_is_started_afterwards_has_none_of_them() {
        let file = File::open("/dev/null").unwrap();
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        let has = || {
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            let listed = std::process::Command::new("/bin/sh")
                .args(["-c", &format!("test -e {path}")])
                .status()
                .unwrap();
            listed.success()
        };
        assert!(has());
        super::close_in_children();
        assert!(!has());
    }
}

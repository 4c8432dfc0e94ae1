//! Page faults and switches of the calling thread, as the kernel counts them. It prevents none.

#![allow(unsafe_code)] // getrusage(RUSAGE_THREAD) has no safe wrapper.

/// Page faults of one thread since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PageFaults {
    /// Served without I/O.
    pub minor: u64,
    /// Served from disk.
    pub major: u64,
}

impl PageFaults {
    /// The calling thread's faults so far. A system call.
    pub fn of_this_thread() -> Self {
        let usage = thread_usage();
        Self {
            minor: usage.ru_minflt as u64,
            major: usage.ru_majflt as u64,
        }
    }

    /// Difference to an earlier count; zero if that was from another thread, as when a loop moves
    /// to a new thread.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            minor: self.minor.saturating_sub(earlier.minor),
            major: self.major.saturating_sub(earlier.major),
        }
    }
}

/// Involuntary context switches of the calling thread so far. A system call.
#[inline]
pub(crate) fn involuntary_switches() -> u64 {
    thread_usage().ru_nivcsw as u64
}

fn thread_usage() -> libc::rusage {
    // SAFETY: rusage is plain integers, for which zero is a value, and getrusage writes within it.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        // Can't fail: RUSAGE_THREAD exists since Linux 2.6.26 and the pointer is valid.
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_new_memory_is_counted() {
        let before = PageFaults::of_this_thread();
        let mut memory = vec![0_u8; 8 << 20];
        crate::memory::touch(&mut memory);
        assert!(PageFaults::of_this_thread().since(before).minor > 0);
    }

    #[test]
    fn a_loop_given_up_by_another_thread_has_no_faults_below_none() {
        let faults = |minor, major| PageFaults { minor, major };
        assert_eq!(faults(5, 2).since(faults(9, 1)), faults(0, 1));
    }
}

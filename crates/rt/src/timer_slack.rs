//! Delay that the kernel can add to timers of a thread that isn't real-time.
//!
//! 50 µs by default, which a SCHED_OTHER loop has unless it changes it.

/// Sets the calling thread's timer slack in nanoseconds; at least 1.
///
/// # Errors
/// The kernel's error.
pub fn set(slack_ns: u64) -> std::io::Result<()> {
    let slack = std::num::NonZeroU64::new(slack_ns.max(1));
    Ok(rustix::thread::set_current_timer_slack(slack)?)
}

/// The calling thread's timer slack in nanoseconds. For a real-time policy the kernel ignores it.
///
/// # Errors
/// The kernel's error.
pub fn current_ns() -> std::io::Result<u64> {
    Ok(rustix::thread::current_timer_slack()?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_slack_is_read_back_as_set() {
        std::thread::spawn(|| {
            super::set(1).unwrap();
            assert_eq!(super::current_ns().unwrap(), 1);
            super::set(70_000).unwrap();
            assert_eq!(super::current_ns().unwrap(), 70_000);
        })
        .join()
        .unwrap();
    }
}

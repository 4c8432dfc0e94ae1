//! Detects that the machine stalled while tests ran.
//!
//! A thread that wakes every few milliseconds keeps the longest delay. It judges no test.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often it wants to wake.
const EVERY: Duration = Duration::from_millis(10);

/// A watch under way.
pub struct Stalls {
    ended: Arc<AtomicBool>,
    longest_ns: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Stalls {
    /// Begins to watch.
    pub fn watch() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let longest_ns = Arc::new(AtomicU64::new(0));
        let (until, longest) = (Arc::clone(&ended), Arc::clone(&longest_ns));
        let thread = std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                let slept = Instant::now();
                std::thread::sleep(EVERY);
                let late = slept.elapsed().saturating_sub(EVERY).as_nanos();
                longest.fetch_max(u64::try_from(late).unwrap_or(u64::MAX), Ordering::Relaxed);
            }
        });
        Self {
            ended,
            longest_ns,
            thread,
        }
    }

    /// Ends the watch: the longest time that a wake-up was late.
    pub fn end(self) -> Duration {
        self.ended.store(true, Ordering::Relaxed);
        // A sleep has nothing to panic about.
        let _ = self.thread.join();
        Duration::from_nanos(self.longest_ns.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watch_ends_with_a_wake_up_that_came() {
        let watch = Stalls::watch();
        std::thread::sleep(EVERY * 3);
        assert!(watch.end() > Duration::ZERO);
    }
}

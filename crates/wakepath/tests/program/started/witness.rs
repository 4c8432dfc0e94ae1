//! Stalls of this machine: the time that a test on a busy machine adds to one that it allows.

use super::{Place, cpus};
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wakepath_rt::Preparation;
use wakepath_timeline::Policy;

const LOOK_EVERY: Duration = Duration::from_millis(5);

/// One thread on each CPU, which sleeps and writes a little, as the recorder does.
pub struct Witness {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Duration>>,
    /// Holds its files.
    _place: Place,
}

impl Witness {
    /// Ordinary ones.
    pub fn start() -> Self {
        Self::under(Policy::Other { nice: 0 })
    }

    /// Threads under this policy.
    pub fn under(policy: Policy) -> Self {
        let place = Place::new();
        let over = Arc::new(AtomicBool::new(false));
        let threads = cpus().into_iter().map(|cpu| {
            let mut file = File::create(place.path().join(cpu.to_string())).unwrap();
            let over = Arc::clone(&over);
            std::thread::spawn(move || {
                let preparation = Preparation {
                    policy,
                    cpus: Some(vec![cpu]),
                    lock_memory: false,
                    timer_slack_ns: None,
                };
                preparation.apply().unwrap();
                let mut longest = Duration::ZERO;
                while !over.load(Ordering::Relaxed) {
                    let begun = Instant::now();
                    std::thread::sleep(LOOK_EVERY);
                    file.write_all(b"seen").unwrap();
                    longest = longest.max(begun.elapsed());
                }
                longest
            })
        });
        Self {
            threads: threads.collect(),
            over,
            _place: place,
        }
    }

    /// The longest time that one of them took for one of its turns.
    pub fn longest(self) -> Duration {
        self.over.store(true, Ordering::Relaxed);
        let all = self.threads.into_iter().map(|thread| thread.join());
        all.map(Result::unwrap).max().unwrap_or_default()
    }
}

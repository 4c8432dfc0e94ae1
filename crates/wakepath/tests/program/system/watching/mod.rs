//! `wakepath watch` on a program that is not wakepath: this test itself, whose threads' periods and
//! wake-ups are known because they note them.

pub mod names;
pub mod periods;
pub mod refused;
pub mod stopped;
pub mod ways_of_waiting;

use crate::started::{Finished, Start, loop_cpu};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use wakepath_archive::Run;
use wakepath_rt::{Cycles, affinity, clock};
use wakepath_timeline::{DueTimes, Policy, Sample};

/// A thread that records its own samples until it is stopped.
pub(super) struct Beat {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Sample>>,
}

impl Beat {
    pub(super) fn start(name: &str, period_ns: u64) -> Self {
        Self::under(Policy::Other { nice: 0 }, name, period_ns)
    }

    /// As far as there is a right to the policy.
    fn under(policy: Policy, name: &str, period_ns: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let body = move || {
            affinity::pin(&[loop_cpu()]).unwrap();
            let _ = under(policy);
            let start_ns = clock::monotonic_ns() + 10_000_000;
            let mut cycles = Cycles::new(DueTimes {
                start_ns,
                period_ns,
            })
            .unwrap();
            let mut samples = Vec::new();
            while let Some(activation) = cycles.wait() {
                samples.push(cycles.finish(activation));
                if told.load(Ordering::Relaxed) {
                    break;
                }
            }
            samples
        };
        let thread = std::thread::Builder::new().name(name.into());
        Self {
            stop,
            thread: thread.spawn(body).unwrap(),
        }
    }

    pub(super) fn end(self) -> Vec<Sample> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Gives this thread a policy; whether it has the right to it.
fn under(policy: Policy) -> bool {
    let preparation = wakepath_rt::Preparation {
        policy,
        lock_memory: false,
        ..wakepath_rt::Preparation::default()
    };
    preparation.apply().is_ok()
}

/// Watches the threads of this test for a while, into `run`.
fn watch_this_process(time: &str) -> Finished {
    let pid = std::process::id().to_string();
    let words = ["watch", "-p", &pid, "--for", time, "--json"];
    let start = Start::command(&words);
    start.with(&["--directory", "run"]).finish()
}

pub(super) fn watched(finished: &Finished) -> Run {
    Run::open(&finished.place.path().join("run")).unwrap()
}

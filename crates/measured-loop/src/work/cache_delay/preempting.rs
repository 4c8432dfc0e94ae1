//! A thread that preempts a job on request.
//!
//! It takes the CPU, reads and writes its own memory, and gives the CPU back; its working set
//! replaces everything of the job's in the caches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::{self, JoinHandle, Thread};
use wakepath_rt::{affinity, attributes, memory};
use wakepath_timeline::Policy;

/// Order in `asked`: end.
const END: u64 = u64::MAX;

pub(super) struct Preempting {
    shared: Arc<Shared>,
    /// `None` if it could not be started: nothing preempts then, and nothing is counted.
    thread: Option<JoinHandle<()>>,
    bytes: u64,
    asked: u64,
    home: u16,
}

struct Shared {
    asked: AtomicU64,
    done: AtomicU64,
    /// On which CPU it ran last.
    on: AtomicU32,
    /// Its CPU and FIFO priority; 0: an ordinary thread.
    home: AtomicU32,
    priority: AtomicU32,
}

impl Preempting {
    /// Has the memory and the thread, which sleeps.
    pub(super) fn new(bytes: u64) -> Self {
        let shared = Arc::new(Shared {
            asked: AtomicU64::new(0),
            done: AtomicU64::new(0),
            on: AtomicU32::new(u32::MAX),
            home: AtomicU32::new(0),
            priority: AtomicU32::new(0),
        });
        let mut own = vec![0_u8; usize::try_from(bytes).unwrap_or(usize::MAX)];
        memory::touch(&mut own);
        let (seen, owner) = (Arc::clone(&shared), thread::current());
        let thread = thread::Builder::new().name("preempting".into());
        let thread = thread.spawn(move || seen.serve(&mut own, &owner)).ok();
        Self {
            shared,
            thread,
            bytes,
            asked: 0,
            home: 0,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The calling thread is the one that is preempted, on the CPU `home`.
    pub(super) fn begin(&mut self, home: u16) {
        self.home = home;
        let above = match attributes::get(0) {
            Ok(Policy::Fifo { priority } | Policy::RoundRobin { priority }) => priority + 1,
            _ => 0,
        };
        self.shared.home.store(home.into(), Ordering::Relaxed);
        let priority = above.min(99).into();
        self.shared.priority.store(priority, Ordering::Relaxed);
        // In its first turn it moves to its CPU.
        self.preempt();
    }

    /// Lets it run, and waits for it; returns whether it ran on this CPU.
    pub(super) fn preempt(&mut self) -> bool {
        let Some(thread) = &self.thread else {
            return false;
        };
        self.asked += 1;
        self.shared.asked.store(self.asked, Ordering::Release);
        // With a higher priority it runs before this returns; as an ordinary thread, while this waits.
        thread.thread().unpark();
        while self.shared.done.load(Ordering::Acquire) != self.asked {
            thread::park();
        }
        self.shared.on.load(Ordering::Relaxed) == u32::from(self.home)
    }
}

impl Drop for Preempting {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.shared.asked.store(END, Ordering::Release);
            thread.thread().unpark();
            // It does nothing that could panic.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn serve(&self, own: &mut [u8], owner: &Thread) {
        let mut done = 0;
        loop {
            while self.asked.load(Ordering::Acquire) == done {
                thread::park();
            }
            if self.asked.load(Ordering::Acquire) == END {
                return;
            }
            if done == 0 {
                self.take_place();
            }
            for line in own.chunks_mut(64) {
                line[0] = std::hint::black_box(line[0]).wrapping_add(1);
            }
            self.on
                .store(affinity::this_cpu().into(), Ordering::Relaxed);
            done += 1;
            self.done.store(done, Ordering::Release);
            owner.unpark();
        }
    }

    /// If this fails, the thread runs on another CPU, which is detected, or later, while the owner
    /// waits.
    fn take_place(&self) {
        let _ = affinity::pin(&[self.home.load(Ordering::Relaxed) as u16]);
        let priority = self.priority.load(Ordering::Relaxed) as u8;
        if priority > 0 {
            let _ = attributes::set(0, Policy::Fifo { priority });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_on_the_cpu_of_the_thread_that_it_preempts_each_time_it_is_told_to() {
        thread::spawn(|| {
            let home = *affinity::current().unwrap().last().unwrap();
            affinity::pin(&[home]).unwrap();
            let mut preempting = Preempting::new(4096);
            preempting.begin(home);
            assert!((0..100).all(|_| preempting.preempt()));
            assert_eq!(preempting.shared.done.load(Ordering::Relaxed), 101);
        })
        .join()
        .unwrap();
    }
}

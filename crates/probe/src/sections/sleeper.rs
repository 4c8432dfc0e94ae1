//! A thread of FIFO 95 that sleeps for the loop's period on the CPU under test and records how late it woke:
//! the events' effect on a wake-up, and the parts of its path.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::Timespec;
use wakepath_rt::{affinity, attributes, clock};
use wakepath_schedulability::sections::Woken;
use wakepath_timeline::Policy;

use crate::error::KernelMeasureError;

/// That of timerlat's thread.
const PRIORITY: u8 = 95;
/// Room for the wake-ups of a turn; of more, the later ones don't count.
const ROOM: usize = 1 << 14;

/// The turn that a wake-up counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Without = 1,
    With = 2,
}

/// Neither.
const NONE: u8 = 0;
const END: u8 = 3;

struct Shared {
    turn: AtomicU8,
    woken: Mutex<Vec<Woken>>,
}

/// The thread.
pub(super) struct Sleeper {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Sleeper {
    /// Starts it.
    pub(super) fn start(cpu: u16, period_ns: u64) -> Result<Self, KernelMeasureError> {
        let mut room = vec![
            Woken {
                due_ns: 1,
                woken_ns: 1
            };
            ROOM
        ];
        room.clear();
        let shared = Arc::new(Shared {
            turn: AtomicU8::new(NONE),
            woken: Mutex::new(room),
        });
        let (said, heard) = std::sync::mpsc::sync_channel(1);
        let of_thread = Arc::clone(&shared);
        let body = move || {
            let ready = affinity::pin(&[cpu])
                .and_then(|()| attributes::set(0, Policy::Fifo { priority: PRIORITY }));
            let is_ready = ready.is_ok();
            let _ = said.send(ready);
            if is_ready {
                sleep(&of_thread, period_ns);
            }
        };
        let not = |source| KernelMeasureError::NoThreadBeside { cpu, source };
        let builder = std::thread::Builder::new().name("wakepath-beside".into());
        let thread = builder.spawn(body).map_err(not)?;
        let gone = |_| std::io::Error::other("it ended");
        heard.recv().map_err(gone).flatten().map_err(not)?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Lets it count wake-ups for this turn for `for_ns`; returns those within it.
    pub(super) fn turn(&self, turn: Turn, for_ns: u64) -> Result<Vec<Woken>, KernelMeasureError> {
        self.shared.turn.store(turn as u8, Ordering::Release);
        std::thread::sleep(Duration::from_nanos(for_ns));
        self.shared.turn.store(NONE, Ordering::Release);
        let mut woken = self
            .shared
            .woken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = woken.clone();
        woken.clear();
        Ok(found)
    }

    /// Ends it.
    pub(super) fn end(self) {}
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.shared.turn.store(END, Ordering::Release);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn sleep(shared: &Shared, period_ns: u64) {
    let mut due_ns = clock::monotonic_ns() + period_ns;
    loop {
        let before = shared.turn.load(Ordering::Acquire);
        if before == END {
            return;
        }
        let due = Timespec {
            tv_sec: (due_ns / 1_000_000_000) as i64,
            tv_nsec: (due_ns % 1_000_000_000) as _,
        };
        let slept = clock_nanosleep_absolute(ClockId::Monotonic, &due);
        let woken_ns = clock::monotonic_ns();
        // A wake-up in two turns, or without a full sleep, is not counted.
        if slept.is_ok() && before != NONE && shared.turn.load(Ordering::Acquire) == before {
            let mut woken = shared.woken.lock().unwrap_or_else(PoisonError::into_inner);
            if woken.len() < ROOM {
                woken.push(Woken { due_ns, woken_ns });
            }
        }
        due_ns += period_ns;
        let now_ns = clock::monotonic_ns();
        if due_ns <= now_ns {
            due_ns = now_ns + period_ns;
        }
    }
}

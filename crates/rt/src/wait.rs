//! The ways in which a loop can be woken at an absolute time, behind one call.
//!
//! Nothing here knows about cycles or periods.

use crate::clock::{monotonic_ns, timespec};
use crate::cobalt::{self, OnCobalt};
use crate::evl::{self, OnEvl};
use crate::litmus::{self, OnLitmus};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::thread::{ClockId, clock_nanosleep_absolute, futex};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use wakepath_timeline::{DueTimes, WakeUp};

/// Why a way of waking could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// No timer descriptor is available.
    #[error("can't create a timerfd: {0}; raise the limit on open files (ulimit -n)")]
    Timerfd(#[source] std::io::Error),
    /// The thread that wakes the loop could not be started.
    #[error("the thread that wakes the loop could not be started: {0}")]
    Waker(#[source] std::io::Error),
    /// No timer of a core is available.
    #[error("the core gives the loop no timer: {0}")]
    CoreTimer(#[source] std::io::Error),
    /// A core doesn't support this way of waking.
    #[error(
        "a loop on a real-time core is woken by clock-nanosleep or timerfd, which are the core's own there; a futex is \
         Linux's"
    )]
    NoFutexOnACore,
    /// An additional value would call Linux in every cycle.
    #[error(
        "CPU time and context switches come from Linux, and a loop on a real-time core would leave \
         the core to read them; take cpu-time and switches out of accounting"
    )]
    AccountingOnACore,
    /// A task of LITMUS^RT waits in one way.
    #[error(
        "a task of LITMUS^RT waits for its job or sleeps, as its policy's release says; take wake-up out, or give \
         clock-nanosleep"
    )]
    ClockNanosleepAlone,
}

/// Sleeps until an absolute time on `CLOCK_MONOTONIC`.
pub(crate) enum Sleeper {
    ClockNanosleep,
    Timerfd(OwnedFd),
    Futex(FutexWaker),
    Evl(Arc<OnEvl>),
    EvlTimer(Arc<OnEvl>, OwnedFd),
    Cobalt(Arc<OnCobalt>),
    CobaltTimer(Arc<OnCobalt>, cobalt::Timer),
    Litmus(Arc<OnLitmus>),
}

impl Sleeper {
    /// Sets the mechanism up. For [`WakeUp::Futex`] a thread is started that inherits the calling
    /// thread's affinity and policy and wakes the loop at each of `due`'s times.
    pub(crate) fn new(mechanism: WakeUp, due: DueTimes) -> Result<Self, WaitError> {
        if let Some(core) = evl::of_this_thread() {
            return match mechanism {
                WakeUp::ClockNanosleep => Ok(Self::Evl(core)),
                WakeUp::Timerfd => match core.timer() {
                    Ok(timer) => Ok(Self::EvlTimer(core, timer)),
                    Err(error) => Err(WaitError::CoreTimer(error)),
                },
                WakeUp::Futex => Err(WaitError::NoFutexOnACore),
            };
        }
        if let Some(core) = cobalt::of_this_thread() {
            return match mechanism {
                WakeUp::ClockNanosleep => Ok(Self::Cobalt(core)),
                WakeUp::Timerfd => match core.timer() {
                    Ok(timer) => Ok(Self::CobaltTimer(core, timer)),
                    Err(error) => Err(WaitError::CoreTimer(error)),
                },
                WakeUp::Futex => Err(WaitError::NoFutexOnACore),
            };
        }
        if let Some(core) = litmus::of_this_thread() {
            return match mechanism {
                WakeUp::ClockNanosleep => Ok(Self::Litmus(core)),
                WakeUp::Timerfd | WakeUp::Futex => Err(WaitError::ClockNanosleepAlone),
            };
        }
        match mechanism {
            WakeUp::ClockNanosleep => Ok(Self::ClockNanosleep),
            WakeUp::Timerfd => timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)
                .map(Self::Timerfd)
                .map_err(|error| WaitError::Timerfd(error.into())),
            WakeUp::Futex => FutexWaker::start(due)
                .map(Self::Futex)
                .map_err(WaitError::Waker),
        }
    }

    /// How often the loop's thread has switched into Linux, if it is on a core that counts this.
    #[inline]
    pub(crate) fn mode_switches(&self) -> Option<u64> {
        match self {
            Self::Evl(core) | Self::EvlTimer(core, _) => {
                core.in_band_switches().ok().map(u64::from)
            }
            Self::Cobalt(core) | Self::CobaltTimer(core, _) => core.mode_switches().ok(),
            Self::ClockNanosleep | Self::Timerfd(_) | Self::Futex(_) | Self::Litmus(_) => None,
        }
    }

    /// Whether the loop can run on other CPUs than those of Linux's affinity.
    pub(crate) fn migrates(&self) -> bool {
        matches!(self, Self::Litmus(core) if core.migrates())
    }

    /// Whether the loop is on a core that can switch it into Linux.
    pub(crate) fn is_on_a_core(&self) -> bool {
        match self {
            Self::Evl(_) | Self::EvlTimer(..) | Self::Cobalt(_) | Self::CobaltTimer(..) => true,
            Self::ClockNanosleep | Self::Timerfd(_) | Self::Futex(_) | Self::Litmus(_) => false,
        }
    }

    /// The current time on `CLOCK_MONOTONIC`, ns; read from the core's own clock if it has one that
    /// Linux does not set.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        match self {
            Self::Cobalt(core) | Self::CobaltTimer(core, _) => core.now_ns(),
            _ => monotonic_ns(),
        }
    }

    /// Sleeps until `due_ns`, at which `cycle` is due. Returns whether a signal interrupted the
    /// sleep, which is then resumed.
    #[inline]
    pub(crate) fn sleep_until(&self, cycle: u64, due_ns: u64) -> bool {
        match self {
            Self::ClockNanosleep => nanosleep_until(timespec(due_ns)),
            Self::Timerfd(timer) => timerfd_until(timer, timespec(due_ns)),
            Self::Futex(waker) => waker.wait_for(cycle),
            // Without the core the loop must not spin: Linux wakes it, and the cycle records that.
            Self::Evl(core) => match core.sleep_until(due_ns) {
                Ok(interrupted) => interrupted,
                Err(_) => nanosleep_until(timespec(due_ns)),
            },
            Self::EvlTimer(core, timer) => match core.timer_until(timer, due_ns) {
                Ok(interrupted) => interrupted,
                Err(_) => nanosleep_until(timespec(due_ns)),
            },
            Self::Cobalt(core) => match core.sleep_until(due_ns) {
                Ok(interrupted) => interrupted,
                Err(_) => nanosleep_until(timespec(due_ns)),
            },
            Self::CobaltTimer(core, timer) => match core.timer_until(timer, due_ns) {
                Ok(interrupted) => interrupted,
                Err(_) => nanosleep_until(timespec(due_ns)),
            },
            Self::Litmus(core) => match core.job_at(due_ns) {
                Some(interrupted) => interrupted,
                None => nanosleep_until(timespec(due_ns)),
            },
        }
    }
}

#[inline]
fn nanosleep_until(due: Timespec) -> bool {
    let mut interrupted = false;
    while clock_nanosleep_absolute(ClockId::Monotonic, &due) == Err(Errno::INTR) {
        interrupted = true;
    }
    interrupted
}

#[inline]
fn timerfd_until(timer: &OwnedFd, due: Timespec) -> bool {
    let once = Itimerspec {
        it_interval: Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        },
        it_value: due,
    };
    // Can't fail for a valid timer and time. If it did, a read would block forever on a timer that
    // was never armed, so sleep instead.
    if timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &once).is_err() {
        return nanosleep_until(due);
    }
    let mut expirations = [0_u8; 8];
    let mut interrupted = false;
    while rustix::io::read(timer, &mut expirations) == Err(Errno::INTR) {
        interrupted = true;
    }
    interrupted
}

/// Another thread that sleeps to every due time and then wakes the loop through a futex: the path
/// of a loop that is triggered by a driver thread.
pub(crate) struct FutexWaker {
    shared: Arc<Shared>,
}

struct Shared {
    /// Number of due times that have passed: cycle `k` can run once it is above `k`.
    come: AtomicU64,
    /// Futex that the loop sleeps on; changes with every due time.
    word: AtomicU32,
    stop: AtomicBool,
}

impl FutexWaker {
    fn start(due: DueTimes) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            come: AtomicU64::new(0),
            word: AtomicU32::new(0),
            stop: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("futex-waker".into())
            .spawn(move || {
                let mut cycle = 0;
                while !theirs.stop.load(Ordering::Relaxed) {
                    nanosleep_until(timespec(due.due_ns(cycle)));
                    // A waker that was late itself announces all due times that have passed.
                    cycle = due
                        .first_due_after(crate::clock::monotonic_ns())
                        .max(cycle + 1);
                    theirs.come.store(cycle, Ordering::Release);
                    theirs.word.fetch_add(1, Ordering::Release);
                    // If nothing is waiting, that is no error.
                    let _ = futex::wake(&theirs.word, futex::Flags::PRIVATE, 1);
                }
            })?;
        Ok(Self { shared })
    }

    #[inline]
    fn wait_for(&self, cycle: u64) -> bool {
        let mut interrupted = false;
        loop {
            // The word is read before the count: if the count changes in between, the word has
            // changed too and the wait below returns immediately.
            let word = self.shared.word.load(Ordering::Acquire);
            if self.shared.come.load(Ordering::Acquire) > cycle {
                return interrupted;
            }
            if futex::wait(&self.shared.word, futex::Flags::PRIVATE, word, None) == Err(Errno::INTR)
            {
                interrupted = true;
            }
        }
    }
}

impl Drop for FutexWaker {
    fn drop(&mut self) {
        // The waker ends at its next due time; waiting for it could take a whole period.
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::monotonic_ns;

    #[test]
    fn no_mechanism_wakes_before_the_due_time() {
        for mechanism in [WakeUp::ClockNanosleep, WakeUp::Timerfd, WakeUp::Futex] {
            let due = DueTimes {
                start_ns: monotonic_ns() + 5_000_000,
                period_ns: 3_000_000,
            };
            let sleeper = Sleeper::new(mechanism, due).unwrap();
            for cycle in 0..5 {
                sleeper.sleep_until(cycle, due.due_ns(cycle));
                let late = monotonic_ns() as i64 - due.due_ns(cycle) as i64;
                assert!(late >= 0, "{mechanism:?} cycle {cycle}: {late} ns");
                assert!(
                    late < 1_000_000_000,
                    "{mechanism:?} cycle {cycle}: {late} ns"
                );
            }
        }
    }

    #[test]
    fn a_due_time_that_has_passed_is_not_waited_for() {
        for mechanism in [WakeUp::ClockNanosleep, WakeUp::Timerfd, WakeUp::Futex] {
            let past = DueTimes {
                start_ns: monotonic_ns() - 1_000_000,
                period_ns: 60_000_000_000,
            };
            let sleeper = Sleeper::new(mechanism, past).unwrap();
            let before = monotonic_ns();
            sleeper.sleep_until(0, past.due_ns(0));
            assert!(monotonic_ns() - before < 1_000_000_000, "{mechanism:?}");
        }
    }
}

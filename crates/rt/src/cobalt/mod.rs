//! The calling thread on Cobalt, the core of Xenomai 3: bound, scheduled there, asleep by its clock, and counted
//! when it switches into Linux. Only a thread that [`crate::Preparation`] has prepared for it is there.

mod abi;
mod calls;
mod narrowed;
mod own_latency;

pub use narrowed::put_back_cobalt_affinity;

pub(crate) use calls::Timer;
pub(crate) use own_latency::measure;

use crate::clock::monotonic_ns;
use crate::core_counts::CoreCounts;
use abi::BindRequest;
use std::cell::RefCell;
use std::ffi::c_long;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Why a thread can't run on Cobalt.
#[derive(Debug, thiserror::Error)]
pub enum CobaltError {
    /// The kernel has no such core.
    #[error(
        "this kernel has no Cobalt core: there is no {}; boot one that was built with CONFIG_XENOMAI",
        abi::VERSION
    )]
    NotThere,
    /// Its interface is unknown.
    #[error(
        "the Cobalt core has ABI revision {0}, which this wakepath doesn't support; it supports {known}",
        known = listed(abi::REVISIONS)
    )]
    UnknownRevision(u32),
    /// It schedules nobody.
    #[error("the Cobalt core is stopped; start it: corectl --start")]
    Stopped,
    /// This user has no right to enter it.
    #[error(
        "this user may not enter the Cobalt core; run as root, or with CAP_SYS_NICE, or put your user into its \
         group: xenomai.allowed_group=GID on the kernel's command line"
    )]
    NotAllowed,
    /// It can't schedule a thread whose memory might be paged out.
    #[error(
        "the Cobalt core takes only a thread whose memory is locked; allow it with lock-memory and RLIMIT_MEMLOCK"
    )]
    MemoryNotLocked,
    /// A step of entering it failed.
    #[error("the Cobalt core refuses to {step}: {source}")]
    Refused {
        /// The request.
        step: &'static str,
        /// Its error.
        source: io::Error,
    },
}

/// The core's version and name, read without entering it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CobaltAnswer {
    /// Revision of its interface.
    pub revision: u32,
    /// Whether this library knows it.
    pub is_known: bool,
}

/// Reads the revision of the core's interface without entering the core: by a request that it
/// refuses.
///
/// # Errors
/// [`CobaltError::NotThere`], [`CobaltError::Stopped`], or another error of the core.
pub fn ask_cobalt() -> Result<CobaltAnswer, CobaltError> {
    if !Path::new(abi::VERSION).exists() {
        return Err(CobaltError::NotThere);
    }
    // No core has had revision 0. It returns its own, and this process stays outside.
    let mut request = BindRequest::new(0, 0);
    let revision = match calls::bind(&mut request) {
        Err(error) if error.raw_os_error() == Some(libc::ENOEXEC) => request.revision_of_the_core,
        Err(error) => return Err(refused("tell its ABI revision")(error)),
        Ok(()) => 0,
    };
    Ok(CobaltAnswer {
        revision,
        is_known: abi::REVISIONS.contains(&revision),
    })
}

/// A thread of the core.
#[derive(Debug)]
pub(crate) struct OnCobalt {
    /// The thread's identifier for the core within its process.
    thread: c_long,
    /// Lead of the core's clock over Linux's, ns, if it has a clock of its own, as with the I-pipe.
    /// With Dovetail it uses Linux's `CLOCK_MONOTONIC`, which the C library reads without leaving
    /// the core.
    ahead_ns: Option<i64>,
}

thread_local! {
    static HERE: RefCell<Option<Arc<OnCobalt>>> = const { RefCell::new(None) };
}

/// The calling thread's place on the core, if it is there.
pub(crate) fn of_this_thread() -> Option<Arc<OnCobalt>> {
    HERE.with_borrow(Clone::clone)
}

/// Takes the calling thread off the core's queues and into Linux, if it is there. The core forgets it when it ends.
pub(crate) fn leave() {
    if let Some(place) = HERE.take() {
        // If the core refuses, the thread's end removes it.
        let _ = calls::set_scheduling(place.thread, abi::NORMAL, 0);
        let _ = calls::migrate(abi::SECONDARY);
    }
}

/// Puts the calling thread on the core with this priority in its FIFO queue, and reads back the one
/// in effect.
///
/// # Errors
/// The missing prerequisite, or the request that the core refused.
pub(crate) fn enter(priority: u8, memory_locked: bool) -> Result<u8, CobaltError> {
    leave();
    let revision = known_revision()?;
    if !memory_locked {
        return Err(CobaltError::MemoryNotLocked);
    }
    calls::bind(&mut BindRequest::new(abi::FEATURES, revision))
        .map_err(refused("bind the process"))?;
    let place = Arc::new(OnCobalt {
        // Unique in the process, and the same when the thread enters again.
        thread: rustix::thread::gettid().as_raw_nonzero().get().into(),
        ahead_ns: clock_ahead_ns().map_err(refused("tell its clock"))?,
    });
    calls::set_scheduling(place.thread, abi::FIFO, priority)
        .map_err(refused("attach the thread"))?;
    HERE.set(Some(Arc::clone(&place)));
    calls::migrate(abi::PRIMARY).map_err(refused("take the thread over"))?;
    match calls::scheduling(place.thread).map_err(refused("tell the thread's policy"))? {
        (abi::FIFO, priority) => Ok(u8::try_from(priority).unwrap_or(0)),
        _ => Ok(0),
    }
}

/// The core's revision, if it is a known one.
fn known_revision() -> Result<u32, CobaltError> {
    let answer = ask_cobalt()?;
    if answer.is_known {
        Ok(answer.revision)
    } else {
        Err(CobaltError::UnknownRevision(answer.revision))
    }
}

impl OnCobalt {
    /// A timer of the core's clock.
    pub(crate) fn timer(&self) -> io::Result<Timer> {
        Timer::new()
    }

    /// The current time on Linux's `CLOCK_MONOTONIC`, ns. A clock of the core's own is assumed to
    /// run at Linux's rate from the time when the thread entered: latencies are differences of the
    /// core's own clock, and exact.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        match self.ahead_ns {
            None => monotonic_ns(),
            Some(ahead_ns) => match calls::clock_ns() {
                Ok(ns) => ns.wrapping_add_signed(-ahead_ns),
                Err(_) => monotonic_ns(),
            },
        }
    }

    #[inline]
    fn on_its_clock(&self, due_ns: u64) -> u64 {
        due_ns.wrapping_add_signed(self.ahead_ns.unwrap_or(0))
    }

    /// Sleeps by the core's clock; whether a signal interrupted it.
    #[inline]
    pub(crate) fn sleep_until(&self, due_ns: u64) -> io::Result<bool> {
        let due_ns = self.on_its_clock(due_ns);
        let mut interrupted = false;
        loop {
            match calls::sleep_until(due_ns) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => interrupted = true,
                other => return other.map(|()| interrupted),
            }
        }
    }

    /// Sleeps until a timer of the core expires; whether a signal interrupted it.
    #[inline]
    pub(crate) fn timer_until(&self, timer: &Timer, due_ns: u64) -> io::Result<bool> {
        timer.set(self.on_its_clock(due_ns))?;
        let mut interrupted = false;
        loop {
            match timer.read() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => interrupted = true,
                other => return other.map(|()| interrupted),
            }
        }
    }

    /// How often the thread has switched into Linux so far. Read from the core itself, which isn't
    /// a switch.
    #[inline]
    pub(crate) fn mode_switches(&self) -> io::Result<u64> {
        calls::statistics().map(|counted| counted.mode_switches)
    }

    /// The core's counters of the thread.
    pub(crate) fn counts(&self) -> io::Result<CoreCounts> {
        let counted = calls::statistics()?;
        Ok(CoreCounts {
            mode_switches: counted.mode_switches,
            context_switches: counted.context_switches,
            calls: counted.calls,
            remote_wake_ups: None,
            page_faults: Some(counted.page_faults.into()),
            run_time_ns: counted.run_time_ns,
        })
    }
}

/// Lead of the core's clock over Linux's, ns; `None` if they are the same. Must be called outside
/// the core: there the C library's reading of Linux's clock can wait for Linux, which can't run.
fn clock_ahead_ns() -> io::Result<Option<i64>> {
    let mut closest = None;
    for _ in 0..8 {
        let before_ns = monotonic_ns();
        let core_ns = calls::clock_ns()?;
        let between = Between {
            before_ns,
            after_ns: monotonic_ns(),
        };
        match between.ahead_ns(core_ns) {
            None => return Ok(None),
            Some(ahead_ns) => {
                let took_ns = between.after_ns - between.before_ns;
                let this = (took_ns, ahead_ns);
                closest = Some(closest.map_or(this, |other: (u64, i64)| other.min(this)));
            }
        }
    }
    Ok(closest.map(|(_, ahead_ns)| ahead_ns))
}

/// Two readings of Linux's clock, ns.
struct Between {
    before_ns: u64,
    after_ns: u64,
}

impl Between {
    /// Lead of another clock that was read between the two; `None` if its time is in between,
    /// allowing for the rounding of its reading.
    fn ahead_ns(&self, read_ns: u64) -> Option<i64> {
        const ROUNDED_NS: u64 = 1_000;
        let in_between = self.before_ns.saturating_sub(ROUNDED_NS)..=self.after_ns + ROUNDED_NS;
        let middle_ns = self.before_ns + (self.after_ns - self.before_ns) / 2;
        (!in_between.contains(&read_ns)).then(|| read_ns.wrapping_sub(middle_ns).cast_signed())
    }
}

fn refused(step: &'static str) -> impl FnOnce(io::Error) -> CobaltError {
    move |source| match source.raw_os_error() {
        Some(libc::EPERM) => CobaltError::NotAllowed,
        Some(libc::EAGAIN) => CobaltError::Stopped,
        Some(libc::ENOSYS) => CobaltError::NotThere,
        _ => CobaltError::Refused { step, source },
    }
}

fn listed(revisions: &[u32]) -> String {
    match revisions {
        [] => "none for this architecture".to_owned(),
        [one] => one.to_string(),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!("{} and {last}", first.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_read_in_between_is_the_same_one() {
        let between = Between {
            before_ns: 5_000_000,
            after_ns: 5_000_400,
        };
        assert_eq!(between.ahead_ns(5_000_200), None);
        assert_eq!(between.ahead_ns(4_999_500), None);
        assert_eq!(between.ahead_ns(7_000_200), Some(2_000_000));
        assert_eq!(between.ahead_ns(2_000_200), Some(-3_000_000));
    }

    #[test]
    fn due_times_and_readings_are_moved_by_what_the_core_is_ahead() {
        let place = |ahead_ns| OnCobalt {
            thread: 1,
            ahead_ns,
        };
        assert_eq!(place(None).on_its_clock(7), 7);
        assert_eq!(place(Some(-3)).on_its_clock(7), 4);
        assert_eq!(place(Some(3)).on_its_clock(7), 10);
    }

    #[test]
    fn a_kernel_without_the_core_is_asked_for_nothing() {
        if !Path::new(abi::VERSION).exists() {
            assert!(matches!(ask_cobalt(), Err(CobaltError::NotThere)));
        }
    }

    #[test]
    fn an_unknown_revision_is_refused_by_its_number() {
        let line = CobaltError::UnknownRevision(15).to_string();
        assert!(
            line.contains("revision 15") && line.contains(" and "),
            "{line}"
        );
    }
}

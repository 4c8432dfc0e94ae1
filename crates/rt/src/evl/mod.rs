//! The calling thread on EVL, the core of Xenomai 4: attached, scheduled there, asleep by its clock, and
//! counted when it switches into Linux. Only a thread that [`crate::Preparation`] has prepared for it is there.

mod abi;
mod alarm;
mod calls;
mod own_latency;

pub(crate) use own_latency::measure;

use crate::core_counts::CoreCounts;
use abi::{Attributes, SetTimer, ThreadState, Time, TimerSetting, Way};
use rustix::fd::OwnedFd;
use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::sync::Arc;

/// Why a thread can't run on EVL.
#[derive(Debug, thiserror::Error)]
pub enum EvlError {
    /// The kernel has no such core.
    #[error(
        "this kernel has no EVL core: there is no {}; boot one that was built with CONFIG_EVL",
        abi::CONTROL
    )]
    NotThere,
    /// This user has no right to enter it.
    #[error("{device} can't be opened: {source}; run as root, or give your user access to it")]
    Device {
        /// Which of its devices.
        device: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// Its interface is unknown.
    #[error(
        "the EVL core has ABI {current} (and takes programs from {base} on), which this wakepath does not \
         know: it knows 32 and 43"
    )]
    UnknownAbi {
        /// The oldest level that it accepts.
        base: u32,
        /// Its own level.
        current: u32,
    },
    /// It can't schedule a thread whose memory might be paged out.
    #[error(
        "the EVL core takes only a thread whose memory is locked; allow it with lock-memory and RLIMIT_MEMLOCK"
    )]
    MemoryNotLocked,
    /// A step of entering it failed.
    #[error("the EVL core refuses to {step}: {source}")]
    Refused {
        /// The request.
        step: &'static str,
        /// Its error.
        source: io::Error,
    },
}

/// A thread of the core.
#[derive(Debug)]
pub(crate) struct OnEvl {
    way: Way,
    thread: OwnedFd,
    clock: File,
    /// This process can use the core as long as this is open.
    _control: File,
}

thread_local! {
    static HERE: RefCell<Option<Arc<OnEvl>>> = const { RefCell::new(None) };
}

/// The calling thread's place on the core, if it is there.
pub(crate) fn of_this_thread() -> Option<Arc<OnEvl>> {
    HERE.with_borrow(Clone::clone)
}

/// Takes the calling thread off the core, if it is there.
pub(crate) fn leave() {
    if let Some(place) = HERE.take() {
        // If the core refuses, the thread's end removes it.
        let _ = calls::plain_ioctl(&place.thread, abi::LEAVE);
    }
}

/// Puts the calling thread on the core with this priority in its FIFO queue, and reads back the one
/// in effect.
///
/// # Errors
/// The missing prerequisite, or the request that the core refused.
pub(crate) fn enter(priority: u8, memory_locked: bool) -> Result<u8, EvlError> {
    leave();
    let control = opened(abi::CONTROL)?;
    let info = told_by(&control)?;
    let way = abi::way(info.abi_current).ok_or(EvlError::UnknownAbi {
        base: info.abi_base,
        current: info.abi_current,
    })?;
    if !memory_locked {
        return Err(EvlError::MemoryNotLocked);
    }
    let factory = opened(abi::CLONE_THREAD)?;
    let clock = opened(abi::CLOCK)?;
    let thread = calls::clone_this_thread(&factory).map_err(refused("attach the thread"))?;
    let place = Arc::new(OnEvl {
        way,
        thread,
        clock,
        _control: control,
    });
    HERE.set(Some(Arc::clone(&place)));
    let mut attributes = Attributes {
        policy: abi::FIFO,
        priority: priority.into(),
        ..Attributes::default()
    };
    calls::core_ioctl(way, &place.thread, abi::SET_ATTRIBUTES, &mut attributes)
        .map_err(refused("set the priority"))?;
    let state = place.state().map_err(refused("tell the thread's state"))?;
    match state.attributes.policy {
        abi::FIFO => Ok(u8::try_from(state.attributes.priority).unwrap_or(0)),
        _ => Ok(0),
    }
}

/// The core's description of its interface.
fn told_by(control: &File) -> Result<abi::CoreInfo, EvlError> {
    let mut info = abi::CoreInfo::default();
    calls::ioctl(control, abi::GET_CORE_INFO, &mut info).map_err(refused("tell its ABI"))?;
    Ok(info)
}

impl OnEvl {
    /// A timer of the core's clock.
    pub(crate) fn timer(&self) -> io::Result<OwnedFd> {
        calls::new_timer(&self.clock)
    }

    /// Sleeps by the core's clock; whether a signal interrupted it.
    #[inline]
    pub(crate) fn sleep_until(&self, due_ns: u64) -> io::Result<bool> {
        let mut interrupted = false;
        loop {
            let mut due = Time::at(due_ns);
            match calls::core_ioctl(self.way, &self.clock, abi::SLEEP, &mut due) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => interrupted = true,
                other => return other.map(|()| interrupted),
            }
        }
    }

    /// Sleeps until a timer of the core expires; whether a signal interrupted it.
    #[inline]
    pub(crate) fn timer_until(&self, timer: &OwnedFd, due_ns: u64) -> io::Result<bool> {
        let once = TimerSetting {
            interval: Time::default(),
            value: Time::at(due_ns),
        };
        let mut set = SetTimer {
            value: (&raw const once).expose_provenance() as u64,
            old_value: 0,
        };
        calls::core_ioctl(self.way, timer, abi::SET_TIMER, &mut set)?;
        let mut interrupted = false;
        loop {
            match calls::core_read(self.way, timer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => interrupted = true,
                other => return other.map(|()| interrupted),
            }
        }
    }

    /// How often the thread has switched into Linux so far. Read from the core itself, which isn't
    /// a switch.
    #[inline]
    pub(crate) fn in_band_switches(&self) -> io::Result<u32> {
        self.state().map(|state| state.in_band_switches)
    }

    /// The core's counters of the thread.
    pub(crate) fn counts(&self) -> io::Result<CoreCounts> {
        let state = self.state()?;
        Ok(CoreCounts {
            mode_switches: state.in_band_switches.into(),
            context_switches: state.context_switches.into(),
            calls: state.calls.into(),
            remote_wake_ups: Some(state.remote_wake_ups.into()),
            page_faults: None,
            run_time_ns: state.run_time_ns,
        })
    }

    fn state(&self) -> io::Result<ThreadState> {
        let mut state = ThreadState::default();
        calls::core_ioctl(self.way, &self.thread, abi::GET_STATE, &mut state)?;
        Ok(state)
    }
}

fn opened(device: &'static str) -> Result<File, EvlError> {
    let file = File::options().read(true).write(true).open(device);
    file.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => EvlError::NotThere,
        _ => EvlError::Device { device, source },
    })
}

fn refused(step: &'static str) -> impl FnOnce(io::Error) -> EvlError {
    move |source| EvlError::Refused { step, source }
}

//! The reason of a blocked loop's wait: the thread that ended it, the threads that this one waited
//! for in turn, and what the last of them was doing. `path::waits` finds it.

use crate::call::{Call, accepts, receives};
use crate::cause::{InterruptName, Named};
use crate::stacks::Place;
use std::fmt;
use std::sync::Arc;
use wakepath_timeline::{CallTarget, Interrupt, SoftIrq, Thread, one_line};

/// Threads of a chain that are named after its first; of a longer one, its last, too.
const MOST_OF_CHAIN: usize = 3;

/// A wait of the loop.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wait {
    /// The thread that ended the wait, the one that it waited for, and so on; empty if no thread
    /// ended it.
    pub chain: Vec<Thread>,
    /// State of the chain's last thread during the wait; without a chain, the end of the wait.
    pub meanwhile: Meanwhile,
    /// Whether the loop's own wait was uninterruptible (state D): a lock or I/O of the kernel.
    pub uninterruptible: bool,
    /// The system call in which the loop waited, if calls were recorded.
    pub call: Option<Call>,
    /// Where in its program the loop waited, if its stack was recorded.
    pub place: Option<Arc<Place>>,
    /// Whether the switch away from the loop was not recorded: that it waited follows from its call, from its CPU's being
    /// idle and from its wake-up.
    pub inferred: bool,
    /// The code location at which the chain's last thread waited, if its stack was recorded.
    pub there: Option<Arc<Place>>,
    /// The system call in which it waited, if its calls were recorded.
    pub doing: Option<Call>,
}

/// State of a chain's last thread during a wait, or the end of a wait.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Meanwhile {
    /// It ran.
    Ran,
    /// It was ready to run, and another thread ran on its CPU.
    KeptOff {
        /// That thread.
        by: Thread,
        /// Whether `by` is less urgent than the loop, and so delays it by priority inversion.
        inversion: bool,
    },
    /// It slept until a timer woke it: a sleep or a time-out.
    Slept,
    /// It waited until an interrupt or SoftIRQ woke it: a device, the disk or the network.
    Device(Handler),
    /// A signal or a debugger had stopped it.
    Stopped,
    /// It waited for data of the loop's that TCP held back until the packet before them was acknowledged.
    HeldBack,
    /// The events don't show it.
    Unknown,
}

/// The interrupt or SoftIRQ in which a thread is woken.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Handler {
    /// A hard interrupt.
    Interrupt(Interrupt),
    /// A SoftIRQ.
    SoftIrq(SoftIrq),
    /// That of the network, with data that a timer of TCP's sent on this machine.
    SentByTimer,
}

/// The event that a thread serves besides its cycle.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Source {
    /// A thread woke it.
    Thread(Thread),
    /// An interrupt or SoftIRQ did.
    Handler(Handler),
    /// The event came while the thread ran, which took it by this call.
    Taken(Call),
    /// Another task of its event loop, by name.
    Task(Arc<str>),
    /// Another of its own, such as another of its timers.
    Own,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(thread) => write!(f, "woken by {}", Named(thread)),
            Self::Handler(handler) => write!(f, "woken by {handler}"),
            Self::Taken(call) => write!(f, "after {call}"),
            Self::Task(name) => write!(f, "its task {}", one_line(name)),
            Self::Own => f.write_str("another of its events, such as another timer"),
        }
    }
}

impl Wait {
    /// Of what the events show alone; no stack has told where in the program.
    pub(crate) fn new(chain: Vec<Thread>, meanwhile: Meanwhile, call: Option<Call>) -> Self {
        Self {
            chain,
            meanwhile,
            uninterruptible: false,
            call,
            place: None,
            inferred: false,
            there: None,
            doing: None,
        }
    }

    /// The word for it in scripts.
    pub(crate) fn kind(&self) -> &'static str {
        match (&self.meanwhile, self.chain.is_empty()) {
            (
                Meanwhile::KeptOff {
                    inversion: true, ..
                },
                _,
            ) => "priority-inversion",
            (_, false) => "blocked-on-thread",
            (Meanwhile::Slept, true) => "own-sleep",
            (Meanwhile::Device(_), true) => "blocked-on-device",
            _ => "blocked",
        }
    }

    /// Whether it is for a peer to connect or to send. Nothing but a time-out (`SO_RCVTIMEO`) ends that from a timer.
    fn is_for_peer(&self) -> bool {
        self.call.as_ref().is_some_and(|call| {
            let receives = receives(&call.name) && call.target == Some(CallTarget::Socket);
            receives || &*call.name == "connect" || accepts(&call.name)
        })
    }

    /// Without what changes from one time to the next.
    pub(crate) fn grouped(&self, group: &impl Fn(&Thread) -> Thread) -> Self {
        let meanwhile = match &self.meanwhile {
            Meanwhile::KeptOff { by, inversion } => Meanwhile::KeptOff {
                by: group(by),
                inversion: *inversion,
            },
            other => other.clone(),
        };
        Self {
            chain: self.chain.iter().map(group).collect(),
            meanwhile,
            uninterruptible: self.uninterruptible,
            call: self.call.clone(),
            inferred: self.inferred,
            place: grouped(&self.place),
            there: grouped(&self.there),
            doing: self.doing.clone(),
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "in {}, ", place.function)?;
        }
        if let Some(call) = &self.call {
            write!(f, "in {call}: ")?;
        }
        let state = match (self.uninterruptible, self.inferred) {
            (_, true) => "blocked (inferred: the switch to idle was not recorded)",
            (true, false) => "blocked in the kernel",
            (false, false) => "blocked",
        };
        let Some((first, others)) = self.chain.split_first() else {
            return match &self.meanwhile {
                Meanwhile::Slept if self.call.as_ref().is_some_and(Call::is_for_lock) => {
                    f.write_str("waited for a lock or a condition until its time-out")
                }
                Meanwhile::Device(Handler::SoftIrq(SoftIrq::TIMER)) if self.is_for_peer() => {
                    write!(f, "{state} until its time-out (SoftIRQ TIMER)")
                }
                Meanwhile::Slept => f.write_str("a sleep or a time-out in the loop's own work"),
                Meanwhile::Device(handler) => write!(f, "{state} until {handler} woke it"),
                _ => write!(f, "{state}, on what is unknown"),
            };
        };
        write!(f, "{state} on {}", Named(first))?;
        let (shown, last) = others.split_at(others.len().min(MOST_OF_CHAIN));
        for thread in shown {
            write!(f, ", which waited for {}", Named(thread))?;
        }
        if let Some(last) = last.last() {
            write!(f, ", and so on to {}", Named(last))?;
        }
        match &self.meanwhile {
            Meanwhile::Ran => f.write_str(", which ran"),
            Meanwhile::KeptOff { by, inversion } => {
                write!(f, ", which was ready while {} had its CPU", Named(by))?;
                if *inversion {
                    f.write_str(": priority inversion")
                } else {
                    Ok(())
                }
            }
            Meanwhile::Slept => {
                let doing = self.doing.as_ref().filter(|call| !call.is_sleep());
                let place = In(&self.there, doing);
                write!(f, ", which slept{place} until a timer woke it")
            }
            Meanwhile::Device(handler) => {
                let place = In(&self.there, self.doing.as_ref());
                write!(f, ", which waited{place} until {handler} woke it")
            }
            Meanwhile::HeldBack => f.write_str(
                ", which waited for the loop's data until a delayed acknowledgement (TCP, Nagle)",
            ),
            Meanwhile::Stopped => f.write_str(", which a signal or debugger had stopped"),
            Meanwhile::Unknown => Ok(()),
        }
    }
}

fn grouped(place: &Option<Arc<Place>>) -> Option<Arc<Place>> {
    place.as_ref().map(|of| Arc::new(of.grouped()))
}

/// A place and a call, as far as they are known.
struct In<'a>(&'a Option<Arc<Place>>, Option<&'a Call>);

impl fmt::Display for In<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.1) {
            (Some(place), Some(call)) => write!(f, " in {}, in {call}", place.function),
            (Some(place), None) => write!(f, " in {}", place.function),
            (None, Some(call)) => write!(f, " in {call}"),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Display for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupt(interrupt) => write!(f, "interrupt {}", InterruptName(interrupt)),
            Self::SoftIrq(vector) => write!(f, "SoftIRQ {}", vector.name()),
            Self::SentByTimer => write!(f, "SoftIRQ {}", SoftIrq::NET_RX.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::ThreadName;

    #[test]
    fn a_long_chain_is_shown_by_its_first_threads_and_its_last() {
        let chain = |names: &str| {
            let thread = |name: char| Thread {
                id: name as u32,
                name: ThreadName::new(name.to_string().as_bytes()),
                priority: 120,
            };
            let wait = Wait::new(
                names.chars().map(thread).collect(),
                Meanwhile::Unknown,
                None,
            );
            let said = wait.grouped(&|of: &Thread| Thread {
                id: 0,
                ..of.clone()
            });
            said.to_string().replace(" (OTHER)", "")
        };
        let whole = "blocked on a, which waited for b, which waited for c, which waited for d";
        assert_eq!(chain("abcd"), whole);
        assert_eq!(chain("abcdefg"), format!("{whole}, and so on to g"));
    }
}

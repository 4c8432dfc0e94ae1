//! One interface to the real-time cores that a thread can be on: enter, leave, errors.

use crate::cobalt::{self, CobaltError};
use crate::evl::{self, EvlError};
use crate::litmus::{self, LitmusError};
use std::cell::Cell;
use wakepath_timeline::Policy;

thread_local! {
    static POLICY: Cell<Option<Policy>> = const { Cell::new(None) };
}

/// Why a thread can't run on the core that its policy is of.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum CoreError {
    /// EVL.
    Evl(#[from] EvlError),
    /// Cobalt.
    Cobalt(#[from] CobaltError),
    /// LITMUS^RT.
    Litmus(#[from] LitmusError),
}

/// Takes the calling thread off the core that it is on.
pub(crate) fn leave() {
    POLICY.set(None);
    evl::leave();
    cobalt::leave();
    litmus::leave();
}

/// This thread's policy as its core reports it; Linux reports another.
pub(crate) fn policy_of_this_thread() -> Option<Policy> {
    POLICY.get()
}

/// Puts the calling thread on the policy's real-time core, and returns the policy in effect there.
/// `None` for Linux's own policies.
///
/// # Errors
/// The missing prerequisite, or the request that the core refused.
pub(crate) fn enter(policy: Policy, memory_locked: bool) -> Result<Option<Policy>, CoreError> {
    let entered = match policy {
        Policy::EvlFifo { priority } => Some(Policy::EvlFifo {
            priority: evl::enter(priority, memory_locked)?,
        }),
        Policy::CobaltFifo { priority } => Some(Policy::CobaltFifo {
            priority: cobalt::enter(priority, memory_locked)?,
        }),
        Policy::LitmusPFp { .. }
        | Policy::LitmusPsnEdf { .. }
        | Policy::LitmusGsnEdf { .. }
        | Policy::LitmusCEdf { .. } => Some(litmus::enter(policy)?),
        Policy::Other { .. }
        | Policy::Batch { .. }
        | Policy::Idle
        | Policy::Fifo { .. }
        | Policy::RoundRobin { .. }
        | Policy::Deadline { .. } => None,
    };
    POLICY.set(entered);
    Ok(entered)
}

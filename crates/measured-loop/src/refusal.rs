//! Why a loop does not run, in types; the words for it go to the measuring process.

use crate::LoopReply;
use crate::work::WorkError;
use rustix::process::geteuid;
use wakepath_archive::{Obstacle, ThreadEnd};
use wakepath_rt::guard::GuardError;
use wakepath_rt::{PolicyRefusal, PrepareError};

/// Reasons why a loop's process refuses to run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// It is of another version than the program that gave the order.
    #[error("{0}")]
    OtherVersion(String),
    /// No guard can be set.
    #[error(transparent)]
    Guard(GuardError),
    /// The work isn't available.
    #[error(transparent)]
    Work(WorkError),
    /// A thread can't be prepared.
    #[error(transparent)]
    Preparation(PrepareError),
}

impl Refusal {
    fn obstacle(&self) -> Obstacle {
        let denied = matches!(
            self,
            Self::Preparation(
                PrepareError::PolicyDenied {
                    refusal: PolicyRefusal::NoRight { .. },
                    ..
                } | PrepareError::DeadlineDenied { .. }
            )
        );
        // A denial despite every right has another cause, such as a cpuset.
        if denied && !geteuid().is_root() {
            Obstacle::MissingRight
        } else {
            Obstacle::Other
        }
    }

    /// The end of a thread that never began.
    pub(crate) fn thread_end(&self) -> ThreadEnd {
        ThreadEnd::Failed {
            obstacle: self.obstacle(),
            reason: self.to_string(),
        }
    }
}

impl From<Refusal> for LoopReply {
    fn from(refusal: Refusal) -> Self {
        Self::CannotRun {
            obstacle: refusal.obstacle(),
            reason: refusal.to_string(),
        }
    }
}

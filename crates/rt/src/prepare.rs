//! Prepares a thread for its loop, in the only order that works, and reads back the settings.
//!
//! A policy that isn't available is an error; a setting that merely makes the loop noisier is
//! reported as a shortfall.

use crate::cores::{self, CoreError};
use crate::refusal::{NarrowCpuset, PolicyRefusal};
use crate::{affinity, attributes, memory, timer_slack};
use std::fmt;
use wakepath_timeline::Policy;

/// How a thread shall run its loop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Preparation {
    /// Scheduling policy.
    pub policy: Policy,
    /// CPUs to pin the thread to; `None` leaves the affinity. A SCHED_DEADLINE thread is never
    /// pinned: the kernel refuses an affinity smaller than its root domain.
    pub cpus: Option<Vec<u16>>,
    /// Lock the process's memory, present and future.
    pub lock_memory: bool,
    /// Timer slack in nanoseconds; `None` leaves the inherited one. No effect for real-time
    /// policies.
    pub timer_slack_ns: Option<u64>,
}

impl Default for Preparation {
    /// SCHED_OTHER, anywhere, memory locked, timer slack 1 ns.
    fn default() -> Self {
        Self {
            policy: Policy::Other { nice: 0 },
            cpus: None,
            lock_memory: true,
            timer_slack_ns: Some(1),
        }
    }
}

/// Settings in effect, read back from the kernel after the last step.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Effective {
    /// Policy in effect.
    pub policy: Policy,
    /// The thread's CPUs.
    pub cpus: Vec<u16>,
    /// Whether all memory is locked.
    pub memory_locked: bool,
    /// Timer slack in nanoseconds; 0 for a real-time policy, which has none.
    pub timer_slack_ns: u64,
}

/// A tolerable difference between the request and the settings in effect, which is reported.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "shortfall", rename_all = "kebab-case"))]
pub enum Shortfall {
    /// Memory could not be locked; page faults can delay the loop.
    MemoryNotLocked {
        /// The kernel's error.
        error: String,
    },
    /// A deadline thread runs on its whole root domain.
    DeadlineNotPinned {
        /// The requested CPUs.
        asked: Vec<u16>,
        /// The CPUs in effect.
        effective: Vec<u16>,
    },
    /// A plugin of LITMUS^RT schedules the task on every CPU.
    ScheduledGlobally {
        /// The requested CPUs.
        asked: Vec<u16>,
        /// The CPUs in effect.
        effective: Vec<u16>,
    },
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MemoryNotLocked { error } => write!(
                f,
                "memory is not locked ({error}), so page faults may delay the loop; \
                 run as root, or raise RLIMIT_MEMLOCK (LimitMEMLOCK=infinity in a unit)"
            ),
            Self::DeadlineNotPinned { asked, effective } => write!(
                f,
                "a SCHED_DEADLINE thread can't be pinned to CPU {} and may run on CPU {}: \
                 Linux only allows DEADLINE on all CPUs of the root domain",
                list(asked),
                list(effective)
            ),
            Self::ScheduledGlobally { asked, effective } => write!(
                f,
                "GSN-EDF does not keep a task on CPU {} and may run it on CPU {}: it schedules all CPUs as one",
                list(asked),
                list(effective)
            ),
        }
    }
}

fn list(cpus: &[u16]) -> String {
    cpus.iter()
        .map(u16::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Reasons why a thread can't run its loop as requested.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The process has no right to the policy.
    #[error("the policy is refused: {refusal}")]
    PolicyDenied {
        /// The requested policy.
        policy: Policy,
        /// Why, and what allows it.
        refusal: PolicyRefusal,
    },
    /// A deadline thread lacks the right to run on the CPUs it would need.
    #[error(
        "the policy is refused: it needs CAP_SYS_NICE, and a thread that may run on its whole root \
         domain: a cpuset or container that holds only a part of it forbids SCHED_DEADLINE"
    )]
    DeadlineDenied {
        /// The requested policy.
        policy: Policy,
    },
    /// The deadline reservation exceeds what the existing ones leave.
    #[error(
        "the policy is not admitted: the reservations of this root domain would exceed its \
         bandwidth (95 % of each CPU by default)"
    )]
    DeadlineNotAdmitted {
        /// The requested policy.
        policy: Policy,
    },
    /// The kernel refused the policy for another reason.
    #[error("the policy can't be set: {source}")]
    Policy {
        /// The requested policy.
        policy: Policy,
        /// The kernel's error.
        source: std::io::Error,
    },
    /// The thread can't run on the core that its policy is of.
    #[error("the policy is not available: {source}")]
    Core {
        /// The requested policy.
        policy: Policy,
        /// Why not.
        source: CoreError,
    },
    /// The thread can't run on the requested CPUs.
    #[error("the loop can't be pinned to CPU {}: {source}", list(.cpus))]
    Affinity {
        /// The requested CPUs.
        cpus: Vec<u16>,
        /// The kernel's error.
        source: std::io::Error,
    },
    /// The process's cpuset lacks some of the CPUs asked for.
    #[error("the loop can't be pinned to CPU {}: {cpuset}", list(.cpus))]
    Cpuset {
        /// The CPUs asked for.
        cpus: Vec<u16>,
        /// The cpuset.
        cpuset: NarrowCpuset,
    },
    /// The kernel took a setting and has another in effect.
    #[error("asked for {asked}, but in effect is {effective}")]
    NotInEffect {
        /// The requested setting.
        asked: String,
        /// The setting read back.
        effective: String,
    },
    /// The settings in effect can't be read.
    #[error("can't read back the settings in effect: {0}")]
    ReadBack(#[source] std::io::Error),
}

/// A thread that is ready for its loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Settings in effect.
    pub effective: Effective,
    /// Differences that the run can live with.
    pub shortfalls: Vec<Shortfall>,
}

impl Preparation {
    /// Prepares the calling thread: memory → affinity → timer slack → policy last → read back.
    ///
    /// # Errors
    /// If the policy or the affinity isn't available, or a setting in effect differs from the one
    /// set.
    pub fn apply(&self) -> Result<Prepared, PrepareError> {
        self.apply_with(|policy| attributes::set(0, policy))
    }

    /// As [`Preparation::apply`], with the policy set by `set_policy`: by another process, if this
    /// one has no right to it. The settings are read back here in any case.
    ///
    /// # Errors
    /// As [`Preparation::apply`].
    pub fn apply_with(
        &self,
        set_policy: impl FnOnce(Policy) -> std::io::Result<()>,
    ) -> Result<Prepared, PrepareError> {
        let mut shortfalls = Vec::new();
        cores::leave();

        let memory_locked = self.lock_memory
            && memory::lock_all()
                .inspect_err(|error| {
                    shortfalls.push(Shortfall::MemoryNotLocked {
                        error: memory::why_not_locked(error),
                    });
                })
                .is_ok();
        memory::prefault_stack();

        if self.runs_anywhere() {
            // The kernel refuses SCHED_DEADLINE to a thread that can't run on its whole root
            // domain, and this thread might have inherited fewer CPUs. GSN-EDF ignores the
            // affinity.
            affinity::widen().map_err(PrepareError::ReadBack)?;
        } else if let Some(cpus) = &self.cpus {
            pin(cpus)?;
        }
        if let Some(slack_ns) = self.timer_slack_ns {
            timer_slack::set(slack_ns).map_err(PrepareError::ReadBack)?;
        }
        set_policy(self.policy).map_err(|source| self.policy_error(source))?;
        // A thread that leaves a real-time policy gets the kernel's own slack back.
        if let (Some(slack_ns), false) = (self.timer_slack_ns, self.policy.is_real_time()) {
            timer_slack::set(slack_ns).map_err(PrepareError::ReadBack)?;
        }

        let mut in_effect = attributes::get(0).map_err(PrepareError::ReadBack)?;
        // The core comes last: later requests to Linux would leave it again.
        if in_effect == self.policy.in_linux() {
            let policy = self.policy;
            let entered = cores::enter(policy, memory_locked);
            in_effect = entered
                .map_err(|source| PrepareError::Core { policy, source })?
                .unwrap_or(in_effect);
        }
        let effective = Effective {
            policy: in_effect,
            cpus: affinity::current().map_err(PrepareError::ReadBack)?,
            memory_locked,
            timer_slack_ns: if self.policy.is_real_time() {
                0
            } else {
                timer_slack::current_ns().map_err(PrepareError::ReadBack)?
            },
        };
        self.compare(&effective, &mut shortfalls)?;
        Ok(Prepared {
            effective,
            shortfalls,
        })
    }

    /// Whether the kernel runs its thread on any CPU, whatever it was pinned to.
    fn runs_anywhere(&self) -> bool {
        matches!(
            self.policy,
            Policy::Deadline { .. } | Policy::LitmusGsnEdf { .. }
        )
    }

    fn policy_error(&self, source: std::io::Error) -> PrepareError {
        let policy = self.policy;
        match source.raw_os_error() {
            Some(libc::EPERM) if matches!(policy, Policy::Deadline { .. }) => {
                PrepareError::DeadlineDenied { policy }
            }
            Some(libc::EPERM | libc::EACCES) => PrepareError::PolicyDenied {
                policy,
                refusal: PolicyRefusal::find(text_of),
            },
            Some(libc::EBUSY) => PrepareError::DeadlineNotAdmitted { policy },
            _ => PrepareError::Policy { policy, source },
        }
    }

    /// Requested is never taken for effective.
    fn compare(
        &self,
        effective: &Effective,
        shortfalls: &mut Vec<Shortfall>,
    ) -> Result<(), PrepareError> {
        let differs =
            |asked: String, effective: String| Err(PrepareError::NotInEffect { asked, effective });
        if effective.policy != self.policy {
            return differs(self.policy.to_string(), effective.policy.to_string());
        }
        if let Some(asked) = &self.cpus
            && *asked != effective.cpus
        {
            if let (Some(cpu), [own]) = (self.policy.litmus_partition(), &effective.cpus[..])
                && cpu == *own
            {
                return Ok(());
            }
            if !self.runs_anywhere() {
                return differs(
                    format!("CPU {}", list(asked)),
                    format!("CPU {}", list(&effective.cpus)),
                );
            }
            let (asked, cpus) = (asked.clone(), effective.cpus.clone());
            shortfalls.push(match self.policy {
                Policy::Deadline { .. } => Shortfall::DeadlineNotPinned {
                    asked,
                    effective: cpus,
                },
                _ => Shortfall::ScheduledGlobally {
                    asked,
                    effective: cpus,
                },
            });
        }
        match self.timer_slack_ns {
            Some(asked)
                if !self.policy.is_real_time() && effective.timer_slack_ns != asked.max(1) =>
            {
                differs(
                    format!("a timer slack of {asked} ns"),
                    format!("{} ns", effective.timer_slack_ns),
                )
            }
            _ => Ok(()),
        }
    }
}

/// Pins the calling thread to exactly these CPUs. The kernel leaves out silently those that a cpuset lacks,
/// as long as one remains.
fn pin(cpus: &[u16]) -> Result<(), PrepareError> {
    let pinned = affinity::pin(cpus);
    let is_narrowed =
        pinned.is_ok() && affinity::current().is_ok_and(|in_effect| in_effect != cpus);
    if (pinned.is_err() || is_narrowed)
        && let Some(cpuset) = NarrowCpuset::find(cpus, text_of)
    {
        let cpus = cpus.to_owned();
        return Err(PrepareError::Cpuset { cpus, cpuset });
    }
    pinned.map_err(|source| PrepareError::Affinity {
        cpus: cpus.to_owned(),
        source,
    })
}

fn text_of(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests;

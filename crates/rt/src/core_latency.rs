//! Latency of a real-time core's timer, measured by the core's own testing device.
//!
//! At the timer's handler, and in a kernel thread that the core schedules. Neither goes through
//! user space. It runs no loop.

use crate::cobalt::{self, CobaltError};
use crate::evl::{self, EvlError};
use crate::prepare::PrepareError;
use std::io;
use wakepath_timeline::Policy;

/// Point at which the core reads its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum CoreStage {
    /// In the timer's handler, with interrupts off.
    Handler,
    /// In a thread of the kernel that the handler has woken.
    Thread,
}

/// A measurement to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CoreLatencyOrder {
    /// A loop's policy: of its core, at its priority.
    pub policy: Policy,
    /// The stage.
    pub stage: CoreStage,
    /// On this CPU.
    pub cpu: u16,
    /// The timer's period, ns: [`CoreLatencyOrder::PERIODS_NS`].
    pub period_ns: u64,
    /// Number of seconds of whole periods, after one second that does not count.
    pub seconds: u32,
}

impl CoreLatencyOrder {
    /// The shortest leaves a small machine time for something else; the longest is the devices' own limit.
    pub const PERIODS_NS: std::ops::RangeInclusive<u64> = 50_000..=1_000_000_000;

    /// Periods in a second, as the devices count.
    pub fn periods_in_a_second(&self) -> u64 {
        1_000_000_000 / self.period_ns.max(1)
    }

    /// Duration of the measurement, ns, if no period is missed.
    pub fn takes_ns(&self) -> u64 {
        let passages = u64::from(self.seconds) + 1;
        passages * self.periods_in_a_second() * self.period_ns + SLACK_NS
    }
}

/// From the order to the timer's first period and from the last one to its result, ns.
const SLACK_NS: u64 = 20_000_000;

/// Result: latency from the due time to the stage, ns. Negative if the timer expires early by the
/// core's gravity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CoreLatency {
    /// Number of periods.
    pub periods: u64,
    /// The least.
    pub smallest_ns: i64,
    /// The mean; on Cobalt, of the means of each second, each cut to whole ns.
    pub mean_ns: i64,
    /// The largest observed; no bound.
    pub largest_ns: i64,
    /// Periods that passed before the one before them was served.
    pub overruns: u64,
    /// The CPU of the measurement, if the core reports it.
    pub cpu: Option<u16>,
}

/// Reasons why there is no figure.
#[derive(Debug, thiserror::Error)]
pub enum CoreLatencyError {
    /// The policy is of no core that measures itself.
    #[error("{0} is of no core that measures itself")]
    NoSuchCore(Policy),
    /// The core has no such device.
    #[error("there is no {device}: build the core with {option}, or load its module")]
    NoDevice {
        /// Its path.
        device: &'static str,
        /// The option of the kernel's configuration that brings it.
        option: &'static str,
    },
    /// The device exists, but its interface is unknown.
    #[error("the interface of {device} is known for EVL's ABI 32 alone")]
    UnknownInterface {
        /// Its path.
        device: &'static str,
    },
    /// The device doesn't support this period.
    #[error("it takes periods of 50 µs to 1 s, and the loop's is {} µs", *.0 as f64 / 1e3)]
    Period(u64),
    /// The core lets nobody in.
    #[error(transparent)]
    Cobalt(#[from] CobaltError),
    /// The core lets nobody in.
    #[error(transparent)]
    Evl(#[from] EvlError),
    /// The waiting thread could not be prepared.
    #[error(transparent)]
    NotPrepared(#[from] PrepareError),
    /// A step failed.
    #[error("it refuses to {step}: {source}")]
    Refused {
        /// The request.
        step: &'static str,
        /// Its error.
        source: io::Error,
    },
    /// Nothing was counted.
    #[error("no complete second was counted in {0} s")]
    NothingCounted(u64),
}

/// Makes the core measure, and waits for it. This binds the calling process to the core and pins
/// its thread to the CPU, so it should run in a separate process without other threads.
///
/// # Errors
/// The reason why there is no figure.
pub fn measure(order: &CoreLatencyOrder) -> Result<CoreLatency, CoreLatencyError> {
    if !CoreLatencyOrder::PERIODS_NS.contains(&order.period_ns) {
        return Err(CoreLatencyError::Period(order.period_ns));
    }
    match order.policy {
        Policy::CobaltFifo { priority } => cobalt::measure(order, priority),
        Policy::EvlFifo { priority } => evl::measure(order, priority),
        other => Err(CoreLatencyError::NoSuchCore(other)),
    }
}

pub(crate) fn refused(step: &'static str) -> impl FnOnce(io::Error) -> CoreLatencyError {
    move |source| CoreLatencyError::Refused { step, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(policy: Policy, period_ns: u64) -> CoreLatencyOrder {
        CoreLatencyOrder {
            policy,
            stage: CoreStage::Thread,
            cpu: 0,
            period_ns,
            seconds: 1,
        }
    }

    #[test]
    fn periods_that_the_devices_have_no_timer_for_never_reach_them() {
        let policy = Policy::CobaltFifo { priority: 80 };
        for period_ns in [0, 49_999, 1_000_000_001] {
            let error = measure(&order(policy, period_ns)).unwrap_err();
            assert!(matches!(error, CoreLatencyError::Period(_)), "{error}");
        }
        let linux = measure(&order(Policy::Fifo { priority: 80 }, 1_000_000)).unwrap_err();
        assert_eq!(
            linux.to_string(),
            "FIFO 80 is of no core that measures itself"
        );
    }

    #[test]
    fn a_second_holds_whole_periods_and_one_comes_before_those_that_count() {
        let order = order(Policy::CobaltFifo { priority: 80 }, 300_000_000);
        assert_eq!(order.periods_in_a_second(), 3);
        assert_eq!(order.takes_ns(), 2 * 900_000_000 + SLACK_NS);
    }

    #[test]
    fn a_kernel_without_the_core_has_no_figure() {
        for policy in [
            Policy::CobaltFifo { priority: 80 },
            Policy::EvlFifo { priority: 80 },
        ] {
            let error = measure(&order(policy, 1_000_000)).unwrap_err();
            assert!(
                error.to_string().contains("no"),
                "a machine without cores answered: {error}"
            );
        }
    }
}

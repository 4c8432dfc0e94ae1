//! Margins of the linearised loop that remain after the run's delays.

use super::timing::Timing;
use crate::margin::{PhaseMargin, delay_margin, jitter_margin, phase_margin};
use crate::vehicle::{Axis, Vehicle};
use serde::Serialize;

/// Margins of one axis at the run's period; `None` if the loop has none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AxisMargins {
    /// The axis.
    pub axis: Axis,
    /// Crossover and phase margin of the continuous loop.
    pub phase: Option<PhaseMargin>,
    /// Largest constant delay from sample to actuation before instability, ns; `None` if the loop
    /// is unstable at this period without any delay.
    pub delay_ns: Option<u64>,
    /// Jitter margin J_m(L) at the run's least reaction time L, ns; `None` if the loop is unstable
    /// at that delay.
    pub jitter_ns: Option<u64>,
}

/// Margins of every axis, and the remainder of the tightest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RemainingMargins {
    /// Each axis.
    pub axes: Vec<AxisMargins>,
    /// Smallest delay margin − mean delay, ns: how much more constant delay the loop would bear.
    /// Negative or `None` for a loop beyond it.
    pub delay_ns: Option<i64>,
    /// Smallest delay margin − longest reaction time, ns: the margin if the run's worst delay
    /// lasted. Negative: unstable if every reaction took as long; the vehicle need not be lost.
    pub delay_if_worst_lasted_ns: Option<i64>,
    /// Smallest jitter margin − (longest − least reaction time), ns. Above 0 the linear loop is
    /// stable under every sequence of the delays that occurred; below 0 this sufficient criterion
    /// is silent. It assumes samples at the due times; for a loop that samples when it wakes, the
    /// shift of sampling is counted as delay.
    pub jitter_ns: Option<i64>,
}

impl RemainingMargins {
    /// Whether the mean delay takes more than half of the delay margin: deviations then depend on
    /// how well the vehicle's damping is known.
    pub fn is_near(&self) -> bool {
        let axes = self.axes.iter().map(|axis| axis.delay_ns);
        let all: Option<Vec<u64>> = axes.collect();
        let whole = all.and_then(|all| all.into_iter().min());
        match (self.delay_ns, whole) {
            (Some(left), Some(whole)) => left < whole as i64 / 2,
            // Unstable without any delay.
            _ => true,
        }
    }

    /// Margins of `vehicle` against the run's `timing`.
    pub fn new(vehicle: &Vehicle, timing: &Timing) -> Self {
        let least = timing.reaction.min_ns;
        let axes: Vec<_> = [Axis::LateralX, Axis::LateralY, Axis::Height, Axis::Yaw]
            .into_iter()
            .map(|axis| AxisMargins {
                axis,
                phase: phase_margin(vehicle, axis),
                delay_ns: delay_margin(vehicle, axis, timing.period_ns),
                jitter_ns: jitter_margin(vehicle, axis, timing.period_ns, least),
            })
            .collect();
        // One axis without a margin leaves the vehicle without one.
        let smallest = |margin: fn(&AxisMargins) -> Option<u64>| -> Option<i64> {
            let all: Option<Vec<u64>> = axes.iter().map(margin).collect();
            all?.into_iter().min().map(|ns| ns as i64)
        };
        let delay = smallest(|axis| axis.delay_ns);
        let jitter = smallest(|axis| axis.jitter_ns);
        // A loop that never ran was held up all the time.
        let mean = timing.mean_delay_ns.unwrap_or(timing.longest_unanswered_ns);
        let mean = i64::try_from(mean).unwrap_or(i64::MAX);
        let longest = timing.reaction.max_ns as i64;
        Self {
            delay_ns: delay.map(|margin| margin - mean),
            delay_if_worst_lasted_ns: delay.map(|margin| margin - longest),
            jitter_ns: jitter.map(|margin| margin - (longest - least as i64)),
            axes,
        }
    }
}

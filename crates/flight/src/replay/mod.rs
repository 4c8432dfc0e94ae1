//! The plant driven by a machine's recorded times.
//!
//! Shows the effect of the real timing on this vehicle, next to the same flights without latency.
//!
//! It judges only recorded runs: a lockstep simulation hides latency by design and gives no times
//! worth replaying.

mod choices;
mod events;
mod flight;
mod joined;
mod kicks;
mod margins;
mod parts;
mod recording;
mod report;
mod schedule;
mod timing;

use crate::noise::TorqueNoise;
use crate::{Trajectory, Vehicle};
use serde::{Deserialize, Serialize};

pub use choices::{Choices, Missed, OverrunRule, Sampling};
pub(crate) use events::merged;
pub(crate) use flight::{Flight, Kick};
pub use flight::{LOST_ERROR, LOST_RATE, Loss, LossCause};
pub use kicks::{KickOutcome, Sweep};
pub use margins::{AxisMargins, RemainingMargins};
pub use parts::{Part, PartFlown, fly_part, join};
pub use recording::ScheduleError;
pub use report::{FlightReport, Flown, Pair};
pub use schedule::{Activation, Schedule};
pub use timing::{Spread, Timing};

/// Settings of the flights, other than the recorded times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The choices that the schedule was built with; the report repeats them.
    pub choices: Choices,
    /// The course of the tracking flight. The flights under noise and after kicks hover at its
    /// start.
    pub trajectory: Trajectory,
    /// Torque noise of the flight that tilt and rate deviations are taken from.
    pub noise: TorqueNoise,
    /// The kick sweep.
    pub sweep: Sweep,
    /// Time at the start (at most half of the run) that doesn't count in deviations and tracking
    /// error, ns.
    pub settle_ns: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            choices: Choices::default(),
            trajectory: Trajectory::Circle {
                centre: [0.0; 3],
                radius_m: 1.0,
                frequency_hz: 0.2,
            },
            noise: TorqueNoise {
                rad_s2: 20.0,
                seed: 0,
            },
            sweep: Sweep::default(),
            settle_ns: 10_000_000_000,
        }
    }
}

/// Flies `vehicle` through `schedule`, and through the ideal schedule of the same length for
/// comparison. Deterministic: the same arguments give the same report.
pub fn fly(vehicle: &Vehicle, schedule: &Schedule, settings: &Settings) -> FlightReport {
    let parts = Part::needed(vehicle, schedule).into_iter();
    let parts: Vec<_> = parts
        .map(|part| fly_part(vehicle, schedule, settings, part))
        .collect();
    join(vehicle, schedule, settings, &parts)
}

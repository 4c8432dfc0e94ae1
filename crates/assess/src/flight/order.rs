//! The flights to compute: vehicle, settings, criterion.

use wakepath_flight::noise::TorqueNoise;
use wakepath_flight::replay::{Settings, Sweep};
use wakepath_flight::vehicle::Axis;
use wakepath_flight::{Vehicle, VehicleError, margin};
use wakepath_scenario::{FlightCriterion, FlightTerms};

/// The flights to compute.
#[derive(Debug, Clone, PartialEq)]
pub struct FlightOrder {
    /// The vehicle.
    pub vehicle: Vehicle,
    /// The flights.
    pub settings: Settings,
    /// The task whose instants are flown, where tasks are judged one by one; `None`: each.
    pub task: Option<String>,
    /// The criterion for the flights, if any.
    pub criterion: Option<FlightCriterion>,
    /// Whether to search for what would lose the vehicle.
    pub search: bool,
}

impl FlightOrder {
    /// The thorough one: 216 kicks for each condition, and the searches.
    ///
    /// # Errors
    /// For a vehicle that is none.
    pub fn thorough(terms: &FlightTerms) -> Result<Self, VehicleError> {
        let defaults = Settings::default();
        Ok(Self {
            vehicle: terms.vehicle.vehicle()?,
            settings: Settings {
                choices: terms.choices,
                trajectory: terms.course.trajectory(),
                noise: TorqueNoise {
                    seed: terms.seed,
                    ..defaults.noise
                },
                sweep: Sweep {
                    seed: terms.seed,
                    ..defaults.sweep
                },
                ..defaults
            },
            task: terms.task.clone(),
            criterion: Some(terms.criterion),
            search: true,
        })
    }

    /// The one for the end of a measurement, where a person waits: 30 kicks within the four worst
    /// bursts and at the longest silence of each condition, no search. They are among the kicks of the thorough one, which can
    /// find a worse tilt.
    ///
    /// # Errors
    /// For a vehicle that is none.
    pub fn quick(terms: &FlightTerms) -> Result<Self, VehicleError> {
        let mut order = Self::thorough(terms)?;
        order.search = false;
        order.settings.sweep = Sweep {
            bursts: 4,
            phases: 6,
            horizon_ns: 2_000_000_000,
            ..order.settings.sweep
        };
        Ok(order)
    }
}

/// Whether a loop of `period_ns` without any delay would meet the criterion's delay margin. If
/// it doesn't, the criterion asks for another vehicle, not for better timing.
///
/// # Errors
/// For a vehicle that is none.
pub fn can_be_met(terms: &FlightTerms, period_ns: u64) -> Result<bool, VehicleError> {
    let vehicle = terms.vehicle.vehicle()?;
    let axes = [Axis::LateralX, Axis::LateralY, Axis::Height, Axis::Yaw];
    let margins = axes.map(|axis| margin::delay_margin(&vehicle, axis, period_ns));
    let least = terms.criterion.delay_margin_ns.unwrap_or(0);
    Ok(margins
        .into_iter()
        .all(|margin| margin.is_some_and(|margin| margin >= least)))
}

//! The report of a replay, ordered by how directly a figure shows damage.
//!
//! Margins left, tilt and rate under noise, kicks, saturation, loss, and the tracking error last.

use super::Settings;
use super::flight::{Loss, Notes};
use super::kicks::KickOutcome;
use super::margins::RemainingMargins;
use super::timing::Timing;
use crate::Fault;
use serde::Serialize;

/// The whole report of one run (one policy under one load).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlightReport {
    /// The vehicle's name.
    pub vehicle: String,
    /// Settings of the flights, the explicit choices included.
    pub settings: Settings,
    /// Reaction and freshness of the run.
    pub timing: Timing,
    /// Remaining margins of the linearised loop.
    pub margins: RemainingMargins,
    /// The flights.
    pub flights: Pair<Flown>,
    /// With the recorded times but without the rotors' drag, for a vehicle that has any and a run
    /// near its delay margin ([`RemainingMargins::is_near`]).
    pub without_rotor_drag: Option<Flown>,
}

/// A figure of the run and the same figure of the ideal, zero-latency flight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair<T> {
    /// With the recorded times.
    pub measured: T,
    /// Sampled and actuated at every due time, nothing missed.
    pub ideal: T,
}

/// Effect of one schedule on the vehicle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Flown {
    /// Standard deviation of the tilt hovering under torque noise, degrees; `None` if the
    /// vehicle was lost.
    pub tilt_deviation_deg: Option<f64>,
    /// Standard deviation of the body rate hovering under torque noise, degrees/s; `None` if
    /// the vehicle was lost.
    pub rate_deviation_deg_s: Option<f64>,
    /// Peak tilt and recovery after kicks.
    pub kicks: KickOutcome,
    /// Time with a rotor command clipped, hovering under noise, ns.
    pub saturated_in_noise_ns: u64,
    /// Time with a rotor command clipped, tracking, ns.
    pub saturated_tracking_ns: u64,
    /// Loss of the vehicle hovering under noise.
    pub lost_in_noise: Option<Loss>,
    /// Loss of the vehicle tracking.
    pub lost_tracking: Option<Loss>,
    /// Controller calls that flagged a fault, both flights together.
    pub faults: u64,
    /// The first of them.
    pub first_fault: Option<Fault>,
    /// Greatest tilt while tracking, degrees.
    pub tracking_peak_tilt_deg: f64,
    /// Root mean square distance from the trajectory after settling, m; `None` if the vehicle
    /// was lost. Last, since it hardly moves until then.
    pub tracking_rmse_m: Option<f64>,
}

impl Flown {
    pub(super) fn new(tracking: &Notes, noisy: &Notes, kicks: KickOutcome) -> Self {
        Self {
            tilt_deviation_deg: noisy.tilt_deviation().map(f64::to_degrees),
            rate_deviation_deg_s: noisy.rate_deviation().map(f64::to_degrees),
            kicks,
            saturated_in_noise_ns: noisy.saturated_ns,
            saturated_tracking_ns: tracking.saturated_ns,
            lost_in_noise: noisy.loss,
            lost_tracking: tracking.loss,
            faults: tracking.faults + noisy.faults,
            first_fault: tracking.first_fault.or(noisy.first_fault),
            tracking_peak_tilt_deg: tracking.peak_tilt.to_degrees(),
            tracking_rmse_m: tracking.tracking_rmse(),
        }
    }

    /// Whether the vehicle was lost in any of its flights.
    pub fn lost(&self) -> bool {
        self.lost_in_noise.is_some() || self.lost_tracking.is_some() || self.kicks.lost > 0
    }
}

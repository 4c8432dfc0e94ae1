//! A quadrotor's controller and plant, and the effect of timing on its flight.
//!
//! Given the times at which a machine really sampled and actuated, does the vehicle still fly, and with
//! what margin?
//!
//! It reads no file and no clock and draws no random number without a seed; the caller passes text and
//! times in. It judges no machine: a report holds figures next to those of the same flight without
//! latency, and other rooms give verdicts.
//!
//! - [`controller`]: position, attitude, allocation: the work of the measured loop.
//! - [`plant`]: the vehicle's motion between any two times.
//! - [`replay`]: the plant driven by recorded times, compared with the ideal flight.
//! - [`margin`]: tolerance of the linearised loop: constant delay and jitter.
//! - [`search`]: the latency and the number of consecutive misses that would lose the vehicle.
//!
//! Frames: world x, y, z with z up; body x forward, y left, z up; quaternions (i, j, k, w) turn
//! body vectors into world vectors; SI units; angles in radians unless a name says otherwise.

pub mod controller;
pub mod margin;
pub mod noise;
pub mod plant;
pub mod reference;
pub mod replay;
pub mod search;
mod state;
pub mod vector;
pub mod vehicle;

pub use controller::{Command, Controller, Fault};
pub use reference::{Reference, Trajectory};
pub use state::{PlantState, State};
pub use vehicle::{Vehicle, VehicleError, Warning};

/// Gravity in m/s², as in the reference figures.
pub const GRAVITY: f64 = 9.81;

//! A quadrotor's controller and plant, and what timing does to its flight: given the sample and
//! actuate instants that a machine really had, does the vehicle still fly, and with what margin?
//!
//! It reads no file and no clock and draws no random number without a seed; the caller passes
//! text and instants in. It judges no machine: a report holds figures beside those of the same
//! flight without latency, and a verdict is made elsewhere.
//!
//! - [`controller`]: position, attitude, allocation: the work of the measured loop.
//! - [`plant`]: the vehicle's motion between any two instants.
//! - [`replay`]: the plant driven by recorded instants, beside the ideal flight.
//! - [`margin`]: what the linearised loop tolerates: constant delay and jitter.
//! - [`search`]: the latency and the run of misses that would lose the vehicle.
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

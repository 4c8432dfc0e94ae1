//! The controller's input and the plant's state: plain arrays, no behaviour beyond hover.

use crate::vehicle::Vehicle;

/// The rigid body's state, as a perfect estimator would hand it to the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct State {
    /// Position in the world, metres.
    pub position: [f64; 3],
    /// Velocity in the world, m/s.
    pub velocity: [f64; 3],
    /// Attitude as a quaternion (i, j, k, w), body to world. The controller normalises it.
    pub attitude: [f64; 4],
    /// Angular velocity in the body, rad/s.
    pub rate: [f64; 3],
}

impl State {
    /// At rest and level at `position` (metres).
    pub fn at_rest(position: [f64; 3]) -> Self {
        Self {
            position,
            velocity: [0.0; 3],
            attitude: [0.0, 0.0, 0.0, 1.0],
            rate: [0.0; 3],
        }
    }

    /// Whether every number is finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        crate::vector::all_finite(&self.position)
            && crate::vector::all_finite(&self.velocity)
            && crate::vector::all_finite(&self.attitude)
            && crate::vector::all_finite(&self.rate)
    }

    /// Angle between the body's z axis and the vertical, radians, 0 to π; for a unit quaternion.
    pub fn tilt(&self) -> f64 {
        let [i, j, _, _] = self.attitude;
        // cos(tilt) = 1 − 2(i² + j²); the half-angle form keeps its digits near level.
        2.0 * (i * i + j * j).sqrt().min(1.0).asin()
    }
}

/// The plant's state: the rigid body and the four rotors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlantState {
    /// The rigid body.
    pub body: State,
    /// Rotor speeds in rad/s, in the order (+,+), (+,−), (−,−), (−,+) of body x and y.
    pub rotor_speeds: [f64; 4],
}

impl PlantState {
    /// Hovering at `position` (metres): at rest, level, rotors carrying the weight.
    pub fn hover(vehicle: &Vehicle, position: [f64; 3]) -> Self {
        Self {
            body: State::at_rest(position),
            rotor_speeds: [vehicle.hover_speed(); 4],
        }
    }
}

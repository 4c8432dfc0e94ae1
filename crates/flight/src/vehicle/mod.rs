//! A vehicle's parameters, read from TOML text and checked: mass, geometry, rotors and gains.
//!
//! It opens no file: the caller passes the text and a name for messages.

mod file;
mod routh;

use crate::GRAVITY;
use std::fmt;

pub use file::VehicleError;
pub use routh::{Axis, RouthViolation};

/// A quadrotor in X configuration: rotors on the diagonals at body (x, y) signs (+,+), (+,−),
/// (−,−), (−,+), turning in the senses +, −, +, − (their yaw torque on the body).
#[derive(Debug, Clone, PartialEq)]
pub struct Vehicle {
    /// Name for reports.
    pub name: String,
    /// Mass, kg.
    pub mass: f64,
    /// Moments of inertia Jx, Jy, Jz about the centre of mass, kg m².
    pub inertia: [f64; 3],
    /// Distance d from the centre of mass to a rotor hub, m.
    pub arm: f64,
    /// Parasitic drag coefficients c along the body axes, N/(m/s)².
    pub body_drag: [f64; 3],
    /// Rotors, all four alike.
    pub rotor: Rotor,
    /// Feedback gains.
    pub gains: Gains,
}

/// One rotor and its motor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotor {
    /// k_f: thrust per squared speed, N/(rad/s)².
    pub thrust: f64,
    /// k_m: yaw torque per squared speed, N m/(rad/s)².
    pub yaw_torque: f64,
    /// k_d: drag in the rotor's plane per speed and airspeed, N/(rad m/s²).
    pub drag: f64,
    /// k_z: inflow along the rotor's axis per speed and airspeed, N/(rad m/s²).
    pub inflow: f64,
    /// k_h: translational lift per squared airspeed, N/(m/s)².
    pub lift: f64,
    /// τ_m: time constant of the speed's first-order lag, s.
    pub lag: f64,
    /// ω_max: largest speed, rad/s.
    pub max_speed: f64,
}

/// Feedback gains of the position and attitude controllers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gains {
    /// Kp per axis, s⁻².
    pub position: [f64; 3],
    /// Kd per axis, s⁻¹.
    pub velocity: [f64; 3],
    /// k_R, s⁻².
    pub attitude: f64,
    /// k_ω, s⁻¹.
    pub rate: f64,
}

/// Something about a vehicle that lets it be flown but that its owner should know.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// The gains don't stabilise the linearised vehicle, whatever the timing.
    Unstable(RouthViolation),
    /// One moment of inertia exceeds the sum of the others by more than 5 %: no rigid body has such
    /// moments, and errors of identification are rarely that large.
    ImpossibleInertia {
        /// Name of the largest moment, `Jx`, `Jy` or `Jz`.
        largest: &'static str,
        /// Its excess over the sum of the two others, as a fraction of that sum.
        excess: f64,
    },
    /// Full thrust is less than 1.2 times the weight: hardly anything is left for control.
    LittleThrust {
        /// Full thrust over weight.
        ratio: f64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unstable(violation) => violation.fmt(f),
            Self::ImpossibleInertia { largest, excess } => write!(
                f,
                "{largest} exceeds the sum of the other two moments of inertia by {:.0} %; no \
                 rigid body has such moments",
                100.0 * excess
            ),
            Self::LittleThrust { ratio } => write!(
                f,
                "full thrust is only {ratio:.2} times the weight; little is left for control"
            ),
        }
    }
}

/// The text of the built-in vehicle files, by name.
const BUILT_IN: [(&str, &str); 2] = [
    (
        "hummingbird",
        include_str!("../../vehicles/hummingbird.toml"),
    ),
    ("crazyflie", include_str!("../../vehicles/crazyflie.toml")),
];

impl Vehicle {
    /// The same vehicle without drag in the rotors' plane; `None` if it has none. That drag damps
    /// the motion that delay excites, and is its least certain parameter: k_d comes from a fit, and
    /// many models omit it, including the linearised one.
    pub fn without_rotor_drag(&self) -> Option<Self> {
        let mut without = self.clone();
        without.rotor.drag = 0.0;
        (self.rotor.drag > 0.0).then_some(without)
    }

    /// Reads a vehicle from TOML `text`; `source` names it in messages (for example, its path). A
    /// missing, unknown or non-physical value is an error with its line; a gain set that can't
    /// stabilise the vehicle is a warning, because losing it can be the purpose of an experiment.
    pub fn parse(text: &str, source: &str) -> Result<(Self, Vec<Warning>), VehicleError> {
        let vehicle = file::read(text, source)?;
        let warnings = vehicle.warnings();
        Ok((vehicle, warnings))
    }

    /// The names of the built-in vehicles.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// A built-in vehicle by name, or `None` if the name is unknown.
    pub fn built_in(name: &str) -> Option<Self> {
        let (name, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        // The embedded files are tested to parse; a name that fails would be a missing vehicle.
        file::read(text, name).ok()
    }

    /// The TOML text of a built-in vehicle, a starting point for your own file.
    pub fn built_in_text(name: &str) -> Option<&'static str> {
        BUILT_IN
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, text)| *text)
    }

    /// Rotor speed at which four rotors carry the weight, rad/s: √(m g / 4 k_f).
    pub fn hover_speed(&self) -> f64 {
        (self.mass * GRAVITY / (4.0 * self.rotor.thrust)).sqrt()
    }

    /// Full thrust over weight.
    pub fn thrust_to_weight(&self) -> f64 {
        4.0 * self.rotor.thrust * self.rotor.max_speed.powi(2) / (self.mass * GRAVITY)
    }

    /// Warnings about this vehicle; empty for a sound one.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings: Vec<_> = routh::violations(self)
            .into_iter()
            .map(Warning::Unstable)
            .collect();
        let sum: f64 = self.inertia.iter().sum();
        for (largest, moment) in ["Jx", "Jy", "Jz"].into_iter().zip(self.inertia) {
            let excess = moment / (sum - moment) - 1.0;
            if excess > 0.05 {
                warnings.push(Warning::ImpossibleInertia { largest, excess });
            }
        }
        let ratio = self.thrust_to_weight();
        if ratio < 1.2 {
            warnings.push(Warning::LittleThrust { ratio });
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_built_in_vehicles_parse_without_a_warning_and_hover_at_the_published_speed() {
        for (name, hover) in [("hummingbird", 469.2042), ("crazyflie", 1788.5505)] {
            let text = Vehicle::built_in_text(name).unwrap();
            let (vehicle, warnings) = Vehicle::parse(text, name).unwrap();
            assert_eq!(warnings, [], "{name}");
            assert!((vehicle.hover_speed() - hover).abs() < 5e-5, "{name}");
        }
        assert_eq!(Vehicle::built_in("zeppelin"), None);
        assert!(Vehicle::built_in_names().all(|name| Vehicle::built_in(name).is_some()));
    }

    #[test]
    fn impossible_moments_and_a_lack_of_thrust_are_warned_of() {
        let mut vehicle = Vehicle::built_in("hummingbird").unwrap();
        vehicle.inertia = [1e-3, 1e-3, 3e-3];
        vehicle.rotor.max_speed = 480.0;
        let messages: Vec<_> = vehicle.warnings().iter().map(Warning::to_string).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(
            messages[0].starts_with("Jz exceeds the sum"),
            "{}",
            messages[0]
        );
        assert!(
            messages[1].contains("1.05 times the weight"),
            "{}",
            messages[1]
        );
    }
}

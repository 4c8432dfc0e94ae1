//! The vehicle file: TOML to a checked [`Vehicle`], each complaint one line with its place.

use super::{Gains, Rotor, Vehicle};
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// Reasons to refuse a vehicle file. Each is one line: place, fault, what would be right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VehicleError {
    /// Not TOML, a value missing, unknown or of the wrong kind.
    #[error("{source_name}:{line}: {message}")]
    Syntax {
        /// The name the caller gave to the text.
        source_name: String,
        /// Line, counted from 1.
        line: usize,
        /// The parser's message.
        message: String,
    },
    /// A value that no vehicle can have.
    #[error("{source_name}:{line}: {key} is {}; it must be {right}", short(*value))]
    NonPhysical {
        /// The name the caller gave to the text.
        source_name: String,
        /// Line, counted from 1.
        line: usize,
        /// Dotted name of the value.
        key: &'static str,
        /// The value found.
        value: f64,
        /// What would be right.
        right: &'static str,
    },
    /// A name that is unsuitable for a report.
    #[error("{source_name}:{line}: name must be one line of 1 to {LONGEST_NAME} characters")]
    Name {
        /// The name the caller gave to the text.
        source_name: String,
        /// Line, counted from 1.
        line: usize,
    },
    /// The rotors can't carry the weight.
    #[error(
        "{source_name}: the rotors lift at most {ratio:.2} times the weight; hovering needs more \
         than 1 (check body.mass_kg, rotor.thrust and rotor.max_speed_rad_s)"
    )]
    TooHeavy {
        /// The name the caller gave to the text.
        source_name: String,
        /// Full thrust over weight.
        ratio: f64,
    },
}

/// A longer name would break every line that contains it.
const LONGEST_NAME: usize = 60;

/// A number for use in a line: without hundreds of zeros.
fn short(value: f64) -> String {
    match value.abs() {
        size if (1e-9..1e9).contains(&size) || size == 0.0 => value.to_string(),
        _ => format!("{value:e}"),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VehicleFile {
    name: Spanned<String>,
    body: BodyTable,
    rotor: RotorTable,
    gains: GainsTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyTable {
    mass_kg: Spanned<f64>,
    inertia_kg_m2: [Spanned<f64>; 3],
    arm_m: Spanned<f64>,
    drag: [Spanned<f64>; 3],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RotorTable {
    thrust: Spanned<f64>,
    yaw_torque: Spanned<f64>,
    drag: Spanned<f64>,
    inflow: Spanned<f64>,
    lift: Spanned<f64>,
    lag_s: Spanned<f64>,
    max_speed_rad_s: Spanned<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GainsTable {
    position_per_s2: [Spanned<f64>; 3],
    velocity_per_s: [Spanned<f64>; 3],
    attitude_per_s2: Spanned<f64>,
    rate_per_s: Spanned<f64>,
}

struct Checker<'a> {
    text: &'a str,
    source: &'a str,
}

impl Checker<'_> {
    fn line(&self, span: Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    fn value(
        &self,
        key: &'static str,
        value: &Spanned<f64>,
        right: &'static str,
        holds: impl Fn(f64) -> bool,
    ) -> Result<f64, VehicleError> {
        let found = *value.get_ref();
        if found.is_finite() && holds(found) {
            return Ok(found);
        }
        Err(VehicleError::NonPhysical {
            source_name: self.source.to_owned(),
            line: self.line(value.span()),
            key,
            value: found,
            right,
        })
    }

    fn name(&self, name: Spanned<String>) -> Result<String, VehicleError> {
        let text = name.get_ref();
        let sound = !text.trim().is_empty()
            && text.chars().count() <= LONGEST_NAME
            && !text.chars().any(char::is_control);
        if sound {
            Ok(name.into_inner())
        } else {
            Err(VehicleError::Name {
                source_name: self.source.to_owned(),
                line: self.line(name.span()),
            })
        }
    }

    /// A quantity above 0 and far enough from the ends of the number range that its reciprocal and
    /// its square are numbers too.
    fn positive(&self, key: &'static str, value: &Spanned<f64>) -> Result<f64, VehicleError> {
        let right = "above 0 (between 1e-15 and 1e15)";
        self.value(key, value, right, |v| (1e-15..=1e15).contains(&v))
    }

    fn not_negative(&self, key: &'static str, value: &Spanned<f64>) -> Result<f64, VehicleError> {
        self.value(key, value, "0 or above (at most 1e15)", |v| {
            (0.0..=1e15).contains(&v)
        })
    }

    /// Gains can have any sign: an unstable set causes a warning, not an error.
    fn gain(&self, key: &'static str, value: &Spanned<f64>) -> Result<f64, VehicleError> {
        self.value(key, value, "a finite number (at most 1e15 in size)", |v| {
            v.abs() <= 1e15
        })
    }

    fn each(
        &self,
        key: &'static str,
        values: &[Spanned<f64>; 3],
        check: impl Fn(&Self, &'static str, &Spanned<f64>) -> Result<f64, VehicleError>,
    ) -> Result<[f64; 3], VehicleError> {
        let [x, y, z] = values;
        Ok([
            check(self, key, x)?,
            check(self, key, y)?,
            check(self, key, z)?,
        ])
    }
}

/// The TOML parser's message, for a reader who writes no Rust.
fn in_words(message: &str) -> String {
    let message = message.replace("expected f64", "expected a number");
    message.replace('\n', "; ")
}

/// Reads and checks a vehicle.
pub(super) fn read(text: &str, source: &str) -> Result<Vehicle, VehicleError> {
    let checker = Checker { text, source };
    let file: VehicleFile = toml::from_str(text).map_err(|error| VehicleError::Syntax {
        source_name: source.to_owned(),
        line: checker.line(error.span().unwrap_or(0..0)),
        message: in_words(error.message()),
    })?;
    let VehicleFile {
        name,
        body,
        rotor,
        gains,
    } = file;
    let vehicle = Vehicle {
        name: checker.name(name)?,
        mass: checker.positive("body.mass_kg", &body.mass_kg)?,
        inertia: checker.each("body.inertia_kg_m2", &body.inertia_kg_m2, Checker::positive)?,
        arm: checker.positive("body.arm_m", &body.arm_m)?,
        body_drag: checker.each("body.drag", &body.drag, Checker::not_negative)?,
        rotor: Rotor {
            thrust: checker.positive("rotor.thrust", &rotor.thrust)?,
            yaw_torque: checker.positive("rotor.yaw_torque", &rotor.yaw_torque)?,
            drag: checker.not_negative("rotor.drag", &rotor.drag)?,
            inflow: checker.not_negative("rotor.inflow", &rotor.inflow)?,
            lift: checker.not_negative("rotor.lift", &rotor.lift)?,
            lag: checker.value("rotor.lag_s", &rotor.lag_s, "between 0.001 and 10 s", |v| {
                // Below 1 ms the fixed step of the plant would no longer be accurate.
                (0.001..=10.0).contains(&v)
            })?,
            max_speed: checker.positive("rotor.max_speed_rad_s", &rotor.max_speed_rad_s)?,
        },
        gains: Gains {
            position: checker.each(
                "gains.position_per_s2",
                &gains.position_per_s2,
                Checker::gain,
            )?,
            velocity: checker.each("gains.velocity_per_s", &gains.velocity_per_s, Checker::gain)?,
            attitude: checker.gain("gains.attitude_per_s2", &gains.attitude_per_s2)?,
            rate: checker.gain("gains.rate_per_s", &gains.rate_per_s)?,
        },
    };
    let ratio = vehicle.thrust_to_weight();
    if ratio <= 1.0 || !ratio.is_finite() {
        return Err(VehicleError::TooHeavy {
            source_name: source.to_owned(),
            ratio,
        });
    }
    Ok(vehicle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(from: &str, to: &str) -> String {
        let text = Vehicle::built_in_text("hummingbird").unwrap();
        assert!(text.contains(from));
        let message = Vehicle::parse(&text.replace(from, to), "my.toml")
            .unwrap_err()
            .to_string();
        assert!(!message.contains('\n'), "one line, not: {message}");
        message
    }

    #[test]
    fn a_non_physical_value_is_named_with_its_line_and_what_would_be_right() {
        assert_eq!(
            complaint("mass_kg = 0.5", "mass_kg = -0.5"),
            "my.toml:6: body.mass_kg is -0.5; it must be above 0 (between 1e-15 and 1e15)"
        );
        assert!(complaint("3.68e-3", "0.0").starts_with("my.toml:8: body.inertia_kg_m2 is 0;"));
        assert!(complaint("lag_s = 0.005", "lag_s = nan").contains("rotor.lag_s is NaN"));
        assert!(complaint("= 3.39e-3", "= -1.0").contains("rotor.lift is -1; it must be 0 or"));
        assert!(complaint("rate_per_s = 46.64", "rate_per_s = inf").contains("gains.rate_per_s"));
    }

    #[test]
    fn a_missing_unknown_or_garbled_value_is_one_line() {
        let missing = complaint("mass_kg = 0.5", "");
        assert!(missing.contains("missing field `mass_kg`"), "{missing}");
        let unknown = complaint("arm_m", "arm_length");
        assert!(
            unknown.starts_with("my.toml:") && unknown.contains("arm_length"),
            "{unknown}"
        );
        let garbled = complaint("mass_kg = 0.5", "mass_kg = heavy");
        assert!(garbled.starts_with("my.toml:6: "), "{garbled}");
        let short = complaint("[6.5, 6.5, 15.0]", "[6.5, 6.5]");
        assert!(short.starts_with("my.toml:24: "), "{short}");
    }

    #[test]
    fn a_name_that_would_spoil_a_report_is_refused() {
        for name in ["", " ", "a\\u001b[31m", "a\\nb", &"x".repeat(61)] {
            let message = complaint("\"Hummingbird\"", &format!("\"{name}\""));
            assert!(
                message.starts_with("my.toml:3: name must be one line"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_number_of_any_size_is_shown_in_a_few_digits() {
        for (size, shown) in [("1e300", " is 1e300;"), ("-1e-300", " is -1e-300;")] {
            let message = complaint("mass_kg = 0.5", &format!("mass_kg = {size}"));
            assert!(message.contains(shown), "{message}");
        }
        let words = complaint("mass_kg = 0.5", "mass_kg = \"500 g\"");
        assert!(words.ends_with("expected a number"), "{words}");
    }

    #[test]
    fn a_vehicle_that_cannot_lift_itself_is_refused() {
        let message = complaint("max_speed_rad_s = 1500.0", "max_speed_rad_s = 400.0");
        assert!(message.contains("0.73 times the weight"), "{message}");
    }
}

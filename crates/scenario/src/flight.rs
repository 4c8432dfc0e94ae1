//! A flight through the measured times: the vehicle, the terms and the criterion.
//!
//! Other rooms fly it.

use crate::named_file::{NamedFileError, text_of};
use crate::units::Complaint;
use serde::Serialize;
use std::io;
use wakepath_flight::replay::{Choices, Missed, OverrunRule, Sampling};
use wakepath_flight::{Trajectory, Vehicle, VehicleError};

/// The flight that a run is judged by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlightTerms {
    /// The vehicle.
    pub vehicle: FlightVehicle,
    /// Choices that the recorded times don't determine.
    pub choices: Choices,
    /// The course to follow while the tracking error is measured.
    pub course: Course,
    /// Seed of the torque noise and of the kicks.
    pub seed: u64,
    /// The task whose cycles are the controller's, if tasks are judged individually.
    pub task: Option<String>,
    /// The criterion of the flight.
    pub criterion: FlightCriterion,
}

/// Requirements on the flight for a condition to pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FlightCriterion {
    /// Whether a lost vehicle fails the condition.
    pub lost: Losses,
    /// Least constant delay that the loop must bear beyond its own, in nanoseconds.
    pub delay_margin_ns: Option<u64>,
    /// Greatest tilt after a kick, in degrees.
    pub peak_tilt_deg: Option<f64>,
}

impl Default for FlightCriterion {
    fn default() -> Self {
        Self {
            lost: Losses::Never,
            delay_margin_ns: None,
            peak_tilt_deg: None,
        }
    }
}

/// Number of losses of the vehicle to accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Losses {
    /// In no flight.
    Never,
    /// Told, but no failure.
    Tolerated,
}

/// The vehicle, as far as a scenario knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlightVehicle {
    /// A built-in one, by name.
    BuiltIn(String),
    /// A file not read yet; its text replaces it before a run begins.
    File(String),
    /// The text of a vehicle file, so that a recording can be judged without the file.
    Text(String),
}

impl FlightVehicle {
    /// The vehicle by its built-in name, else the file of that path.
    pub fn named(name: &str) -> Self {
        if Vehicle::built_in_names().any(|known| known == name) {
            Self::BuiltIn(name.into())
        } else {
            Self::File(name.into())
        }
    }

    /// The same with the text of a file instead of its path, read by `read` and checked.
    ///
    /// # Errors
    /// When `read` fails, or the file describes no vehicle.
    pub fn resolved(
        self,
        read: impl FnOnce(&str) -> io::Result<String>,
    ) -> Result<Self, NamedFileError> {
        match self {
            Self::File(path) => {
                let text = text_of(&path, read)?;
                Vehicle::parse(&text, &path)?;
                Ok(Self::Text(text))
            }
            other => Ok(other),
        }
    }

    /// The vehicle itself.
    ///
    /// # Errors
    /// For a text that describes none, and for a file that was not read.
    pub fn vehicle(&self) -> Result<Vehicle, VehicleError> {
        match self {
            Self::BuiltIn(name) => Vehicle::built_in(name).ok_or_else(|| VehicleError::Syntax {
                source_name: name.clone(),
                line: 1,
                message: "there is no built-in vehicle of this name".into(),
            }),
            Self::Text(text) => Ok(Vehicle::parse(text, "vehicle-text")?.0),
            Self::File(path) => Err(VehicleError::Syntax {
                source_name: path.clone(),
                line: 1,
                message: "the vehicle's file was not read before the run".into(),
            }),
        }
    }
}

/// A trajectory by the name that people give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Course {
    /// Hover in place.
    Hover,
    /// A step of 1 m along x.
    Step,
    /// A horizontal circle of 1 m at 0.2 Hz.
    Circle,
}

impl Course {
    /// The trajectory: those of the reference flights.
    pub fn trajectory(self) -> Trajectory {
        match self {
            Self::Hover => Trajectory::Hover { position: [0.0; 3] },
            Self::Step => Trajectory::Step {
                from: [-1.0, 0.0, 0.0],
                to: [0.0; 3],
            },
            Self::Circle => Trajectory::Circle {
                centre: [0.0; 3],
                radius_m: 1.0,
                frequency_hz: 0.2,
            },
        }
    }
}

/// A choice written as a word, both in scenario files and on the command line.
pub trait Word: Copy + PartialEq + 'static {
    /// Every word with its value; the first is the default.
    const WORDS: &'static [(&'static str, Self)];

    /// The value of a word.
    ///
    /// # Errors
    /// A line that refuses a word not among [`Word::WORDS`].
    fn of_word(word: &str) -> Result<Self, Complaint> {
        let found = Self::WORDS.iter().find(|(known, _)| *known == word);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = Self::WORDS.iter().map(|(known, _)| *known).collect();
            Complaint::new(
                "not a valid value here",
                crate::keys::suggestion(word, &known),
            )
        })
    }

    /// The word.
    fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, value)| *value == self);
        found.map_or("", |(word, _)| word)
    }
}

impl Word for Sampling {
    const WORDS: &'static [(&'static str, Self)] =
        &[("wake", Self::AtWake), ("release", Self::AtRelease)];
}

impl Word for Missed {
    const WORDS: &'static [(&'static str, Self)] = &[("hold", Self::Hold), ("zero", Self::Zero)];
}

impl Word for OverrunRule {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("skip", Self::Skip),
        ("queue", Self::Queue),
        ("kill", Self::Kill),
    ];
}

impl Word for Course {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("circle", Self::Circle),
        ("hover", Self::Hover),
        ("step", Self::Step),
    ];
}

impl Word for Losses {
    const WORDS: &'static [(&'static str, Self)] =
        &[("never", Self::Never), ("tolerated", Self::Tolerated)];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_becomes_its_text_and_a_bad_one_is_refused_with_its_line() {
        let text = Vehicle::built_in_text("crazyflie").unwrap();
        let read = |path: &str| match path {
            "good.toml" => Ok(text.to_owned()),
            "bad.toml" => Ok(text.replace("mass_kg", "mass")),
            _ => Err(io::ErrorKind::NotFound.into()),
        };
        let resolved = |name| FlightVehicle::named(name).resolved(read);
        assert_eq!(
            resolved("crazyflie").unwrap(),
            FlightVehicle::BuiltIn("crazyflie".into())
        );
        assert_eq!(
            resolved("good.toml").unwrap().vehicle().unwrap().name,
            "Crazyflie"
        );
        let refused = resolved("bad.toml").unwrap_err().to_string();
        assert!(
            refused.starts_with("bad.toml:") && !refused.contains('\n'),
            "{refused}"
        );
        let gone = resolved("gone.toml").unwrap_err();
        assert!(matches!(gone, NamedFileError::Unread { path, .. } if path == "gone.toml"));
        assert!(FlightVehicle::named("good.toml").vehicle().is_err());
    }

    #[test]
    fn words_read_back_and_others_are_refused_with_a_suggestion() {
        for (word, value) in Course::WORDS {
            assert_eq!((Course::of_word(word), value.word()), (Ok(*value), *word));
        }
        let refused = Course::of_word("cirle").unwrap_err().to_string();
        assert!(refused.contains("did you mean \"circle\"?"), "{refused}");
    }
}

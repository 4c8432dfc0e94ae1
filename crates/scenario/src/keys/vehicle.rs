//! The vehicle of a flight: built in, a file, or a file's text.

use super::form::{Text, built_in, path};
use super::shape::Shape;
use super::visitor::Keys;
use crate::FlightVehicle;
use crate::units::Complaint;
use wakepath_flight::{Vehicle, VehicleError};
use wakepath_timeline::one_line;

const REMEDY: &str = "give vehicle = \"hummingbird\" or vehicle-file = \"my-vehicle.toml\"";
const NEEDED: &str = "one of the three vehicle keys is needed";

/// The three keys; `needed`: one of them must be given.
pub(super) fn declare(keys: &mut Keys<'_>, needed: bool, vehicle: &mut FlightVehicle) {
    let (mut name, mut file, mut text) = (None, None, None);
    match &*vehicle {
        FlightVehicle::BuiltIn(of) => name = Some(of.clone()),
        FlightVehicle::File(of) => file = Some(of.clone()),
        FlightVehicle::Text(of) => text = Some(of.clone()),
    }
    let (without, other) = if needed {
        (NEEDED, NEEDED)
    } else {
        ("\"hummingbird\"", "`vehicle`")
    };
    keys.optional(
        "vehicle",
        BUILT_IN,
        without,
        "A built-in vehicle.",
        &mut name,
    );
    keys.optional(
        "vehicle-file",
        path("give vehicle-file = \"my-vehicle.toml\""),
        other,
        "Your own vehicle file, relative to the scenario. A run stores its text, so that it can be judged again \
         without the file.",
        &mut file,
    );
    keys.optional(
        "vehicle-text",
        VEHICLE_TEXT,
        other,
        "The whole text of a vehicle file, up to 64 KiB, as stored in a run.",
        &mut text,
    );
    const ALL: &[&str] = &["vehicle", "vehicle-file", "vehicle-text"];
    let problem = "conflicts with another vehicle";
    let given = if needed {
        keys.exactly_one(ALL, problem, REMEDY)
    } else {
        keys.not_both(&[(ALL[0], ALL[1]), (ALL[0], ALL[2]), (ALL[1], ALL[2])]);
        let mut given = ALL.iter().filter(|key| keys.given(key).is_some());
        let (first, second) = (given.next(), given.next());
        if let Some(second) = second {
            keys.refuse_key(second, problem, "give one of them");
        }
        first.copied()
    };
    *vehicle = match (given, name, file, text) {
        (Some("vehicle"), Some(name), ..) => FlightVehicle::BuiltIn(name),
        (Some("vehicle-file"), _, Some(file), _) => FlightVehicle::File(file),
        (Some(_), _, _, Some(text)) => FlightVehicle::Text(text),
        _ => return,
    };
}

const BUILT_IN: Text = Text {
    shape: || Shape::Choice(Vehicle::built_in_names().collect()),
    remedy: REMEDY,
    parse: |name| {
        let names: Vec<&str> = Vehicle::built_in_names().collect();
        built_in(name, &names)
    },
};

/// Longest text of a vehicle file in a scenario, in bytes.
const LONGEST: usize = 64 << 10;

const VEHICLE_TEXT: Text = Text {
    shape: || Shape::Text,
    remedy: "give the text of a vehicle file",
    parse: |text| {
        if text.len() > LONGEST {
            let problem = format!("has {} bytes", text.len());
            return Err(Complaint::new(problem, format!("give at most {LONGEST}")));
        }
        let refused = |error: VehicleError| {
            let line: String = error.to_string().chars().take(300).collect();
            let problem = format!("describes no vehicle: {}", one_line(&line));
            Complaint::new(problem, "see vehicles/hummingbird.toml")
        };
        Vehicle::parse(text, "vehicle-text").map_err(refused)?;
        Ok(text.to_owned())
    },
};

//! Calls the controller or the plant a number of times, for an instruction counter to look at:
//! `repeat controller|plant VEHICLE COUNT`. See `benches/count_instructions.sh`.

use std::hint::black_box;
use wakepath_flight::plant::{MAX_STEP_NS, Plant};
use wakepath_flight::{Controller, PlantState, Reference, Vehicle};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, what, name, count] = &arguments[..] else {
        eprintln!("usage: repeat controller|plant VEHICLE COUNT");
        std::process::exit(2);
    };
    let (Some(vehicle), Ok(count)) = (Vehicle::built_in(name), count.parse::<u64>()) else {
        eprintln!("no built-in vehicle {name}, or {count} is not a number");
        std::process::exit(2);
    };
    let (controller, plant) = (Controller::new(&vehicle), Plant::new(&vehicle));
    let mut state = PlantState::hover(&vehicle, [0.02, -0.01, 0.03]);
    let reference = Reference {
        yaw: 0.1,
        ..Reference::default()
    };
    let speeds = state.rotor_speeds;
    for _ in 0..count {
        if what == "controller" {
            black_box(controller.step(black_box(&state.body), black_box(&reference)));
        } else {
            plant.advance(black_box(&mut state), speeds, [0.0; 3], 0, MAX_STEP_NS);
        }
    }
}

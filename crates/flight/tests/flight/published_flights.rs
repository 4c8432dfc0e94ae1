//! Controller and plant compared with RotorPy 3.0.0's own flights and printed reference figures.
//!
//! The fixtures are stored with the scripts that made them.

use wakepath_flight::{Controller, PlantState, Trajectory, Vehicle, plant::Plant};

const PERIOD_NS: u64 = 4_000_000;

/// Numbers of a fixture, one row per line, without the heading.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let number = |cell: &str| cell.parse().unwrap();
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(number).collect())
        .collect()
}

fn numbers(state: &PlantState) -> Vec<f64> {
    let body = &state.body;
    [
        &body.position[..],
        &body.velocity,
        &body.attitude,
        &body.rate,
        &state.rotor_speeds,
    ]
    .concat()
}

/// Flies with control at 4k ms, no latency, zero-order hold: the state at each control time.
fn ideal(vehicle: &Vehicle, trajectory: &Trajectory, cycles: u64) -> Vec<PlantState> {
    let (controller, plant) = (Controller::new(vehicle), Plant::new(vehicle));
    let mut state = PlantState::hover(vehicle, trajectory.start());
    let mut states = vec![];
    for k in 0..=cycles {
        states.push(state);
        let now = k * PERIOD_NS;
        let command = controller.step(&state.body, &trajectory.at(now as f64 * 1e-9));
        assert_eq!(command.fault, None);
        plant.advance(
            &mut state,
            command.rotor_speeds,
            [0.0; 3],
            now,
            now + PERIOD_NS,
        );
    }
    states
}

/// Positions within 1e-6 m; the other numbers as closely as their sizes deserve.
fn assert_agrees(row: &[f64], state: &PlantState) {
    for (n, (expected, got)) in row[1..].iter().zip(numbers(state)).enumerate() {
        let tolerance = match n {
            0..3 => 1e-6,
            3..13 => 1e-5,
            _ => 1e-3,
        };
        assert!(
            (expected - got).abs() < tolerance,
            "t {} column {n}: {expected} {got}",
            row[0]
        );
    }
}

fn step() -> Trajectory {
    Trajectory::Step {
        from: [-1.0, 0.0, 0.0],
        to: [0.0; 3],
    }
}

fn circle() -> Trajectory {
    Trajectory::Circle {
        centre: [0.0; 3],
        radius_m: 1.0,
        frequency_hz: 0.2,
    }
}

#[test]
fn every_recorded_state_of_rotorpys_step_and_circle_is_met() {
    for (name, step_rows, circle_rows) in [
        (
            "hummingbird",
            include_str!("../fixtures/step-hummingbird.csv"),
            include_str!("../fixtures/circle-hummingbird.csv"),
        ),
        (
            "crazyflie",
            include_str!("../fixtures/step-crazyflie.csv"),
            include_str!("../fixtures/circle-crazyflie.csv"),
        ),
    ] {
        let vehicle = Vehicle::built_in(name).unwrap();
        for (trajectory, text) in [(step(), step_rows), (circle(), circle_rows)] {
            let rows = rows(text);
            let states = ideal(&vehicle, &trajectory, 25 * (rows.len() as u64 - 1));
            for (row, state) in rows.iter().zip(states.iter().step_by(25)) {
                assert_agrees(row, state);
            }
        }
    }
}

#[test]
fn the_printed_figures_of_the_step_are_reproduced() {
    // x at 0.5, 1, 2 s; rise, settle (s); overshoot (%); tilt (°); z deviation (mm).
    for (name, xs, rise, settle, overshoot, tilt, height) in [
        (
            "hummingbird",
            [-0.642962, -0.190867, -0.007441],
            0.948,
            1.716,
            0.0,
            "27.460",
            "6.34",
        ),
        (
            "crazyflie",
            [-0.696035, -0.105302, -0.024341],
            0.688,
            2.264,
            1.64,
            "24.484",
            "6.75",
        ),
    ] {
        let vehicle = Vehicle::built_in(name).unwrap();
        let states = ideal(&vehicle, &step(), 1500);
        let x = |k: usize| states[k].body.position[0];
        for (k, expected) in [125, 250, 500].into_iter().zip(xs) {
            // Printed to six digits: half of the last digit besides the 1e-6 m of acceptance.
            assert!((x(k) - expected).abs() < 1e-6, "{name} {k}: {}", x(k));
        }
        let first = |level: f64| (0..).find(|&k| x(k) >= level).unwrap() as f64 * 0.004;
        assert!((first(-0.1) - first(-0.9) - rise).abs() < 1e-9);
        let outside = (0..states.len()).rfind(|&k| x(k).abs() > 0.02).unwrap();
        assert!(((outside + 1) as f64 * 0.004 - settle).abs() < 1e-9);
        let highest = (0..states.len()).map(x).fold(0.0, f64::max);
        assert!((100.0 * highest - overshoot).abs() < 5e-3, "{highest}");
        let greatest = states
            .iter()
            .map(|s| s.body.tilt().to_degrees())
            .fold(0.0, f64::max);
        assert_eq!(format!("{greatest:.3}"), tilt);
        let away = states
            .iter()
            .map(|s| 1e3 * s.body.position[2].abs())
            .fold(0.0, f64::max);
        assert_eq!(format!("{away:.2}"), height);
    }
}

#[test]
fn the_printed_tracking_errors_of_the_circle_are_reproduced() {
    for (name, printed) in [("hummingbird", "55.701"), ("crazyflie", "12.495")] {
        let vehicle = Vehicle::built_in(name).unwrap();
        let states = ideal(&vehicle, &circle(), 5000);
        let squares: Vec<f64> = (2500..=5000)
            .map(|k| {
                let wanted = circle().at(k as f64 * 0.004).position;
                let got = states[k].body.position;
                (0..3).map(|n| (got[n] - wanted[n]).powi(2)).sum()
            })
            .collect();
        let rmse = 1e3 * (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
        assert_eq!(format!("{rmse:.3}"), printed, "{name}");
    }
}

//! Replays compared with independent integrations and known effects of timing.

use wakepath_flight::replay::{Choices, Flown, Missed, Schedule, Settings, Sweep, fly};
use wakepath_flight::{Controller, PlantState, Trajectory, Vehicle, plant::Plant};
use wakepath_timeline::Sample;

const PERIOD: u64 = 4_000_000;

fn rows<T: std::str::FromStr>(text: &str) -> Vec<Vec<T>> {
    let number = |cell: &str| cell.parse().ok().expect("a fixture holds numbers");
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(number).collect())
        .collect()
}

/// Sample and actuate times off every grid, skipped periods included, with the plant moved by
/// `Plant::advance` from time to time; scipy's DOP853 at rtol 1e-11 is the reference.
#[test]
fn a_flight_off_the_grid_agrees_with_an_independent_integration() {
    let jobs: Vec<Vec<u64>> = rows(include_str!("../fixtures/offgrid-instants.csv"));
    for (name, text) in [
        (
            "hummingbird",
            include_str!("../fixtures/offgrid-hummingbird.csv"),
        ),
        (
            "crazyflie",
            include_str!("../fixtures/offgrid-crazyflie.csv"),
        ),
    ] {
        let vehicle = Vehicle::built_in(name).unwrap();
        let (controller, plant) = (Controller::new(&vehicle), Plant::new(&vehicle));
        let hover = Trajectory::Hover { position: [0.0; 3] };
        let checks: Vec<Vec<f64>> = rows(text);
        let mut events: Vec<(u64, u8, usize)> = vec![];
        for (n, job) in jobs.iter().enumerate() {
            events.extend([(job[1], 1, n), (job[2], 2, n)]);
        }
        events.extend(
            checks
                .iter()
                .enumerate()
                .map(|(n, row)| (row[0] as u64, 3, n)),
        );
        events.sort_unstable();
        let mut state = PlantState::hover(&vehicle, [-1.0, 0.0, 0.0]);
        let mut applied = state.rotor_speeds;
        let (mut pending, mut now) = (applied, 0);
        for (at, kind, n) in events {
            plant.advance(&mut state, applied, [0.0; 3], now, at);
            now = at;
            match kind {
                1 => pending = controller.step(&state.body, &hover.at(0.0)).rotor_speeds,
                2 => applied = pending,
                _ => {
                    for axis in 0..3 {
                        let (wanted, got) = (checks[n][1 + axis], state.body.position[axis]);
                        assert!((wanted - got).abs() < 1e-6, "{name} {at} {wanted} {got}");
                        let (wanted, got) = (checks[n][11 + axis], state.body.rate[axis]);
                        assert!((wanted - got).abs() < 1e-5, "{name} {at} {wanted} {got}");
                    }
                }
            }
        }
    }
}

fn quick() -> Settings {
    let sweep = Sweep {
        bursts: 2,
        phases: 8,
        ..Sweep::default()
    };
    Settings {
        sweep,
        ..Settings::default()
    }
}

#[test]
fn the_ideal_flight_of_a_replay_has_the_printed_tracking_error() {
    for (name, printed) in [("hummingbird", 55.701), ("crazyflie", 12.495)] {
        let vehicle = Vehicle::built_in(name).unwrap();
        let report = fly(&vehicle, &Schedule::constant(PERIOD, 5000, 0), &quick());
        let flown = report.flights.ideal;
        // The printed figure counts the look at 20 s too, one of 2501.
        assert!(
            (1e3 * flown.tracking_rmse_m.unwrap() - printed).abs() < 2e-3,
            "{flown:?}"
        );
        assert_eq!(report.flights.measured, flown);
        assert_eq!((flown.lost(), flown.faults), (false, 0));
    }
}

/// The reference: the Crazyflie's tracking error hardly changes until 9 ms of delay, then the
/// vehicle is lost at 10 ms; the deviations and kicks show it long before.
#[test]
fn tracking_error_says_nothing_until_the_vehicle_is_lost_but_noise_and_kicks_do() {
    let vehicle = Vehicle::built_in("crazyflie").unwrap();
    // A minute: beyond the margin (8.39 ms, yaw) the oscillation takes time to grow.
    let at = |us: u64| {
        let schedule = Schedule::constant(PERIOD, 15_000, us * 1_000);
        fly(&vehicle, &schedule, &quick())
    };
    let (slow, lost) = (at(8_300), at(10_000));
    let (measured, ideal) = (slow.flights.measured, slow.flights.ideal);
    let rmse = |flown: &Flown| flown.tracking_rmse_m.unwrap();
    let rate = |flown: &Flown| flown.rate_deviation_deg_s.unwrap();
    assert!(rmse(&measured) < 1.01 * rmse(&ideal), "{slow:#?}");
    assert!(rate(&measured) > 2.0 * rate(&ideal), "{slow:#?}");
    assert!(
        measured.kicks.peak_tilt_deg > ideal.kicks.peak_tilt_deg,
        "{slow:#?}"
    );
    assert!(!measured.lost() && slow.margins.delay_ns.unwrap() > 0);
    assert!(lost.flights.measured.lost_tracking.is_some(), "{lost:#?}");
    assert_eq!(lost.flights.measured.tracking_rmse_m, None);
    assert!(lost.margins.delay_ns.unwrap() < 0);
    assert_eq!(lost.margins.jitter_ns, None);
}

/// With and without the rotors' drag: 49 and 74 degrees/s near the margin of 8.39 ms, 18.6 and 18.8
/// without latency.
#[test]
fn near_its_margin_a_vehicle_is_flown_without_rotor_drag_too() {
    let crazyflie = Vehicle::built_in("crazyflie").unwrap();
    let at = |vehicle: &Vehicle, us: u64| {
        let schedule = Schedule::constant(PERIOD, 10_000, us * 1_000);
        fly(vehicle, &schedule, &quick())
    };
    let report = at(&crazyflie, 8_000);
    let rate = |flown: &Flown| flown.rate_deviation_deg_s.unwrap();
    let without = report.without_rotor_drag.expect("it is near its margin");
    assert!(
        rate(&without) > 1.25 * rate(&report.flights.measured),
        "{report:#?}"
    );

    // The same flight of a vehicle whose file has no drag gives this row.
    let bare = crazyflie.without_rotor_drag().unwrap();
    assert_eq!(at(&bare, 8_000).flights.measured, without);
    assert_eq!(
        at(&bare, 8_000).without_rotor_drag,
        None,
        "it has none to leave out"
    );

    // Half of the margin is 4.19 ms.
    assert!(at(&crazyflie, 4_300).without_rotor_drag.is_some());
    assert!(at(&crazyflie, 4_000).without_rotor_drag.is_none());
    let hummingbird = Vehicle::built_in("hummingbird").unwrap();
    assert!(
        at(&hummingbird, 8_000).without_rotor_drag.is_none(),
        "its margin is 21.46 ms"
    );
}

/// A recording with microseconds of latency and one outage, as a loop that skips would leave it.
fn recording(outage: u64) -> Vec<Sample> {
    let sample = |cycle: u64| {
        let due_ns = 7_000_000_000 + cycle * PERIOD;
        let wake_ns = due_ns + 6_000 + cycle % 7 * 1_000;
        let end_ns = match cycle {
            500 => wake_ns + outage * PERIOD,
            _ => wake_ns + 20_000,
        };
        Sample {
            cycle,
            due_ns,
            wake_ns,
            end_ns,
            ..Sample::default()
        }
    };
    (0..=500).chain(501 + outage..1500).map(sample).collect()
}

#[test]
fn an_outage_shows_in_the_kick_sweep_and_in_the_words_for_timing() {
    let vehicle = Vehicle::built_in("hummingbird").unwrap();
    let schedule = Schedule::from_samples(&recording(12), PERIOD, Choices::default()).unwrap();
    let report = fly(&vehicle, &schedule, &quick());
    assert_eq!(
        (report.timing.missed, report.timing.most_consecutive_missed),
        (12, 12)
    );
    // Due time 501 waits for the command of 513.
    assert_eq!(
        report.timing.reaction.max_ns,
        12 * PERIOD + 6_000 + 2_000 + 20_000
    );
    assert_eq!(report.timing.freshness.unwrap().median_ns, 20_000);
    let (measured, ideal) = (report.flights.measured.kicks, report.flights.ideal.kicks);
    assert!(
        measured.peak_tilt_deg > 1.2 * ideal.peak_tilt_deg,
        "{report:#?}"
    );
    assert!(report.margins.delay_if_worst_lasted_ns.unwrap() < 0);
    assert!(report.margins.jitter_ns.unwrap() < 0);
    let zero = Settings {
        choices: Choices {
            missed: Missed::Zero,
            ..Choices::default()
        },
        ..quick()
    };
    let dropped = fly(&vehicle, &schedule, &zero).flights.measured;
    assert_ne!(dropped.kicks, measured);
    assert!(dropped.tracking_peak_tilt_deg > 0.0);
}

#[test]
fn a_report_is_the_same_for_the_same_seed_and_serialises() {
    let vehicle = Vehicle::built_in("crazyflie").unwrap();
    let schedule = Schedule::from_samples(&recording(3), PERIOD, Choices::default()).unwrap();
    let text = || serde_json::to_string(&fly(&vehicle, &schedule, &quick())).unwrap();
    assert_eq!(text(), text());
    let mut other = quick();
    other.noise.seed = 1;
    assert_ne!(
        serde_json::to_string(&fly(&vehicle, &schedule, &other)).unwrap(),
        text()
    );
    assert!(text().contains("\"longest_unanswered_ns\""));
}

//! Any work of a loop, for tests that write and read it.

use crate::any_load::bus;
use proptest::prelude::*;
use wakepath_flight::reference::Waypoint;
use wakepath_flight::{Trajectory, Vehicle};
use wakepath_scenario::*;

/// Any work.
pub fn work() -> impl Strategy<Value = Work> {
    prop_oneof![
        Just(Work::Nothing),
        (1..=1_u64 << 30).prop_map(|bytes| Work::WorkingSet { bytes }),
        (proptest::option::of(1_000..=150_000_000_u64), bus())
            .prop_map(|(timeout_ns, bus)| Work::Ethercat { timeout_ns, bus }),
        flown().prop_map(Work::Flight),
        ("[ -~äµ–漢]{1,20}", "[^\\x00]{0,20}").prop_map(|(program, argument)| Work::Program {
            command: vec![program, argument],
        }),
        (flown(), table()).prop_map(|(flight, table)| Work::Tasks(TaskTable { table, flight })),
        (
            flown(),
            // A path appears in tables and messages: no control or invisible characters.
            "[ -~äµ–漢]{1,20}",
            "[^\\x00]{0,20}",
            proptest::option::of("[0-9a-f]{64}"),
        )
            .prop_map(|(flight, library, settings, sha256)| {
                let python = library
                    .ends_with('y')
                    .then(|| "../\"venv\"/python".to_owned());
                let library = match python {
                    Some(_) => library + ".py",
                    None => library,
                };
                Work::Library(Library {
                    library,
                    python,
                    sha256,
                    settings,
                    flight,
                })
            }),
    ]
}

fn table() -> impl Strategy<Value = TableSource> {
    let task = (
        10_000..100_000_000_000_u64,
        1..1_000_000_000_u64,
        0..256_u32,
        0..=1_000_000_000_u64,
        0..=1_u64 << 30,
    );
    let tasks = proptest::collection::vec(task, 1..4).prop_map(|tasks| {
        let named = tasks.into_iter().enumerate();
        let task = |(n, (period_ns, budget_ns, priority, rounds, bytes))| TableTask {
            name: format!("task {n}"),
            period_ns,
            budget_ns,
            priority,
            rounds,
            bytes,
        };
        TableSource::Tasks(named.map(task).collect())
    });
    prop_oneof![
        Just(TableSource::BuiltIn("copter".into())),
        Just(TableSource::File("../my \"own\" table.toml".into())),
        tasks,
    ]
}

/// Built-in vehicles, files and texts.
pub fn vehicle() -> impl Strategy<Value = FlightVehicle> {
    let text = Vehicle::built_in_text("crazyflie").expect("built in");
    prop_oneof![
        Just(FlightVehicle::BuiltIn("hummingbird".into())),
        Just(FlightVehicle::File("../my \"own\".toml".into())),
        Just(FlightVehicle::Text(text.into())),
        Just(FlightVehicle::Text(text.replace('#', "# '''"))),
    ]
}

fn flown() -> impl Strategy<Value = Flight> {
    let place = || proptest::array::uniform3(-9e3..9e3_f64);
    let trajectory = prop_oneof![
        place().prop_map(|position| Trajectory::Hover { position }),
        (place(), place()).prop_map(|(from, to)| Trajectory::Step { from, to }),
        (place(), 1e-9..9e3_f64, 1e-9..999.0_f64).prop_map(|(centre, radius_m, frequency_hz)| {
            Trajectory::Circle {
                centre,
                radius_m,
                frequency_hz,
            }
        }),
        proptest::collection::vec((0.001..9.0_f64, place()), 1..4).prop_map(|steps| {
            let mut at_s = 0.0;
            let point = |(step, position)| {
                at_s += step;
                Waypoint { at_s, position }
            };
            Trajectory::Waypoints(steps.into_iter().map(point).collect())
        }),
    ];
    (vehicle(), trajectory, 0..=1_u64 << 30).prop_map(|(vehicle, trajectory, working_set)| Flight {
        vehicle,
        trajectory,
        working_set,
    })
}

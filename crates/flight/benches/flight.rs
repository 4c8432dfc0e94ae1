//! Costs of the controller, the plant and a whole replay.
//!
//! `cargo bench -p wakepath-flight`; `count_instructions.sh` in this directory gives callgrind's
//! counts, `rotorpy_time.py` the time of RotorPy's same law on the same machine.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use wakepath_flight::plant::{MAX_STEP_NS, Plant};
use wakepath_flight::replay::{Choices, FlightReport, Part, Schedule, Settings, fly_part, join};
use wakepath_flight::search::{Terms, largest_sustained_latency, most_consecutive_misses};
use wakepath_flight::{Controller, PlantState, Reference, State, Vehicle};
use wakepath_timeline::Sample;

const PERIOD: u64 = 4_000_000;

fn state() -> (State, Reference) {
    let state = State {
        position: [0.02, -0.01, 0.03],
        velocity: [0.05, -0.04, 0.02],
        attitude: [0.025143279, -0.014744059, 0.010370512, 0.999521326],
        rate: [0.1, -0.2, 0.05],
    };
    (
        state,
        Reference {
            acceleration: [0.1, -0.2, 0.3],
            yaw: 0.1,
            ..Reference::default()
        },
    )
}

/// Ten minutes at 250 Hz: tens of microseconds of latency, now and then an outage.
fn ten_minutes() -> Vec<Sample> {
    let mut samples = vec![];
    let mut cycle = 0;
    while cycle < 150_000 {
        let due_ns = 1_000_000_000 + cycle * PERIOD;
        let mixed = wakepath_flight::noise::mixed(1, cycle);
        let wake_ns = due_ns + 5_000 + mixed % 60_000;
        let outage = if mixed.is_multiple_of(5_000) {
            9_000_000
        } else {
            0
        };
        let end_ns = wake_ns + 4_000 + outage;
        samples.push(Sample {
            cycle,
            due_ns,
            wake_ns,
            end_ns,
            ..Sample::default()
        });
        cycle = (end_ns - 1_000_000_000) / PERIOD + 1;
    }
    samples
}

/// A replay as `wakepath fly` does it on two cores: the measured flights on one, the ideal ones,
/// which are as long, on the other.
fn on_two_threads(vehicle: &Vehicle, schedule: &Schedule) -> FlightReport {
    let settings = Settings::default();
    let [a, b, c, d, e, f] = Part::ALL;
    let three = |parts: [Part; 3]| parts.map(|part| fly_part(vehicle, schedule, &settings, part));
    let (measured, ideal) = std::thread::scope(|scope| {
        let measured = scope.spawn(|| three([a, b, c]));
        let ideal = three([d, e, f]);
        (measured.join().expect("a flight ends"), ideal)
    });
    let ([a, b, c], [d, e, f]) = (measured, ideal);
    join(vehicle, schedule, &settings, &[a, b, c, d, e, f])
}

fn costs(criterion: &mut Criterion) {
    for name in Vehicle::built_in_names() {
        let vehicle = Vehicle::built_in(name).unwrap();
        let (controller, plant) = (Controller::new(&vehicle), Plant::new(&vehicle));
        let (state, reference) = state();
        criterion.bench_function(&format!("controller call, {name}"), |bencher| {
            bencher.iter(|| controller.step(black_box(&state), black_box(&reference)));
        });
        let mut flying = PlantState {
            body: state,
            ..PlantState::hover(&vehicle, [0.0; 3])
        };
        let speeds = flying.rotor_speeds;
        criterion.bench_function(&format!("plant step, {name}"), |bencher| {
            bencher.iter(|| {
                plant.advance(black_box(&mut flying), speeds, [0.0; 3], 0, MAX_STEP_NS);
            });
        });
    }
    let vehicle = Vehicle::built_in("crazyflie").unwrap();
    let samples = ten_minutes();
    let mut slow = criterion.benchmark_group("whole runs");
    slow.sample_size(10);
    slow.bench_function("ten minutes at 250 Hz replayed with its kicks", |bencher| {
        bencher.iter(|| {
            let schedule = Schedule::from_samples(&samples, PERIOD, Choices::default()).unwrap();
            on_two_threads(&vehicle, &schedule)
        });
    });
    slow.bench_function("search for sustained latency", |bencher| {
        bencher.iter(|| largest_sustained_latency(&vehicle, &Terms::new(PERIOD)));
    });
    slow.bench_function("search for consecutive misses", |bencher| {
        bencher.iter(|| most_consecutive_misses(&vehicle, &Terms::new(PERIOD)));
    });
}

criterion_group!(benches, costs);
criterion_main!(benches);

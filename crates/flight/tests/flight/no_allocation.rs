//! The controller must not allocate: a call into the allocator can block the measured loop.
// A global allocator can't be written without `unsafe`; this one only counts and passes on.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use wakepath_flight::reference::Waypoint;
use wakepath_flight::{
    Controller, Fault, PlantState, Reference, Trajectory, Vehicle, plant::Plant,
};

thread_local! {
    // Constant initialiser and no destructor, so that reading it allocates nothing itself.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn neither_controller_nor_reference_nor_plant_allocates_even_on_a_fault() {
    let vehicle = Vehicle::built_in("hummingbird").unwrap();
    let (controller, plant) = (Controller::new(&vehicle), Plant::new(&vehicle));
    let point = |at_s, x| Waypoint {
        at_s,
        position: [x, 0.0, 0.0],
    };
    let trajectories = [
        Trajectory::Hover { position: [0.0; 3] },
        Trajectory::Step {
            from: [0.0; 3],
            to: [1.0; 3],
        },
        Trajectory::Circle {
            centre: [0.0; 3],
            radius_m: 1.0,
            frequency_hz: 0.2,
        },
        Trajectory::Waypoints(vec![point(0.0, 0.0), point(1.0, 1.0)]),
    ];
    let mut state = PlantState::hover(&vehicle, [0.0; 3]);
    let before = ALLOCATIONS.get();
    let mut faults = 0;
    for k in 0..400_u64 {
        let now = k * 4_000_000;
        let reference = trajectories[k as usize % 4].at(now as f64 * 1e-9);
        let command = controller.step(&state.body, &reference);
        plant.advance(
            &mut state,
            command.rotor_speeds,
            [0.0; 3],
            now,
            now + 4_000_000,
        );
        let bad = Reference {
            yaw: f64::NAN,
            ..reference
        };
        faults += u32::from(controller.step(&state.body, &bad).fault == Some(Fault::BadReference));
    }
    let allocated = ALLOCATIONS.get() - before;
    assert_eq!((allocated, faults), (0, 400));
    // The counter itself works.
    drop(std::hint::black_box(vec![1]));
    assert!(ALLOCATIONS.get() > before);
}

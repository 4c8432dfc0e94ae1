//! A controller in a simulated flight.
//!
//! In the timed region a cycle reads the state, computes and writes the command; the vehicle is
//! moved outside of it.
//!
//! The loop's own thread moves the vehicle, immediately after the cycle's last clock reading: with
//! the old command up to that time, with the new one from there to the next due time, at which the
//! sensor latches the state. A companion thread on another CPU would take these microseconds off
//! the loop's CPU. But a board with one CPU has no other, under load the companion would be late
//! and pass on a stale state, and its writes would reach the timed region as cache misses that
//! depend on its CPU. Done here, the flight depends only on the loop's own timing.

use super::WorkError;
use super::working_set::WorkingSet;
use crate::FlightSpec;
use std::hint::black_box;
use wakepath_archive::ModuleTimes;
use wakepath_flight::plant::Plant;
use wakepath_flight::{Controller, PlantState, Reference, State, Trajectory, Vehicle};
use wakepath_rt::{WorkOutcome, clock};

/// A vehicle without a new command for longer than this is lost: it isn't flown further, so that a
/// starved loop never owes an unbounded integration.
const LONGEST_FLIGHT_NS: u64 = 1_000_000_000;
/// Beyond this distance from the reference, in metres, the vehicle is lost.
const LOST_DISTANCE_M: f64 = 20.0;
/// Beyond this rate, in rad/s, too.
const LOST_RATE_RAD_S: f64 = 100.0;

/// A controller's input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input {
    /// Since cycle 0 was due, in nanoseconds.
    pub(super) time_ns: u64,
    /// The same time on `CLOCK_MONOTONIC`.
    pub(super) due_ns: u64,
    pub(super) state: State,
    pub(super) reference: Reference,
}

/// A controller's answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Answer {
    /// Rotor speeds, rad/s.
    pub(super) rotor_speeds: [f64; 4],
    /// The controller had a fault.
    pub(super) fault: bool,
}

/// A controller: `step` must not allocate, lock or make a system call.
pub(crate) trait Steps {
    fn step(&mut self, input: &Input) -> Answer;

    /// Called after a cycle, outside the timed region: records the controller's own report.
    /// `time_ns` is that of the cycle's input.
    fn note(&mut self, time_ns: u64) {
        let _ = time_ns;
    }

    /// Called after a cycle, outside the timed region: the reason why it can't continue, if it
    /// can't.
    fn failure(&mut self) -> Option<String> {
        None
    }

    /// Parts that timed themselves, since the warm-up.
    fn modules(&self) -> Vec<ModuleTimes> {
        Vec::new()
    }

    /// The warm-up is over: discards the counts.
    fn end_warm_up(&mut self) {}
}

/// The controller of `wakepath-flight`.
pub(crate) struct BuiltIn(Controller);

impl BuiltIn {
    pub(super) fn new(vehicle: &Vehicle) -> Self {
        Self(Controller::new(vehicle))
    }
}

impl Steps for BuiltIn {
    #[inline]
    fn step(&mut self, input: &Input) -> Answer {
        let command = self.0.step(&input.state, &input.reference);
        Answer {
            rotor_speeds: command.rotor_speeds,
            fault: command.fault.is_some(),
        }
    }
}

/// The vehicle of a specification.
pub(super) fn vehicle(spec: &FlightSpec) -> Result<Vehicle, WorkError> {
    let (vehicle, _) = Vehicle::parse(&spec.vehicle, "vehicle")?;
    Ok(vehicle)
}

/// A controller, the vehicle that it flies, and the way.
pub(crate) struct Flight<C> {
    controller: C,
    working_set: WorkingSet,
    trajectory: Trajectory,
    plant: Plant,
    vehicle: Vehicle,
    /// The vehicle at `at_ns`, in nanoseconds since cycle 0 was due.
    at_ns: u64,
    moving: PlantState,
    /// The command in effect, rad/s.
    applied: [f64; 4],
    start_ns: u64,
    /// Input of the next cycle.
    input: Input,
    /// Answer of the last cycle.
    answer: Answer,
    lost: bool,
}

impl<C: Steps> Flight<C> {
    pub(super) fn new(spec: &FlightSpec, vehicle: &Vehicle, controller: C) -> Self {
        let moving = PlantState::hover(vehicle, spec.trajectory.start());
        let hover = moving.rotor_speeds;
        Self {
            controller,
            working_set: WorkingSet::new(spec.working_set),
            plant: Plant::new(vehicle),
            vehicle: vehicle.clone(),
            at_ns: 0,
            moving,
            applied: hover,
            start_ns: 0,
            input: Input {
                time_ns: 0,
                due_ns: 0,
                state: moving.body,
                reference: spec.trajectory.at(0.0),
            },
            answer: Answer {
                rotor_speeds: hover,
                fault: false,
            },
            lost: false,
            trajectory: spec.trajectory.clone(),
        }
    }

    pub(super) fn controller(&self) -> &C {
        &self.controller
    }

    pub(super) fn controller_mut(&mut self) -> &mut C {
        &mut self.controller
    }

    pub(super) fn begin(&mut self, due_ns: u64) {
        self.start_ns = due_ns;
        self.input.due_ns = due_ns;
    }

    /// The timed region. Only the controller is timed within it, at the cost of two further clock
    /// readings.
    #[inline]
    pub(super) fn step(&mut self) -> WorkOutcome {
        let input = black_box(self.input);
        self.working_set.touch();
        let begun_ns = clock::monotonic_ns();
        let answer = self.controller.step(&input);
        let ended_ns = clock::monotonic_ns();
        self.answer = black_box(answer);
        WorkOutcome {
            work_ns: Some(u32::try_from(ended_ns - begun_ns).unwrap_or(u32::MAX)),
            fault: answer.fault || self.lost,
            unanswered: false,
        }
    }

    /// Moves the vehicle: the command took effect at `end_ns`, the next cycle is due at
    /// `next_due_ns`.
    pub(super) fn after(&mut self, end_ns: u64, next_due_ns: u64) {
        self.controller.note(self.input.time_ns);
        let end_ns = end_ns.saturating_sub(self.start_ns);
        // A loop that catches up is given the newest state there is.
        let due_ns = next_due_ns.saturating_sub(self.start_ns).max(end_ns);
        let reference = self.trajectory.at(due_ns as f64 * 1e-9);
        self.lost = due_ns.saturating_sub(self.at_ns) > LONGEST_FLIGHT_NS;
        if !self.lost {
            let (old, new) = (self.applied, self.answer.rotor_speeds);
            self.plant
                .advance(&mut self.moving, old, [0.0; 3], self.at_ns, end_ns);
            let from_ns = end_ns.max(self.at_ns);
            self.plant
                .advance(&mut self.moving, new, [0.0; 3], from_ns, due_ns);
            self.applied = new;
            self.lost = is_lost(&self.moving.body, &reference);
        }
        if self.lost {
            // Another vehicle, hovering at the lost one's target; the next cycle reports the loss.
            self.moving = PlantState::hover(&self.vehicle, reference.position);
            self.applied = self.moving.rotor_speeds;
        }
        self.at_ns = due_ns;
        self.input = Input {
            time_ns: due_ns,
            due_ns: self.start_ns.saturating_add(due_ns),
            state: self.moving.body,
            reference,
        };
    }
}

fn is_lost(body: &State, reference: &Reference) -> bool {
    let far: f64 = body
        .position
        .iter()
        .zip(reference.position)
        .map(|(is, wanted)| (is - wanted).powi(2))
        .sum();
    let turning: f64 = body.rate.iter().map(|rate| rate * rate).sum();
    !body.is_finite() || far > LOST_DISTANCE_M.powi(2) || turning > LOST_RATE_RAD_S.powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ControllerSpec;

    const PERIOD_NS: u64 = 4_000_000;
    const START_NS: u64 = 77_000_000_000;

    fn flight(trajectory: Trajectory) -> Flight<BuiltIn> {
        let spec = FlightSpec {
            vehicle: Vehicle::built_in_text("hummingbird").unwrap().into(),
            trajectory,
            working_set: 4096,
            controller: ControllerSpec::BuiltIn,
        };
        let vehicle = vehicle(&spec).unwrap();
        let mut flight = Flight::new(&spec, &vehicle, BuiltIn::new(&vehicle));
        flight.begin(START_NS);
        flight
    }

    /// Runs `cycles` cycles that end `late_ns` after their due times; returns how many had a fault.
    fn run(flight: &mut Flight<BuiltIn>, cycles: u64, late_ns: u64) -> u64 {
        let mut faults = 0;
        for cycle in 0..cycles {
            faults += u64::from(flight.step().fault);
            let due_ns = START_NS + cycle * PERIOD_NS;
            flight.after(due_ns + late_ns, due_ns + PERIOD_NS);
        }
        faults
    }

    #[test]
    fn a_hover_is_commanded_at_hover_speed_for_ever() {
        let mut hover = flight(Trajectory::Hover {
            position: [1.0, 2.0, 3.0],
        });
        assert_eq!(run(&mut hover, 1000, 20_000), 0);
        let speed = hover.vehicle.hover_speed();
        for commanded in hover.answer.rotor_speeds {
            assert!((commanded - speed).abs() < 1e-6, "{commanded} {speed}");
        }
    }

    #[test]
    fn a_step_ends_where_the_reference_flight_is() {
        let mut step = flight(Trajectory::Step {
            from: [-1.0, 0.0, 0.0],
            to: [0.0; 3],
        });
        assert_eq!(run(&mut step, 250, 0), 0);
        // x after 1 s, from the reference figures of the flight crate.
        let x = step.input.state.position[0];
        assert!((x + 0.190867).abs() < 1e-5, "{x}");
    }

    #[test]
    fn a_vehicle_without_commands_for_a_second_is_lost_and_reported_once() {
        let mut hover = flight(Trajectory::Hover { position: [0.0; 3] });
        assert!(!hover.step().fault);
        hover.after(START_NS, START_NS + 5_000_000_000);
        assert!(hover.step().fault, "the loss is reported");
        let next = START_NS + 5_000_000_000;
        hover.after(next, next + PERIOD_NS);
        assert!(!hover.step().fault, "another vehicle flies");
    }

    #[test]
    fn a_loop_that_comes_far_too_late_loses_its_vehicle() {
        let mut circle = flight(Trajectory::Circle {
            centre: [0.0; 3],
            radius_m: 2.0,
            frequency_hz: 0.5,
        });
        // Commands 79 ms late are far beyond the 21.81 ms of delay that this vehicle bears.
        let mut faults = 0;
        for cycle in 0..400 {
            faults += u64::from(circle.step().fault);
            let due_ns = START_NS + cycle * 80_000_000;
            circle.after(due_ns + 79_000_000, due_ns + 80_000_000);
        }
        assert!(faults > 0);
    }

    #[test]
    fn the_work_alone_is_timed() {
        let mut hover = flight(Trajectory::Hover { position: [0.0; 3] });
        assert!(hover.step().work_ns.is_some());
    }
}

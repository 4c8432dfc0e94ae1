//! A replay in independent parts, so that several can be flown at a time.
//!
//! The result is the same in whatever order and on whatever threads they are flown.

use super::events::merged;
use super::flight::{Flight, Notes};
use super::kicks::{self, KickOutcome};
use super::{FlightReport, Flown, Pair, RemainingMargins, Schedule, Settings, Timing};
use crate::plant::Plant;
use crate::{Controller, Trajectory, Vehicle};

/// One of the flights of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Through the ideal schedule instead of the measured one.
    ideal: bool,
    /// By the vehicle without its rotors' drag.
    without_drag: bool,
    which: Which,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Tracking,
    Noise,
    Kicks,
}

impl Part {
    const fn new(ideal: bool, which: Which) -> Self {
        Self {
            ideal,
            without_drag: false,
            which,
        }
    }

    const fn without_drag(which: Which) -> Self {
        Self {
            ideal: false,
            without_drag: true,
            which,
        }
    }

    /// All parts, in the order for [`join`].
    pub const ALL: [Self; 6] = [
        Self::new(false, Which::Tracking),
        Self::new(false, Which::Noise),
        Self::new(false, Which::Kicks),
        Self::new(true, Which::Tracking),
        Self::new(true, Which::Noise),
        Self::new(true, Which::Kicks),
    ];

    /// Parts that show the influence of the rotors' drag, in the order for [`join`].
    pub const WITHOUT_DRAG: [Self; 3] = [
        Self::without_drag(Which::Tracking),
        Self::without_drag(Which::Noise),
        Self::without_drag(Which::Kicks),
    ];

    /// All that the report of `vehicle` on `schedule` is joined from: [`Part::ALL`], and near the
    /// delay margin [`Part::WITHOUT_DRAG`] after them.
    pub fn needed(vehicle: &Vehicle, schedule: &Schedule) -> Vec<Self> {
        let has_drag = vehicle.without_rotor_drag().is_some();
        let is_near = || RemainingMargins::new(vehicle, &Timing::new(schedule)).is_near();
        let more = if has_drag && is_near() {
            &Self::WITHOUT_DRAG[..]
        } else {
            &[]
        };
        [&Self::ALL[..], more].concat()
    }
}

/// Result of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartFlown(Outcome);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    Notes(Notes),
    Kicks(KickOutcome),
}

/// Flies one part.
pub fn fly_part(
    vehicle: &Vehicle,
    schedule: &Schedule,
    settings: &Settings,
    part: Part,
) -> PartFlown {
    let without = vehicle.without_rotor_drag().filter(|_| part.without_drag);
    let vehicle = without.as_ref().unwrap_or(vehicle);
    let (controller, plant) = (Controller::new(vehicle), Plant::new(vehicle));
    let run_ns = schedule.end_ns();
    let flight = Flight {
        controller: &controller,
        plant: &plant,
        trajectory: &settings.trajectory,
        noise: None,
        kick: None,
        count_from_ns: settings.settle_ns.min(run_ns / 2),
        recovered_tilt: settings.sweep.recovered_deg.to_radians(),
    };
    let flown = if part.ideal {
        schedule.ideal()
    } else {
        schedule.clone()
    };
    // Kicks at the very end of the run need something to recover with.
    let sweep = &settings.sweep;
    let longer = flown.followed_by_ideal(sweep.burst_ns.saturating_add(sweep.horizon_ns));
    let events = merged(&longer, settings.choices.missed);
    PartFlown(match part.which {
        Which::Tracking => Outcome::Notes(flight.fly(&events, 0, run_ns)),
        Which::Noise => {
            let hover = Trajectory::Hover {
                position: settings.trajectory.start(),
            };
            let noisy = Flight {
                noise: Some(settings.noise),
                trajectory: &hover,
                ..flight
            };
            Outcome::Notes(noisy.fly(&events, 0, run_ns))
        }
        // The ideal flight suffers the very same kicks.
        Which::Kicks => {
            let kicks = kicks::kicks(schedule, sweep);
            Outcome::Kicks(kicks::sweep(&flight, &events, &kicks, sweep.horizon_ns))
        }
    })
}

/// The report of a replay from its parts, in the order of [`Part::needed`].
///
/// # Panics
/// When the parts are in another order.
pub fn join(
    vehicle: &Vehicle,
    schedule: &Schedule,
    settings: &Settings,
    parts: &[PartFlown],
) -> FlightReport {
    let flown = |tracking: PartFlown, noise: PartFlown, kicks: PartFlown| match (
        tracking.0, noise.0, kicks.0,
    ) {
        (Outcome::Notes(tracking), Outcome::Notes(noise), Outcome::Kicks(kicks)) => {
            Flown::new(&tracking, &noise, kicks)
        }
        _ => panic!("the parts of a replay are joined in the order of Part::needed"),
    };
    let [measured, ideal, without_drag] = {
        let mut three = parts.chunks_exact(3).map(|of| flown(of[0], of[1], of[2]));
        [three.next(), three.next(), three.next()]
    };
    let (Some(measured), Some(ideal)) = (measured, ideal) else {
        panic!("a replay is joined from all of Part::needed");
    };
    let timing = Timing::new(schedule);
    FlightReport {
        vehicle: vehicle.name.clone(),
        settings: settings.clone(),
        margins: RemainingMargins::new(vehicle, &timing),
        timing,
        flights: Pair { measured, ideal },
        without_rotor_drag: without_drag,
    }
}

//! One flight: moves the plant from event to event, and records its extremes.

use super::events::{Event, Kind};
use crate::noise::{SLOT_NS, TorqueNoise};
use crate::plant::Plant;
use crate::vector::{all_finite, dot, norm, subtract};
use crate::{Command, Controller, Fault, PlantState, State, Trajectory, Vehicle};
use serde::Serialize;
use std::collections::VecDeque;

/// A vehicle that turns faster than this, rad/s, is lost.
pub const LOST_RATE: f64 = 100.0;
/// A vehicle this far from its reference, m, is lost.
pub const LOST_ERROR: f64 = 20.0;

/// An impulse: a sudden change of the body rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Kick {
    pub(crate) at_ns: u64,
    /// Change of the body rate, rad/s.
    pub(crate) rate: [f64; 3],
}

/// Why a vehicle counts as lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossCause {
    /// It turned faster than [`LOST_RATE`].
    Spin,
    /// It strayed further than [`LOST_ERROR`].
    Astray,
}

/// When and why a vehicle was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// Time of flight, ns from the first due time.
    pub at_ns: u64,
    /// Why.
    pub cause: LossCause,
}

/// Inputs of a flight.
#[derive(Clone, Copy)]
pub(crate) struct Flight<'a> {
    pub(crate) controller: &'a Controller,
    pub(crate) plant: &'a Plant,
    pub(crate) trajectory: &'a Trajectory,
    pub(crate) noise: Option<TorqueNoise>,
    pub(crate) kick: Option<Kick>,
    /// Time from which the deviations and the tracking error count, ns.
    pub(crate) count_from_ns: u64,
    /// Tilt below which the vehicle counts as recovered from a kick, rad.
    pub(crate) recovered_tilt: f64,
}

/// Everything noted; times in ns from the first due time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Notes {
    looks: u64,
    axis: [Moments; 2],
    rate: [Moments; 3],
    square_error: f64,
    pub(crate) peak_tilt: f64,
    pub(crate) saturated_ns: u64,
    pub(crate) loss: Option<Loss>,
    pub(crate) faults: u64,
    pub(crate) first_fault: Option<Fault>,
    /// Last time with a tilt above the recovered one.
    pub(crate) last_tilted_ns: u64,
    pub(crate) end_ns: u64,
}

/// Running mean and sum of squared deviations (Welford 1962).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Moments {
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64, count: u64) {
        let from_mean = value - self.mean;
        self.mean += from_mean / count as f64;
        self.squares += from_mean * (value - self.mean);
    }
}

impl Notes {
    /// √(sum / looks), or `None` for a lost vehicle: figures of the time before the loss would
    /// look better the sooner it was lost.
    fn root_mean(&self, sum: f64) -> Option<f64> {
        (self.loss.is_none() && self.looks > 0).then(|| (sum / self.looks as f64).sqrt())
    }

    /// Standard deviation of the tilt, rad: of the body z axis's two horizontal components.
    pub(crate) fn tilt_deviation(&self) -> Option<f64> {
        self.root_mean(self.axis.iter().map(|moments| moments.squares).sum())
    }

    /// Standard deviation of the body rate over its three axes, rad/s.
    pub(crate) fn rate_deviation(&self) -> Option<f64> {
        self.root_mean(self.rate.iter().map(|moments| moments.squares).sum())
    }

    /// Root mean square distance from the reference, m.
    pub(crate) fn tracking_rmse(&self) -> Option<f64> {
        self.root_mean(self.square_error)
    }
}

impl Flight<'_> {
    /// Flies through `events` from hover at the trajectory's start, time `start_ns`, to `end_ns`
    /// or until the vehicle is lost.
    pub(crate) fn fly(&self, events: &[Event], start_ns: u64, end_ns: u64) -> Notes {
        let vehicle = self.controller.vehicle();
        let hover = vehicle.hover_speed();
        let still = Command {
            rotor_speeds: [hover; 4],
            saturated: false,
            fault: None,
        };
        let mut flown = Flown {
            flight: self,
            vehicle,
            state: PlantState::hover(vehicle, self.trajectory.start()),
            applied: still,
            now: start_ns,
            kick: self.kick.filter(|kick| kick.at_ns >= start_ns),
            notes: Notes {
                last_tilted_ns: start_ns,
                ..Notes::default()
            },
        };
        let mut under_way = VecDeque::with_capacity(8);
        let first = events.partition_point(|event| event.at_ns < start_ns);
        for event in events[first..]
            .iter()
            .take_while(|event| event.at_ns < end_ns)
        {
            flown.move_to(event.at_ns);
            if flown.notes.loss.is_some() {
                break;
            }
            match event.kind {
                Kind::Zero => {
                    flown.applied = Command {
                        rotor_speeds: [0.0; 4],
                        saturated: false,
                        fault: None,
                    };
                }
                Kind::Look => flown.look(),
                Kind::Sample => {
                    let reference = self.trajectory.at(event.at_ns as f64 * 1e-9);
                    let command = self.controller.step(&flown.state.body, &reference);
                    if command.fault.is_some() {
                        flown.notes.faults += 1;
                        flown.notes.first_fault = flown.notes.first_fault.or(command.fault);
                    }
                    under_way.push_back(command);
                }
                // A command worked out before the start was one for hover.
                Kind::Actuate => flown.applied = under_way.pop_front().unwrap_or(still),
            }
        }
        if flown.notes.loss.is_none() {
            flown.move_to(end_ns);
        }
        flown.notes.end_ns = flown.now;
        flown.notes
    }
}

struct Flown<'a> {
    flight: &'a Flight<'a>,
    vehicle: &'a Vehicle,
    state: PlantState,
    applied: Command,
    now: u64,
    kick: Option<Kick>,
    notes: Notes,
}

impl Flown<'_> {
    /// Moves to `to_ns`, with stops at the kick and at changes of the noise.
    fn move_to(&mut self, to_ns: u64) {
        if let Some(kick) = self.kick.filter(|kick| kick.at_ns < to_ns) {
            self.drift_to(kick.at_ns);
            (0..3).for_each(|n| self.state.body.rate[n] += kick.rate[n]);
            self.kick = None;
        }
        self.drift_to(to_ns);
    }

    fn drift_to(&mut self, to_ns: u64) {
        while self.now < to_ns && self.notes.loss.is_none() {
            let (torque, until) = match &self.flight.noise {
                None => ([0.0; 3], to_ns),
                Some(noise) => (
                    noise.torque(self.vehicle.inertia, self.now),
                    to_ns.min((self.now / SLOT_NS + 1) * SLOT_NS),
                ),
            };
            let speeds = self.applied.rotor_speeds;
            self.flight
                .plant
                .advance(&mut self.state, speeds, torque, self.now, until);
            if self.applied.saturated {
                self.notes.saturated_ns += until - self.now;
            }
            self.now = until;
            self.watch();
        }
    }

    /// After each movement: is it lost, how far does it tilt?
    fn watch(&mut self) {
        let State {
            position,
            attitude,
            rate,
            ..
        } = self.state.body;
        let wanted = self.flight.trajectory.at(self.now as f64 * 1e-9).position;
        let error = subtract(position, wanted);
        // Written so that a NaN also counts as lost.
        let turns = dot(rate, rate) <= LOST_RATE * LOST_RATE;
        let near = dot(error, error) <= LOST_ERROR * LOST_ERROR;
        if !(turns && near && all_finite(&attitude)) {
            let cause = if turns {
                LossCause::Astray
            } else {
                LossCause::Spin
            };
            self.notes.loss = Some(Loss {
                at_ns: self.now,
                cause,
            });
            return;
        }
        let tilt = self.state.body.tilt();
        self.notes.peak_tilt = self.notes.peak_tilt.max(tilt);
        if tilt > self.flight.recovered_tilt {
            self.notes.last_tilted_ns = self.now;
        }
    }

    /// At each due time: the deviations and the tracking error.
    fn look(&mut self) {
        if self.now < self.flight.count_from_ns {
            return;
        }
        let State {
            position,
            attitude: [i, j, k, w],
            rate,
            ..
        } = self.state.body;
        let notes = &mut self.notes;
        notes.looks += 1;
        notes.axis[0].add(2.0 * (i * k + j * w), notes.looks);
        notes.axis[1].add(2.0 * (j * k - i * w), notes.looks);
        (0..3).for_each(|n| notes.rate[n].add(rate[n], notes.looks));
        let wanted = self.flight.trajectory.at(self.now as f64 * 1e-9).position;
        notes.square_error += norm(subtract(position, wanted)).powi(2);
    }
}

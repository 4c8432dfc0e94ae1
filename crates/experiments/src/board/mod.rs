//! The experiments of a board, one file each.
//!
//! The built-in scenario of the same name, measured on the booted kernel in rounds, and combined
//! with those of other boots.

mod aura;
mod beaglepilot;
mod jetson;
mod litmus;
mod pi5;

use crate::{Boot, Experiment, Guest};
use wakepath_machine::PreemptionModel::{
    self, Full, Lazy, None as NoPreemption, RealTime, Voluntary,
};

static ALL: [Experiment; 5] = [
    pi5::EXPERIMENT,
    jetson::EXPERIMENT,
    aura::EXPERIMENT,
    beaglepilot::EXPERIMENT,
    litmus::EXPERIMENT,
];

/// Any kernel without `PREEMPT_RT`.
const STANDARD: &[PreemptionModel] = &[NoPreemption, Voluntary, Full, Lazy];
/// Kernels with it.
const REAL_TIME: &[PreemptionModel] = &[RealTime];
/// Any kernel.
const ANY: &[PreemptionModel] = &[NoPreemption, Voluntary, Full, Lazy, RealTime];

const fn booted(
    name: &'static str,
    kernel: &'static str,
    models: &'static [PreemptionModel],
    isolated: Option<bool>,
) -> Guest {
    Guest {
        name,
        kernel,
        boot: Some(Boot { models, isolated }),
    }
}

/// All of them, in the order of the built-in scenarios.
pub fn of_boards() -> &'static [Experiment] {
    &ALL
}

/// The one that a user calls by this name.
pub fn on_a_board(name: &str) -> Option<&'static Experiment> {
    ALL.iter().find(|experiment| experiment.name == name)
}

/// The experiment's kernel that this boot is; `None` if it is another one, or unknown.
pub fn guest_of(
    experiment: &Experiment,
    model: PreemptionModel,
    is_isolated: bool,
) -> Option<&Guest> {
    experiment.guests.iter().find(|guest| {
        guest.boot.is_some_and(|boot| {
            boot.models.contains(&model) && boot.isolated.is_none_or(|wanted| wanted == is_isolated)
        })
    })
}

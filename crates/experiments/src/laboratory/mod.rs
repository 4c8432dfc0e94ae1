//! The experiments of the laboratory, one file each.

mod aura;
mod aura_in_loop;
mod beaglepilot;
mod isolation;
mod litmus;
mod pi5;

use crate::Experiment;

static ALL: [Experiment; 6] = [
    beaglepilot::EXPERIMENT,
    pi5::EXPERIMENT,
    isolation::EXPERIMENT,
    aura::EXPERIMENT,
    aura_in_loop::EXPERIMENT,
    litmus::EXPERIMENT,
];

/// All of them, in the order of the page.
pub fn all() -> &'static [Experiment] {
    &ALL
}

/// The one that a user calls by this name.
pub fn named(name: &str) -> Option<&'static Experiment> {
    ALL.iter().find(|experiment| experiment.name == name)
}

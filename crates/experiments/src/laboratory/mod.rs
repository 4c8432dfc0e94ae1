//! The experiments of the laboratory, one file each.

pub(crate) mod beaglepilot;
mod isolation;
pub(crate) mod litmus;
pub(crate) mod pi5;

use crate::{Cell, Experiment};

static ALL: [Experiment; 4] = [
    beaglepilot::EXPERIMENT,
    pi5::EXPERIMENT,
    isolation::EXPERIMENT,
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

pub(super) const fn cell(
    guest: &'static str,
    phase: &'static str,
    policy: &'static str,
) -> Cell<'static> {
    Cell {
        guest,
        phase,
        policy,
    }
}

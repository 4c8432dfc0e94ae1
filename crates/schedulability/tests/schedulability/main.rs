//! The analyses against published answers, each other and a simulation.

mod edf;
mod fixed_priority;
mod global;
mod overheads;
mod whole_sets;

//! The analyses against published answers, each other and a simulation.

mod chains;
mod edf;
mod fixed_priority;
mod global;
mod matrix;
mod offsets;
mod overheads;
mod played;
mod reservations;
mod sched_deadline;
mod second_opinion;
mod sweeps;
mod whole_sets;
mod windows;

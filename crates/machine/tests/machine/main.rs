//! Machines recorded, damaged and live, read as facts.

mod changes_between_readings;
mod damaged_trees;
mod recorded_machines;
mod this_machine;
mod timer_place;

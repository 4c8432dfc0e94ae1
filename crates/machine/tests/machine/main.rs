//! Machines recorded, damaged and live, read as facts.

mod changes_between_readings;
mod cores;
mod damaged_trees;
mod recorded_machines;
mod this_machine;
mod timer_place;

wakepath_test_program::program![
    changes_between_readings::TESTS,
    cores::TESTS,
    damaged_trees::TESTS,
    recorded_machines::TESTS,
    this_machine::TESTS,
    timer_place::TESTS,
];

//! The program as its users start it. `system` measures time and wants `--test-threads=1`; `lab`
//! and `kills` take minutes and are ignored but in their own stages.

mod command_line;
mod kills;
mod lab;
mod own_controller;
mod started;
mod system;

wakepath_test_program::program![
    command_line::archives::TESTS,
    command_line::compare::TESTS,
    command_line::directories::TESTS,
    command_line::documentation::TESTS,
    command_line::exec::TESTS,
    command_line::export::TESTS,
    command_line::fly::TESTS,
    command_line::hostile_runs::TESTS,
    command_line::import::TESTS,
    command_line::limits::TESTS,
    command_line::links::TESTS,
    command_line::output::TESTS,
    command_line::scenarios::TESTS,
    command_line::schedulability::TESTS,
    command_line::usage::TESTS,
    kills::runs::TESTS,
    kills::tunings::TESTS,
    kills::watches::TESTS,
    lab::experiments::TESTS,
    lab::TESTS,
    lab::tuned::TESTS,
    own_controller::built_in::TESTS,
    own_controller::library::TESTS,
    own_controller::python::TESTS,
    system::clock_step::TESTS,
    system::death::TESTS,
    system::full_disk::TESTS,
    system::guard::TESTS,
    system::interruption::TESTS,
    system::live_view::TESTS,
    system::loads::TESTS,
    system::privileges::TESTS,
    system::recorder::TESTS,
    system::rights::TESTS,
    system::settings::TESTS,
    system::stalls::TESTS,
    system::traced::TESTS,
    system::trial::TESTS,
    system::wake_ups::TESTS,
    system::watching::TESTS,
];

//! The program as its users start it. `whole_machine` wants `--test-threads=1`; `lab`,
//! `kills` and `repetition` take minutes and are ignored but in their own stages.

mod command_line;
mod kills;
mod lab;
mod own_controller;
mod own_loop;
mod repetition;
mod started;
mod sweeps;
mod system;
mod typed;
mod whole_machine;

wakepath_test_program::program![
    command_line::answer::TESTS,
    command_line::archives::TESTS,
    command_line::bound::TESTS,
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
    command_line::pages::TESTS,
    command_line::programs::TESTS,
    command_line::reports::TESTS,
    command_line::runs::TESTS,
    command_line::scenarios::TESTS,
    command_line::schedulability::TESTS,
    command_line::sweep::TESTS,
    command_line::usage::TESTS,
    kills::interruptions::TESTS,
    kills::runs::TESTS,
    kills::tunings::TESTS,
    kills::watches::TESTS,
    lab::experiments::TESTS,
    lab::given::TESTS,
    lab::TESTS,
    lab::tuned::TESTS,
    own_controller::built_in::TESTS,
    own_controller::library::TESTS,
    own_controller::python::TESTS,
    own_loop::beside::TESTS,
    own_loop::conditions::TESTS,
    own_loop::examples::TESTS,
    own_loop::hostile::TESTS,
    own_loop::languages::TESTS,
    own_loop::logging::TESTS,
    own_loop::packaged::TESTS,
    own_loop::ros2::TESTS,
    own_loop::service::TESTS,
    own_loop::service_within::TESTS,
    repetition::TESTS,
    sweeps::TESTS,
    system::death::TESTS,
    system::first_hour::TESTS,
    system::full_disk::TESTS,
    system::guard::TESTS,
    system::interruption::TESTS,
    system::live_view::TESTS,
    system::loads::TESTS,
    system::metrics::TESTS,
    system::privileges::TESTS,
    system::rates::TESTS,
    system::recorder::TESTS,
    system::rights::TESTS,
    system::settings::TESTS,
    system::stalls::TESTS,
    system::traced::TESTS,
    system::wake_ups::TESTS,
    system::watching::TESTS,
    system::widths::TESTS,
    whole_machine::clock_step::TESTS,
    whole_machine::tracers::TESTS,
    whole_machine::trial::TESTS,
];

//! Tests of the run directory from outside.
//!
//! Complete runs on a real file system, real processes that are killed, files that are cut and
//! altered.

mod damaged_logs;
mod every_fault;
mod finishing;
mod following;
mod full_disk;
mod killed_writer;
mod links;
mod made_up_run;
mod old_formats;
mod recovering;
mod round_trip;
mod scratch;
mod size;
mod traces;

wakepath_test_program::program![
    damaged_logs::TESTS,
    every_fault::TESTS,
    finishing::TESTS,
    following::TESTS,
    full_disk::TESTS,
    killed_writer::TESTS,
    links::TESTS,
    old_formats::TESTS,
    recovering::TESTS,
    round_trip::TESTS,
    size::TESTS,
    traces::TESTS,
];

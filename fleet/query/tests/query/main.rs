//! Queries to an archive of generated runs, compared with answers computed from the runs' formula.
//!
//! Also to a real Spark cluster, compared with the engine in this program.

mod embedded;
mod fleet;
mod spark;
mod voided;

wakepath_test_program::program![embedded::TESTS, spark::TESTS, voided::TESTS];

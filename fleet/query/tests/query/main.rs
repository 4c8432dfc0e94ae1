//! Questions to an archive of made-up runs, against answers that are worked out from the runs' formula;
//! and to a real Spark cluster, against the engine in this program.

mod embedded;
mod fleet;
mod spark;
mod voided;

wakepath_test_program::program![embedded::TESTS, spark::TESTS, voided::TESTS];

//! Tests of programs' rights that need a process with rights to give up.

mod rights;
mod trust;

wakepath_test_program::program![rights::TESTS, trust::TESTS];

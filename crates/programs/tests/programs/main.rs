//! What can be said of programs' rights only where this process has some to give.

mod rights;
mod trust;

wakepath_test_program::program![rights::TESTS, trust::TESTS];

//! What a loop asks the kernel for and may be refused: real-time policies, and the guard against them.

mod attributes;
mod guard;

wakepath_test_program::program![attributes::TESTS, guard::TESTS];

//! Loads in real processes: that they run, prove it, and leave nothing.

mod built_in;
mod death;
mod gpu;
mod programs;
mod running;

wakepath_test_program::program![built_in::TESTS, death::TESTS, gpu::TESTS, programs::TESTS,];

//! Requests that the kernel can refuse a loop: real-time policies, and the guard against them.

mod attributes;
mod guard;

wakepath_test_program::program![attributes::TESTS, guard::TESTS];

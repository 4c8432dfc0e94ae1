//! The laboratory's pure folders against answers worked out by hand. Guests are booted by wakepath's own
//! tests of the laboratory.

mod folding;
mod gnu_cpio;
mod page;

wakepath_test_program::program![folding::TESTS, gnu_cpio::TESTS, page::TESTS,];

//! The laboratory's pure folders against answers worked out by hand. Guests are booted by wakepath's own
//! tests of the laboratory.

mod folding;
mod gnu_cpio;
mod tiny_costs;
mod tiny_kernel;

wakepath_test_program::program![
    folding::TESTS,
    gnu_cpio::TESTS,
    tiny_costs::TESTS,
    tiny_kernel::TESTS
];

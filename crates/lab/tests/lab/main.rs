//! The laboratory's pure folders against answers worked out by hand. Guests are booted by wakepath's own
//! tests of the laboratory.

mod folding;
mod gnu_cpio;
mod killed_laboratory;
mod tiny_costs;
mod tiny_kernel;

wakepath_test_program::program![
    folding::TESTS,
    gnu_cpio::TESTS,
    killed_laboratory::TESTS,
    tiny_costs::TESTS,
    tiny_kernel::TESTS
];

//! The probe on recorded pages and on the kernel at hand.

mod recorded_pages;
mod this_kernel;

wakepath_test_program::program![recorded_pages::TESTS, this_kernel::TESTS,];

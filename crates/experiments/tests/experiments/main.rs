//! Findings and pages from hand-made runs: the known answers are the figures put in.

mod boards;
mod page;

wakepath_test_program::program!(boards::TESTS, page::TESTS);

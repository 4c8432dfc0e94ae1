//! A master and a ring exchange real frames over a virtual link.

mod exchange;

wakepath_test_program::program![exchange::TESTS];

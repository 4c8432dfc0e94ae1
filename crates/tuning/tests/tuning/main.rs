//! Plans, their application, and the way back.

mod boot_entries;
mod killed;
mod plans;
mod programs;

wakepath_test_program::program![
    boot_entries::TESTS,
    killed::TESTS,
    plans::TESTS,
    programs::TESTS,
];

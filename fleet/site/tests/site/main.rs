//! The pages of a fleet: their text, and how a browser shows them.

#[path = "../../../../crates/report/tests/report/page/browser.rs"]
#[allow(dead_code)] // Reports are folded, and drawn upon; these pages are not.
mod browser;
mod pages;
mod shown;

wakepath_test_program::program![pages::TESTS, shown::TESTS];

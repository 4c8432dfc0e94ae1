//! A release's artefacts, installed, attacked and removed in a clean root without a network.
//!
//! The root is a minimal Debian made of this machine's packages. The stage `packages` makes the
//! artefacts and starts these tests, which are ignored elsewhere.

mod arm;
mod clean_root;
mod debian;
mod fedora;
mod files;
mod installer;
mod interrupted;
mod published;
mod rights;
mod wheel;

wakepath_test_program::program![
    arm::TESTS,
    debian::TESTS,
    fedora::TESTS,
    files::TESTS,
    installer::TESTS,
    interrupted::TESTS,
    published::TESTS,
    rights::TESTS,
    wheel::TESTS,
];

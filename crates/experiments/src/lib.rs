//! Published latency experiments, their repetition, and a page that compares the figures.
//!
//! For each: its measurements and findings, how it is repeated on real kernels in virtual time or
//! on the user's own board, and the result of each claim. Pure: it measures nothing, boots nothing
//! and reads no file.

mod board;
mod claim;
mod experiment;
mod laboratory;
mod page;
mod published;
mod repeated;

pub use board::{guest_of, of_boards, on_a_board};
pub use claim::{
    Agreement, Claim, Claims, ClaimsError, Condition, Finding, Quantity, Reasoned, Smallest, Test,
    findings, findings_text,
};
pub use experiment::{
    Boot, Cell, Drawing, Experiment, Figure, Given, Guest, OVER_POLICIES, Setting,
};
pub use laboratory::{all, named};
pub use page::{
    Entry, GuestTime, KernelFile, KernelOrigin, Pages, Provenance, Row, SamplesDigest, Verdicts,
    index, indexed, pages,
};
pub use published::Published;
pub use repeated::{GuestRun, Measured, Repeated, SecondRun, Unlike};

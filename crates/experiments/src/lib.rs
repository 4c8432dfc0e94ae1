//! Published latency experiments: what was measured and found, how each is repeated, on real kernels in virtual
//! time or on the user's own board, what our figures say of each claim, and a page that sets them beside the
//! published ones. Pure: it measures nothing, boots nothing and reads no file.

mod board;
mod claim;
mod experiment;
mod laboratory;
mod page;
mod published;
mod repeated;
mod shown;

pub use board::{guest_of, of_boards, on_a_board};
pub use claim::{Agreement, Claim, Finding, Test, findings, findings_text};
pub use experiment::{
    Boot, Cell, Drawing, Experiment, Figure, Given, Guest, OVER_POLICIES, Setting,
};
pub use laboratory::{all, named};
pub use page::{Page, page};
pub use published::Published;
pub use repeated::{GuestRun, Measured, Repeated, Unlike};

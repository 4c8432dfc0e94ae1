//! Published latency experiments: what was measured and found, how the laboratory repeats each on real
//! kernels in virtual time, and a page that sets our figures beside the published ones. Pure, and that is
//! a rule of this folder: it boots nothing and reads no file.

mod claim;
mod experiment;
mod known;
mod page;
mod repeated;
mod shown;

pub use claim::{Agreement, Claim, Finding, Test, findings};
pub use experiment::{Cell, Drawing, Experiment, Figure, Guest, OVER_POLICIES, Published};
pub use known::{all, named};
pub use page::{Page, page};
pub use repeated::{GuestRun, Measured, Repeated};

//! Shows the archive of a fleet as pages, OpenMetrics and KCIDB.
//!
//! The pages need no server and no script from elsewhere. It reads no archive and judges nothing:
//! callers pass the data.

mod board;
mod export;
mod feed;
mod front;
mod heat;
mod markup;
mod plot;
mod policy;
mod seen;

pub use board::board_page;
pub use export::{kcidb, open_metrics};
pub use feed::feed;
pub use front::front_page;
pub use seen::{Cell, Curve, Seal, Seen, SeenChange, SeenRun};

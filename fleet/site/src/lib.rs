//! The archive of a fleet, shown: as pages that need no server and no script from elsewhere, as
//! OpenMetrics, as KCIDB. It reads no archive and judges nothing: what it shows is given to it.

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

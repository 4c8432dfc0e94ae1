//! The archive of a fleet: a directory or a bucket to which controllers add runs.
//!
//! Many controllers can add runs at once, and anyone can query. A run is complete or absent, and
//! stored once. The archive judges nothing itself: `wakepath-assess` assesses a run when it is
//! added.
//!
//! Two kinds of names make it safe. **Objects** are files named by the SHA-256 of their bytes:
//! writing one twice writes the same. **Records** are named by the run. A record is created in a
//! single step that fails if it exists already, and only the record makes a run visible, after all
//! its objects are on disk. The layout is described in `docs/advanced/fleet-archive.md`.

mod add;
mod catalogue;
mod check;
mod error;
mod facts;
mod gathered;
mod histogram;
mod name;
mod record;
mod restore;
mod retention;
mod rows;
mod seals;
mod settings;
mod store;
mod table;

pub use add::{Added, add};
pub use catalogue::{Catalogue, Latencies, PlacedTable, SamplesFile, catalogue};
pub use check::check;
pub use error::{FleetArchiveError, Result};
pub use histogram::{Bin, Histogram, MOST_EXACT_BINS};
pub use name::{Board, is_plain, run_number};
pub use record::{ConditionRow, Kept, Outlier, Role, RunRecord, ThreadRow};
pub use restore::restore;
pub use retention::{Retention, Swept, sweep};
pub use seals::{SealTerms, Standing};
#[cfg(feature = "buckets")]
pub use store::BucketStore;
pub use store::{DirectoryStore, Held, Hold, Placed, Store};
pub use table::Kind;

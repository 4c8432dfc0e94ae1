//! The archive of a fleet: a directory or a bucket to which many controllers add runs at once, and from which
//! anybody asks. A run is there whole or not at all, and once. It judges nothing of its own: what a run
//! means is asked of `wakepath-assess` when it is added.
//!
//! Two kinds of names make it safe. **Objects** are files named by the SHA-256 of their bytes: who
//! writes one twice writes the same. **Records** are named by the run; one is made in a single step that
//! fails where it is there already, and only it makes a run visible, after all its objects are on the
//! disk. The layout is described in `docs/advanced/fleet-archive.md`.

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

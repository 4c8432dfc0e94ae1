//! Queries to the archive of a fleet, as SQL.
//!
//! The engine in this program (DataFusion) and a Spark cluster answer the same text from the same
//! files with the same bytes. The counts in an answer are compared with the archive's records, and
//! an answer that differs is rejected. It judges no run.

mod answer;
mod asked;
mod checked;
mod counted;
mod embedded;
mod error;
mod named;
mod spark;
mod tables;
mod text;

pub use answer::{Answer, Value};
pub use asked::{Answered, Engine, ask};
pub use error::{QueryError, Result};
pub use named::{NAMED, Named, named};
pub use spark::Cluster;
pub use tables::{Tables, TotalCounts};
pub use text::Text;

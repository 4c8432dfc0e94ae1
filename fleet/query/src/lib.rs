//! Questions to the archive of a fleet, as SQL. One text is answered by the engine in this program
//! (DataFusion) and by a Spark cluster, from the same files, to the same bytes; what an answer counted is
//! held against what the archive's records say, and an answer that differs is none. It judges no run.

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

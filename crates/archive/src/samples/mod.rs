//! A finished run's samples as a Parquet file. It knows nothing about logs, manifests or crashes.

mod column;
mod reader;
mod writer;

pub(crate) use column::Columns;
pub(crate) use reader::ParquetSamples;
pub(crate) use writer::ParquetWriter;

/// Name of the samples' file in a run directory.
pub const PARQUET_NAME: &str = "samples.parquet";

/// Most samples in one row group, and in memory at a time: 12 MiB.
pub(crate) const ROWS_PER_GROUP: usize = 1 << 18;

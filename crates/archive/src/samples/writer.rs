//! Writes samples as Parquet: delta-packed, zstd.
//!
//! One row group for each stretch of one thread in one segment, so that a reader finds a thread
//! without reading the others.

use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;

use parquet::basic::{
    Compression, Encoding, IntType, LogicalType, Repetition, Type as Physical, ZstdLevel,
};
use parquet::data_type::{Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use wakepath_directory::{Directory, NewFile};
use wakepath_timeline::Sample;

use super::column::{Column, Columns, SEGMENT, THREAD};
use crate::MEASURED_FORMAT_VERSION;
use crate::durable::sync_file;
use crate::error::{ArchiveError, Result, parquet_error};

/// Writes one file.
pub(crate) struct ParquetWriter {
    writer: SerializedFileWriter<BufWriter<NewFile>>,
    columns: Vec<&'static Column>,
    path: PathBuf,
}

impl ParquetWriter {
    /// Starts the file, in the place of anything that is there.
    pub(crate) fn create(
        directory: &Directory,
        name: &str,
        columns: Columns,
        run_id: &str,
    ) -> Result<Self> {
        let path = &directory.path_of(name);
        let file = directory
            .create_anew(name)
            .map_err(|e| ArchiveError::io("create", path, e))?;
        let columns: Vec<_> = columns.needed().collect();
        let failed = |e| parquet_error(path, e);
        let schema = schema(&columns).map_err(failed)?;
        let properties = properties(&columns, run_id).map_err(failed)?;
        let writer = SerializedFileWriter::new(BufWriter::new(file), schema, Arc::new(properties))
            .map_err(failed)?;
        Ok(Self {
            writer,
            columns,
            path: path.to_owned(),
        })
    }

    /// Writes one row group: consecutive samples of one thread in one segment.
    pub(crate) fn write(&mut self, segment: u32, thread: u16, samples: &[Sample]) -> Result<()> {
        let columns = &self.columns;
        let written = self.writer.next_row_group().and_then(|mut group| {
            narrow(&mut group, &vec![segment as i32; samples.len()])?;
            narrow(&mut group, &vec![thread.into(); samples.len()])?;
            for column in columns {
                if column.is_narrow {
                    let values: Vec<i32> = samples.iter().map(|s| (column.get)(s) as i32).collect();
                    narrow(&mut group, &values)?;
                } else {
                    let values: Vec<i64> = samples.iter().map(column.get).collect();
                    wide(&mut group, &values)?;
                }
            }
            group.close()
        });
        written.map(drop).map_err(|e| parquet_error(&self.path, e))
    }

    /// Ends the file and waits until the disk has it.
    pub(crate) fn finish(self) -> Result<()> {
        // It writes the footer first.
        let file = self
            .writer
            .into_inner()
            .map_err(|e| parquet_error(&self.path, e))?;
        let mut file = file
            .into_inner()
            .map_err(|e| ArchiveError::io("write", &self.path, e.into_error()))?;
        sync_file(&mut file, &self.path)
    }
}

type Group<'a> = SerializedRowGroupWriter<'a, BufWriter<NewFile>>;

fn narrow(group: &mut Group<'_>, values: &[i32]) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.ok_or_else(too_few_columns)?;
    column
        .typed::<Int32Type>()
        .write_batch(values, None, None)?;
    column.close()
}

fn wide(group: &mut Group<'_>, values: &[i64]) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.ok_or_else(too_few_columns)?;
    column
        .typed::<Int64Type>()
        .write_batch(values, None, None)?;
    column.close()
}

fn too_few_columns() -> ParquetError {
    ParquetError::General("the schema has fewer columns than are written".to_owned())
}

fn schema(columns: &[&Column]) -> Result<TypePtr, ParquetError> {
    let unsigned = LogicalType::Integer(IntType {
        bit_width: 32,
        is_signed: false,
    });
    let field = |name, is_narrow| {
        let physical = if is_narrow {
            Physical::INT32
        } else {
            Physical::INT64
        };
        Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(is_narrow.then(|| unsigned.clone()))
            .build()
            .map(Arc::new)
    };
    let mut fields = vec![field(SEGMENT, true)?, field(THREAD, true)?];
    for column in columns {
        fields.push(field(column.name, column.is_narrow)?);
    }
    Type::group_type_builder("samples")
        .with_fields(fields)
        .build()
        .map(Arc::new)
}

fn properties(columns: &[&Column], run_id: &str) -> Result<WriterProperties, ParquetError> {
    let key_values = vec![
        KeyValue::new(
            "wakepath.format_version".to_owned(),
            MEASURED_FORMAT_VERSION.to_string(),
        ),
        KeyValue::new("wakepath.run_id".to_owned(), run_id.to_owned()),
    ];
    // Segment, thread and cycle: the first three columns.
    let sorted = (0..3)
        .map(|column_idx| SortingColumn {
            column_idx,
            descending: false,
            nulls_first: false,
        })
        .collect();
    let mut builder = WriterProperties::builder()
        .set_created_by(format!(
            "wakepath-archive version {}",
            env!("CARGO_PKG_VERSION")
        ))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_sorting_columns(Some(sorted))
        .set_key_value_metadata(Some(key_values));
    for column in columns.iter().filter(|column| !column.is_narrow) {
        let path = ColumnPath::from(column.name);
        builder = builder
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    Ok(builder.build())
}

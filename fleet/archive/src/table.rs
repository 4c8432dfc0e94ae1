//! Tables as Parquet: whole columns of integers, texts and flags, packed as an archive's samples are.
//! It knows nothing of runs.

use crate::catalogue::Latencies;
use crate::error::{FleetArchiveError, Result};
use parquet::basic::{
    Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel,
};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};
use serde::Serialize;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// A column with all its values.
pub(crate) enum Values {
    Integers(Vec<i64>),
    IntegersOrNone(Vec<Option<i64>>),
    Texts(Vec<String>),
    Words(Vec<&'static str>),
    Flags(Vec<bool>),
}

/// The kinds of columns, as passed to engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// 64 bits with a sign; perhaps none.
    Integer,
    /// UTF-8.
    Text,
    /// True or false.
    Flag,
}

impl Values {
    /// The kind passed to an engine.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Integers(_) | Self::IntegersOrNone(_) => Kind::Integer,
            Self::Texts(_) | Self::Words(_) => Kind::Text,
            Self::Flags(_) => Kind::Flag,
        }
    }
}

/// Integers that are packed by their differences; others repeat, and use a dictionary.
pub(crate) type Column = (&'static str, Values);

/// A table that grows by groups of rows. Equal tables have equal bytes.
pub(crate) struct TableWriter {
    writer: Option<SerializedFileWriter<Vec<u8>>>,
    packed: &'static [&'static str],
}

/// The table's bytes, in one group of rows.
pub(crate) fn to_parquet(columns: &[Column]) -> Result<Vec<u8>> {
    let mut writer = TableWriter::new(&[]);
    writer.write(columns)?;
    writer.finish()
}

impl TableWriter {
    /// An empty table; `packed` columns are packed by their differences.
    pub(crate) fn new(packed: &'static [&'static str]) -> Self {
        Self {
            writer: None,
            packed,
        }
    }

    /// Adds rows: every time the same columns, the first time perhaps without rows.
    pub(crate) fn write(&mut self, columns: &[Column]) -> Result<()> {
        let mut written = || {
            if self.writer.is_none() {
                let properties = Arc::new(properties(self.packed)?);
                let schema = schema(columns)?;
                self.writer = Some(SerializedFileWriter::new(Vec::new(), schema, properties)?);
            }
            write_group(self.writer.as_mut().expect("just made"), columns)
        };
        written().map_err(failed)
    }

    /// All of it.
    pub(crate) fn finish(self) -> Result<Vec<u8>> {
        let writer = self.writer.expect("something was written");
        writer.into_inner().map_err(failed)
    }
}

fn failed(error: ParquetError) -> FleetArchiveError {
    FleetArchiveError::damaged(Path::new("a table"), error.to_string())
}

fn schema(columns: &[Column]) -> std::result::Result<Arc<Type>, ParquetError> {
    let mut fields = Vec::new();
    for (name, values) in columns {
        let (physical, repetition) = match values {
            Values::Integers(_) => (Physical::INT64, Repetition::REQUIRED),
            Values::IntegersOrNone(_) => (Physical::INT64, Repetition::OPTIONAL),
            Values::Texts(_) | Values::Words(_) => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
            Values::Flags(_) => (Physical::BOOLEAN, Repetition::REQUIRED),
        };
        let mut field = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        if physical == Physical::BYTE_ARRAY {
            field = field
                .with_logical_type(Some(LogicalType::String))
                .with_converted_type(ConvertedType::UTF8);
        }
        fields.push(Arc::new(field.build()?));
    }
    let schema = Type::group_type_builder("table")
        .with_fields(fields)
        .build()?;
    Ok(Arc::new(schema))
}

fn properties(packed: &[&'static str]) -> std::result::Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_created_by("wakepath-fleet".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_statistics_enabled(EnabledStatistics::Chunk);
    for name in packed {
        let path = ColumnPath::from(*name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    Ok(properties.build())
}

fn write_group(
    writer: &mut SerializedFileWriter<Vec<u8>>,
    columns: &[Column],
) -> std::result::Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (_, values) in columns {
        let mut column = group.next_column()?.expect("as many as the schema has");
        match values {
            Values::Integers(values) => column
                .typed::<Int64Type>()
                .write_batch(values, None, None)?,
            Values::IntegersOrNone(values) => {
                let there: Vec<i16> = values.iter().map(|v| v.is_some().into()).collect();
                let values: Vec<i64> = values.iter().flatten().copied().collect();
                column
                    .typed::<Int64Type>()
                    .write_batch(&values, Some(&there), None)?
            }
            Values::Texts(values) => {
                let values: Vec<ByteArray> = values.iter().map(|t| t.as_str().into()).collect();
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&values, None, None)?
            }
            Values::Words(values) => {
                let values: Vec<ByteArray> = values.iter().map(|&word| word.into()).collect();
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&values, None, None)?
            }
            Values::Flags(values) => column.typed::<BoolType>().write_batch(values, None, None)?,
        };
        column.close()?;
    }
    group.close().map(drop)
}

/// Most rows of a group that our writers write.
const MOST_ROWS: i64 = 1 << 22;

/// The latencies in a table of histograms.
pub(crate) fn read_latencies(file: File) -> std::result::Result<Latencies, ParquetError> {
    let odd = |why: &str| ParquetError::General(why.to_owned());
    let reader = SerializedFileReader::new(file)?;
    let mut all = Latencies::new();
    for number in 0..reader.num_row_groups() {
        let group = reader.get_row_group(number)?;
        let rows = group.metadata().num_rows();
        if !(0..=MOST_ROWS).contains(&rows) {
            return Err(odd("a group with more rows than are ever written"));
        }
        let rows = rows as usize;
        let place = |name: &str| {
            let columns = group.metadata().columns();
            let place = columns.iter().position(|c| c.column_descr().name() == name);
            place.ok_or_else(|| odd("a column is missing"))
        };
        let integers = |name: &str| {
            let ColumnReader::Int64ColumnReader(mut column) =
                group.get_column_reader(place(name)?)?
            else {
                return Err(odd("a column of integers is none"));
            };
            let mut values = Vec::new();
            column.read_records(rows, None, None, &mut values)?;
            Ok(values)
        };
        let ColumnReader::ByteArrayColumnReader(mut column) =
            group.get_column_reader(place("metric")?)?
        else {
            return Err(odd("a column of texts is none"));
        };
        let mut metrics = Vec::new();
        column.read_records(rows, None, None, &mut metrics)?;
        let (segments, threads) = (integers("segment")?, integers("thread")?);
        let (uppers, samples) = (integers("upper_ns")?, integers("samples")?);
        let lengths = [
            segments.len(),
            threads.len(),
            uppers.len(),
            samples.len(),
            metrics.len(),
        ];
        if lengths.iter().any(|&length| length != rows) {
            return Err(odd("columns of different lengths"));
        }
        for row in (0..rows).filter(|&row| metrics[row].data() == b"latency") {
            let thread = all.entry((segments[row], threads[row])).or_default();
            thread.push((uppers[row], samples[row]));
        }
    }
    Ok(all)
}

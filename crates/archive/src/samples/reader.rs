//! Reads samples from Parquet, one row group at a time.
//!
//! Callers pass each thread's due times, which the file does not contain.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::statistics::Statistics;
use wakepath_directory::Directory;
use wakepath_timeline::{DueTimes, Sample};

use super::ROWS_PER_GROUP;
use super::column::{ALL, SEGMENT, THREAD};
use crate::MEASURED_FORMAT_VERSION;
use crate::error::{ArchiveError, Result, parquet_error};

/// An open file.
pub(crate) struct ParquetSamples {
    reader: SerializedFileReader<File>,
    groups: Vec<Group>,
    path: PathBuf,
}

/// A row group: samples of one thread in one segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    pub segment: u32,
    pub thread: u16,
    pub rows: usize,
}

impl ParquetSamples {
    /// Opens a file and determines each row group's thread.
    pub(crate) fn open(directory: &Directory, name: &str) -> Result<Self> {
        let path = &directory.path_of(name);
        let file = directory
            .open(name)
            .map_err(|e| ArchiveError::io("open", path, e))?;
        let reader = SerializedFileReader::new(file).map_err(|e| parquet_error(path, e))?;
        check_version(&reader, path)?;
        let groups = reader
            .metadata()
            .row_groups()
            .iter()
            .map(group)
            .collect::<Option<_>>();
        let groups = groups.ok_or_else(|| ArchiveError::NotRecognised {
            path: path.to_owned(),
            expected: "wakepath samples file",
            why: "a row group without its segment and thread".to_owned(),
        })?;
        Ok(Self {
            reader,
            groups,
            path: path.to_owned(),
        })
    }

    /// The row groups in the file's order: by segment, thread and cycle.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The samples of one row group.
    pub(crate) fn read(&self, index: usize, due: DueTimes) -> Result<Vec<Sample>> {
        self.read_columns(index, due)
            .map_err(|e| parquet_error(&self.path, e))
    }

    fn read_columns(&self, index: usize, due: DueTimes) -> Result<Vec<Sample>, ParquetError> {
        let group = self.reader.get_row_group(index)?;
        let rows = self.groups[index].rows;
        let mut samples = vec![Sample::default(); rows];
        let schema = group.metadata().schema_descr();
        for column in &ALL {
            let at = schema
                .columns()
                .iter()
                .position(|found| found.name() == column.name);
            let Some(at) = at else {
                if column.is_omitted_if_zero {
                    continue;
                }
                return Err(ParquetError::General(format!("no column {}", column.name)));
            };
            let values: Vec<i64> = match group.get_column_reader(at)? {
                ColumnReader::Int32ColumnReader(reader) => values(reader, rows)?
                    .into_iter()
                    .map(|value: i32| i64::from(value.cast_unsigned()))
                    .collect(),
                ColumnReader::Int64ColumnReader(reader) => values(reader, rows)?,
                _ => {
                    return Err(ParquetError::General(format!(
                        "{} is not an integer",
                        column.name
                    )));
                }
            };
            if values.len() != rows {
                return Err(ParquetError::General(format!(
                    "column {} has {} values instead of {rows}",
                    column.name,
                    values.len()
                )));
            }
            for (sample, value) in samples.iter_mut().zip(values) {
                (column.set)(sample, value, due).ok_or_else(|| {
                    ParquetError::General(format!("{value} in column {}", column.name))
                })?;
            }
        }
        Ok(samples)
    }
}

fn values<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
) -> Result<Vec<T::T>, ParquetError> {
    let mut values = Vec::with_capacity(rows);
    // A required column has as many values as records; it ends with the pages.
    reader.read_records(rows, None, None, &mut values)?;
    Ok(values)
}

fn check_version(reader: &SerializedFileReader<File>, path: &Path) -> Result<()> {
    let key_values = reader.metadata().file_metadata().key_value_metadata();
    let version = key_values
        .and_then(|pairs| {
            pairs
                .iter()
                .find(|pair| pair.key == "wakepath.format_version")
        })
        .and_then(|pair| pair.value.as_deref()?.parse::<u32>().ok());
    match version {
        Some(found) if found > MEASURED_FORMAT_VERSION => Err(ArchiveError::NewerFormat {
            path: path.to_owned(),
            found,
            supported: MEASURED_FORMAT_VERSION,
        }),
        Some(_) => Ok(()),
        None => Err(ArchiveError::NotRecognised {
            path: path.to_owned(),
            expected: "wakepath samples file",
            why: "it has no format version".to_owned(),
        }),
    }
}

/// A row group's thread and segment: the smallest and largest values of its first two columns,
/// which must be equal.
fn group(metadata: &RowGroupMetaData) -> Option<Group> {
    let only = |name| {
        let column = metadata
            .columns()
            .iter()
            .find(|c| c.column_descr().name() == name)?;
        let Some(Statistics::Int32(values)) = column.statistics() else {
            return None;
        };
        let (least, most) = (*values.min_opt()?, *values.max_opt()?);
        (least == most).then_some(least.cast_unsigned())
    };
    Some(Group {
        segment: only(SEGMENT)?,
        thread: only(THREAD)?.try_into().ok()?,
        // More rows than we ever write in a group could exhaust the memory.
        rows: usize::try_from(metadata.num_rows())
            .ok()
            .filter(|&rows| rows <= ROWS_PER_GROUP)?,
    })
}

//! The table `sample_hist`: a run's samples counted by value.
//!
//! [`VIEW`] defines it in SQL, and a cluster evaluates that. Here it is counted directly from the
//! files, one at a time, because a general grouping takes several times as long. It is independent
//! of the query.

use crate::tables::TableFile;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use datafusion::parquet::file::metadata::RowGroupMetaData;
use datafusion::parquet::file::statistics::Statistics;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::sync::Arc;

/// Its name.
pub(crate) const NAME: &str = "sample_hist";

/// Its columns, all integers.
pub(crate) const COLUMNS: [&str; 5] = ["run", "segment", "thread", "latency_ns", "samples"];

/// Its definition, for every engine.
pub(crate) const VIEW: &str = "SELECT run, segment, thread, latency_ns, COUNT(*) AS samples FROM samples \
                               WHERE (COALESCE(flags, 0) & 1) = 0 AND latency_ns IS NOT NULL \
                               GROUP BY run, segment, thread, latency_ns";

/// A sample of the warm-up.
const WARM_UP: i64 = 1;

/// Latencies below it, in nanoseconds, are counted at their own place: 2 MB of counts.
const NEAR: usize = 1 << 18;

/// Rows decoded at a time: few enough that they stay in a cache.
const ROWS: usize = 1 << 13;

/// The table over files of samples, in `streams` streams.
pub(crate) fn table(files: &[TableFile], streams: usize) -> Result<StreamingTable> {
    let fields = COLUMNS.map(|name| Field::new(name, DataType::Int64, false));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let mut shares = vec![Vec::new(); streams.max(1)];
    for (number, file) in files.iter().enumerate() {
        let share = number % shares.len();
        shares[share].push(file.clone());
    }
    let streams = shares.into_iter().map(|files| {
        let schema = Arc::clone(&schema);
        Arc::new(Counted { schema, files }) as Arc<dyn PartitionStream>
    });
    StreamingTable::try_new(Arc::clone(&schema), streams.collect())
}

/// Some of the files, counted one after another on demand.
#[derive(Debug)]
struct Counted {
    schema: SchemaRef,
    files: Vec<TableFile>,
}

impl PartitionStream for Counted {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let schema = Arc::clone(&self.schema);
        let files = self.files.clone().into_iter();
        let counted = files.map(move |file| {
            count(&file, &schema).map_err(|error| error.context(format!("{}", file.path.display())))
        });
        let schema = Arc::clone(&self.schema);
        Box::pin(RecordBatchStreamAdapter::new(
            schema,
            futures::stream::iter(counted),
        ))
    }
}

/// Segment and thread.
type Key = (i64, i64);

/// A file's rows of the table.
fn count(file: &TableFile, schema: &SchemaRef) -> Result<RecordBatch> {
    let mut counts = Counts::default();
    let opened = File::open(&file.path)?;
    let metadata = ArrowReaderMetadata::load(&opened, ArrowReaderOptions::default())?;
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let key = [constant(group, "segment"), constant(group, "thread")];
        let flag = constant(group, "flags");
        if flag.is_some_and(|flag| flag & WARM_UP != 0) {
            continue;
        }
        let mut wanted = vec!["latency_ns"];
        if flag.is_none() {
            wanted.push("flags");
        }
        if key.contains(&None) {
            wanted.extend(["segment", "thread"]);
        }
        let types = metadata.parquet_schema();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
            opened.try_clone()?,
            metadata.clone(),
        );
        let reader = builder
            .with_row_groups(vec![number])
            .with_projection(ProjectionMask::columns(types, wanted))
            .with_batch_size(ROWS)
            .build()?;
        for batch in reader {
            let batch = batch?;
            let column = |name: &str| integers(&batch, name);
            let latency = column("latency_ns")?
                .ok_or_else(|| DataFusionError::Execution("no column latency_ns".into()))?;
            let flags = column("flags")?;
            if let [Some(segment), Some(thread)] = key {
                counts.add((segment, thread));
                counts.all(&latency, flags.as_ref());
            } else {
                let (segment, thread) = (column("segment")?, column("thread")?);
                let (Some(segment), Some(thread)) = (segment, thread) else {
                    return Err(DataFusionError::Execution(
                        "no column segment or thread".into(),
                    ));
                };
                counts.mixed(&latency, flags.as_ref(), &segment, &thread);
            }
        }
    }
    let run = file.run.unwrap_or_default();
    let mut columns: [Vec<i64>; 5] = Default::default();
    for ((segment, thread), values) in counts.done() {
        for (latency, samples) in values {
            let row = [run, segment, thread, latency, samples];
            columns
                .iter_mut()
                .zip(row)
                .for_each(|(column, cell)| column.push(cell));
        }
    }
    let columns = columns.map(|column| Arc::new(Int64Array::from(column)) as ArrayRef);
    Ok(RecordBatch::try_new(Arc::clone(schema), columns.to_vec())?)
}

/// The single value of a column in a row group, if its statistics show that there is one.
fn constant(group: &RowGroupMetaData, name: &str) -> Option<i64> {
    let column = group
        .columns()
        .iter()
        .find(|column| column.column_path().string() == name)?;
    let statistics = column.statistics()?;
    if statistics.null_count_opt().unwrap_or(0) > 0 {
        return None;
    }
    match statistics {
        // Numbers without a sign.
        Statistics::Int32(of) if of.min_opt()? == of.max_opt()? => {
            Some(of.min_opt()?.cast_unsigned().into())
        }
        Statistics::Int64(of) if of.min_opt()? == of.max_opt()? => of.min_opt().copied(),
        _ => None,
    }
}

/// A column as integers; none if there is no such column.
fn integers(batch: &RecordBatch, name: &str) -> Result<Option<Int64Array>> {
    let Some(column) = batch.column_by_name(name) else {
        return Ok(None);
    };
    let column = match column.data_type() {
        DataType::Int64 => Arc::clone(column),
        _ => cast(column, &DataType::Int64)?,
    };
    Ok(Some(column.as_primitive::<Int64Type>().clone()))
}

/// Counts by segment, thread and latency.
#[derive(Default)]
struct Counts {
    key: Option<Key>,
    near: Vec<i64>,
    far: HashMap<i64, i64>,
    done: BTreeMap<Key, BTreeMap<i64, i64>>,
}

impl Counts {
    /// Later counts belong to this key.
    fn add(&mut self, key: Key) {
        if self.key == Some(key) {
            return;
        }
        self.put_by();
        self.key = Some(key);
        self.near.resize(NEAR, 0);
    }

    /// Counts rows of one key, without those of the warm-up.
    fn all(&mut self, latency: &Int64Array, flags: Option<&Int64Array>) {
        let is_plain = latency.null_count() == 0;
        for (row, &value) in latency.values().iter().enumerate() {
            let flag = flags.map_or(0, |flags| {
                if flags.is_null(row) {
                    0
                } else {
                    flags.value(row)
                }
            });
            if flag & WARM_UP != 0 || !(is_plain || latency.is_valid(row)) {
                continue;
            }
            match usize::try_from(value)
                .ok()
                .and_then(|place| self.near.get_mut(place))
            {
                Some(count) => *count += 1,
                None => *self.far.entry(value).or_default() += 1,
            }
        }
    }

    /// Counts rows of several keys.
    fn mixed(
        &mut self,
        latency: &Int64Array,
        flags: Option<&Int64Array>,
        segment: &Int64Array,
        thread: &Int64Array,
    ) {
        let mut from = 0;
        let key = |row: usize| (segment.value(row), thread.value(row));
        while from < latency.len() {
            let of = key(from);
            let to = (from..latency.len())
                .find(|row| key(*row) != of)
                .unwrap_or(latency.len());
            self.add(of);
            let flags = flags.map(|flags| flags.slice(from, to - from));
            self.all(&latency.slice(from, to - from), flags.as_ref());
            from = to;
        }
    }

    /// Stores the counts of the last key.
    fn put_by(&mut self) {
        let Some(key) = self.key.take() else { return };
        let into = self.done.entry(key).or_default();
        let near = self.near.iter_mut().enumerate();
        for (latency, count) in near.filter(|(_, count)| **count > 0) {
            *into.entry(latency as i64).or_default() += std::mem::take(count);
        }
        for (latency, count) in self.far.drain() {
            *into.entry(latency).or_default() += count;
        }
    }

    fn done(mut self) -> BTreeMap<Key, BTreeMap<i64, i64>> {
        self.put_by();
        self.done
    }
}

//! The engine in this process: DataFusion over the archive's Parquet files.
//!
//! It lists no directory: a table consists of given files, so that incomplete files are never read.

use crate::answer::{Answer, Value};
use crate::counted;
use crate::error::{QueryError, Result};
use crate::tables::{Table, TableFile, Tables};
use crate::text::Text;
use async_trait::async_trait;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::datasource::TableType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result as Found;
use datafusion::execution::context::SQLOptions;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;
use wakepath_fleet_archive::Kind;

const NAME: &str = "DataFusion";

/// Answers a question.
///
/// # Errors
/// [`QueryError::Engine`] in the engine's words; [`QueryError::Type`].
pub(crate) fn ask(tables: &Tables, text: &Text) -> Result<Answer> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .build()
        .map_err(|error| QueryError::engine(NAME, error))?;
    runtime.block_on(answer(tables, text, threads))
}

async fn answer(tables: &Tables, text: &Text, threads: usize) -> Result<Answer> {
    let said = |error| QueryError::engine(NAME, error);
    let configuration = SessionConfig::new().with_target_partitions(threads);
    let context = SessionContext::new_with_config(configuration);
    for table in &tables.all {
        let files = Files::new(table)?;
        let registered = context.register_table(table.name, Arc::new(files));
        registered.map_err(said)?;
        if table.name == "samples" {
            let counted = counted::table(&table.files, threads).map_err(said)?;
            let registered = context.register_table(counted::NAME, Arc::new(counted));
            registered.map_err(said)?;
        }
    }
    let options = SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false);
    let frame = context.sql_with_options(text.sql(), options).await;
    let frame = frame.map_err(said)?;
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let batches = frame.collect().await.map_err(said)?;
    let mut found = Answer {
        columns: schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect(),
        rows: Vec::new(),
    };
    for batch in batches {
        add_rows(&mut found, &batch)?;
    }
    Ok(found)
}

fn add_rows(answer: &mut Answer, batch: &RecordBatch) -> Result<()> {
    let first = answer.rows.len();
    answer.rows.resize_with(first + batch.num_rows(), Vec::new);
    let schema = batch.schema();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        let values = values(field, column.as_ref())?;
        for (row, value) in answer.rows[first..].iter_mut().zip(values) {
            row.push(value);
        }
    }
    Ok(())
}

fn values(field: &Field, column: &dyn Array) -> Result<Vec<Value>> {
    let other = || QueryError::Type {
        column: field.name().clone(),
        found: field.data_type().to_string(),
    };
    let wide = match field.data_type() {
        found if found.is_integer() => DataType::Int64,
        DataType::Float32 | DataType::Float64 => DataType::Float64,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::Boolean => DataType::Boolean,
        DataType::Null => return Ok(vec![Value::Null; column.len()]),
        _ => return Err(other()),
    };
    let column = cast(column, &wide).map_err(|error| QueryError::engine(NAME, error))?;
    let rows = 0..column.len();
    let read = |row: usize| match (&wide, column.is_null(row)) {
        (_, true) => Value::Null,
        (DataType::Int64, _) => Value::Integer(column.as_primitive::<Int64Type>().value(row)),
        (DataType::Float64, _) => Value::Real(column.as_primitive::<Float64Type>().value(row)),
        (DataType::Boolean, _) => Value::Flag(column.as_boolean().value(row)),
        _ => Value::Text(column.as_string::<i32>().value(row).to_owned()),
    };
    Ok(rows.map(read).collect())
}

/// A table that is a list of files.
#[derive(Debug)]
struct Files {
    schema: TableSchema,
    files: Vec<PartitionedFile>,
}

impl Files {
    fn new(table: &Table) -> Result<Self> {
        let field = |(name, kind): &(&'static str, Kind)| {
            let kind = match kind {
                Kind::Integer => DataType::Int64,
                Kind::Text => DataType::Utf8,
                Kind::Flag => DataType::Boolean,
            };
            Arc::new(Field::new(*name, kind, true))
        };
        // The samples' files don't contain their run: it is a constant of the whole file.
        let by_file = table.name == "samples";
        let (told, read): (Vec<_>, Vec<_>) = table
            .columns
            .iter()
            .partition(|(name, _)| by_file && *name == "run");
        let schema = Schema::new(read.into_iter().map(field).collect::<Vec<_>>());
        let told: Vec<_> = told.into_iter().map(field).collect();
        let files = table.files.iter().map(file).collect::<Result<_>>()?;
        Ok(Self {
            schema: TableSchema::builder(Arc::new(schema))
                .with_table_partition_cols(told)
                .build(),
            files,
        })
    }
}

fn file(file: &TableFile) -> Result<PartitionedFile> {
    let path = std::path::absolute(&file.path).map_err(QueryError::io(&file.path))?;
    let found = std::fs::metadata(&path).map_err(QueryError::io(&path))?;
    let path = path.to_str().ok_or_else(|| QueryError::NoEngine {
        why: format!("{}: its name is not UTF-8", path.display()),
    })?;
    let run = file.run.map(|run| ScalarValue::Int64(Some(run)));
    let file = PartitionedFile::new(path, found.len());
    Ok(file.with_partition_values(run.into_iter().collect()))
}

#[async_trait]
impl TableProvider for Files {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.schema.table_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Found<Arc<dyn ExecutionPlan>> {
        let source = Arc::new(ParquetSource::new(self.schema.clone()));
        let wanted = state.config().target_partitions();
        let groups = FileGroup::new(self.files.clone()).split_files(wanted);
        let scan = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
            .with_file_groups(groups)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(scan))
    }
}

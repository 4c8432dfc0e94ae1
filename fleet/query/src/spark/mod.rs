//! Queries on an existing Spark cluster.
//!
//! A small job passes it the same text and the same files. The `spark-submit` of the user's own
//! Spark starts the job.

use crate::answer::{Answer, Value};
use crate::counted;
use crate::error::{QueryError, Result};
use crate::tables::Tables;
use crate::text::Text;
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NAME: &str = "Spark";

/// Longest answer that is taken.
const LONGEST: u64 = 1 << 30;

/// The job: Python, for `spark-submit`.
const JOB: &str = include_str!("job.py");

/// A cluster.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Its master, as Spark knows it: `spark://host:7077`, `local[2]`.
    pub master: String,
    /// `spark-submit`.
    pub submit: PathBuf,
    /// Settings of the user's own, `spark.key=value`.
    pub settings: Vec<String>,
}

impl Cluster {
    /// Finds `spark-submit` in `SPARK_HOME` or on the PATH.
    ///
    /// # Errors
    /// [`QueryError::NoEngine`].
    pub fn new(master: String, settings: Vec<String>) -> Result<Self> {
        let home = std::env::var_os("SPARK_HOME").map(|home| PathBuf::from(home).join("bin"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let places = home.into_iter().chain(std::env::split_paths(&path));
        let mut programs = places.map(|place| place.join("spark-submit"));
        let submit = programs.find(|program| program.is_file());
        let submit = submit.ok_or_else(|| QueryError::NoEngine {
            why: "there is no spark-submit in $SPARK_HOME/bin or on the PATH; Spark's own archive and \
                  `pip install pyspark` have one"
                .to_owned(),
        })?;
        Ok(Self {
            master,
            submit,
            settings,
        })
    }
}

/// The job's description of each column.
#[derive(Deserialize)]
struct Head {
    columns: Vec<(String, String)>,
}

/// Answers a question on the cluster.
///
/// # Errors
/// [`QueryError::Engine`] in the engine's words.
pub(crate) fn ask(tables: &Tables, text: &Text, cluster: &Cluster) -> Result<Answer> {
    let scratch = tempfile::tempdir().map_err(QueryError::io(&std::env::temp_dir()))?;
    let place = |name: &str| scratch.path().join(name);
    let (job, plan, answer) = (place("job.py"), place("plan.json"), place("answer.jsonl"));
    let write = |path: &Path, text: &str| std::fs::write(path, text).map_err(QueryError::io(path));
    write(&job, JOB)?;
    write(
        &plan,
        &json!({
            "text": text.sql(),
            "tables": absolute(tables)?,
            "views": views(tables),
        })
        .to_string(),
    )?;
    let mut command = Command::new(&cluster.submit);
    command.args(["--master", &cluster.master, "--name", "wakepath-fleet"]);
    for setting in &cluster.settings {
        command.args(["--conf", setting]);
    }
    command.arg(&job).arg(&plan).arg(&answer);
    let done = command.stdin(Stdio::null()).output();
    let done = done.map_err(QueryError::io(&cluster.submit))?;
    if !done.status.success() || !answer.is_file() {
        // spark-submit prints all of a job's output on its standard output.
        let said =
            [done.stderr, done.stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let said = said.join("\n");
        // The job's own last line; Spark's log is long.
        let mut lines = said.lines().rev().filter(|line| !line.trim().is_empty());
        let own = said
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("wakepath: "));
        let said = own.or_else(|| lines.next()).unwrap_or("nothing");
        return Err(QueryError::engine(NAME, said));
    }
    let found = std::fs::metadata(&answer).map_err(QueryError::io(&answer))?;
    if found.len() > LONGEST {
        return Err(QueryError::engine(NAME, "an answer longer than 1 GB"));
    }
    let lines = std::fs::read_to_string(&answer).map_err(QueryError::io(&answer))?;
    read(&lines)
}

/// Tables that SQL derives from others, if those exist.
fn views(tables: &Tables) -> Vec<[&'static str; 2]> {
    let has_samples = tables.all.iter().any(|table| table.name == "samples");
    let all = has_samples.then_some([counted::NAME, counted::VIEW]);
    all.into_iter().collect()
}

/// The tables with paths that hold wherever a worker starts.
fn absolute(tables: &Tables) -> Result<serde_json::Value> {
    let mut all = tables.all.clone();
    for file in all.iter_mut().flat_map(|table| &mut table.files) {
        file.path = std::path::absolute(&file.path).map_err(QueryError::io(&file.path))?;
    }
    Ok(json!(all))
}

fn read(lines: &str) -> Result<Answer> {
    let odd = |error: serde_json::Error| QueryError::engine(NAME, format!("no answer: {error}"));
    let mut lines = lines.lines();
    let head: Head = serde_json::from_str(lines.next().unwrap_or_default()).map_err(odd)?;
    let mut answer = Answer {
        columns: head.columns.iter().map(|(name, _)| name.clone()).collect(),
        rows: Vec::new(),
    };
    for (name, kind) in &head.columns {
        let known = ["integer", "real", "text", "flag", "null"];
        if !known.contains(&&**kind) {
            return Err(QueryError::Type {
                column: name.clone(),
                found: kind.clone(),
            });
        }
    }
    for line in lines {
        let cells: Vec<serde_json::Value> = serde_json::from_str(line).map_err(odd)?;
        if cells.len() != head.columns.len() {
            return Err(QueryError::engine(NAME, "a row of another length"));
        }
        let cells = cells.into_iter().zip(&head.columns);
        let row: Option<Vec<Value>> = cells.map(|(cell, (_, kind))| value(cell, kind)).collect();
        answer.rows.push(
            row.ok_or_else(|| QueryError::engine(NAME, format!("a row that is none: {line}")))?,
        );
    }
    Ok(answer)
}

fn value(cell: serde_json::Value, kind: &str) -> Option<Value> {
    use serde_json::Value as Json;
    match (cell, kind) {
        (Json::Null, _) => Some(Value::Null),
        (Json::Number(number), "integer") => number.as_i64().map(Value::Integer),
        // By its bits: no two languages write a fraction alike.
        (Json::String(bits), "real") => {
            let bits = u64::from_str_radix(&bits, 16).ok()?;
            Some(Value::Real(f64::from_bits(bits)))
        }
        (Json::String(text), "text") => Some(Value::Text(text)),
        (Json::Bool(flag), "flag") => Some(Value::Flag(flag)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_job_writes_is_read_to_the_last_bit() {
        let lines = "{\"columns\":[[\"a\",\"integer\"],[\"b\",\"real\"],[\"c\",\"text\"]]}\n\
                     [9223372036854775807,\"3fb999999999999a\",\"x\"]\n[null,null,null]\n";
        let answer = read(lines).unwrap();
        assert_eq!(
            answer.rows[0],
            [
                Value::Integer(i64::MAX),
                Value::Real(0.1),
                Value::Text("x".to_owned())
            ]
        );
        assert_eq!(answer.rows[1], [Value::Null, Value::Null, Value::Null]);
        for bad in ["", "[]", "{\"columns\":[[\"a\",\"decimal(38,0)\"]]}"] {
            read(bad).unwrap_err();
        }
        read("{\"columns\":[[\"a\",\"integer\"]]}\n[1.5]").unwrap_err();
    }
}

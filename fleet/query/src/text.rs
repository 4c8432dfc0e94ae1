//! The text of a query: one SELECT, without functions that estimate and without writes.
//!
//! Doesn't check what the engines themselves refuse.

use crate::counted;
use crate::error::{QueryError, Result};
use datafusion::sql::sqlparser::ast::{
    Expr, ObjectNamePart, Query, Statement, visit_expressions, visit_relations,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Longest text that is read.
const LONGEST: usize = 1 << 20;

/// Error for functions that estimate.
const NEAREST_RANK: &str = "a verdict rests on the nearest rank ⌈n·q⌉: `wakepath-fleet query quantiles --show` \
                            prints the SQL for it";

/// A question.
#[derive(Debug, Clone)]
pub struct Text {
    sql: String,
    tables: BTreeSet<String>,
}

impl Text {
    /// Takes a text.
    ///
    /// # Errors
    /// [`QueryError::Text`].
    pub fn new(sql: &str) -> Result<Self> {
        let refused = |why: String| Err(QueryError::Text { why });
        if sql.len() > LONGEST {
            return refused("the text is longer than 1 MB".to_owned());
        }
        let statements = match Parser::parse_sql(&GenericDialect {}, sql) {
            Ok(statements) => statements,
            Err(error) => return refused(format!("the text is not SQL: {error}")),
        };
        let [Statement::Query(query)] = &statements[..] else {
            return refused(
                "the text must be one SELECT, with WITH before it or without".to_owned(),
            );
        };
        if let Some(function) = guessing_function(query) {
            return refused(format!(
                "{function} guesses or interpolates; {NEAREST_RANK}"
            ));
        }
        let mut tables = BTreeSet::new();
        let _ = visit_relations(query, |name| {
            tables.insert(name.to_string().trim_matches('"').to_ascii_lowercase());
            ControlFlow::<()>::Continue(())
        });
        // Both engines need it without the statement's terminator.
        let sql = sql.trim().trim_end_matches(';').trim_end().to_owned();
        Ok(Self { sql, tables })
    }

    /// The SQL.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Whether it uses samples, individual or counted.
    pub(crate) fn asks_samples(&self) -> bool {
        self.asks("samples") || self.asks(counted::NAME)
    }

    /// Whether it uses a table.
    pub(crate) fn asks(&self, table: &str) -> bool {
        self.tables.contains(table)
    }
}

/// The first function in it that estimates instead of returning a value of the samples.
fn guessing_function(query: &Query) -> Option<String> {
    let found = visit_expressions(query, |expression| {
        let Expr::Function(function) = expression else {
            return ControlFlow::Continue(());
        };
        let last = function.name.0.last();
        let name = match last {
            Some(ObjectNamePart::Identifier(name)) => name.value.to_ascii_lowercase(),
            _ => return ControlFlow::Continue(()),
        };
        if guesses(&name) {
            ControlFlow::Break(name)
        } else {
            ControlFlow::Continue(())
        }
    });
    found.break_value()
}

fn guesses(name: &str) -> bool {
    let pieces = [
        "approx",
        "percentile",
        "quantile",
        "median",
        "sketch",
        "histogram_numeric",
    ];
    pieces.iter().any(|piece| name.contains(piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(sql: &str) -> String {
        Text::new(sql).unwrap_err().to_string()
    }

    #[test]
    fn one_select_is_a_question_and_nothing_else_is() {
        let text =
            Text::new("WITH a AS (SELECT * FROM hist) SELECT * FROM a JOIN Runs USING (run);\n")
                .unwrap();
        assert!(text.asks("hist") && text.asks("runs") && !text.asks("samples"));
        assert!(!text.sql().ends_with(';'));
        for bad in [
            "",
            "SELECT 1; SELECT 2",
            "DROP TABLE runs",
            "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
            "COPY (SELECT 1) TO '/tmp/x'",
            "INSERT INTO runs SELECT * FROM runs",
            "SET x = 1",
        ] {
            let said = said(bad);
            assert!(
                said.contains("one SELECT") || said.contains("no SQL"),
                "{bad}: {said}"
            );
        }
    }

    #[test]
    fn functions_that_guess_are_refused_wherever_they_stand() {
        for bad in [
            "SELECT approx_percentile_cont(latency_ns, 0.999) FROM samples",
            "SELECT run FROM runs WHERE 1 < (SELECT percentile_approx(x, 0.5) FROM y)",
            "WITH a AS (SELECT MEDIAN(x) AS m FROM y) SELECT m FROM a",
            "SELECT \"approx_quantile\"(x) OVER (PARTITION BY y) FROM z",
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM y",
        ] {
            assert!(said(bad).contains("nearest rank"), "{bad}");
        }
        Text::new("SELECT approximate FROM median").unwrap();
    }

    #[test]
    fn a_text_that_is_nested_without_end_is_an_error_and_no_crash() {
        let deep = format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
        assert!(said(&deep).contains("no SQL"));
    }
}

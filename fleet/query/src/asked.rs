//! A query and its answer: checked before and after an engine runs it.

use crate::answer::Answer;
use crate::checked::{COLUMNS, Checked, check, hold};
use crate::error::Result;
use crate::named::{NAMED, Named, add_bounds};
use crate::spark::Cluster;
use crate::tables::Tables;
use crate::text::Text;
use crate::{embedded, spark};

/// An engine.
#[derive(Debug, Clone)]
pub enum Engine {
    /// This process.
    Embedded,
    /// A Spark cluster, which must see the archive's files by the same path.
    Spark(Cluster),
}

/// An answer that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The answer, without the columns that it was checked by.
    pub answer: Answer,
    /// The check that it passed, as a sentence.
    pub checked: String,
}

/// Runs a query on an engine.
///
/// # Errors
/// [`crate::QueryError::Void`] if the answer's counts differ from the records'; the engine's.
pub fn ask(tables: &Tables, text: &Text, engine: &Engine) -> Result<Answered> {
    let put = |text: &Text| match engine {
        Engine::Embedded => embedded::ask(tables, text),
        Engine::Spark(cluster) => spark::ask(tables, text, cluster),
    };
    let named = NAMED.iter().find(|named| is(named, text));
    let mut answer = put(text)?;
    let checked = check(&answer)?;
    let said = match (named.and_then(|named| named.total), checked) {
        (Some(total), _) => {
            let total = total(&tables.totals);
            hold(checked, total)?;
            format!("all {total} counts, and sums by row, are those of the records")
        }
        (None, Checked::Within { counted }) => {
            format!("{counted} counts, and sums by row, are those of the records")
        }
        (None, Checked::Not) => beside(tables, text, put)?,
    };
    answer.without(&COLUMNS);
    add_bounds(&mut answer);
    Ok(Answered {
        answer,
        checked: said,
    })
}

fn is(named: &Named, text: &Text) -> bool {
    Text::new(named.sql).is_ok_and(|own| own.sql() == text.sql())
}

/// For a text without counts: the same engine counts the tables that it uses.
fn beside(tables: &Tables, text: &Text, put: impl Fn(&Text) -> Result<Answer>) -> Result<String> {
    let mut counted = Vec::new();
    for (table, name, is_asked) in [
        ("hist", "worst", text.asks("hist")),
        ("samples", "sample-quantiles", text.asks_samples()),
    ] {
        if !is_asked {
            continue;
        }
        let named = crate::named(name).expect("a built-in name");
        let answer = put(&Text::new(named.sql)?)?;
        let total = named.total.expect("it counts")(&tables.totals);
        hold(check(&answer)?, total)?;
        counted.push(table);
    }
    Ok(if counted.is_empty() {
        "it uses no counted table".to_owned()
    } else {
        format!(
            "it counts nothing itself; {} was counted by the same engine and agrees with the records",
            counted.join(" and ")
        )
    })
}

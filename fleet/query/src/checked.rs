//! Checks that an answer counted all samples.
//!
//! A query that counts returns its count and the records' count of the same group in each row; the
//! two must be equal. The columns are `counted`, `counted_sum`, `recorded`, `recorded_sum`; they
//! are removed from the output.

use crate::answer::Answer;
use crate::error::{QueryError, Result};

/// The columns to compare, in pairs.
pub(crate) const COLUMNS: [&str; 4] = ["counted", "counted_sum", "recorded", "recorded_sum"];

/// How an answer was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    /// Row by row.
    Within {
        /// Sum of the rows' counts.
        counted: i64,
    },
    /// It has no columns to check by.
    Not,
}

/// Compares each row's counts.
///
/// # Errors
/// [`QueryError::Void`] for the first row that differs.
pub(crate) fn check(answer: &Answer) -> Result<Checked> {
    let places = COLUMNS.map(|name| answer.column(name));
    let [
        Some(counted),
        Some(counted_sum),
        Some(recorded),
        Some(recorded_sum),
    ] = places
    else {
        return Ok(Checked::Not);
    };
    let mut all: i64 = 0;
    for (number, row) in answer.rows.iter().enumerate() {
        let group = || {
            let keys = row.iter().take(3).map(|value| value.shown());
            keys.collect::<Vec<_>>().join(", ")
        };
        for (found, expected, what) in [
            (counted, recorded, "counted"),
            (counted_sum, recorded_sum, "summed up"),
        ] {
            if row[found].integer().is_none() || row[found] != row[expected] {
                let (found, expected) = (row[found].shown(), row[expected].shown());
                let found = if found.is_empty() { "nothing" } else { &found };
                return Err(QueryError::Void {
                    why: format!(
                        "in row {} ({}) {found} was {what} where the records say {expected}",
                        number + 1,
                        group()
                    ),
                });
            }
        }
        all = all.saturating_add(row[counted].integer().unwrap_or(0));
    }
    Ok(Checked::Within { counted: all })
}

/// Compares the sum of all rows' counts with the records' own total, which no engine touched.
///
/// # Errors
/// [`QueryError::Void`].
pub(crate) fn hold(checked: Checked, total: i64) -> Result<()> {
    match checked {
        Checked::Within { counted } if counted == total => Ok(()),
        Checked::Within { counted } => Err(QueryError::Void {
            why: format!("its rows count {counted} in all where the records say {total}"),
        }),
        Checked::Not => Err(QueryError::Void {
            why: "it has no counts to be checked by".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Value::{Integer, Null, Text};

    fn answer(counts: [crate::Value; 4]) -> Answer {
        let [counted, sum, recorded, recorded_sum] = counts;
        Answer {
            columns: [
                "board",
                "counted",
                "counted_sum",
                "recorded",
                "recorded_sum",
            ]
            .map(str::to_owned)
            .to_vec(),
            rows: vec![vec![Text("a".into()), counted, sum, recorded, recorded_sum]],
        }
    }

    #[test]
    fn equal_counts_pass_and_any_other_voids() {
        let good = answer([Integer(5), Integer(9), Integer(5), Integer(9)]);
        let checked = check(&good).unwrap();
        assert_eq!(checked, Checked::Within { counted: 5 });
        hold(checked, 5).unwrap();
        assert!(
            hold(checked, 40)
                .unwrap_err()
                .to_string()
                .contains("count 5 in all")
        );
        for bad in [
            [Integer(40), Integer(9), Integer(5), Integer(9)],
            [Integer(5), Integer(10), Integer(5), Integer(9)],
            [Null, Integer(9), Null, Integer(9)],
            [Null, Null, Integer(5), Integer(9)],
        ] {
            let said = check(&answer(bad)).unwrap_err().to_string();
            assert!(
                said.starts_with("the answer is void: in row 1 (a"),
                "{said}"
            );
        }
    }

    #[test]
    fn an_answer_without_counts_says_so() {
        assert_eq!(check(&Answer::default()).unwrap(), Checked::Not);
    }
}

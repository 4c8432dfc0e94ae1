//! Built-in queries.
//!
//! Each is ordinary SQL with a name and the total that its counts must reach.

use crate::answer::{Answer, Value};
use crate::tables::TotalCounts;
use wakepath_statistics::{miss_bound_without_misses, miss_upper_bound};

/// A question with a name.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// Description, half a sentence.
    pub about: &'static str,
    /// Its SQL.
    pub sql: &'static str,
    /// Total of the records that its counts must add up to; none if it lists single cycles.
    pub(crate) total: Option<fn(&TotalCounts) -> i64>,
}

/// All of them.
pub const NAMED: [Named; 6] = [
    Named {
        name: "worst",
        about: "the worst latency of each kernel on each board",
        sql: include_str!("named/worst.sql"),
        total: Some(|totals| totals.due),
    },
    Named {
        name: "quantiles",
        about: "exact quantiles of the latency by kernel, board, phase and policy",
        sql: include_str!("named/quantiles.sql"),
        total: Some(|totals| totals.due),
    },
    Named {
        name: "misses",
        about: "missed due times by kernel, board, phase and policy, with a bound",
        sql: include_str!("named/misses.sql"),
        total: Some(|totals| totals.due),
    },
    Named {
        name: "exceeded",
        about: "which boards ever missed a due time, since when, and how late",
        sql: include_str!("named/exceeded.sql"),
        total: Some(|totals| totals.due),
    },
    Named {
        name: "worst-cycles",
        about: "the hundred worst cycles of the fleet, each with its run",
        sql: include_str!("named/worst-cycles.sql"),
        total: None,
    },
    Named {
        name: "sample-quantiles",
        about: "exact quantiles of each run's latency, from the samples that are kept",
        sql: include_str!("named/sample-quantiles.sql"),
        total: Some(|totals| totals.sampled),
    },
];

/// The question of a name.
pub fn named(name: &str) -> Option<&'static Named> {
    NAMED.iter().find(|named| named.name == name)
}

/// Confidence of the bound on the share of missed due times.
const CONFIDENCE: f64 = 0.95;

/// Adds to `missed` out of `due` the share that is not exceeded with 95 % confidence if due times
/// are independent. Zero misses don't give zero.
pub(crate) fn add_bounds(answer: &mut Answer) {
    let (Some(missed), Some(due)) = (answer.column("missed"), answer.column("due")) else {
        return;
    };
    answer.columns.push("missed_share_at_most".to_owned());
    for row in &mut answer.rows {
        let bound = match (row[missed].integer(), row[due].integer()) {
            (Some(0), Some(due)) if due > 0 => Value::Real(in_four_digits(
                miss_bound_without_misses(due as f64, CONFIDENCE),
            )),
            (Some(missed), Some(due)) if 0 < missed && missed <= due => Value::Real(
                in_four_digits(miss_upper_bound(missed as f64, due as f64, CONFIDENCE)),
            ),
            _ => Value::Null,
        };
        row.push(bound);
    }
}

/// Rounded up in its fourth digit: a bound must not be lowered.
fn in_four_digits(value: f64) -> f64 {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if rounded < value {
        let step = 10_f64.powi(value.log10().floor() as i32 - 3);
        format!("{:.3e}", rounded + step).parse().unwrap_or(value)
    } else {
        rounded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_misses_of_a_thousand_are_bounded_by_three_in_a_thousand() {
        let mut answer = Answer {
            columns: vec!["missed".to_owned(), "due".to_owned()],
            rows: vec![
                vec![Value::Integer(0), Value::Integer(1000)],
                vec![Value::Integer(10), Value::Integer(10)],
                vec![Value::Integer(0), Value::Integer(0)],
            ],
        };
        add_bounds(&mut answer);
        // 1 − 0.05^(1/1000) = 2.99124…·10⁻³, by hand.
        assert_eq!(answer.rows[0][2], Value::Real(2.992e-3));
        assert_eq!(answer.rows[1][2], Value::Real(1.0));
        assert_eq!(answer.rows[2][2], Value::Null);
    }

    #[test]
    fn names_are_told_apart_and_texts_are_questions() {
        for question in NAMED {
            assert_eq!(named(question.name).unwrap().about, question.about);
            crate::Text::new(question.sql).unwrap();
        }
        assert!(named("nothing").is_none());
    }
}

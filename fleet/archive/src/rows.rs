//! Rows that belong to runs, as columns of a table.
//!
//! The run's number comes first, then the requested values of each row. It doesn't interpret them.

use crate::name::run_number;
use crate::record::RunRecord;
use crate::table::{Column, Values};

/// Rows of all runs, each with its run's number.
pub(crate) struct Rows<'a, T>(Vec<(i64, &'a T)>);

impl<'a, T> Rows<'a, T> {
    /// The rows that `of` returns for each record.
    pub(crate) fn new(records: &'a [RunRecord], of: fn(&'a RunRecord) -> &'a [T]) -> Self {
        let mut rows = Vec::new();
        for record in records {
            let number = run_number(&record.run_id);
            rows.extend(of(record).iter().map(|row| (number, row)));
        }
        Self(rows)
    }

    fn all<V>(&self, of: impl Fn(&T) -> V) -> Vec<V> {
        self.0.iter().map(|(_, row)| of(row)).collect()
    }

    pub(crate) fn run(&self) -> Column {
        let numbers = self.0.iter().map(|(run, _)| *run);
        ("run", Values::Integers(numbers.collect()))
    }

    pub(crate) fn texts(&self, name: &'static str, of: impl Fn(&T) -> String) -> Column {
        (name, Values::Texts(self.all(of)))
    }

    pub(crate) fn flags(&self, name: &'static str, of: impl Fn(&T) -> bool) -> Column {
        (name, Values::Flags(self.all(of)))
    }

    pub(crate) fn integers(&self, name: &'static str, of: fn(&T) -> i64) -> Column {
        (name, Values::Integers(self.all(of)))
    }

    pub(crate) fn perhaps(&self, name: &'static str, of: fn(&T) -> Option<i64>) -> Column {
        (name, Values::IntegersOrNone(self.all(of)))
    }
}

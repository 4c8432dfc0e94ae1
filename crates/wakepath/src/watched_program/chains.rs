//! Chains of threads as a table.

use std::fmt::Write;
use wakepath_assess::watched::ThreadChain;
use wakepath_console::terminal::columns;
use wakepath_report::{Cell, Table, number};
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_timeline::duration::length;
use wakepath_verdict::counted;

/// At most `most` chains, the latest first, with all that their figures don't show or only with why they were late;
/// nothing without any.
pub fn chains(all: &[ThreadChain], most: usize, in_short: bool) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut shown: Vec<&ThreadChain> = all.iter().collect();
    if shown.len() > most {
        shown.sort_by_cached_key(|of| std::cmp::Reverse(of.late));
        shown.truncate(most);
    }
    let mut table = Table::new("chain of threads")
        .group("due time to end", "", &["median", "p99", "max"].map(number))
        .column(number("ends"))
        .column(number("late"))
        .column(number("limit"));
    for of in &shown {
        table.row(
            of.name().as_str(),
            vec![
                latency(of, |summary| summary.distinct(Quantile::P50)),
                latency(of, |summary| summary.distinct(Quantile::P99)),
                latency(of, |summary| Some(summary.max)),
                Cell::new(of.ended),
                Cell::new(of.late_in_words()),
                Cell::new(length(of.limit_ns)),
            ],
        );
    }
    let mut text = format!("\n{}", table.to_terminal(Some(columns())));
    if let Some(more @ 1..) = all.len().checked_sub(shown.len()) {
        let _ = writeln!(
            text,
            "and {}",
            counted(more as u64, "more chain", "more chains")
        );
    }
    for of in shown {
        let remarks = match in_short {
            true => of.why_late().into_iter().collect(),
            false => of.remarks(),
        };
        for remark in remarks {
            let _ = writeln!(text, "{}: {remark}", of.name());
        }
    }
    text
}

fn latency(of: &ThreadChain, figure: fn(&DistributionSummary) -> Option<i64>) -> Cell {
    of.latency_in_words(figure).map(Cell::new).into()
}

//! Chains of threads of a watched program, for a terminal and for a page.

use crate::markup::Markup;
use crate::{Cell, Table, number};
use std::fmt::Write;
use wakepath_assess::watched::ThreadChain;
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::length;

/// Sentences below a table of chains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remarks {
    /// Everything that the figures don't show.
    All,
    /// Why passes were late.
    WhyLate,
}

impl Remarks {
    fn of(self, chain: &ThreadChain) -> Vec<String> {
        match self {
            Self::All => chain.remarks(),
            Self::WhyLate => chain.why_late().into_iter().collect(),
        }
    }
}

/// At most `most` chains with these remarks, the latest first; nothing without any.
pub fn thread_chains_text(
    all: &[ThreadChain],
    most: usize,
    remarks: Remarks,
    columns: usize,
) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut shown: Vec<&ThreadChain> = all.iter().collect();
    if shown.len() > most {
        shown.sort_by_cached_key(|of| std::cmp::Reverse(of.late));
        shown.truncate(most);
    }
    let mut text = table(&shown).to_terminal(Some(columns));
    if let Some(more @ 1..) = all.len().checked_sub(shown.len()) {
        let _ = writeln!(
            text,
            "and {}",
            counted(more as u64, "more chain", "more chains")
        );
    }
    for of in shown {
        for remark in remarks.of(of) {
            let _ = writeln!(text, "{}: {remark}", of.name());
        }
    }
    text
}

/// As a chapter of a page.
pub(crate) fn write(markup: &mut Markup, all: &[ThreadChain]) {
    let shown: Vec<&ThreadChain> = all.iter().collect();
    table(&shown)
        .caption(
            "Threads each of which wakes the next, across processes. Time from the first one's due time to the last \
             one's end; late: above the limit.",
        )
        .write_html(markup, "Chains of threads");
    for of in all {
        markup.element("h3", &[], of.name());
        markup.raw("<ul>");
        for remark in Remarks::All.of(of) {
            markup.prose("li", &[], crate::page::sentence(&remark));
        }
        markup.raw("</ul>");
    }
}

fn table(chains: &[&ThreadChain]) -> Table {
    let mut table = Table::new("chain of threads")
        .group("due time to end", "", &["median", "p99", "max"].map(number))
        .column(number("ends"))
        .column(number("late"))
        .column(number("limit"));
    for of in chains {
        let latency = |figure: fn(&DistributionSummary) -> Option<i64>| {
            Cell::from(of.latency_in_words(figure).map(Cell::new))
        };
        table.row(
            of.name().as_str(),
            vec![
                latency(|summary| summary.distinct(Quantile::P50)),
                latency(|summary| summary.distinct(Quantile::P99)),
                latency(|summary| Some(summary.max)),
                Cell::new(of.ended),
                Cell::new(of.late_in_words()),
                Cell::new(length(of.limit_ns)),
            ],
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_assess::watched::{ChainCause, ChainPart};
    use wakepath_statistics::Distribution;

    /// A chain with this many late passes, of which one is 12 ms at least and 15 ms at most.
    fn chain(last: &str, late: u64) -> ThreadChain {
        let summary = |max_ms: i64| {
            let all = (0..200).map(|at| if at == 0 { max_ms } else { 1 } * 1_000_000);
            Distribution::new(all.collect()).map(|of| of.summary())
        };
        let cause = ChainCause {
            thread: last.into(),
            kind: "page-fault".into(),
            cause: "page faults".into(),
            passes: late,
            ns: 9_000_000,
            worst_ns: 9_000_000,
            remedy: None,
        };
        let part = ChainPart {
            thread: last.into(),
            waited_ns: 0,
            took_ns: 15_000_000,
        };
        ThreadChain {
            threads: vec!["sensor".into(), last.into()],
            thread_ids: vec![1, 2],
            period_ns: 10_000_000,
            begun: 200,
            ended: 200,
            with_queued: true,
            inexact: 1,
            with_others: 0,
            latency_ns: summary(15),
            least_latency_ns: summary(12),
            limit_ns: 10_000_000,
            late,
            late_at_most: late + 1,
            late_seen: late,
            late_ns: 15_000_000,
            causes: vec![cause],
            longest: vec![part],
        }
    }

    #[test]
    fn bounds_stand_in_the_table_and_the_latest_chain_comes_alone() {
        let all = [chain("filter", 1), chain("motor", 3)];
        let text = thread_chains_text(&all, 1, Remarks::WhyLate, 100);
        let lines: Vec<&str> = text.lines().collect();
        let row: Vec<&str> = lines[2]
            .split("  ")
            .filter(|cell| !cell.is_empty())
            .collect();
        let row: Vec<&str> = row.into_iter().map(str::trim).collect();
        let expected = [
            "sensor → motor",
            "1.00 ms",
            "1.00 ms",
            "≤ 15.0 ms",
            "200",
            "3 … 4",
            "10 ms",
        ];
        assert_eq!(row, expected, "{text}");
        assert_eq!(lines[3], "and 1 more chain");
        let why = "sensor → motor: the 3 late passes took 15.0 ms, of that 9.00 ms (60 %) in motor: page faults";
        assert_eq!(lines[4..], [why], "{text}");
        assert_eq!(thread_chains_text(&[], 1, Remarks::All, 100), "");
    }

    #[test]
    fn a_page_has_all_chains_with_their_remarks() {
        let mut markup = Markup::default();
        write(&mut markup, &[chain("filter", 1), chain("motor", 3)]);
        let page = markup.into_string().replace('\u{a0}', " ");
        for text in [
            "<h3>sensor → filter</h3>",
            "<h3>sensor → motor</h3>",
            "The longest, ≤ 15.0 ms: motor began after",
            "page faults",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
    }
}

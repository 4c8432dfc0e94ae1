//! Callbacks and chains of ROS 2 as a chapter of a page.

use super::rows::{names, table};
use super::{Named, chain, executors, late, remarks, why};
use crate::markup::Markup;
use crate::{Cell, Table, number, words};
use std::collections::BTreeMap;
use wakepath_assess::watched::Ros2Figures;
use wakepath_ros2::{ChainFound, Figures};

/// Most callbacks whose late runs are listed.
const MOST_LATE: usize = 24;

/// Writes tables of callbacks and chains, and lists of late runs and executors.
pub(crate) fn write(markup: &mut Markup, figures: &Ros2Figures) {
    let names = names(&figures.callbacks);
    let names = names.iter().map(String::as_str);
    let all: Vec<Named<'_>> = figures.callbacks.iter().zip(names).collect();
    callbacks(markup, figures, &all);
    let is_late = |(row, _): &&Named<'_>| row.late.is_some_and(|count| count > 0);
    for (row, name) in all.iter().filter(is_late).take(MOST_LATE) {
        let Some(headline) = late::headline(row, name, figures.latency_ns) else {
            continue;
        };
        markup.element("h3", &[], headline);
        list(markup, late::lines(row, figures.began_ns));
    }
    let executors = executors::lines(figures, &all, super::Ros2Room::WHOLE.executors);
    if !executors.is_empty() {
        markup.raw("<h3>Executors</h3>");
        list(markup, executors);
    }
    if !figures.chains.is_empty() {
        markup.raw("<h3>Chains</h3>");
    }
    for found in &figures.chains {
        chain_of(markup, found, figures);
    }
    for remark in remarks(figures) {
        markup.prose("p", &[("class", &"about")], crate::page::sentence(&remark));
    }
}

fn callbacks(markup: &mut Markup, figures: &Ros2Figures, all: &[Named<'_>]) {
    let of = figures.executors.iter().flat_map(|executor| {
        let threads = executors::threads(executor);
        let own = executor.callbacks.iter();
        own.map(move |number| (*number, threads.clone()))
    });
    let executors: BTreeMap<usize, String> = of.collect();
    table(all)
        .caption(
            "Latency of a timer: from its due time to the beginning of its callback; of a subscription: from the \
             message's publication. Late: gaps above one and a half periods; of a subscription, latencies above --latency.",
        )
        .write_html(markup, "Callbacks of ROS 2");
    let mut causes = Table::new("callback")
        .caption("What ran each callback, and why its longest gap came about.")
        .column(words("executor"))
        .column(words("first cause"));
    for (row, name) in all {
        let executor = executors.get(&row.number).cloned();
        let cause = row.worst.first().map(why::why);
        let cells = vec![executor.into(), cause.map_or(Cell::Blank, Cell::from)];
        causes.row(*name, cells);
    }
    causes.write_html(markup, "Executors and first causes");
}

fn chain_of(markup: &mut Markup, found: &ChainFound, figures: &Ros2Figures) {
    let headline = chain::headline(found, figures.limit_ns);
    markup.element("p", &[], crate::page::sentence(&headline));
    if !found.hops.is_empty() {
        let columns = ["median", "p99", "max"].map(number);
        let mut table = Table::new("callback")
            .caption("Each hop: time that messages waited for it, and time until it passed them on or ended.")
            .group("waited", "", &columns)
            .group("worked", "", &columns);
        for hop in &found.hops {
            let of = |figures: Option<Figures>| {
                [
                    |of: &Figures| of.median,
                    |of: &Figures| of.p99,
                    |of: &Figures| of.max,
                ]
                .map(|which| {
                    let ns = figures.as_ref().map(which);
                    Cell::from(ns.map(Cell::time))
                })
            };
            let cells = of(hop.waiting_ns).into_iter().chain(of(hop.working_ns));
            table.row(hop.callback.as_str(), cells.collect());
        }
        table.write_html(markup, "Hops of a chain");
    }
    let latest = chain::latest(found, figures.began_ns);
    list(markup, chain::ended_early(found).into_iter().chain(latest));
}

fn list(markup: &mut Markup, lines: impl IntoIterator<Item = String>) {
    let mut lines = lines.into_iter().peekable();
    if lines.peek().is_none() {
        return;
    }
    markup.raw("<ul>");
    for line in lines {
        markup.element("li", &[], line);
    }
    markup.raw("</ul>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn headings_of_the_chapter_skip_no_level() {
        let row = json!({
            "number": 0, "process": 1, "handle": 0, "node": "controller",
            "kind": {"control": {"part": "update", "is_unnamed": false}}, "symbol": null, "count": 1,
            "period_ns": 10_000_000, "threads": [1], "latency_ns": null, "skipped": null, "gap_ns": null,
            "waited_ns": null, "run_ns": null, "late": 1, "worst": [],
        });
        let chain = json!({
            "from": "/image", "to": "/motor", "begun": 1, "ended": 0, "under_way": 1, "latency_ns": null,
            "above": null, "hops": [], "lost": [], "end_is_known": true, "latest": [],
        });
        let figures = json!({
            "callbacks": [row], "executors": [], "chains": [chain], "limit_ns": null, "began_ns": 0,
            "unpaired": 0, "unnamed_messages": 0, "lost_ns": 0,
        });
        let mut markup = Markup::default();
        write(&mut markup, &serde_json::from_value(figures).unwrap());
        let text = markup.into_string();
        assert!(text.contains("1 gap above"), "{text}");
        // The chapter itself is an h2.
        assert_eq!(text.matches("<h3>").count(), 2, "{text}");
        assert!(!text.contains("<h4"), "{text}");
    }
}

//! The reference page of the table.

use super::theorems::{plain, theorem};
use super::{Cell, Feature, Queue, Why, alone, pair};
use std::fmt::Write;

const HEAD: &str = "# Features that are analysed together

<!-- Made from the table that admits sets to the analyses; `cargo xtask docs` renews it. -->

A set is either analysed with a proof or refused with one line that names the features. This page is made
from the table in `crates/schedulability/src/matrix/` that decides which. Sources of formulas are in
`crates/schedulability/src/`.

Under `C-EDF` and `SCHED_DEADLINE` a cluster of one CPU counts as one CPU. A row applies to the tasks that
share one queue: one CPU under partitioned policies, one cluster otherwise.

Every *proved* cell is played with random sets by a simulator that shares no code with the analyses
(`crates/schedulability/tests/schedulability/played/`): sporadic arrivals, random offsets, jitter, sleeps,
stretches and sections that can't be preempted, overheads, servers, and the kernel's constant-bandwidth
server with its wake-up rule. The counts are in [benchmarks](benchmarks.md#schedulability-bounds-played).

";

/// The page as Markdown.
pub fn page() -> String {
    let mut text = String::from(HEAD);
    let mut reasons: Vec<Why> = Vec::new();
    by_policy(&mut text, &mut reasons);
    for queue in Queue::ALL {
        pairs(queue, &mut text, &mut reasons);
    }
    text += "## Reasons\n\n";
    for (number, why) in reasons.iter().enumerate() {
        let _ = writeln!(text, "{}. {why}.", number + 1);
    }
    text
}

fn number(why: Why, reasons: &mut Vec<Why>) -> usize {
    match reasons.iter().position(|known| *known == why) {
        Some(place) => place + 1,
        None => {
            reasons.push(why);
            reasons.len()
        }
    }
}

fn by_policy(text: &mut String, reasons: &mut Vec<Why>) {
    *text += "## Features by policy\n\n";
    for queue in Queue::ALL {
        let (source, file) = plain(queue);
        let _ = writeln!(
            text,
            "### {}\n\nSporadic tasks: {source} (`{file}`).\n\n| feature | | theorem | formula in |\n\
             |---|---|---|---|",
            queue.name()
        );
        for feature in Feature::ALL {
            let _ = match alone(queue, feature) {
                Cell::Proved => {
                    let (source, file) = theorem(queue, feature);
                    writeln!(
                        text,
                        "| {} | proved | {source} | `{file}` |",
                        feature.name()
                    )
                }
                Cell::Refused(why) => {
                    let number = number(why, reasons);
                    writeln!(text, "| {} | refused | reason {number} | |", feature.name())
                }
            };
        }
        *text += "\n";
    }
}

/// Only pairs of which neither is refused by itself.
fn pairs(queue: Queue, text: &mut String, reasons: &mut Vec<Why>) {
    let open: Vec<Feature> = Feature::ALL
        .into_iter()
        .filter(|&feature| alone(queue, feature) == Cell::Proved)
        .collect();
    let _ = writeln!(
        text,
        "## Pairs under {}\n\n● proved, a number: refused for that reason.\n",
        queue.name()
    );
    let heads: Vec<&str> = open.iter().map(|feature| feature.name()).collect();
    let _ = writeln!(text, "| | {} |", heads.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(open.len()));
    for &row in &open {
        let cells: Vec<String> = open
            .iter()
            .map(|&column| match pair(queue, row, column) {
                Cell::Proved => "●".to_owned(),
                Cell::Refused(why) => number(why, reasons).to_string(),
            })
            .collect();
        let _ = writeln!(text, "| {} | {} |", row.name(), cells.join(" | "));
    }
    *text += "\n";
}

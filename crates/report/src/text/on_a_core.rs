//! A real-time core's counts of the loop's threads, as a table.

use crate::Style;
use crate::table::{Cell, Table, number};
use wakepath_assess::OnACore;

/// The table for a person, with an empty line after it; nothing if no thread was on a core that counts.
pub(crate) fn to_text(all: &[OnACore], style: Style) -> String {
    let switches = ["to Linux", "on the core"].map(number);
    let mut table = Table::new("counted by the core after the warm-up")
        .group("switches", "", &switches)
        .column(number("calls"))
        .column(number("woken by another CPU"))
        .column(number("page faults"))
        .group("CPU time", "", &[number("on the core")]);
    for one in all {
        let name = [Some(&one.condition), one.task.as_ref(), Some(&one.phase)];
        let name: Vec<&str> = name.into_iter().flatten().map(String::as_str).collect();
        let counts = one.counts;
        let counted = |of: Option<u64>| of.map_or_else(|| Cell::Text("–".into()), Cell::new);
        let cells = vec![
            Cell::new(counts.mode_switches),
            Cell::new(counts.context_switches),
            Cell::new(counts.calls),
            counted(counts.remote_wake_ups),
            counted(counts.page_faults),
            Cell::length(counts.run_time_ns),
        ];
        table.row(name.join(", "), cells);
    }
    if table.is_empty() {
        String::new()
    } else {
        format!("{}\n", table.to_terminal(style.columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_archive::CoreCounts;

    #[test]
    fn each_condition_on_a_core_has_its_counts_and_what_the_core_does_not_count_a_dash() {
        let one = OnACore {
            condition: "COBALT FIFO 80".into(),
            phase: "idle".into(),
            task: None,
            threads: 1,
            counts: CoreCounts {
                mode_switches: 0,
                context_switches: 301,
                calls: 902,
                remote_wake_ups: None,
                page_faults: Some(0),
                run_time_ns: 1_234_567,
            },
        };
        let text = to_text(&[one], Style::default());
        let row = text.lines().find(|line| line.contains("COBALT")).unwrap();
        let words: Vec<&str> = row.split_whitespace().skip(4).collect();
        assert_eq!(words, ["0", "301", "902", "–", "0", "1.23", "ms"]);
        assert_eq!(to_text(&[], Style::default()), "");
    }
}

//! Hardware counters of the loop's cycles as a table.

use crate::Style;
use crate::table::{Table, number};
use wakepath_assess::CounterFigures;
use wakepath_timeline::number::three_digits;

/// The table as text, followed by an empty line; nothing if none was requested. The reason for missing
/// counters is given once.
pub(crate) fn to_text(counters: &[CounterFigures], style: Style) -> String {
    let columns = ["CPU cycles", "instructions", "last-level misses"].map(number);
    let mut table = Table::new("Condition").group("per cycle, in user space", "", &columns);
    for one in counters {
        let Some(per_cycle) = one.per_cycle else {
            continue;
        };
        let name = [Some(&one.condition), one.task.as_ref(), Some(&one.phase)];
        let name: Vec<&str> = name.into_iter().flatten().map(String::as_str).collect();
        let cells = vec![
            three_digits(per_cycle.cpu_cycles).into(),
            three_digits(per_cycle.instructions).into(),
            three_digits(per_cycle.last_level_misses).into(),
        ];
        table.row(name.join(", "), cells);
    }
    let mut text = if table.is_empty() {
        String::new()
    } else {
        format!("{}\n", table.to_terminal(style.columns))
    };
    let mut reasons: Vec<&String> = counters
        .iter()
        .filter_map(|one| one.missing.as_ref())
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        text += &format!("no hardware counters: {reason}\n\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_assess::PerCycle;

    fn figures(per_cycle: Option<PerCycle>, missing: Option<&str>) -> CounterFigures {
        CounterFigures {
            condition: "FIFO 80".into(),
            phase: "idle".into(),
            task: None,
            per_cycle,
            missing: missing.map(str::to_owned),
        }
    }

    #[test]
    fn means_are_shown_per_cycle_of_the_loop() {
        let per_cycle = PerCycle {
            cycles: 100,
            cpu_cycles: 12_345.6,
            instructions: 2_000.4,
            last_level_misses: 3.25,
        };
        let text = to_text(&[figures(Some(per_cycle), None)], Style::default());
        let row = text
            .lines()
            .find(|line| line.contains("FIFO 80, idle"))
            .unwrap();
        let words: Vec<&str> = row.split_whitespace().skip(3).collect();
        assert_eq!(words.join(" "), "12 300 2000 3.25");
    }

    #[test]
    fn none_is_said_once_and_plainly() {
        let none = figures(
            None,
            Some("this machine offers no hardware counter for CPU cycles"),
        );
        let text = to_text(&[none.clone(), none], Style::default());
        assert_eq!(
            text,
            "no hardware counters: this machine offers no hardware counter for CPU cycles\n\n"
        );
        assert_eq!(to_text(&[], Style::default()), "");
    }
}

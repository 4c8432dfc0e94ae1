//! How much longer the work takes under load, as a table.

use crate::Style;
use crate::table::{Cell, Table, number};
use wakepath_assess::{Inflated, Inflation};
use wakepath_timeline::condition_label;
use wakepath_timeline::number::three_digits;

/// The table for a person, with an empty line after it; nothing if nothing can be compared.
pub(crate) fn to_text(inflations: &[Inflation], style: Style) -> String {
    if inflations.is_empty() {
        return String::new();
    }
    let columns = ["idle", "loaded", "×", "p99 ×"].map(number);
    let mut table = Table::new("Policy").group("execution", "", &columns).group(
        "controller alone",
        "",
        &columns,
    );
    let mut phase = None;
    for inflation in inflations {
        if phase != Some(&inflation.phase) {
            phase = Some(&inflation.phase);
            let heading = format!("{} against {}", inflation.phase, inflation.idle_phase);
            table.heading(heading);
        }
        let mut cells = cells(&inflation.execution);
        cells.extend(inflation.work.as_ref().map_or(Vec::new(), self::cells));
        let label = condition_label(inflation.policy.as_ref(), inflation.task.as_deref());
        table.row(label, cells);
    }
    format!("{}\n", table.to_terminal(style.columns))
}

fn cells(inflated: &Inflated) -> Vec<Cell> {
    let Inflated { median, p99 } = inflated;
    let times = |ratio: Option<f64>| Cell::from(ratio.map(three_digits));
    vec![
        Cell::time(median.idle_ns),
        Cell::time(median.loaded_ns),
        times(median.inflation),
        times(p99.and_then(|p99| p99.inflation)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_assess::Ratio;
    use wakepath_timeline::Policy;

    fn inflation(p99: Option<Ratio>) -> Inflation {
        let median = Ratio {
            idle_ns: 2_000,
            loaded_ns: 3_000,
            inflation: Some(1.5),
        };
        Inflation {
            policy: Some(Policy::Fifo { priority: 50 }),
            task: None,
            phase: "cpu large".into(),
            idle_phase: "idle large".into(),
            execution: Inflated { median, p99 },
            work: None,
        }
    }

    #[test]
    fn a_loaded_condition_stands_beside_the_idle_one() {
        let p99 = Ratio {
            idle_ns: 2_000,
            loaded_ns: 3_000,
            inflation: Some(1.5),
        };
        let text = to_text(&[inflation(Some(p99))], Style::default());
        assert!(text.contains("cpu large against idle large"), "{text}");
        assert!(text.contains("2.00 µs  3.00 µs  1.50   1.50"), "{text}");
    }

    #[test]
    fn a_p99_that_is_not_known_is_a_dash() {
        assert!(to_text(&[inflation(None)], Style::default()).contains('–'));
        assert_eq!(to_text(&[], Style::default()), "");
    }
}

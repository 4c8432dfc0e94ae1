//! What stretches a controller, as a table and a sentence for each work.

use crate::Style;
use crate::table::{Cell, Table, number, words};
use wakepath_assess::{Share, Stretched};
use wakepath_timeline::duration::three_digits;

/// Meaning and limits of the table's shares.
pub(crate) const WHAT_IT_IS: &str = "Shares of the variance of its time, if it ran a third of the time alone, a third \
     with loads that compute and a third with loads that use memory. A computing neighbour's share is the CPU's \
     clock, shared pipelines and time taken by others together; interrupts are in all of them.";

/// The table for a person with its sentences, and an empty line after them; nothing without such conditions.
pub(crate) fn to_text(stretches: &[Stretched], style: Style) -> String {
    if stretches.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "what stretches the controller\n{}",
        table(stretches).to_terminal(style.columns)
    );
    for line in stretches.iter().filter_map(sentence) {
        text += &format!("{line}\n");
    }
    text + &format!("{WHAT_IT_IS}\n\n")
}

/// Its times and its shares.
pub(crate) fn table(stretches: &[Stretched]) -> Table {
    let has_own_cache = stretches.iter().any(|of| !of.own_cache_ns.is_empty());
    let times: &[_] = if has_own_cache {
        &["nobody", "computing", "memory", "memory, own cache"]
    } else {
        &["nobody", "computing", "memory"]
    };
    let times: Vec<_> = times.iter().copied().map(number).collect();
    let mut table = Table::new("Controller")
        .column(words("working set"))
        .group("mean time next to", "", &times)
        .group(
            "share of the variance, %",
            "",
            &["within", "computing", "memory"].map(number),
        );
    for of in stretches {
        let shares = of.shares.as_ref();
        let share = |share: Option<&Share>| Cell::from(share.map(|share| shown(share, "")));
        let mut cells: Vec<Cell> = vec![
            size(of.working_set_bytes).into(),
            Cell::mean_time(of.alone_ns),
            Cell::mean_time(of.computing_ns),
            levels(&of.memory_ns).into(),
        ];
        if has_own_cache {
            let own = (!of.own_cache_ns.is_empty()).then(|| levels(&of.own_cache_ns));
            cells.push(Cell::from(own));
        }
        cells.extend([
            share(shares.map(|shares| &shares.within)),
            share(shares.map(|shares| &shares.computing)),
            share(shares.map(|shares| &shares.memory)),
        ]);
        table.row(of.condition.as_str(), cells);
    }
    table
}

/// The largest of the three, if that is certain.
pub(crate) fn sentence(of: &Stretched) -> Option<String> {
    let shares = of.shares.as_ref()?;
    let name = format!("{}, {}", of.condition, size(of.working_set_bytes));
    let all = [
        (
            &shares.within,
            "what varies from cycle to cycle within a condition",
        ),
        (&shares.computing, "neighbours that compute"),
        (&shares.memory, "contention for caches and memory"),
    ];
    let sure = all
        .iter()
        .find(|(share, _)| share.interval.is_some_and(|(low, _)| low > 0.5));
    Some(match (sure, shares.memory.interval) {
        (Some((share, what)), _) => {
            format!(
                "{name}: most of what its time varies by is {what}: {}",
                shown(share, " %")
            )
        }
        (None, Some(_)) => {
            format!("{name}: no cause is surely more than half of what its time varies by")
        }
        (None, None) => format!(
            "{name}: no interval with {} of {} repetitions: repetitions = {}",
            of.repetitions,
            wakepath_assess::REPETITIONS_FOR_AN_INTERVAL,
            wakepath_assess::REPETITIONS_FOR_AN_INTERVAL
        ),
    })
}

/// Its median, with the unit, and its interval.
fn shown(share: &Share, unit: &str) -> String {
    // Rounded first: no share is -0.
    let percent = |share: f64| ((share * 100.0).round() as i64).to_string();
    let median = percent(share.median);
    match share.interval {
        Some((low, high)) => format!("{median}{unit} ({} … {})", percent(low), percent(high)),
        None => format!("{median}{unit}"),
    }
}

fn levels(times: &[(String, f64)]) -> String {
    let each = times
        .iter()
        .map(|(level, ns)| format!("{level} {}", three_digits(ns.round() as i64)));
    each.collect::<Vec<_>>().join(", ")
}

fn size(bytes: u64) -> String {
    wakepath_scenario::units::format_size(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_assess::StretchShares;

    fn stretched(memory: Share) -> Stretched {
        let rest = |median| Share {
            median,
            interval: memory.interval.map(|_| (0.0, 0.2)),
        };
        Stretched {
            condition: "FIFO 80".into(),
            working_set_bytes: 4 << 20,
            repetitions: 6,
            alone_ns: 126_350.0,
            computing_ns: 127_000.0,
            memory_ns: vec![("dram".into(), 240_100.0)],
            own_cache_ns: Vec::new(),
            shares: Some(StretchShares {
                within: rest(0.15),
                computing: rest(-0.004),
                memory,
            }),
        }
    }

    #[test]
    fn a_cause_is_named_only_where_its_interval_lies_above_a_half() {
        let share = |low| Share {
            median: 0.8,
            interval: Some((low, 0.9)),
        };
        let sure = sentence(&stretched(share(0.51))).unwrap();
        assert_eq!(
            sure,
            "FIFO 80, 4 MiB: most of what its time varies by is contention for caches and memory: 80 % (51 … 90)"
        );
        let unsure = sentence(&stretched(share(0.49))).unwrap();
        assert!(
            unsure.contains("no cause is surely more than half"),
            "{unsure}"
        );
        let short = Share {
            median: 0.8,
            interval: None,
        };
        let short = sentence(&stretched(short)).unwrap();
        assert!(short.ends_with("repetitions = 6"), "{short}");
    }

    #[test]
    fn the_table_has_each_level_and_no_share_below_zero_by_rounding() {
        let memory = Share {
            median: 0.85,
            interval: None,
        };
        let style = Style {
            colour: false,
            columns: Some(100),
        };
        let text = to_text(&[stretched(memory)], style);
        let row = text
            .lines()
            .find(|line| line.starts_with("FIFO 80 "))
            .unwrap();
        for cell in ["4 MiB", "126 µs", "127 µs", "dram 240 µs", "85"] {
            assert!(row.contains(cell), "{cell}: {text}");
        }
        assert!(!text.contains("-0"), "{text}");
    }
}

//! The parts of a controller that timed themselves, as a table.

use crate::Style;
use crate::table::{Cell, Table, number};
use wakepath_assess::ModuleFigures;
use wakepath_timeline::number::three_digits;

/// The table for a person, with an empty line after it; nothing without modules.
pub(crate) fn to_text(modules: &[ModuleFigures], style: Style) -> String {
    let mut text = String::new();
    for table in tables(modules) {
        text += &format!("{}\n", table.to_terminal(style.columns));
    }
    text
}

/// Parts that were summed, and sections whose runs are known one by one.
pub(crate) fn tables(modules: &[ModuleFigures]) -> Vec<Table> {
    let (sections, parts): (Vec<_>, Vec<_>) =
        modules.iter().partition(|module| module.spread.is_some());
    let several = modules.iter().any(|one| one.thread != modules[0].thread);
    let mut tables = Vec::new();
    if !parts.is_empty() {
        tables.push(of_parts(&parts, several));
    }
    if !sections.is_empty() {
        tables.push(of_sections(&sections, several));
    }
    tables
}

fn label(module: &ModuleFigures, several: bool) -> String {
    if several {
        format!("{}: {}", module.thread, module.times.name)
    } else {
        module.times.name.clone()
    }
}

fn of_sections(modules: &[&ModuleFigures], several: bool) -> Table {
    let mut table = Table::new("Section")
        .column(number("runs"))
        .group(
            "time",
            "",
            &["min", "mean", "±99 %", "p99", "max", "budget"].map(number),
        )
        .group(
            "",
            "",
            &[number("load").unit("%"), number("over budget").unit("%")],
        );
    let mut of = None;
    for module in modules {
        let condition = (&module.condition, &module.phase);
        if of != Some(condition) {
            of = Some(condition);
            table.heading(format!("{}, {}", condition.0, condition.1));
        }
        let (times, spread) = (&module.times, module.spread.as_ref());
        let mean = spread.and_then(|of| of.mean);
        let over = times.budget_ns.filter(|_| times.runs > 0);
        let over = over.map(|_| 100.0 * times.over_budget as f64 / times.runs as f64);
        table.row(
            label(module, several),
            vec![
                Cell::new(times.runs),
                spread.map(|of| Cell::length(of.min_ns)).into(),
                module.average_ns.map(Cell::mean_time).into(),
                mean.map(|of| Cell::mean_time(of.half_width)).into(),
                spread.and_then(|of| of.p99_ns).map(Cell::length).into(),
                Cell::length(times.max_ns),
                times.budget_ns.map(Cell::length).into(),
                three_digits(module.load * 100.0).into(),
                over.map(three_digits).into(),
            ],
        );
    }
    table
}

fn of_parts(modules: &[&ModuleFigures], several: bool) -> Table {
    let mut table = Table::new("Module")
        .group("rate", "Hz", &["had", "wanted"].map(number))
        .group("time", "", &["avg", "max", "budget"].map(number))
        .group(
            "",
            "",
            &[
                number("load").unit("%"),
                number("late"),
                number("over budget"),
            ],
        );
    let mut of = None;
    for module in modules {
        let condition = (&module.condition, &module.phase);
        if of != Some(condition) {
            of = Some(condition);
            table.heading(format!("{}, {}", condition.0, condition.1));
        }
        let times = &module.times;
        table.row(
            label(module, several),
            vec![
                three_digits(module.rate_hz).into(),
                module.wanted_hz.map(three_digits).into(),
                module.average_ns.map(Cell::mean_time).into(),
                Cell::length(times.max_ns),
                times.budget_ns.map(Cell::length).into(),
                three_digits(module.load * 100.0).into(),
                times.late.map(Cell::new).into(),
                times.budget_ns.map(|_| Cell::new(times.over_budget)).into(),
            ],
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_archive::ModuleTimes;

    fn module(runs: u64, budget_ns: Option<u64>) -> ModuleFigures {
        ModuleFigures {
            condition: "FIFO 50".into(),
            phase: "idle".into(),
            thread: "loop".into(),
            times: ModuleTimes {
                name: "attitude".into(),
                budget_ns,
                runs,
                sum_ns: 2_000 * runs,
                max_ns: 5_000,
                over_budget: 3,
                every: Some(2),
                late: Some(7),
                caches: None,
                exchanges: None,
            },
            rate_hz: 250.0,
            wanted_hz: Some(125.0),
            average_ns: (runs > 0).then_some(2_000.0),
            load: 0.0005,
            spread: None,
        }
    }

    #[test]
    fn a_section_whose_runs_are_known_has_its_spread() {
        let spread = wakepath_assess::Spread {
            runs: 500,
            min_ns: 1_000,
            mean: None,
            p99_ns: Some(4_500),
            max_ns: 5_000,
        };
        let section = ModuleFigures {
            spread: Some(spread),
            ..module(500, Some(4_000))
        };
        let text = to_text(&[section], Style::default());
        let row = text.trim_end().lines().last().unwrap_or_default();
        let words: Vec<&str> = row
            .split("  ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .collect();
        let wanted = [
            "attitude", "500", "1.00 µs", "2.00 µs", "–", "4.50 µs", "5.00 µs", "4.00 µs",
            "0.0500", "0.600",
        ];
        assert_eq!(words, wanted);
    }

    #[test]
    fn each_figure_stands_in_its_column() {
        let text = to_text(&[module(500, Some(4_000))], Style::default());
        let row = text.trim_end().lines().last().unwrap_or_default();
        let words: Vec<&str> = row
            .split("  ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .collect();
        assert_eq!(
            words,
            [
                "attitude", "250", "125", "2.00 µs", "5.00 µs", "4.00 µs", "0.0500", "7", "3"
            ]
        );
    }

    #[test]
    fn a_module_that_never_ran_or_has_no_budget_shows_no_figure_for_it() {
        let mut figures = module(0, None);
        (figures.wanted_hz, figures.times.late) = (None, None);
        assert_eq!(
            to_text(&[figures], Style::default()).matches('–').count(),
            5
        );
    }
}

//! Published figures, read from the tables in `published/`, each with its source at its head. It judges none of
//! them.

use crate::Cell;

/// Published wake-up latencies of one condition, in microseconds on the machine that they are of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// Which.
    pub cell: Cell<'static>,
    /// Smallest.
    pub min: Option<f64>,
    /// Average.
    pub mean: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

pub(crate) const BEAGLEPILOT: &str = include_str!("../published/beaglepilot.tsv");
pub(crate) const JETSON: &str = include_str!("../published/jetson-1khz.tsv");
pub(crate) const LITMUS: &str = include_str!("../published/litmus-16core.tsv");
pub(crate) const PI5: &str = include_str!("../published/pi5-250hz.tsv");
/// For an experiment without published figures by condition.
pub(crate) const NONE: &str = "";

const HEADING: &str = "kernel\tphase\tpolicy\tmin\tmean\tmax";

/// The rows of a published table; an empty field is a figure that was not published.
///
/// # Panics
/// If a table has another shape, which its test detects.
pub(crate) fn rows(table: &'static str) -> impl Iterator<Item = Published> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.filter(|line| *line != HEADING).map(|line| {
        let fields: Vec<&'static str> = line.split('\t').collect();
        let [guest, phase, policy, min, mean, max] = fields[..] else {
            panic!("six fields: {line}");
        };
        let figure = |text: &str| (!text.is_empty()).then(|| text.parse().expect("microseconds"));
        Published {
            cell: Cell {
                guest,
                phase,
                policy,
            },
            min: figure(min),
            mean: figure(mean),
            max: figure(max),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_tells_its_source_and_every_row_has_a_figure() {
        for table in [BEAGLEPILOT, JETSON, LITMUS, PI5] {
            assert!(table.starts_with("# "), "{table}");
            assert!(table.lines().any(|line| line == HEADING), "{table}");
            let rows: Vec<Published> = rows(table).collect();
            assert!(rows.len() >= 2, "{table}");
            assert!(rows.iter().all(|row| row.max.is_some_and(|max| max > 0.0)));
        }
        let first = rows(JETSON).next().unwrap();
        let figures = (first.min, first.mean, first.max);
        assert_eq!(figures, (None, Some(2.4), Some(22.0)));
        assert_eq!(
            rows(BEAGLEPILOT).last().unwrap().cell.policy,
            "COBALT FIFO 99"
        );
    }
}

//! A tally as it is written.

use super::{Close, MissTally};
use crate::blocks::{Block, Blocks, Spread, without_misses};
use serde::{Deserialize, Serialize};

/// Without blocks where nothing was missed, and without the lengths of which no block ended.
#[derive(Serialize, Deserialize)]
pub(super) struct Stored {
    due: u64,
    missed: u64,
    longest_run: u64,
    clusters: u64,
    largest_cluster: u64,
    #[serde(default)]
    places: (u64, u64),
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<Row>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    series: Option<Row>,
    /// Those missed or nearly missed, and their blocks, if there are more than missed ones.
    #[serde(default, skip_serializing_if = "is_zero")]
    close: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    close_blocks: Vec<Row>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    close_series: Option<Row>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize, Deserialize)]
struct Row(bool, Option<Block>, Block, u64, f64, f64, f64);

impl From<Blocks> for Row {
    fn from(of: Blocks) -> Self {
        Self(
            of.began_within,
            of.head,
            of.open,
            of.with_misses,
            of.squares,
            of.products,
            of.weights,
        )
    }
}

impl From<Row> for Blocks {
    fn from(row: Row) -> Self {
        let Row(began_within, head, open, with_misses, squares, products, weights) = row;
        Self {
            began_within,
            head,
            open,
            with_misses,
            squares,
            products,
            weights,
        }
    }
}

/// As in a part without an end of a block.
fn without_an_end(began_within: bool, of: (u64, u64)) -> Blocks {
    Blocks {
        began_within,
        open: of,
        ..Blocks::default()
    }
}

/// The blocks of `counted` of `due` due times, and those of the series.
fn rows(spread: &Spread, counted: u64, due: u64) -> (Vec<Row>, Option<Row>) {
    let all = (counted, due);
    let has_end = |blocks: &Blocks| *blocks != without_an_end(blocks.began_within, all);
    let count = match counted {
        0 => 0,
        _ => {
            let last = spread.levels.iter().rposition(has_end);
            last.map_or(0, |last| last + 1)
        }
    };
    let series = spread.series;
    (
        spread.levels[..count]
            .iter()
            .copied()
            .map(Row::from)
            .collect(),
        (series != without_an_end(false, all)).then(|| series.into()),
    )
}

fn spread(
    places: (u64, u64),
    (counted, due): (u64, u64),
    blocks: Vec<Row>,
    series: Option<Row>,
) -> Spread {
    let mut spread = without_misses(places);
    let all = (counted, due);
    if counted > 0 {
        for blocks in &mut spread.levels {
            *blocks = without_an_end(blocks.began_within, all);
        }
        for (blocks, row) in spread.levels.iter_mut().zip(blocks) {
            *blocks = row.into();
        }
    }
    spread.series = match series {
        Some(row) => row.into(),
        None => without_an_end(false, all),
    };
    spread
}

impl From<MissTally> for Stored {
    fn from(of: MissTally) -> Self {
        let (blocks, series) = rows(&of.spread, of.missed, of.due);
        let (close, (close_blocks, close_series)) = match of.close.count > of.missed {
            true => (
                of.close.count,
                rows(&of.close.spread, of.close.count, of.due),
            ),
            false => (0, (Vec::new(), None)),
        };
        Self {
            due: of.due,
            missed: of.missed,
            longest_run: of.longest_run,
            clusters: of.clusters,
            largest_cluster: of.largest_cluster,
            places: of.spread.places,
            blocks,
            series,
            close,
            close_blocks,
            close_series,
        }
    }
}

impl From<Stored> for MissTally {
    fn from(of: Stored) -> Self {
        let missed = spread(of.places, (of.missed, of.due), of.blocks, of.series);
        let close = match of.close > of.missed {
            true => Close {
                count: of.close,
                spread: spread(
                    of.places,
                    (of.close, of.due),
                    of.close_blocks,
                    of.close_series,
                ),
            },
            // Those missed alone.
            false => Close {
                count: of.missed,
                spread: missed,
            },
        };
        Self {
            due: of.due,
            missed: of.missed,
            longest_run: of.longest_run,
            clusters: of.clusters,
            largest_cluster: of.largest_cluster,
            spread: missed,
            close,
        }
    }
}

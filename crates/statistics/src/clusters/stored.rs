//! A tally as it is written.

use super::{Close, MissTally};
use crate::blocks::{Block, Blocks, Spread, without_misses};
use serde::{Deserialize, Serialize};

/// Without blocks if nothing was missed, and without the lengths of which no block ended.
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
    /// Those past three quarters of a limit, and past half of it, each if there are more than of the
    /// narrower kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    close: Option<StoredClose>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    halfway: Option<StoredClose>,
}

#[derive(Serialize, Deserialize)]
struct StoredClose {
    count: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<Row>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    series: Option<Row>,
}

/// Whether the part began within a block, that block's rest, the open block; blocks with misses, with one,
/// and the most in one; squares, products, weights.
#[derive(Serialize, Deserialize)]
struct Row(bool, Option<Block>, Block, (u64, u64, u64), f64, f64, f64);

impl From<Blocks> for Row {
    fn from(of: Blocks) -> Self {
        Self(
            of.began_within,
            of.head,
            of.open,
            (of.with_misses, of.with_one, of.largest),
            of.squares,
            of.products,
            of.weights,
        )
    }
}

impl From<Row> for Blocks {
    fn from(row: Row) -> Self {
        let Row(began_within, head, open, counts, squares, products, weights) = row;
        let (with_misses, with_one, largest) = counts;
        Self {
            began_within,
            head,
            open,
            with_misses,
            with_one,
            largest,
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

impl StoredClose {
    /// If there are more than `narrower`.
    fn new(close: &Close, narrower: u64, due: u64) -> Option<Self> {
        let (blocks, series) = if close.count > narrower {
            rows(&close.spread, close.count, due)
        } else {
            return None;
        };
        Some(Self {
            count: close.count,
            blocks,
            series,
        })
    }

    fn close(self, places: (u64, u64), due: u64) -> Close {
        let spread = spread(places, (self.count, due), self.blocks, self.series);
        Close {
            count: self.count,
            spread,
        }
    }
}

impl From<MissTally> for Stored {
    fn from(of: MissTally) -> Self {
        let (blocks, series) = rows(&of.spread, of.missed, of.due);
        Self {
            due: of.due,
            missed: of.missed,
            longest_run: of.longest_run,
            clusters: of.clusters,
            largest_cluster: of.largest_cluster,
            places: of.spread.places,
            blocks,
            series,
            close: StoredClose::new(&of.close, of.missed, of.due),
            halfway: StoredClose::new(&of.halfway, of.close.count, of.due),
        }
    }
}

impl From<Stored> for MissTally {
    fn from(of: Stored) -> Self {
        let missed = Close {
            count: of.missed,
            spread: spread(of.places, (of.missed, of.due), of.blocks, of.series),
        };
        let read = |stored: Option<StoredClose>, narrower: Close| {
            stored.map_or(narrower, |stored| stored.close(of.places, of.due))
        };
        let close = read(of.close, missed);
        Self {
            due: of.due,
            missed: of.missed,
            longest_run: of.longest_run,
            clusters: of.clusters,
            largest_cluster: of.largest_cluster,
            spread: missed.spread,
            close,
            halfway: read(of.halfway, close),
        }
    }
}

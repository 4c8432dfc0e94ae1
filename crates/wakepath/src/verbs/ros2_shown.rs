//! Which callbacks of ROS 2 a screen has room for: all of a few, and of many those that were worst.

use wakepath_ros2::Row;
use wakepath_timeline::count::counted;

/// Most callbacks that are shown in full.
const MOST_ROWS: usize = 24;
/// Callbacks shown of more than that.
const WORST_ROWS: usize = 10;
/// Callbacks shown with their late runs then.
const WORST_LATE: usize = 3;

/// A row, and its name.
type Named<'a> = (&'a Row, &'a str);

/// The rows of the table, in their order.
pub(super) fn rows<'a>(all: &[Named<'a>]) -> Vec<Named<'a>> {
    match all.len() <= MOST_ROWS {
        true => all.to_vec(),
        false => worst(all, WORST_ROWS),
    }
}

/// Those whose late runs are shown, of the `late` ones of `all`.
pub(super) fn late<'a>(all: usize, late: &[Named<'a>]) -> Vec<Named<'a>> {
    match all <= MOST_ROWS {
        true => late.to_vec(),
        false => worst(late, WORST_LATE),
    }
}

/// A line for the callbacks that the table leaves out.
pub(super) fn hidden(all: usize, shown: usize) -> String {
    match all - shown {
        0 => String::new(),
        more => format!(
            "and {}; these were the latest: --json has all of them\n",
            counted(more as u64, "more callback", "more callbacks")
        ),
    }
}

/// Most late runs first, then the longest latency, then the longest run.
fn worst<'a>(all: &[Named<'a>], most: usize) -> Vec<Named<'a>> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|at| {
        let (row, _) = all[*at];
        let latency = row.latency_ns.or(row.waited_ns).map_or(0, |of| of.max);
        let ran = row.run_ns.map_or(0, |of| of.max);
        std::cmp::Reverse((row.late.unwrap_or(0), latency, ran))
    });
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|at| all[at]).collect()
}

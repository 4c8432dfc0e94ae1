//! Which callbacks of ROS 2 a screen has room for: all of a few, and of many those that were worst.

use super::Named;
use wakepath_timeline::count::counted;

/// How much is shown.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Most callbacks that are shown in full.
    full: usize,
    /// Callbacks shown of more than that.
    worst: usize,
    /// Callbacks shown with their late runs, if not all are shown.
    late: usize,
    /// Late runs of each.
    pub(super) runs: usize,
    /// Executors, the ones held longest.
    pub(super) executors: usize,
    /// Whether each chain is shown hop by hop, and all columns of the table.
    pub(super) is_whole: bool,
}

impl Room {
    /// Everything, or the worst if there are many.
    pub const WHOLE: Self = Self {
        full: 24,
        worst: 10,
        late: 3,
        runs: usize::MAX,
        executors: 8,
        is_whole: true,
    };

    /// About this number of each kind, the worst. The line for a single further callback would take its place.
    pub fn new(most: usize) -> Self {
        Self {
            full: most + 2,
            worst: most + 1,
            late: most.div_ceil(2),
            runs: 1,
            executors: most.div_ceil(3),
            is_whole: false,
        }
    }
}

/// The rows of the table, in their order.
pub(super) fn rows<'a>(all: &[Named<'a>], room: &Room) -> Vec<Named<'a>> {
    if all.len() <= room.full {
        all.to_vec()
    } else {
        worst(all, room.worst)
    }
}

/// Rows whose late runs are shown.
pub(super) struct LateRows<'a> {
    pub(super) shown: Vec<Named<'a>>,
    /// Further rows with late runs.
    pub(super) more: u64,
}

/// Those whose late runs are shown, of all rows.
pub(super) fn late<'a>(all: &[Named<'a>], room: &Room) -> LateRows<'a> {
    let is_late = |(row, _): &&Named<'a>| row.late.is_some_and(|count| count > 0);
    let late: Vec<Named<'a>> = all.iter().filter(is_late).copied().collect();
    let count = late.len();
    let shown = if room.is_whole && all.len() <= room.full {
        late
    } else {
        worst(&late, room.late)
    };
    LateRows {
        more: (count - shown.len()) as u64,
        shown,
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

/// Callbacks that ran less often belong to the beginning or the end of a program.
const LEAST_RUNS: u64 = 10;

/// Most late runs first, then those that ran often, the longest latency, and the longest run.
fn worst<'a>(all: &[Named<'a>], most: usize) -> Vec<Named<'a>> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_cached_key(|at| {
        let (row, _) = all[*at];
        let latency = row.latency_ns.or(row.waited_ns).map_or(0, |of| of.max);
        let ran = row.run_ns.map_or(0, |of| of.max);
        let is_frequent = row.count >= LEAST_RUNS;
        std::cmp::Reverse((row.late.unwrap_or(0), is_frequent, latency, ran))
    });
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|at| all[at]).collect()
}

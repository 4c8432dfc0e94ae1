//! Which edge that was seen belongs to which change of the line. It reads times and numbers, never levels: the
//! kernel reads a line's level after its interrupt, when it may have changed again.

use wakepath_gpio::record::PinStep;

/// A wave's changes with their edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Matched {
    /// For each change, when its edge was seen; `None` without one, or if it is ambiguous.
    pub seen_ns: Vec<Option<u64>>,
    /// Edges that the kernel's buffer had no room for: they occurred, and nobody knows when.
    pub dropped: u64,
    /// Edges that belong to no change: something else is on the line.
    pub foreign: u64,
}

impl Matched {
    pub fn new(step: &PinStep) -> Self {
        let counted = step
            .edges
            .last()
            .map_or(0, |last| number(step, last.number));
        let dropped = counted.saturating_sub(step.edges.len() as u64);
        let driven = step.driven.len() as u64;
        let by_number = if counted == driven {
            by_number(step)
        } else {
            None
        };
        let (seen_ns, foreign) = by_number.map_or_else(|| by_time(step), |seen| (seen, 0));
        Self {
            seen_ns,
            dropped,
            foreign: foreign.max(counted.saturating_sub(driven)),
        }
    }
}

/// How many edges the kernel had counted since the wave began, this one included.
fn number(step: &PinStep, number: u32) -> u64 {
    number.wrapping_sub(step.before).into()
}

/// As many edges as changes: one for each, in order. `None` if one came before its change.
fn by_number(step: &PinStep) -> Option<Vec<Option<u64>>> {
    let mut seen = vec![None; step.driven.len()];
    for edge in &step.edges {
        let at = usize::try_from(number(step, edge.number).checked_sub(1)?).ok()?;
        let change = step.driven.get(at)?;
        if edge.at_ns < change.begun_ns {
            return None;
        }
        seen[at] = Some(edge.at_ns);
    }
    Some(seen)
}

/// Each edge belongs to the last change that had begun and has none, in order: so each comes as early as it can
/// have. One for which none is left belongs to nobody.
fn by_time(step: &PinStep) -> (Vec<Option<u64>>, u64) {
    let mut seen = vec![None; step.driven.len()];
    let mut foreign = 0;
    let mut free = step.driven.len();
    for edge in step.edges.iter().rev() {
        let begun = step
            .driven
            .partition_point(|change| change.begun_ns <= edge.at_ns);
        match begun.min(free).checked_sub(1) {
            Some(at) => {
                seen[at] = Some(edge.at_ns);
                free = at;
            }
            None => foreign += 1,
        }
    }
    (seen, foreign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_gpio::record::{DrivenEdge, Edge};

    /// Changes every 100 ns from 1000 on, and edges at these times with these numbers.
    fn matched(changes: u64, edges: &[(u64, u32)]) -> Matched {
        let driven = |cycle| DrivenEdge {
            cycle,
            begun_ns: 1000 + 100 * cycle,
            ended_ns: 1010 + 100 * cycle,
        };
        Matched::new(&PinStep {
            half_period_ns: 100,
            due: changes,
            start_ns: 1000,
            driven: (0..changes).map(driven).collect(),
            before: 7,
            edges: edges.iter().map(|&edge| Edge::from(edge)).collect(),
        })
    }

    #[test]
    fn as_many_edges_as_changes_belong_to_them_in_order_however_late_they_are() {
        let found = matched(3, &[(1350, 8), (1360, 9), (1370, 10)]);
        assert_eq!(found.seen_ns, [Some(1350), Some(1360), Some(1370)]);
        assert_eq!((found.dropped, found.foreign), (0, 0));
    }

    #[test]
    fn a_gap_in_the_numbers_is_edges_that_were_dropped_and_the_others_keep_their_places() {
        let found = matched(3, &[(1020, 8), (1220, 10)]);
        assert_eq!(found.seen_ns, [Some(1020), None, Some(1220)]);
        assert_eq!((found.dropped, found.foreign), (1, 0));
    }

    #[test]
    fn a_change_that_came_back_with_the_next_one_has_no_edge_of_its_own() {
        // The second was over before the interrupt looked: two edges for three changes, no gap.
        let found = matched(3, &[(1020, 8), (1230, 9)]);
        assert_eq!(found.seen_ns, [Some(1020), None, Some(1230)]);
        assert_eq!((found.dropped, found.foreign), (0, 0));
    }

    #[test]
    fn late_edges_behind_the_last_change_belong_to_the_changes_before_it() {
        let found = matched(4, &[(1150, 8), (1400, 9), (1450, 10)]);
        assert_eq!(found.seen_ns, [None, Some(1150), Some(1400), Some(1450)]);
        assert_eq!((found.dropped, found.foreign), (0, 0));
    }

    #[test]
    fn edges_that_nobody_drove_are_counted_as_such() {
        let found = matched(2, &[(1020, 8), (1030, 9), (1120, 10)]);
        assert_eq!(found.seen_ns, [Some(1030), Some(1120)]);
        assert_eq!(found.foreign, 1);
        // As many as changes, and one came before its own: they are not its.
        let found = matched(2, &[(900, 8), (1020, 9)]);
        assert_eq!(found.seen_ns, [Some(1020), None]);
        assert_eq!(found.foreign, 1);
        assert_eq!(matched(2, &[]).seen_ns, [None, None]);
    }
}

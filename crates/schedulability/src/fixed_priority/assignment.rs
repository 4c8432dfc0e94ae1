//! Priorities for tasks that have none: Audsley's assignment, which finds one that holds whenever
//! there is one (Audsley, "On priority assignment in fixed priority scheduling", 2001).

use super::response::{Interference, responses};
use crate::task::{Impossible, Task};

/// Why no priorities were found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unassignable {
    /// None of these tasks can have the lowest priority that is left.
    #[error("no order of priorities holds: none of {} can come last", .0.join(", "))]
    NoOrder(Vec<String>),
    /// The set itself can't be.
    #[error(transparent)]
    Impossible(#[from] Impossible),
}

/// Gives the tasks of one CPU the priorities `lowest`, `lowest + 1` … so that all hold, the greatest
/// number first. Among tasks that could come last, the one with the latest deadline does.
///
/// # Errors
/// [`Unassignable`].
pub fn assign(
    set: &mut [Task],
    tasks: &[usize],
    interference: &[Interference],
    lowest: u32,
) -> Result<(), Unassignable> {
    let mut left: Vec<usize> = tasks.to_vec();
    left.sort_by_key(|&place| std::cmp::Reverse(set[place].deadline_ns));
    let mut given = vec![0; set.len()];
    let mut trial = set.to_vec();
    for level in 0..tasks.len() as u32 {
        let mut found = None;
        for (position, &place) in left.iter().enumerate() {
            // Put this one last of the remaining; those with a priority already come after it.
            let others = left.iter().filter(|&&other| other != place);
            for (priority, &other) in (lowest + level + 1..).zip(others) {
                trial[other].priority = priority;
            }
            trial[place].priority = lowest + level;
            let bounds = responses(&trial, tasks, interference)?;
            if bounds
                .iter()
                .any(|bound| bound.task == place && bound.holds())
            {
                found = Some(position);
                break;
            }
        }
        let Some(position) = found else {
            let names = left.iter().map(|&place| set[place].name.clone());
            return Err(Unassignable::NoOrder(names.collect()));
        };
        let place = left.remove(position);
        given[place] = lowest + level;
        trial[place].priority = given[place];
    }
    for &place in tasks {
        set[place].priority = given[place];
    }
    Ok(())
}

//! A counterexample to a set that no test of several CPUs accepts: more work than CPUs, or a schedule
//! in which a deadline is missed. That none is found proves nothing.

use super::super::{Counterexample, Outcome, Refuted};
use super::bare;
use crate::arithmetic::{Share, utilization};
use crate::global::GlobalTask;
use crate::simulate::{Rule, play};
use crate::sweep::Random;
use crate::task::Task;

/// How long a set is played in search of a counterexample, in jobs of all tasks.
const JOBS_PLAYED: u64 = 20_000;
/// Draws of first releases, where tasks may begin as they like.
const DRAWS: u64 = 16;

/// More work than CPUs, or a miss when all are released together, or by their offsets, or as drawn if
/// none has one; otherwise nothing is known. Misses of less work (jobs without their overheads, blocking and
/// sleep) are misses of the set; jobs that can't be preempted never get here on several CPUs, where
/// leaving that out could show a miss that never is (on one, EDF meets what any order meets).
///
/// `seen` has the deadlines by which the scheduler orders jobs, `tasks` those that must be met.
pub(super) fn refuted(
    seen: &[Task],
    tasks: &[Task],
    ranked: &[usize],
    cpus: u32,
    rule: Rule,
    search: Counterexample,
) -> Outcome {
    let a_hair = Share::up(1, 1 << 50);
    if utilization(tasks) > Share::ONE.times(u64::from(cpus)).plus(a_hair) {
        return Outcome::NotSchedulable(Refuted::Overload);
    }
    if search == Counterexample::Unwanted {
        return Outcome::NotProvable;
    }
    let periodic: Option<Vec<GlobalTask>> = ranked
        .iter()
        .map(|&place| {
            let task = Task {
                jitter_ns: 0,
                ..bare(&tasks[place])
            };
            let ordered_by_ns = seen[place].deadline_ns;
            let task = GlobalTask::new(&task).ok()?;
            Some(GlobalTask {
                latest_deadline_ns: ordered_by_ns,
                ..task
            })
        })
        .collect();
    let Some(periodic) = periodic else {
        return Outcome::NotProvable;
    };
    let periods = || periodic.iter().map(|task| task.period_ns);
    let (shortest, longest) = (periods().min().unwrap_or(1), periods().max().unwrap_or(1));
    let until = shortest
        .saturating_mul(JOBS_PLAYED / periodic.len().max(1) as u64)
        .max(longest.saturating_mul(2));
    let given = ranked.iter().map(|&place| tasks[place].offset_ns);
    let first: Vec<u64> = given.clone().map(|offset| offset.unwrap_or(0)).collect();
    let free = given.clone().all(|offset| offset.is_none());
    let drawn = free.then(|| (0..DRAWS).map(|draw| drawn(&periodic, draw)));
    std::iter::once(first)
        .chain(drawn.into_iter().flatten())
        .find_map(|offsets_ns| {
            let latest = offsets_ns.iter().copied().max().unwrap_or(0);
            let until = until.saturating_add(latest);
            let played = play(&periodic, &offsets_ns, cpus, rule, until, true);
            let miss = played.first_miss?;
            Some(Outcome::NotSchedulable(Refuted::Played {
                task: ranked[miss.task],
                deadline_ns: miss.deadline_ns,
                offsets_ns: ranked.iter().copied().zip(offsets_ns).collect(),
            }))
        })
        .unwrap_or(Outcome::NotProvable)
}

/// First releases within the periods, the same each time.
fn drawn(tasks: &[GlobalTask], draw: u64) -> Vec<u64> {
    let mut random = Random::new(0x0ff5e7, 0, draw);
    let within = |period_ns: u64, unit: f64| (period_ns as f64 * unit) as u64;
    tasks
        .iter()
        .map(|task| within(task.period_ns, random.unit()))
        .collect()
}

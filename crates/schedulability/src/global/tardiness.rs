//! How late jobs can be under global EDF when deadlines may be missed: Devi and Anderson,
//! "Tardiness bounds under global EDF scheduling on a multiprocessor" (RTSS 2005).

use super::GlobalTask;
use crate::arithmetic::Share;

/// The most by which a job of each task can miss its deadline, in nanoseconds, rounded up; `None`
/// where the tasks need more than all CPUs or one needs more than one, and where a deadline is not the
/// period's end: for those the bound is not proved.
///
/// ((M − 1) · C_max − C_min) / (M − (M − 2) · U_max) + C_k.
pub fn tardiness_bounds(tasks: &[GlobalTask], cpus: u32) -> Option<Vec<u64>> {
    let implicit = |task: &GlobalTask| {
        task.deadline_ns == task.period_ns && task.latest_deadline_ns == task.deadline_ns
    };
    if !tasks.iter().all(implicit) {
        return None;
    }
    let share = |task: &GlobalTask| Share::up(task.execution_ns, task.period_ns);
    let total = tasks
        .iter()
        .fold(Share::default(), |sum, task| sum.plus(share(task)));
    let largest = tasks.iter().map(share).max()?;
    let all = Share::ONE.times(u64::from(cpus));
    // Rounding up makes one third three times a hair more than one.
    let a_hair = Share::up(1, 1 << 50);
    if total > all.plus(a_hair) || largest > Share::ONE {
        return None;
    }
    let most = tasks.iter().map(|task| task.execution_ns).max()?;
    let least = tasks.iter().map(|task| task.execution_ns).min()?;
    let others = u64::from(cpus.saturating_sub(1));
    let above = others.checked_mul(most)?.saturating_sub(least);
    let below = all.less(largest.times(u64::from(cpus.saturating_sub(2))));
    let common = below.divides_up(above).ok()?;
    tasks
        .iter()
        .map(|task| common.checked_add(task.execution_ns))
        .collect()
}

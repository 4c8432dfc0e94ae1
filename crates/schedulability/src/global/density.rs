//! The density test of global EDF: Goossens, Funk and Baruah (2003), with deadlines before periods
//! after Bertogna, Cirinei and Lipari (2005).

use super::GlobalTask;
use crate::arithmetic::Share;

/// Whether Σ λ ≤ M − (M − 1) · λ_max, where λ = C / min(D, T). Rounded to the safe side; a set of no
/// more tasks than CPUs holds if each fits alone.
pub fn density_holds(tasks: &[GlobalTask], cpus: u32) -> bool {
    let fits_alone = |task: &GlobalTask| task.execution_ns <= task.deadline_ns.min(task.period_ns);
    if !tasks.iter().all(fits_alone) {
        return false;
    }
    if tasks.len() <= cpus as usize {
        return true;
    }
    let density =
        |task: &GlobalTask| Share::up(task.execution_ns, task.deadline_ns.min(task.period_ns));
    let largest = tasks.iter().map(density).max().unwrap_or_default();
    let sum = tasks
        .iter()
        .fold(Share::default(), |sum, task| sum.plus(density(task)));
    let others = u64::from(cpus.saturating_sub(1));
    sum.plus(largest.times(others)) <= Share::ONE.times(u64::from(cpus))
}

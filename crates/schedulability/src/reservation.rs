//! The minimum supply of a reservation in any stretch of time, and the response times of tasks that run
//! only in it.
//!
//! Shin and Lee, "Periodic resource model for compositional real-time guarantees" (RTSS 2003), with the
//! server's own response in place of its period if that is known (Lipari and Bini 2003).

use crate::arithmetic::{Share, sum, times};
use crate::bound::{Bound, Part, What};
use crate::fixed_priority::{Interference, blocking_ns, distinct};
use crate::task::{Arrivals, Impossible, Task};

/// Rounds and jobs after which a window that still grows is given up.
const MOST_ROUNDS: u64 = 100_000;

/// The minimum supply of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supply {
    /// CPU time in each period, in nanoseconds, above 0.
    pub budget_ns: u64,
    /// The period, in nanoseconds; at least the budget.
    pub period_ns: u64,
    /// Each budget is supplied within this time of its period's start, in nanoseconds; at least the budget.
    pub within_ns: u64,
}

impl Supply {
    /// The longest stretch without any of it: from an early budget's end to a late one's start,
    /// (period − budget) + (within − budget).
    pub fn blackout_ns(&self) -> u64 {
        (self.period_ns - self.budget_ns) + (self.within_ns - self.budget_ns)
    }

    /// The least CPU time in any stretch of `length_ns`: the supply bound function.
    pub fn least_in(&self, length_ns: u64) -> u64 {
        let Some(after) = length_ns.checked_sub(self.blackout_ns()) else {
            return 0;
        };
        let whole = (after / self.period_ns).saturating_mul(self.budget_ns);
        whole.saturating_add((after % self.period_ns).min(self.budget_ns))
    }

    /// The shortest stretch in which at least `needed_ns` is given, whatever happens.
    ///
    /// # Errors
    /// [`Impossible::Overflow`].
    pub fn long_enough_for(&self, needed_ns: u64) -> Result<u64, Impossible> {
        if needed_ns == 0 {
            return Ok(0);
        }
        let whole = (needed_ns - 1) / self.budget_ns;
        let rest_ns = needed_ns - whole * self.budget_ns;
        sum(
            sum(self.blackout_ns(), times(whole, self.period_ns)?)?,
            rest_ns,
        )
    }
}

/// Bounds for tasks that run by fixed priorities in one reservation, in their order. A sleep counts
/// as execution. `interference` takes of the reservation's time too.
///
/// # Errors
/// [`Impossible`].
pub fn responses_within(
    set: &[Task],
    supply: &Supply,
    reservation: &str,
    interference: &[Interference],
) -> Result<Vec<Bound>, Impossible> {
    let mut order: Vec<usize> = (0..set.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(set[place].priority));
    distinct(set, &order)?;
    let mut bounds: Vec<Option<Bound>> = vec![None; set.len()];
    for (rank, &place) in order.iter().enumerate() {
        let task = &set[place];
        task.check()?;
        let later = order[rank + 1..].iter().map(|&later| &set[later]);
        let window = Window {
            task,
            blocking_ns: blocking_ns(task, later)?,
            before: &order[..rank],
            set,
            interference,
            supply,
            reservation,
        };
        let worst = window.longest()?;
        bounds[place] = Some(Bound {
            task: place,
            response_ns: worst.as_ref().map(|(response_ns, _)| *response_ns),
            deadline_ns: task.deadline_ns,
            made_of: worst.map_or_else(Vec::new, |(_, parts)| parts),
        });
    }
    Ok(bounds.into_iter().flatten().collect())
}

struct Window<'a> {
    task: &'a Task,
    blocking_ns: u64,
    before: &'a [usize],
    set: &'a [Task],
    interference: &'a [Interference],
    supply: &'a Supply,
    reservation: &'a str,
}

impl Window<'_> {
    fn longest(&self) -> Result<Option<(u64, Vec<Part>)>, Impossible> {
        let mut worst: Option<(u64, Vec<Part>)> = None;
        let mut from_ns = 0;
        if self.never_ends() {
            return Ok(None);
        }
        for job in 1..MOST_ROUNDS {
            let due_ns = self.task.arrivals.shortest_for(job)?;
            // The next job finds the CPU at rest: it begins a window of its own.
            if job > 1 && due_ns >= sum(from_ns, self.task.jitter_ns)? {
                return Ok(worst);
            }
            let Some(end_ns) = self.end(job, from_ns)? else {
                return Ok(None);
            };
            from_ns = end_ns;
            let response_ns = sum(end_ns, self.task.jitter_ns)?.saturating_sub(due_ns);
            if worst.as_ref().is_none_or(|(most, _)| response_ns > *most) {
                worst = Some((response_ns, self.parts(job, end_ns, due_ns)?));
            }
        }
        Ok(None)
    }

    /// Whether more is asked for than given: a window in which sporadic jobs wait then only grows.
    fn never_ends(&self) -> bool {
        let share = |arrivals: &Arrivals, execution_ns| match arrivals {
            Arrivals::Sporadic(period_ns) => Share::down(execution_ns, *period_ns),
            Arrivals::Distances(_) => Share::default(),
        };
        let before = self.before.iter().map(|&by| &self.set[by]);
        let tasks = before.chain([self.task]);
        let asked = tasks.map(|task| share(&task.arrivals, task.alone_ns()));
        let interrupts = self.interference.iter();
        let interrupts = interrupts.map(|own| share(&own.arrivals, own.execution_ns));
        let asked = asked.chain(interrupts).fold(Share::default(), Share::plus);
        asked > Share::up(self.supply.budget_ns, self.supply.period_ns)
    }

    fn needed(&self, jobs: u64, window_ns: u64) -> Result<u64, Impossible> {
        let mut needed_ns = sum(self.blocking_ns, times(jobs, self.task.alone_ns())?)?;
        for found in self.before_in(window_ns) {
            needed_ns = sum(needed_ns, found?.1)?;
        }
        Ok(needed_ns)
    }

    /// The work that runs first in a window: its kind and length.
    fn before_in(
        &self,
        window_ns: u64,
    ) -> impl Iterator<Item = Result<(What, u64), Impossible>> + '_ {
        let interrupts = self.interference.iter().map(move |source| {
            let jobs = source.arrivals.within(window_ns, source.jitter_ns)?;
            Ok((
                What::Overhead(source.name),
                times(jobs, source.execution_ns)?,
            ))
        });
        let tasks = self.before.iter().map(move |&by| {
            let other = &self.set[by];
            let jobs = other.arrivals.within(window_ns, other.jitter_ns)?;
            Ok((
                What::Preemption { by, jobs },
                times(jobs, other.alone_ns())?,
            ))
        });
        interrupts.chain(tasks)
    }

    fn end(&self, jobs: u64, from_ns: u64) -> Result<Option<u64>, Impossible> {
        let mut reached_ns = from_ns.max(1);
        for _ in 0..MOST_ROUNDS {
            let needed_ns = self.needed(jobs, reached_ns)?;
            let next_ns = self.supply.long_enough_for(needed_ns)?;
            if next_ns <= reached_ns {
                return Ok(Some(reached_ns));
            }
            reached_ns = next_ns;
        }
        Ok(None)
    }

    fn parts(&self, job: u64, end_ns: u64, due_ns: u64) -> Result<Vec<Part>, Impossible> {
        let mut parts = Vec::new();
        let mut push = |what, ns| {
            if ns > 0 {
                parts.push(Part { what, ns });
            }
        };
        let earlier = job - 1;
        push(What::Own { earlier }, times(job, self.task.execution_ns)?);
        push(What::Suspension, times(job, self.task.suspension_ns)?);
        push(What::Jitter, self.task.jitter_ns);
        push(What::Blocking, self.blocking_ns);
        for found in self.before_in(end_ns) {
            let (what, ns) = found?;
            push(what, ns);
        }
        let given_ns = self.needed(job, end_ns)?;
        let name = self.reservation.to_owned();
        let waiting = What::Reservation { name, budgets: 0 };
        push(waiting, end_ns.saturating_sub(given_ns));
        push(What::BeforeDue, due_ns);
        Ok(parts)
    }
}

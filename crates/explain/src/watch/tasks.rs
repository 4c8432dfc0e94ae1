//! A thread's tasks: the turns of each timer, if it has several that outlive its sleeps, as the timerfds of
//! an event loop do; otherwise all its turns together.

use super::activation::{Activation, BegunBy, ThreadActivity};
use super::naps::are_naps;
use super::one_call::paced;
use super::pool::Pool;
use super::rhythm::{NotPeriodic, Rhythm, expiry_ns};
use super::row::{Row, due_ns, row};
use super::several_rows;
use super::timer_wheel;
use super::under_way::{cycles_under_way, divided};
use std::collections::{BTreeMap, BTreeSet};

/// One task of a thread.
#[derive(Debug, Clone)]
pub struct Task {
    /// How its turns come round.
    pub rhythm: Rhythm,
    /// Which of the thread's timers begins them, from 0 in the order of their first expiries, if
    /// several begin tasks of the same thread; of an event loop's periods the number, the shortest first.
    pub timer: Option<usize>,
    /// Its turns, in order.
    pub turns: Vec<Activation>,
    /// Of those, the ones that came due while the thread was at something else: when they began is not known, and
    /// their latency counts as nothing.
    pub unwoken: u64,
    /// Whether its event loop also wakes, without a task, to sort its timers.
    pub has_timer_wheel: bool,
}

impl Task {
    /// Its due times and samples.
    pub fn row(&self) -> Row {
        row(&self.turns, self.rhythm)
    }

    /// Whether it is one of several in an event loop without timers of their own: a turn of another serves its due time
    /// too if that has come.
    pub fn is_of_event_loop(&self) -> bool {
        self.timer.is_some() && self.rhythm.beside_ns > 0
    }

    /// Whether timers that outlive sleeps begin its turns, as a timerfd does. Each turn is then a wait for
    /// one, and the timer reports how often it had expired before: no turn is without an event.
    pub fn is_by_lasting_timers(&self) -> bool {
        let lasting = self.turns.iter().filter(|of| of.timer.is_some()).count();
        self.rhythm.begun_by == BegunBy::Timer
            && self.turns.iter().all(|of| of.noted == 0)
            && lasting * 2 > self.turns.len()
    }
}

impl ThreadActivity {
    /// The thread's rhythm, all its turns together: that of its cycles between marks if it passes any, else
    /// that of its timers, else that of its other wake-ups.
    ///
    /// # Errors
    /// [`NotPeriodic`], of its marks or its timers.
    pub fn rhythm(&self) -> Result<Rhythm, NotPeriodic> {
        Rhythm::best(&self.activations, &self.handed, &self.marked)
    }

    /// The activations that come with a rhythm of this thread.
    pub fn turns(&self, rhythm: Rhythm) -> Vec<Activation> {
        match rhythm.begun_by {
            BegunBy::Timer => self.activations.clone(),
            BegunBy::Other => paced(&self.handed),
            BegunBy::Marks => self.marked.clone(),
        }
    }

    /// The thread's periodic tasks.
    ///
    /// # Errors
    /// [`NotPeriodic`], of its marks or its timers.
    pub fn tasks(&self) -> Result<Vec<Task>, NotPeriodic> {
        if self.marked.is_empty() {
            if let Some(pool) = &self.pool {
                let whole = pool.cycles.map(|cycles| vec![self.whole(cycles.rhythm)]);
                let threads = pool.threads.len();
                return whole.ok_or(NotPeriodic::Moves { threads });
            }
            let several = by_timer(&self.activations);
            if !several.is_empty() {
                return Ok(several);
            }
        }
        self.rhythm()
            .map(|rhythm| vec![self.whole(rhythm)])
            .or_else(|why| {
                let of_loop = of_event_loop(&self.activations);
                let is_any = self.marked.is_empty() && !of_loop.is_empty();
                is_any.then_some(of_loop).ok_or(why)
            })
    }

    /// All turns of a thread without a period, as what begins most of them has them; `None` for one that
    /// was never seen to begin one.
    pub fn irregular(&self) -> Option<Task> {
        // What wakes an idle one is no cycle of its own.
        let is_worker = self.pool.is_some();
        let begun_by = match (self.marked.len(), self.activations.len(), self.handed.len()) {
            (1.., ..) => BegunBy::Marks,
            (0, timers, handed) if timers >= handed || is_worker => BegunBy::Timer,
            _ => BegunBy::Other,
        };
        let turns = match begun_by {
            BegunBy::Timer => &self.activations,
            BegunBy::Other => &paced(&self.handed),
            BegunBy::Marks => &self.marked,
        };
        Rhythm::irregular(turns, begun_by).map(|rhythm| self.whole(rhythm))
    }

    /// The threads any of which runs the cycles of a task of this one.
    pub fn pool_of(&self, task: &Task) -> Option<&Pool> {
        let pool = self.pool.as_ref();
        pool.filter(|_| task.rhythm.begun_by != BegunBy::Marks)
    }

    fn whole(&self, rhythm: Rhythm) -> Task {
        let mut turns = self.turns(rhythm);
        let mut unwoken = match rhythm.begun_by {
            BegunBy::Marks => self.unwoken,
            BegunBy::Timer | BegunBy::Other => 0,
        };
        // In a pool another thread may serve them.
        if rhythm.begun_by == BegunBy::Timer && self.pool.is_none() {
            turns.drain(..before_loop(&turns, rhythm));
            let whole = turns.len();
            turns = divided(turns, rhythm);
            let divided = turns.len() - whole;
            let is_own = |place: usize| due_ns(&turns, place, rhythm).is_some();
            let under_way = cycles_under_way(&turns, rhythm, is_own);
            unwoken = (under_way.len() + divided) as u64;
            for (place, turn) in under_way {
                turns[place] = turn;
            }
        }
        Task {
            rhythm,
            timer: None,
            turns,
            unwoken,
            has_timer_wheel: false,
        }
    }
}

/// Number of the turns before the loop: the thread had time for the due time a period after each, and chose a later one,
/// as programs do that wait for something before they begin.
fn before_loop(turns: &[Activation], rhythm: Rhythm) -> usize {
    let is_before = |pair: &[Activation]| {
        let due_ns = [&pair[0], &pair[1]].map(|of| expiry_ns(of, rhythm.programmed));
        let [Some(from_ns), Some(to_ns)] = due_ns else {
            return false;
        };
        let next_ns = from_ns.saturating_add(rhythm.period_ns);
        to_ns >= next_ns.saturating_add(rhythm.period_ns / 2) && pair[0].end_ns < next_ns
    };
    let leading = turns.windows(2).take_while(|pair| is_before(pair));
    if rhythm.anchor_ns.is_some() {
        leading.count()
    } else {
        0
    }
}

/// The tasks of timers that outlive sleeps, if the thread has several timers and at least one of those has a
/// period. Turns of other timers are part of the turn that they fall in.
fn by_timer(activations: &[Activation]) -> Vec<Task> {
    let mut of_timers: BTreeMap<u64, Vec<Activation>> = BTreeMap::new();
    for of in activations {
        of_timers
            .entry(of.timer.unwrap_or(0))
            .or_default()
            .push(*of);
    }
    let several = of_timers.len() > 1;
    of_timers.retain(|timer, turns| several && *timer != 0 && Rhythm::new(turns).is_ok());
    if of_timers.is_empty() || is_remade(&of_timers, activations) {
        return Vec::new();
    }
    let mut tasks: Vec<(u64, Vec<Activation>)> = Vec::new();
    let mut last: Option<usize> = None;
    for of in activations {
        let own = of.timer.filter(|timer| of_timers.contains_key(timer));
        match (own, last) {
            (Some(timer), _) => {
                let at = tasks.iter().position(|(known, _)| *known == timer);
                let at = at.unwrap_or_else(|| {
                    tasks.push((timer, Vec::new()));
                    tasks.len() - 1
                });
                tasks[at].1.push(*of);
                last = Some(at);
            }
            (None, Some(at)) => {
                if let Some(before) = tasks[at].1.last_mut() {
                    before.go_on(of);
                }
            }
            (None, None) => {}
        }
    }
    let is_alone = tasks.len() == 1;
    let made = (0..).zip(tasks).filter_map(|(number, (_, turns))| {
        Some(Task {
            rhythm: Rhythm::new(&turns).ok()?,
            timer: (!is_alone).then_some(number),
            turns,
            unwoken: 0,
            has_timer_wheel: false,
        })
    });
    made.collect()
}

/// Of a hundred expiries of other timers, the number that must be at due times of their own.
const OWN_OF_HUNDRED: usize = 95;

/// Whether these are one timer that is made again each time, as io_uring makes one for each time-out: together they keep
/// one row, and what other timers add to the one with most expiries is due times that it does not have. A second timer
/// that lasts has due times off that row, or the same.
fn is_remade(of_timers: &BTreeMap<u64, Vec<Activation>>, activations: &[Activation]) -> bool {
    let all = activations.iter().filter(|of| of.timer.is_some());
    let all: Vec<Activation> = all.copied().collect();
    let Ok(whole) = Rhythm::new(&all) else {
        return false;
    };
    let most = of_timers.iter().max_by_key(|(_, turns)| turns.len());
    let (Some(anchor_ns), Some((most, _))) = (whole.anchor_ns, most) else {
        return false;
    };
    let due_time = |of: &Activation| {
        let at_ns = expiry_ns(of, whole.programmed).filter(|at_ns| whole.is_on_row(*at_ns))?;
        let before_ns = anchor_ns % whole.period_ns;
        Some((at_ns + whole.period_ns / 2).saturating_sub(before_ns) / whole.period_ns)
    };
    let (own, others): (Vec<_>, Vec<_>) = all.iter().partition(|of| of.timer == Some(*most));
    let mut taken: BTreeSet<u64> = own.into_iter().filter_map(due_time).collect();
    let is_new = |of: &&&Activation| due_time(of).is_some_and(|at| taken.insert(at));
    let new = others.iter().filter(is_new).count();
    new * 100 >= others.len() * OWN_OF_HUNDRED
}

/// The tasks of an event loop with several periods. A turn at due times of several is a turn of each.
fn of_event_loop(activations: &[Activation]) -> Vec<Task> {
    let rows = if are_naps(activations) {
        Vec::new()
    } else {
        several_rows::rows(activations)
    };
    let (rows, has_timer_wheel) = timer_wheel::without(rows, activations);
    let is_alone = rows.len() == 1;
    let task = |(number, (rhythm, own)): (usize, (Rhythm, Vec<usize>))| {
        let is_own = |place: usize| own.binary_search(&place).is_ok();
        let under_way = cycles_under_way(activations, rhythm, is_own);
        let unwoken = under_way.len() as u64;
        let mut turns = under_way;
        turns.extend(own.iter().map(|place| (*place, activations[*place])));
        Task {
            rhythm,
            timer: (!is_alone).then_some(number),
            turns: turns.into_values().collect(),
            unwoken,
            has_timer_wheel,
        }
    };
    (0..).zip(rows).map(task).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// The turns of a loop of 10 ms from 800 ms on, after one at 300 ms that ran for so long.
    fn counted(first_ran_ns: u64) -> (usize, u64) {
        let due = |number: u64| match number {
            0 => 300 * MS,
            _ => (790 + number * 10) * MS,
        };
        let turn = |number| Activation {
            programmed_ns: Some(due(number)),
            expiry_ns: due(number) + 1_000,
            switched_in_ns: due(number) + 2_000,
            end_ns: due(number) + if number == 0 { first_ran_ns } else { MS },
            ..Activation::default()
        };
        let activity = ThreadActivity {
            activations: (0..100).map(turn).collect(),
            ..ThreadActivity::default()
        };
        let tasks = activity.tasks().unwrap();
        let samples = tasks[0].row().samples;
        (samples.len(), samples[1].cycle)
    }

    /// Turns at these milliseconds, each by a timer at this address.
    fn timed(turns: impl Iterator<Item = (u64, u64)>) -> ThreadActivity {
        let turn = |(at_ms, timer): (u64, u64)| Activation {
            programmed_ns: Some(at_ms * MS),
            expiry_ns: at_ms * MS + 1_000,
            switched_in_ns: at_ms * MS + 2_000,
            end_ns: at_ms * MS + MS / 2,
            timer: Some(timer),
            ..Activation::default()
        };
        ThreadActivity {
            activations: turns.map(turn).collect(),
            ..ThreadActivity::default()
        }
    }

    #[test]
    fn a_timer_that_is_made_again_for_each_wait_begins_one_task_and_two_that_last_begin_two() {
        // The memory of one is free for the next one but one now and then.
        let remade = timed((1..=200).map(|n| (n * 10, 1 + n / 20 % 3)));
        let tasks = remade.tasks().unwrap();
        assert_eq!(tasks.len(), 1);
        assert_eq!((tasks[0].turns.len(), tasks[0].timer), (200, None));
        // A slow one next to a fast one, at its due times and between them.
        for (every, after_ms) in [(2, 0), (50, 0), (50, 3)] {
            let both = (1..=2_000).flat_map(|n| {
                let slow = (n % every == 0).then_some((n * 10 + after_ms, 2));
                [(n * 10, 1)].into_iter().chain(slow)
            });
            let tasks = timed(both).tasks().unwrap();
            assert_eq!(tasks.len(), 2, "each {every}th, {after_ms} ms after");
        }
    }

    #[test]
    fn what_a_program_waits_for_before_its_loop_is_no_cycle_and_a_long_first_cycle_is_one() {
        assert_eq!(counted(MS), (99, 1));
        assert_eq!(counted(495 * MS), (100, 50));
    }
}

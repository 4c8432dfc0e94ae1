//! Due times that passed while a thread did not run: it ran each of them late, at once, or left them out. A loop that
//! catches up without a call leaves no event, but it takes CPU time for each cycle.

use super::Finding;
use wakepath_explain::watch::{Activation, BegunBy, Task};

/// Due times that must have passed in a turn so that their CPU time is not taken for that of a slow cycle.
const LEAST_PASSED: u64 = 3;
/// Turns that must show the same.
const LEAST_TURNS: u64 = 3;
/// Of ten turns that show anything, the number that must show the same.
const ALIKE_OF_TEN: u64 = 9;
/// A turn without more cycles than its first takes up to this share of the usual time, in hundredths.
const ONE: u64 = 150;
/// One that ran all due times takes this share of their usual time, in hundredths.
const ALL: std::ops::RangeInclusive<u64> = 60..=170;

/// The turns that show one or the other.
#[derive(Default)]
struct Shown {
    turns: u64,
    dues: u64,
}

impl Shown {
    fn add(&mut self, dues: u64) {
        self.turns += 1;
        self.dues += dues;
    }
}

/// The finding, if the turns of a thread that sleeps until instants show one or the other.
pub(super) fn passed(task: &Task) -> Option<Finding> {
    let rhythm = task.rhythm;
    let begun_by_sleeps = rhythm.begun_by == BegunBy::Timer
        && !task.is_by_lasting_timers()
        && !task.is_of_event_loop();
    if !begun_by_sleeps || !rhythm.is_periodic || rhythm.anchor_ns.is_none() {
        return None;
    }
    let mut works = Vec::new();
    let mut long = Vec::new();
    for (number, turn) in task.turns.iter().enumerate() {
        let next = task.turns.get(number + 1);
        match passed_in(turn, rhythm.period_ns) {
            Some(0) => works.push(turn.run_ns),
            Some(dues) if !asks_for_passed(next, turn.end_ns) => long.push((turn, dues)),
            _ => {}
        }
    }
    works.sort_unstable();
    let work_ns = *works.get(works.len() / 2)?;
    let (mut ran, mut left_out) = (Shown::default(), Shown::default());
    for (turn, dues) in long {
        let waited_ns = (turn.end_ns - turn.programmed_ns?).saturating_sub(turn.run_ns);
        // Otherwise its own work may have been long, and what it took says nothing about the others.
        if dues < LEAST_PASSED || waited_ns < rhythm.period_ns {
            continue;
        }
        if turn.run_ns * 100 <= work_ns * ONE {
            left_out.add(dues);
        } else if ALL.contains(&(turn.run_ns * 100 / (work_ns * (dues + 1)).max(1))) {
            ran.add(dues);
        }
    }
    let is_clear = |one: &Shown, other: &Shown| {
        one.turns >= LEAST_TURNS && one.turns * 10 >= (one.turns + other.turns) * ALIKE_OF_TEN
    };
    if is_clear(&ran, &left_out) {
        let Shown { turns, dues } = ran;
        return Some(Finding::RanPassed { turns, dues });
    }
    let Shown { turns, dues } = left_out;
    is_clear(&left_out, &ran).then_some(Finding::LeftOut { turns, dues })
}

/// Whether a turn lasted beyond the next due time, and the thread made no call for it.
pub(super) fn passes_without_a_call(task: &Task) -> bool {
    let mut turns = task.turns.iter().enumerate();
    turns.any(|(number, turn)| {
        let is_passed = passed_in(turn, task.rhythm.period_ns) > Some(0);
        is_passed && !asks_for_passed(task.turns.get(number + 1), turn.end_ns)
    })
}

/// Whether the next turn asked for a due time that had passed: the thread catches up by its calls, one cycle a call.
fn asks_for_passed(next: Option<&Activation>, end_ns: u64) -> bool {
    let due_ns = next.and_then(|next| next.programmed_ns);
    due_ns.is_some_and(|due_ns| due_ns <= end_ns)
}

/// Due times that passed from a turn's own to its end.
fn passed_in(turn: &Activation, period_ns: u64) -> Option<u64> {
    let lasted_ns = turn.end_ns.checked_sub(turn.programmed_ns?)?;
    lasted_ns.checked_div(period_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wakepath_explain::watch::Rhythm;

    const PERIOD_NS: u64 = 1_000_000;

    /// Turns of a loop whose cycles take `work_ns`, one of ten woken late by so much.
    fn task(work_ns: u64, late_ns: impl Fn(u64) -> u64, catches_up: bool, extra_ns: u64) -> Task {
        let (mut turns, mut due) = (Vec::new(), 1_000);
        for number in 0..400_u64 {
            let due_ns = due * PERIOD_NS;
            let is_late = number % 10 == 5;
            let late_ns = if is_late { late_ns(number) } else { 20_000 };
            let switched_in_ns = due_ns + late_ns;
            let mut end_ns = switched_in_ns + work_ns + if is_late { extra_ns } else { 0 };
            due += 1;
            while due * PERIOD_NS <= end_ns {
                end_ns += if catches_up { work_ns } else { 0 };
                due += 1;
            }
            turns.push(Activation {
                programmed_ns: Some(due_ns),
                expiry_ns: due_ns,
                switched_in_ns,
                end_ns,
                run_ns: end_ns - switched_in_ns,
                ..Activation::default()
            });
        }
        Task {
            rhythm: Rhythm::new(&turns).unwrap(),
            timer: None,
            turns,
            unwoken: 0,
            has_timer_wheel: false,
        }
    }

    proptest! {
        #[test]
        fn a_loop_that_was_kept_off_shows_by_its_cpu_time_what_it_did(
            work_ns in 10_000..500_000_u64,
            late in 3_100_000..20_000_000_u64,
        ) {
            let late_ns = |number: u64| late + number * 1_000;
            let ran = passed(&task(work_ns, late_ns, true, 0));
            let is_ran = matches!(ran, Some(Finding::RanPassed { turns: 40, dues: 120.. }));
            prop_assert!(is_ran, "{ran:?}");
            let left_out = passed(&task(work_ns, late_ns, false, 0));
            let is_left = matches!(left_out, Some(Finding::LeftOut { turns: 40, dues: 120.. }));
            prop_assert!(is_left, "{left_out:?}");
        }
    }

    #[test]
    fn a_loop_that_asks_for_the_passed_due_times_leaves_none_out() {
        let mut task = task(20_000, |_| 5_000_000, false, 0);
        assert!(matches!(passed(&task), Some(Finding::LeftOut { .. })));
        for number in 1..task.turns.len() {
            let before = task.turns[number - 1];
            if before.end_ns > before.programmed_ns.unwrap() + PERIOD_NS {
                task.turns[number].programmed_ns = before.programmed_ns.map(|due| due + PERIOD_NS);
            }
        }
        assert_eq!(passed(&task), None);
    }

    #[test]
    fn own_work_that_was_long_shows_neither() {
        for catches_up in [true, false] {
            let task = task(20_000, |_| 30_000, catches_up, 5_000_000);
            assert_eq!(passed(&task), None);
        }
        // Kept off by less than three periods: a slow cycle takes as long as two.
        assert_eq!(passed(&task(20_000, |_| 1_500_000, true, 0)), None);
    }
}

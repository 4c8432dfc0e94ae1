//! The accounting of overheads, by a vector worked out by hand.

use crate::fixed_priority::ordered;
use wakepath_schedulability::fixed_priority::responses;
use wakepath_schedulability::overheads::{Costs, Releases, inflate_edf, inflate_fixed_priority};
use wakepath_schedulability::sweep::Random;
use wakepath_schedulability::{Impossible, Method, Question, Task, analyse};

const US: u64 = 1000;

/// Tick 2, Q 1000, release 5, event 10, scheduling 4, switch 2, IPI 3, cache 20 µs.
const COSTS: Costs = Costs {
    event_ns: 10 * US,
    release_ns: 5 * US,
    scheduling_ns: 4 * US,
    switch_ns: 2 * US,
    ipi_ns: 3 * US,
    tick_ns: 2 * US,
    tick_period_ns: 1000 * US,
    section_ns: 0,
};
const DELAYS: [u64; 2] = [20 * US, 20 * US];

fn set() -> Vec<Task> {
    ordered(&[(1000 * US, 10_000 * US), (2000 * US, 20_000 * US)])
}

#[test]
fn the_worked_vector_of_edf() {
    let global = inflate_edf(&set(), &DELAYS, &COSTS, Releases::Anywhere).expect("fits");
    // 1061.967160 and 2064.724743 µs by hand, rounded up to the nanosecond at every step.
    for (task, exact_ns) in global.tasks.iter().zip([1_061_967.160, 2_064_724.743]) {
        let above = task.execution_ns as f64 - exact_ns;
        assert!((0.0..=6.0).contains(&above), "{above} ns above");
    }
    assert_eq!(global.tasks[0].period_ns(), 9990 * US);
    assert_eq!(global.tasks[1].deadline_ns, 19_990 * US);
    let local = inflate_edf(&set(), &DELAYS, &COSTS, Releases::Local).expect("fits");
    for (global, local) in global.tasks.iter().zip(&local.tasks) {
        assert_eq!(global.execution_ns - local.execution_ns, 3 * US);
    }
}

#[test]
fn the_worked_vector_of_fixed_priorities() {
    let (set, interrupts) =
        inflate_fixed_priority(&set(), &DELAYS, &COSTS, Releases::Local).expect("fits");
    let bounds = responses(&set, &[0, 1], &interrupts).expect("fits");
    let found: Vec<_> = bounds.iter().map(|bound| bound.response_ns).collect();
    assert_eq!(found, [Some(1061 * US), Some(3097 * US)]);
}

#[test]
fn a_single_task_has_nobody_s_cache_delay() {
    let alone = inflate_edf(&set()[..1], &DELAYS[..1], &COSTS, Releases::Local).expect("fits");
    assert!(alone.tasks[0].execution_ns < 1040 * US);
}

#[test]
fn interrupts_that_take_everything_leave_nothing() {
    let costs = Costs {
        tick_ns: 1000 * US,
        ..COSTS
    };
    let refused = inflate_edf(&set(), &DELAYS, &costs, Releases::Local);
    assert_eq!(refused, Err(Impossible::NothingLeft));
}

/// Wake-ups alone cost something: 1 ns each.
const ONLY_WAKE_UPS: Costs = Costs {
    event_ns: 0,
    release_ns: 1,
    scheduling_ns: 0,
    switch_ns: 0,
    ipi_ns: 0,
    tick_ns: 0,
    tick_period_ns: 0,
    section_ns: 0,
};

/// The longest response of each task, from due time to end, on one CPU where the first job of each is
/// released at 0, as late as its jitter allows, and each further one as early as it can be. A release
/// takes 1 ns before everything else.
fn played(set: &[Task], method: Method, until_ns: u64) -> Vec<u64> {
    let due_ns = |task: &Task, job: u64| job * task.period_ns();
    let released_ns = |task: &Task, job: u64| due_ns(task, job).saturating_sub(task.jitter_ns);
    let (mut woken, mut done) = (vec![0; set.len()], vec![0; set.len()]);
    let mut left_ns: Vec<u64> = set.iter().map(|task| task.execution_ns).collect();
    let mut longest_ns = vec![0; set.len()];
    for now in 0..until_ns {
        let mut to_wake = (0..set.len()).filter(|&of| released_ns(&set[of], woken[of]) <= now);
        if let Some(of) = to_wake.next() {
            woken[of] += 1;
            continue;
        }
        let ready = (0..set.len()).filter(|&of| done[of] < woken[of]);
        let first = ready.min_by_key(|&of| match method {
            Method::PartitionedEdf => {
                due_ns(&set[of], done[of]) + set[of].deadline_ns - set[of].jitter_ns
            }
            _ => u64::from(u32::MAX - set[of].priority),
        });
        let Some(of) = first else { continue };
        left_ns[of] -= 1;
        if left_ns[of] == 0 {
            let response_ns = now + 1 + set[of].jitter_ns - due_ns(&set[of], done[of]);
            longest_ns[of] = longest_ns[of].max(response_ns);
            left_ns[of] = set[of].execution_ns;
            done[of] += 1;
        }
    }
    longest_ns
}

fn bounds(set: &[Task], method: Method) -> Vec<Option<u64>> {
    let question = Question {
        tasks: set,
        method,
        cpus: 1,
        overheads: Some(&ONLY_WAKE_UPS),
    };
    let found = analyse(&question).expect("right").tasks;
    found.iter().map(|task| task.bound.response_ns).collect()
}

#[test]
fn jobs_that_jitter_brings_together_interrupt_once_each() {
    // Four jobs of the first, due at -30, -20, -10 and 0, are released at 0, and so is the second's:
    // five interrupts, four jobs, then its own. With one interrupt for the four it would be 8.
    let mut set = ordered(&[(1, 10), (1, 100)]);
    set[0].jitter_ns = 30;
    set[0].deadline_ns = 100;
    let method = Method::PartitionedFixedPriority;
    assert_eq!(played(&set, method, 200)[1], 10);
    let bound = bounds(&set, method)[1].expect("bounded");
    assert!(bound >= 10, "{bound}");
}

#[test]
fn interrupts_for_jobs_with_later_deadlines_hold_up_the_earliest_all_the_same() {
    // Ten jobs of the first, all with later deadlines: eleven interrupts before the second's own job.
    let mut set = ordered(&[(1, 100), (1, 2000)]);
    (set[0].jitter_ns, set[0].deadline_ns) = (900, 2000);
    set[1].deadline_ns = 40;
    assert_eq!(played(&set, Method::PartitionedEdf, 200)[1], 12);
    let bound = bounds(&set, Method::PartitionedEdf)[1].expect("bounded");
    assert!(bound >= 12, "{bound}");
}

#[test]
fn nothing_that_is_played_with_jitter_and_interrupts_lasts_longer_than_its_bound() {
    let mut random = Random::new(17, 0, 0);
    let mut next = |below: u64| random.bits() % below;
    let mut close = 0;
    for round in 0..2000_u32 {
        let times: Vec<(u64, u64)> = (0..2 + next(3))
            .map(|_| {
                let period = 10 + next(60);
                (1 + next(period / 5), period)
            })
            .collect();
        let mut set = ordered(&times);
        for task in &mut set {
            task.jitter_ns = next(4 * task.period_ns()) * next(2);
            task.deadline_ns += task.jitter_ns + next(100);
        }
        let method = match round % 2 {
            0 => Method::PartitionedFixedPriority,
            _ => Method::PartitionedEdf,
        };
        let (seen, bounds) = (played(&set, method, 400), bounds(&set, method));
        for (seen, bound) in seen.into_iter().zip(bounds) {
            let Some(bound) = bound else { continue };
            assert!(seen <= bound, "{seen} ns of at most {bound}: {set:?}");
            close += u32::from(seen + 5 >= bound);
        }
    }
    assert!(close > 500, "{close}");
}

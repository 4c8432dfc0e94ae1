//! The accounting of overheads, by a vector worked out by hand.

use crate::fixed_priority::ordered;
use wakepath_schedulability::fixed_priority::responses;
use wakepath_schedulability::overheads::{Costs, Releases, inflate_edf, inflate_fixed_priority};
use wakepath_schedulability::{Impossible, Task};

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
    for (task, exact_ns) in global.iter().zip([1_061_967.160, 2_064_724.743]) {
        let above = task.execution_ns as f64 - exact_ns;
        assert!((0.0..=6.0).contains(&above), "{above} ns above");
    }
    assert_eq!(global[0].period_ns(), 9990 * US);
    assert_eq!(global[1].deadline_ns, 19_990 * US);
    let local = inflate_edf(&set(), &DELAYS, &COSTS, Releases::Local).expect("fits");
    for (global, local) in global.iter().zip(&local) {
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
    assert!(alone[0].execution_ns < 1040 * US);
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

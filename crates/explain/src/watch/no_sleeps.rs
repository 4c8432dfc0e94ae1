//! Sleeps for no time at all, by which a program lets other threads run: Python's `sched` does so after each event. They
//! begin no cycle.

use super::activation::Activation;
use super::rhythm::Rhythm;

/// A thread that lets others run asks for an instant that has passed by this at most, in nanoseconds: it may hand over its
/// interpreter's lock before.
const HANDED_OVER_NS: u64 = 500_000;
/// In this share of the turns or more, one in so many. A loop that is a little late now and then asks for an instant that
/// has just passed, too.
const LEAST_SHARE: usize = 4;

/// The cycles of a thread, with what follows its sleeps for no time put into those in which they fall.
pub(super) fn cycles(activations: Vec<Activation>) -> Vec<Activation> {
    let none = activations.iter().filter(|of| is_none(of)).count();
    if none == 0 || none * LEAST_SHARE < activations.len() {
        return activations;
    }
    let others = activations.iter().filter(|of| !is_none(of));
    let others: Vec<Activation> = others.copied().collect();
    let Ok(rhythm) = Rhythm::new(&others) else {
        return activations;
    };
    // A loop that is late asks for its due times, one after the other.
    let is_due = |of: &Activation| {
        let is_exact = rhythm.anchor_ns.is_some() && rhythm.beside_ns == 0;
        is_exact
            && of
                .programmed_ns
                .is_some_and(|at_ns| rhythm.is_on_row(at_ns))
    };
    let mut cycles: Vec<Activation> = Vec::with_capacity(others.len());
    for of in activations {
        match cycles.last_mut().filter(|_| is_none(&of) && !is_due(&of)) {
            Some(cycle) => cycle.go_on(&of),
            None => cycles.push(of),
        }
    }
    cycles
}

/// Whether the thread asked for an instant that had just passed.
fn is_none(of: &Activation) -> bool {
    let passed_ns = of
        .asked_at_ns
        .zip(of.programmed_ns)
        .and_then(|(asked_at_ns, for_ns)| asked_at_ns.checked_sub(for_ns));
    passed_ns.is_some_and(|passed_ns| passed_ns <= HANDED_OVER_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A turn of 1 ms by a timer for this instant, requested this long before it, or after it if negative.
    fn turn(for_ns: u64, before_ns: i64) -> Activation {
        Activation {
            programmed_ns: Some(for_ns),
            asked_at_ns: for_ns.checked_add_signed(-before_ns),
            expiry_ns: for_ns + 2_000,
            switched_in_ns: for_ns + 20_000,
            end_ns: for_ns + MS,
            run_ns: MS,
            ..Activation::default()
        }
    }

    #[test]
    fn what_follows_a_sleep_for_no_time_is_part_of_the_cycle() {
        let due = |number: u64| number * 10 * MS;
        for passed_ns in [6_000, 150_000] {
            let pairs = (1..50_u64).flat_map(|number| {
                let at = due(number);
                [turn(at, 8_000_000), turn(at + MS, -passed_ns)]
            });
            let found = cycles(pairs.collect());
            assert_eq!(found.len(), 49);
            assert_eq!(
                (found[0].end_ns, found[0].run_ns),
                (due(1) + 2 * MS, 2 * MS)
            );
        }
        // A loop that is late now and then.
        let late = (1..50_u64).map(|number| {
            turn(
                due(number),
                if number.is_multiple_of(7) {
                    -6_000
                } else {
                    8_000_000
                },
            )
        });
        assert_eq!(cycles(late.collect()).len(), 49);
        // One that is late in a third of its cycles.
        let late = (1..50_u64).map(|number| {
            let is_late = number.is_multiple_of(3);
            turn(due(number), if is_late { -150_000 } else { 8_000_000 })
        });
        assert_eq!(cycles(late.collect()).len(), 49);
    }
}

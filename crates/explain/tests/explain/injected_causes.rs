//! Causes injected on purpose on this machine, traced for real, explained, and compared with their known
//! values: under their own name, with their duration within 10 % or 5 µs. They need root, a kernel with
//! tracefs and two CPUs; anything unavailable is reported as `not run`.

use crate::laboratory::*;
use std::time::Duration;
use wakepath_explain::{Cause, Relation};
use wakepath_timeline::Policy;

wakepath_test_program::tests![
    a_fifo_99_thread_that_hogs_the_cpu_comes_out_as_more_urgent,
    a_hog_of_the_same_priority_comes_out_as_such,
    a_busy_neighbour_of_an_ordinary_loop_shares_its_cpu,
    page_faults_without_locked_memory_take_what_they_take,
    a_loop_stopped_by_a_signal_says_so_for_as_long,
    function_calls_from_another_cpu_are_named_as_ipis,
    a_storm_over_loopback_comes_out_as_softirq_net_rx,
    a_spinning_loop_that_is_held_back_is_throttled,
];

const FIFO_80: Policy = Policy::Fifo { priority: 80 };

/// A spinning thread on the loop's CPU for a known time across a due time.
fn hog(policy: Policy, expected: Relation) {
    let laboratory = Laboratory::new();
    let measured = laboratory.measure(FIFO_80, Work::Spin(Duration::from_micros(50)), |loop_| {
        loop_.hog(policy, Duration::from_micros(1_500), 8)
    });
    let mut checked = 0;
    for (from_ns, to_ns) in &measured.injected {
        // The cycle whose due time fell into the hog's time, and that slept then.
        let Some(cycle) = measured.cycles.iter().find(|cycle| {
            (*from_ns + 20_000..to_ns.saturating_sub(200_000)).contains(&cycle.sample.due_ns)
                && cycle.woken.word() == "direct"
        }) else {
            continue;
        };
        let found: u64 = cycle
            .latency
            .iter()
            .filter(|piece| match &piece.cause {
                Cause::Thread { thread, relation } => {
                    thread.name.to_string() == "hog" && *relation == expected
                }
                _ => false,
            })
            .map(|piece| piece.ns())
            .sum();
        // It runs from the waking until it sleeps; what interrupts it is counted by itself.
        let waking_ns = cycle
            .latency
            .iter()
            .find(|piece| piece.stretch == wakepath_explain::Stretch::WakingToSwitch);
        let interrupted: u64 = cycle
            .latency
            .iter()
            .filter(|piece| piece.stretch == wakepath_explain::Stretch::WakingToSwitch)
            .filter(|piece| {
                let kinds = [
                    "path",
                    "interrupt",
                    "softirq",
                    "ipi",
                    "other-timer",
                    "nothing-ran",
                ];
                kinds.contains(&piece.cause.kind())
            })
            .map(|piece| piece.ns())
            .sum();
        let known = to_ns.saturating_sub(waking_ns.map_or(*to_ns, |piece| piece.from_ns));
        // From its last clock reading to the switch it is still the hog that runs: some µs, and as long as the machine
        // is stopped there.
        let left_ns = measured.left_at_ns("hog", *to_ns).unwrap_or(*to_ns);
        let longest = known + left_ns.saturating_sub(*to_ns);
        let within = (found + interrupted).clamp(known, longest);
        assert_close(found + interrupted, within, cycle);
        checked += 1;
    }
    measured.note(&format!(
        "{checked} of {} hogs met a sleeping loop",
        measured.injected.len()
    ));
    assert!(checked >= 2, "hardly any hog met a due time: {checked}");
}

fn a_fifo_99_thread_that_hogs_the_cpu_comes_out_as_more_urgent() {
    hog(Policy::Fifo { priority: 99 }, Relation::MoreUrgent);
}

fn a_hog_of_the_same_priority_comes_out_as_such() {
    hog(FIFO_80, Relation::SamePriority);
}

fn a_busy_neighbour_of_an_ordinary_loop_shares_its_cpu() {
    let laboratory = Laboratory::new();
    let other = Policy::Other { nice: 0 };
    // More than half of the CPU: a fair scheduler can't give it all to the loop.
    let measured = laboratory.measure(other, Work::Spin(Duration::from_micros(700)), |loop_| {
        loop_.neighbour(Duration::from_millis(1_500))
    });
    let mut found = 0;
    for cycle in &measured.cycles {
        let shared: u64 = cycle
            .latency
            .iter()
            .chain(&cycle.execution)
            .filter(|piece| match &piece.cause {
                Cause::Thread { thread, relation } => {
                    thread.name.to_string() == "hog" && *relation == Relation::Shared
                }
                _ => false,
            })
            .map(|piece| piece.ns())
            .sum();
        found += u64::from(shared > 100_000);
    }
    measured.note(&format!(
        "{found} of {} cycles shared their CPU",
        measured.cycles.len()
    ));
    assert!(found >= 10, "{found}");
    measured.assert_explained(300_000);
}

fn page_faults_without_locked_memory_take_what_they_take() {
    let laboratory = Laboratory::new();
    let measured = laboratory.measure(FIFO_80, Work::TouchFresh { every: 20 }, |loop_| {
        loop_.wait(Duration::from_millis(900))
    });
    let mut checked = 0;
    for cycle in measured.cycles.iter().skip(260) {
        // Each 20th cycle touches fresh pages, all others the same number of old ones.
        if !cycle.sample.cycle.is_multiple_of(20) || of_kind(cycle, "own-code") == 0 {
            continue;
        }
        let faults = of_kind(cycle, "page-fault");
        let others = cycle
            .execution
            .iter()
            .filter(|p| !p.cause.is_usual() && p.cause.kind() != "page-fault");
        let others: u64 = others.map(|piece| piece.ns()).sum();
        let execution = cycle.sample.execution_ns().unsigned_abs();
        // The extra time of touching fresh pages rather than old ones.
        let known = execution.saturating_sub(measured.usual.work_ns + others);
        assert_close(faults, known, cycle);
        assert!(faults > 0, "no fault was seen: {cycle:#?}");
        checked += 1;
    }
    measured.note(&format!("{checked} cycles with page faults"));
    assert!(checked >= 10, "{checked}");
    // And the cycles next to them have none.
    let innocent = measured.cycles.iter().filter(|c| c.sample.cycle % 20 == 7);
    let blamed = innocent
        .filter(|cycle| of_kind(cycle, "page-fault") > 0)
        .count();
    assert!(
        blamed <= 1,
        "{blamed} cycles without fresh pages are said to have faulted"
    );
}

fn a_loop_stopped_by_a_signal_says_so_for_as_long() {
    let laboratory = Laboratory::new();
    let measured = laboratory.measure(FIFO_80, Work::Spin(Duration::from_micros(50)), |loop_| {
        loop_.stop_and_continue(Duration::from_millis(20), 3)
    });
    for (stopped_ns, continued_ns) in &measured.injected {
        let cycle = measured
            .cycles
            .iter()
            // Due while stopped; or at work when the signal came, which lets no cycle be due then.
            .find(|cycle| {
                cycle.sample.end_ns > *continued_ns && cycle.sample.due_ns < *continued_ns
            })
            .expect("a cycle was due, or at work, while the loop was stopped");
        let known = continued_ns - cycle.sample.due_ns.max(*stopped_ns);
        assert_close(of_kind(cycle, "stopped"), known, cycle);
    }
    assert_eq!(measured.injected.len(), 3);
}

fn function_calls_from_another_cpu_are_named_as_ipis() {
    let laboratory = Laboratory::new();
    // The loop works most of its time, so that its page tables are in use when others are torn
    // down on the other CPU: each such change interrupts it.
    let measured = laboratory.measure(FIFO_80, Work::Spin(Duration::from_micros(600)), |loop_| {
        loop_.unmap_on_the_other_cpu(Duration::from_millis(700))
    });
    let (mut hit, mut incomplete) = (0, 0);
    for cycle in &measured.cycles {
        // If the kernel left events out, the cycle reports it, and its interrupts have no context.
        if of_kind(cycle, "no-events") > 0 {
            incomplete += 1;
            continue;
        }
        let ipis = of_kind(cycle, "ipi");
        hit += u64::from(ipis > 0);
        // The same, straight from the events: entry to exit of the two kinds, within the work.
        let known = measured.interrupt_ns(cycle, |interrupt| {
            matches!(
                interrupt,
                wakepath_timeline::Interrupt::CallFunction
                    | wakepath_timeline::Interrupt::Reschedule
            )
        });
        assert_close(ipis, known, cycle);
    }
    measured.note(&format!(
        "{hit} cycles were interrupted by IPIs, {incomplete} lack events"
    ));
    assert!(hit >= 50, "{hit} cycles, {incomplete} lack events");
    assert!(
        incomplete * 50 < measured.cycles.len(),
        "{incomplete} cycles"
    );
}

fn a_storm_over_loopback_comes_out_as_softirq_net_rx() {
    let laboratory = Laboratory::new();
    let measured = laboratory.measure(FIFO_80, Work::Spin(Duration::from_micros(50)), |loop_| {
        loop_.loopback_storm(Duration::from_millis(400))
    });
    let net = |piece: &wakepath_explain::Piece| matches!(&piece.cause, Cause::SoftIrq { vector, .. } if vector.name() == "NET_RX");
    let mut hit = 0;
    for cycle in &measured.cycles {
        let found: u64 = cycle
            .latency
            .iter()
            .filter(|piece| net(piece))
            .map(|p| p.ns())
            .sum();
        hit += u64::from(found > 0);
        let known = measured.softirq_ns(cycle, 3);
        assert_close(found, known, cycle);
    }
    measured.note(&format!("{hit} cycles waited for SoftIRQ NET_RX"));
    assert!(hit >= 20, "{hit} cycles");
    measured.assert_explained(30_000);
}

fn a_spinning_loop_that_is_held_back_is_throttled() {
    let laboratory = Laboratory::new();
    laboratory.must_throttle();
    // One cycle spins for three seconds; the kernel gives the neighbour its share in that time.
    let measured = laboratory.measure(
        FIFO_80,
        Work::SpinOnce {
            cycle: 300,
            time: Duration::from_secs(3),
        },
        |loop_| loop_.neighbour(Duration::from_millis(3_600)),
    );
    let spinning = measured
        .cycles
        .iter()
        .find(|cycle| cycle.sample.cycle == 300)
        .expect("recorded");
    let throttled = of_kind(spinning, "throttled");
    // The neighbour counts how long it ran while the loop was in that cycle. It shares that time with any other
    // ordinary thread of the machine.
    let (from_ns, to_ns) = (spinning.sample.wake_ns, spinning.sample.end_ns);
    let of_neighbour = measured.neighbour_ns(from_ns, to_ns);
    let of_all = measured.ordinary_ns(from_ns, to_ns);
    measured.note(&format!(
        "throttled {throttled} ns, the neighbour ran {of_neighbour} ns, all ordinary threads {of_all} ns"
    ));
    assert!(of_neighbour > 0);
    assert!(throttled * 10 >= of_neighbour * 9, "{spinning:#?}");
    assert_close_share(throttled, of_all, 0.10, spinning);
    // What comes after it was due already, and is its consequence.
    let next = measured
        .cycles
        .iter()
        .find(|cycle| cycle.sample.cycle > 300)
        .expect("recorded");
    assert!(
        next.sample.cycle > 301 || of_kind(next, "overrun") > 0,
        "{next:#?}"
    );
}

use super::super::activation::ThreadActivity;
use super::super::one_call::WokenIn;
use super::*;

const MS: u64 = 1_000_000;
const CYCLES: u64 = 40;
const PERIOD: u64 = 10 * MS;

/// A turn between these microseconds, woken by this thread.
fn turn(from_us: u64, to_us: u64, by: Option<u32>) -> Activation {
    Activation {
        programmed_ns: by.is_none().then_some(from_us * 1_000),
        expiry_ns: from_us * 1_000,
        switched_in_ns: from_us * 1_000 + 1,
        end_ns: to_us * 1_000,
        woken_by: by,
        woken_in: WokenIn::Read,
        ..Activation::default()
    }
}

/// Cycles of 10 ms that work for a millisecond.
fn sensor() -> Vec<Activation> {
    (1..=CYCLES)
        .map(|cycle| turn(cycle * 10_000, cycle * 10_000 + 1_000, None))
        .collect()
}

/// A thread that the sensor wakes after 0.9 ms; it works for 2 ms, but for 34 ms from the tenth cycle on, while three
/// others come.
fn filter() -> Vec<Activation> {
    let turns = (1..=CYCLES).filter(|cycle| !(11..=13).contains(cycle));
    let turn = |cycle| {
        let from_us = cycle * 10_000 + 900;
        let took_us = if cycle == 10 { 34_000 } else { 2_000 };
        turn(from_us, from_us + took_us, Some(1))
    };
    turns.map(turn).collect()
}

fn by(thread: &ThreadActivity, feeder: u32) -> Fed<'_> {
    Fed {
        thread,
        feeder,
        before: &[],
    }
}

fn fed(handed: Vec<Activation>, fetched_us: &[u64]) -> ThreadActivity {
    ThreadActivity {
        handed,
        fetched: fetched_us.iter().map(|us| us * 1_000).collect(),
        ..ThreadActivity::default()
    }
}

/// Latencies of cycles 10 to 13 in microseconds: at least and at most, and whether merged.
fn latencies(passes: &Passes) -> Vec<(u64, u64, bool)> {
    let of = |cycle: usize| {
        let of = &passes.by_cycle[&(cycle - 1, 0)];
        let [least, most] = [of.least_latency_ns(), of.latency_ns()].map(|ns| ns / 1_000);
        (least, most, of.is_merged)
    };
    (10..=13).map(of).collect()
}

#[test]
fn cycles_that_find_the_next_thread_busy_end_after_the_next_came_and_before_it_slept() {
    let filter = fed(filter(), &[]);
    let passes = passes(&sensor(), PERIOD, &[by(&filter, 1)]);
    assert!(passes.with_queued);
    assert_eq!(passes.by_cycle.len() as u64, CYCLES);
    let expected = [
        (10_000, 34_900, false),
        (10_000, 24_900, true),
        (10_000, 14_900, true),
        (4_900, 4_900, true),
    ];
    assert_eq!(latencies(&passes), expected);
}

#[test]
fn calls_that_take_the_next_item_end_the_one_before() {
    let calls = [128_000, 130_500, 132_000];
    let chain = |fetched_us: &[u64]| {
        let filter = fed(filter(), fetched_us);
        passes(&sensor(), PERIOD, &[by(&filter, 1)])
    };
    let found = chain(&calls);
    let expected = [28_000, 20_500, 12_000, 4_900].map(|us| (us, us, false));
    assert_eq!(latencies(&found), expected);
    assert_eq!(found.by_cycle[&(10, 0)].hops[1].began_ns, 128 * MS);
    // A read before the item came was of another.
    let found = chain(&[109_500, 130_500, 132_000]);
    assert_eq!(latencies(&found)[0].1, 34_900);
}

#[test]
fn what_a_busy_thread_wakes_the_next_one_for_is_one_cycle_each() {
    let filter = fed(filter(), &[]);
    let mut actuator: Vec<Activation> = (filter.handed.iter())
        .map(|of| turn(of.end_ns / 1_000 - 100, of.end_ns / 1_000 + 500, Some(2)))
        .collect();
    actuator.extend([128_000, 130_000, 132_000].map(|us| turn(us, us + 500, Some(2))));
    actuator.sort_by_key(|of| of.expiry_ns);
    let actuator = fed(actuator, &[]);
    let found = passes(&sensor(), PERIOD, &[by(&filter, 1), by(&actuator, 2)]);
    let expected = [28_500, 20_500, 12_500, 5_400].map(|us| (us, us, false));
    assert_eq!(latencies(&found), expected);
    let [_, filter, actuator] = found.by_cycle[&(10, 0)].hops[..] else {
        panic!();
    };
    assert_eq!((filter.began_ns, actuator.woken_ns), (128 * MS, 130 * MS));
}

#[test]
fn items_after_the_first_find_a_thread_busy_that_is_woken_once() {
    let filter = fed(filter(), &[]);
    // The actuator comes to run when the filter is done with the fourth cycle.
    let after = |of: &Activation| turn(of.end_ns / 1_000 - 100, of.end_ns / 1_000 + 500, Some(2));
    let mut actuator: Vec<Activation> = filter.handed.iter().map(after).collect();
    actuator[9] = turn(128_000, 137_000, Some(2));
    let chain = |actuator: &ThreadActivity| {
        let fed = [by(&filter, 1), by(actuator, 2)];
        latencies(&passes(&sensor(), PERIOD, &fed))
    };
    let ends = [135_500, 136_000, 136_500];
    let expected = [35_500, 26_000, 16_500, 7_000].map(|us| (us, us, false));
    assert_eq!(chain(&fed(actuator.clone(), &ends)), expected);
    let unseen = [(28_000, 37_000, false), (18_000, 27_000, true)];
    assert_eq!(chain(&fed(actuator, &[]))[..2], unseen);
}

#[test]
fn due_times_that_a_busy_thread_serves_one_after_the_other_are_a_cycle_each() {
    // The tenth cycle waits for its answer until 125 ms, and two are served then.
    let mut sensor = sensor();
    sensor[9].end_ns = 129 * MS;
    sensor.drain(10..12);
    let mut filter = filter();
    filter[9].end_ns = 102 * MS;
    let late = [125_000, 127_000].map(|us| turn(us, us + 1_000, Some(1)));
    filter.extend(late);
    filter.extend([turn(130_900, 132_900, Some(1))]);
    filter.sort_by_key(|of| of.expiry_ns);
    let filter = fed(filter, &[]);
    let found = passes(&sensor, PERIOD, &[by(&filter, 1)]);
    let latency = |cycle| found.by_cycle[&cycle].latency_ns() / 1_000;
    let expected = [2_000, 16_000, 8_000];
    assert_eq!([(9, 0), (9, 1), (9, 2)].map(latency), expected);
    assert_eq!(found.by_cycle.len() as u64, CYCLES);
    let mut one_less = filter.handed.clone();
    one_less.remove(10);
    let one_less = fed(one_less, &[]);
    let found = passes(&sensor, PERIOD, &[by(&one_less, 1)]);
    let served = [1, 2].map(|at| &found.by_cycle[&(9, at)]);
    let served = served.map(|of| (of.least_latency_ns(), of.latency_ns() / 1_000, of.is_merged));
    assert_eq!(found.by_cycle[&(9, 0)].latency_ns(), 2 * MS);
    assert_eq!(served, [(0, 18_000, true), (0, 8_000, true)]);
    // Of one that wakes the next thread more than once without having been busy, the last counts.
    sensor[9].end_ns = 109 * MS;
    let found = passes(&sensor, PERIOD, &[by(&filter, 1)]);
    assert_eq!(found.by_cycle.len() as u64, CYCLES - 2);
}

#[test]
fn a_thread_that_is_busy_with_another_event_takes_the_item_before_it_sleeps() {
    let mut turns = filter();
    for of in &mut turns {
        of.woken_in = WokenIn::Events;
    }
    // Another sensor's event keeps it from 95 to 133 ms, so that four cycles do not wake it.
    turns.remove(9);
    let mut other = turn(95_000, 133_000, Some(9));
    other.woken_in = WokenIn::Events;
    turns.insert(9, other);
    let filter = fed(turns, &[]);
    let found = passes(&sensor(), PERIOD, &[by(&filter, 1)]);
    assert_eq!((found.with_queued, found.by_cycle.len()), (true, 40));
    let expected = [33_000, 23_000, 13_000, 3_000].map(|us| (0, us, true));
    assert_eq!(latencies(&found), expected);
}

#[test]
fn a_thread_that_passes_on_some_of_its_items_only_queues_nothing() {
    let fourth = filter().into_iter().step_by(4).collect();
    let fourth = fed(fourth, &[]);
    let found = passes(&sensor(), PERIOD, &[by(&fourth, 1)]);
    assert!(!found.with_queued);
    assert_eq!(found.by_cycle.len(), 10);
}

#[test]
fn an_item_waits_while_the_thread_is_at_what_its_own_timer_asks_for() {
    // Every fourth item comes while the thread works for its timer, and the next sleep is after both.
    let is_met = |cycle: u64| cycle.is_multiple_of(4);
    let handed = (1..=CYCLES).filter(|cycle| !is_met(*cycle)).map(|cycle| {
        let from_us = cycle * 10_000 + 900;
        let of = turn(from_us, from_us + 2_000, Some(1));
        Activation {
            woken_in: WokenIn::Events,
            ..of
        }
    });
    let own = (1..=CYCLES).filter(|cycle| is_met(*cycle)).map(|cycle| {
        let from_us = cycle * 10_000 - 2_000;
        let of = turn(from_us, from_us + 9_000, None);
        Activation {
            woken_in: WokenIn::Events,
            ..of
        }
    });
    let own: Vec<Activation> = own.collect();
    let mut controller = fed(handed.collect(), &[]);
    let passes_of = |controller: &ThreadActivity| {
        let found = passes(&sensor(), PERIOD, &[by(controller, 1)]);
        found.by_cycle.into_values().collect::<Vec<_>>()
    };
    assert_eq!(passes_of(&controller).len() as u64, CYCLES * 3 / 4);
    controller.activations = own;
    let found = passes_of(&controller);
    assert_eq!(found.len() as u64, CYCLES);
    let took = |at: usize| (found[at].least_latency_ns(), found[at].latency_ns());
    assert_eq!(took(3), (7 * MS, 7 * MS));
    // It asks for the next item in between: only then it begins with it.
    controller.fetched = vec![41_500_000];
    let found = &passes_of(&controller)[3];
    assert_eq!(
        (found.hops[1].began_ns, found.latency_ns()),
        (41_500_000, 7 * MS)
    );
}

#[test]
fn an_item_is_done_before_or_after_what_the_thread_does_for_its_timer_without_a_sleep() {
    let turns =
        (1..=CYCLES).map(|cycle| turn(cycle * 10_000 + 900, cycle * 10_000 + 4_000, Some(1)));
    let mut controller = fed(turns.collect(), &[]);
    let served = Activation {
        timer: Some(1),
        woken_in: WokenIn::Unknown,
        switched_in_ns: 102_000_000,
        ..turn(101_000, 104_000, None)
    };
    controller.activations.push(served);
    let found = passes(&sensor(), PERIOD, &[by(&controller, 1)]);
    let bounds = |of: &Pass| (of.earliest_end_ns, of.end_ns);
    let found: Vec<(u64, u64)> = found.by_cycle.values().map(bounds).collect();
    assert_eq!(found[8], (94 * MS, 94 * MS));
    assert_eq!(found[9], (102 * MS, 104 * MS));
}

use super::super::activation::Activation;
use super::super::passes::Hop;
use super::*;

const MS: u64 = 1_000_000;
const CYCLES: u64 = 100;

/// Turns of a millisecond, this long after each due time of 10 ms, woken by this thread in this call.
fn turns(after_ms: u64, by: Option<u32>, woken_in: WokenIn) -> Vec<Activation> {
    let due = |cycle| (cycle + 1) * 10 * MS;
    let turn = |cycle| Activation {
        programmed_ns: by.is_none().then(|| due(cycle)),
        expiry_ns: due(cycle) + after_ms * MS,
        switched_in_ns: due(cycle) + after_ms * MS + 1,
        end_ns: due(cycle) + (after_ms + 1) * MS,
        woken_by: by,
        woken_in,
        ..Activation::default()
    };
    (0..CYCLES).map(turn).collect()
}

fn fed(handed: Vec<Activation>) -> ThreadActivity {
    ThreadActivity {
        handed,
        ..ThreadActivity::default()
    }
}

/// Thread 1 by a timer, 2 woken by 1 as it ends, 3 by 2.
fn three() -> BTreeMap<u32, ThreadActivity> {
    let first = ThreadActivity {
        activations: turns(0, None, WokenIn::Sleep),
        ..ThreadActivity::default()
    };
    BTreeMap::from([
        (1, first),
        (2, fed(turns(1, Some(1), WokenIn::Futex))),
        (3, fed(turns(2, Some(2), WokenIn::Read))),
    ])
}

#[test]
fn a_turn_of_the_last_thread_is_traced_back_to_the_first_one_s_timer() {
    let [chain] = &chains(&three())[..] else {
        panic!();
    };
    assert_eq!(
        (&chain.threads[..], chain.period_ns),
        (&[1, 2, 3][..], 10 * MS)
    );
    assert_eq!((chain.begun, chain.passes.len() as u64), (CYCLES, CYCLES));
    let hop = |woken_ns| Hop {
        woken_ns,
        began_ns: woken_ns + 1,
    };
    let expected = Pass {
        due_ns: 10 * MS,
        hops: [10, 11, 12].map(|ms| hop(ms * MS)).to_vec(),
        end_ns: 13 * MS,
        earliest_end_ns: 13 * MS,
        with_others: false,
        is_merged: false,
    };
    assert_eq!(chain.passes[0], expected);
}

#[test]
fn a_wait_at_a_barrier_for_the_first_thread_s_next_cycle_is_no_part_of_a_pass() {
    let mut threads = three();
    let third = &mut threads.get_mut(&3).unwrap().handed;
    for of in &mut *third {
        of.woken_in = WokenIn::Futex;
    }
    third.extend(turns(9, Some(1), WokenIn::Futex));
    third.sort_by_key(|of| of.expiry_ns);
    let found = chains(&threads);
    let chain = found.iter().find(|of| of.threads == [1, 2, 3]).unwrap();
    assert_eq!(chain.passes.len() as u64, CYCLES);
    let latencies = chain.passes.iter().map(Pass::latency_ns);
    assert!(latencies.clone().all(|ns| ns == 3 * MS), "{latencies:?}");
}

/// The third thread wakes a fourth in every fifth of its turns.
fn with_fourth() -> BTreeMap<u32, ThreadActivity> {
    let mut threads = three();
    let fourth = turns(3, Some(3), WokenIn::Futex).into_iter().step_by(5);
    threads.insert(4, fed(fourth.collect()));
    threads
}

#[test]
fn a_chain_ends_where_most_turns_end_and_what_goes_further_at_times_is_another() {
    let found = chains(&with_fourth());
    let ends = found.iter().map(|of| (&of.threads[..], of.passes.len()));
    let expected: [(&[u32], usize); 2] = [(&[1, 2, 3], 100), (&[1, 2, 3, 4], 20)];
    assert_eq!(ends.collect::<Vec<_>>(), expected);
}

#[test]
fn a_thread_that_is_woken_now_and_then_is_in_no_chain() {
    let mut threads = three();
    let is_now_and_then = |number: usize| number * number % 23 < 3;
    let compiler = (0..).zip(turns(3, Some(3), WokenIn::Futex));
    let compiler = compiler.filter(|(number, _)| is_now_and_then(*number));
    threads.insert(4, fed(compiler.map(|(_, turn)| turn).collect()));
    assert!((10..25).contains(&threads[&4].handed.len()));
    let found = chains(&threads);
    let ends: Vec<&[u32]> = found.iter().map(|of| &of.threads[..]).collect();
    assert_eq!(ends, [&[1, 2, 3][..]]);
}

#[test]
fn a_thread_that_is_asked_at_times_and_waited_for_is_no_end_of_a_chain() {
    let mut threads = with_fourth();
    let answers = turns(4, Some(4), WokenIn::Futex).into_iter().step_by(5);
    let asking = &mut threads.get_mut(&3).unwrap().handed;
    asking.extend(answers);
    asking.sort_by_key(|of| of.expiry_ns);
    let [chain] = &chains(&threads)[..] else {
        panic!();
    };
    assert_eq!(
        (&chain.threads[..], chain.passes.len()),
        (&[1, 2, 3][..], 100)
    );
    let waited = chain.passes.iter().filter(|of| of.with_others);
    assert_eq!(waited.count(), 20);
}

#[test]
fn a_thread_that_waits_for_any_of_two_sensors_ends_a_chain_of_each() {
    let timer = |after_ms| ThreadActivity {
        activations: turns(after_ms, None, WokenIn::Sleep),
        ..ThreadActivity::default()
    };
    let mut handed = turns(1, Some(1), WokenIn::Events);
    handed.extend(turns(6, Some(2), WokenIn::Events).into_iter().step_by(2));
    handed.sort_by_key(|of| of.expiry_ns);
    let camera = ThreadActivity {
        activations: turns(5, None, WokenIn::Sleep)
            .into_iter()
            .step_by(2)
            .collect(),
        ..ThreadActivity::default()
    };
    let threads = BTreeMap::from([(1, timer(0)), (2, camera), (3, fed(handed))]);
    let found = chains(&threads);
    let ends = found.iter().map(|of| (&of.threads[..], of.passes.len()));
    let expected: [(&[u32], usize); 2] = [(&[1, 3], 100), (&[2, 3], 50)];
    assert_eq!(ends.collect::<Vec<_>>(), expected);
}

/// A loop with a timer of its own every 10 ms, which a sensor wakes 5 ms later; an actuator that it wakes this long
/// after each due time.
fn with_own_timer(actuator_after_ms: u64) -> BTreeMap<u32, ThreadActivity> {
    let in_events = |turns: Vec<Activation>| {
        let own = |of| Activation {
            woken_in: WokenIn::Events,
            ..of
        };
        turns.into_iter().map(own).collect()
    };
    let mut threads = three();
    let controller = ThreadActivity {
        activations: in_events(turns(5, None, WokenIn::Events)),
        handed: turns(1, Some(1), WokenIn::Events),
        ..ThreadActivity::default()
    };
    threads.insert(2, controller);
    threads.insert(3, fed(turns(actuator_after_ms, Some(2), WokenIn::Read)));
    threads
}

#[test]
fn a_loop_with_a_timer_of_its_own_is_in_the_chain_of_what_it_is_fed_or_begins_another() {
    let threads = |after_ms| {
        let found = chains(&with_own_timer(after_ms)).into_iter();
        found.map(|of| of.threads).collect::<Vec<_>>()
    };
    assert_eq!(threads(2), [[1, 2, 3]]);
    assert_eq!(threads(6), [vec![1, 2], vec![2, 3]]);
}

#[test]
fn threads_that_all_wake_each_other_are_no_chain_and_are_done_with_soon() {
    let all = 1..=24_u32;
    let thread = |id: u32| {
        let others = all.clone().filter(|by| *by != id);
        let turns = others.flat_map(|by| turns(u64::from(by), Some(by), WokenIn::Events));
        let mut turns: Vec<Activation> = turns.collect();
        turns.sort_by_key(|of| of.expiry_ns);
        (id, fed(turns))
    };
    let threads: BTreeMap<u32, ThreadActivity> = all.clone().map(thread).collect();
    assert_eq!(chains(&threads), []);
}

#[test]
fn a_cycle_that_wakes_nobody_has_no_pass() {
    let mut threads = three();
    threads.get_mut(&2).unwrap().handed.remove(50);
    let [chain] = &chains(&threads)[..] else {
        panic!();
    };
    assert_eq!(
        (chain.begun, chain.passes.len() as u64),
        (CYCLES, CYCLES - 1)
    );
}

#[test]
fn what_a_thread_waits_for_within_its_turn_is_part_of_it_and_another_event_is_not() {
    for (woken_in, end_ms, with_others) in
        [(WokenIn::Futex, 16, true), (WokenIn::Events, 13, false)]
    {
        let mut threads = three();
        let last = &mut threads.get_mut(&3).unwrap().handed;
        let other = Activation {
            expiry_ns: 15 * MS,
            switched_in_ns: 15 * MS,
            end_ns: 16 * MS,
            woken_by: Some(9),
            woken_in,
            ..Activation::default()
        };
        last.insert(1, other);
        let [chain] = &chains(&threads)[..] else {
            panic!();
        };
        let first = &chain.passes[0];
        assert_eq!(
            (first.end_ns, first.with_others),
            (end_ms * MS, with_others)
        );
        assert!(chain.passes[1..].iter().all(|pass| !pass.with_others));
    }
}

#[test]
fn threads_that_wake_each_other_or_that_no_timer_begins_are_no_chain() {
    let mut threads = three();
    threads.insert(1, fed(turns(0, Some(3), WokenIn::Futex)));
    assert_eq!(chains(&threads), []);
    threads.insert(1, fed(turns(0, None, WokenIn::Futex)));
    assert_eq!(chains(&threads), []);
    let mut threads = three();
    threads.remove(&1);
    assert_eq!(chains(&threads), []);
}

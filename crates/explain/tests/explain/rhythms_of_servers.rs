//! Threads that sleep or time out now and then while they serve others.

use crate::hand_made::{MS, START};
use wakepath_explain::watch::{Activation, BegunBy, Rhythm, WokenIn};

wakepath_test_program::tests![
    a_thread_that_mostly_waits_for_events_until_a_time_out_has_no_period_of_rare_wake_ups,
    a_thread_that_sleeps_while_it_serves_some_requests_has_the_rhythm_of_the_requests,
];

fn a_thread_that_mostly_waits_for_events_until_a_time_out_has_no_period_of_rare_wake_ups() {
    let turn = |at_ns, woken_in| Activation {
        expiry_ns: at_ns,
        woken_in,
        ..Activation::default()
    };
    let time_outs = |woken_in| -> Vec<Activation> {
        let at = |number: u64| START + number * number * 37 % 101 * MS + number * 100 * MS;
        (0..100).map(|number| turn(at(number), woken_in)).collect()
    };
    let handed: Vec<Activation> = (0..20)
        .map(|number| turn(START + number * 500 * MS, WokenIn::Futex))
        .collect();
    let rhythm = |woken_in| Rhythm::best(&time_outs(woken_in), &handed, &[]);
    assert!(rhythm(WokenIn::Events).is_err());
    // Naps while it serves what woke it.
    assert_eq!(rhythm(WokenIn::Sleep).unwrap().period_ns, 500 * MS);
}

fn a_thread_that_sleeps_while_it_serves_some_requests_has_the_rhythm_of_the_requests() {
    // A request each 10 ms. Each 25th takes three naps of 5 ms.
    let naps: Vec<Activation> = (0..60_u64)
        .map(|number| {
            let beside_ns = number * number * 37 % 101 * 11_000;
            let asked_ns = START + (number / 3 * 250 + number % 3 * 5) * MS + beside_ns;
            Activation {
                programmed_ns: Some(asked_ns + 5 * MS),
                asked_at_ns: Some(asked_ns),
                expiry_ns: asked_ns + 5 * MS,
                switched_in_ns: asked_ns + 5 * MS,
                waited_ns: if number % 3 == 2 { 235 * MS } else { 0 },
                ..Activation::default()
            }
        })
        .collect();
    let request = |number: u64| Activation {
        expiry_ns: START + number * 10 * MS,
        ..Activation::default()
    };
    let handed: Vec<Activation> = (0..500).map(request).collect();
    let rhythm = Rhythm::best(&naps, &handed, &[]).unwrap();
    assert_eq!(
        (rhythm.begun_by, rhythm.period_ns),
        (BegunBy::Other, 10 * MS)
    );
}

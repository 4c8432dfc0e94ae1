//! Threads that sleep or time out now and then while they serve others.

use crate::hand_made::{HOG, MS, SLOW, START, Stream, US};
use wakepath_explain::watch::{Activation, BegunBy, Rhythm, WokenIn};
use wakepath_timeline::{CallArgument, Left, What};

wakepath_test_program::tests![
    a_thread_that_mostly_waits_for_events_until_a_time_out_has_no_period_of_rare_wake_ups,
    a_thread_that_sleeps_while_it_serves_some_requests_has_the_rhythm_of_the_requests,
    a_time_out_of_the_wait_for_the_next_item_is_no_part_of_the_last_one,
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

/// An item each 5 ms, worked on for 100 µs. Each tenth does not come, and the wait for it ends by its time-out of 7 ms.
fn a_time_out_of_the_wait_for_the_next_item_is_no_part_of_the_last_one() {
    let longest_ns = |word: u64| {
        let mut stream = Stream::new();
        let waits = |stream: &mut Stream, at_ns: u64, word| {
            let argument = Some(CallArgument::Address(word));
            let name = "futex".into();
            stream.at(at_ns, What::SystemCallEntry { name, argument });
            stream.program(at_ns + US, SLOW, at_ns + 7 * MS);
            stream.switch(at_ns + 2 * US, HOG, Left::Sleeping);
        };
        stream.switch(START, SLOW, Left::Runnable);
        waits(&mut stream, START + US, 64);
        for item in 1..200_u64 {
            let at_ns = START + item * 5 * MS;
            if item % 10 == 0 {
                let out_ns = at_ns + 2 * MS + 200 * US;
                stream.expire(out_ns, SLOW);
                stream.switch(out_ns + 5 * US, SLOW, Left::Runnable);
                stream.at(out_ns + 6 * US, What::SystemCallExit);
                waits(&mut stream, out_ns + 10 * US, 64);
                continue;
            }
            stream.wake(at_ns, SLOW);
            stream.switch(at_ns + 5 * US, SLOW, Left::Runnable);
            stream.at(at_ns + 6 * US, What::SystemCallExit);
            waits(
                &mut stream,
                at_ns + 105 * US,
                if item % 10 == 9 { word } else { 64 },
            );
        }
        let handed = stream.activity().remove(&SLOW).unwrap().handed;
        assert!(handed.len() > 150);
        let lasted = handed.iter().map(|of| of.end_ns - of.expiry_ns);
        lasted.max().unwrap()
    };
    assert!(longest_ns(64) < MS);
    // At another word it waits within its work.
    assert!(longest_ns(128) > 6 * MS);
}

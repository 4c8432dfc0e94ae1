//! A loop on a real-time core that leaves it for Linux: the tolerated number, and the message.

use crate::judging::sentences;
use crate::runs::*;
use wakepath_timeline::SampleFlags;
use wakepath_verdict::{Caution, Outcome, Provenance};

#[test]
fn a_loop_that_leaves_its_core_more_often_than_is_tolerated_is_invalid() {
    let mut samples = clean(0..10_000);
    for sample in &mut samples[500..510] {
        sample.flags = sample.flags.with(SampleFlags::MODE_SWITCH);
    }
    let tolerating = |share| {
        let provenance = Provenance {
            mode_switches_tolerated: share,
            ..sound(10_000)
        };
        judged_with(&criterion(), 10_000, &samples, &provenance)
    };
    let said = |share| sentences(&tolerating(share))[0].clone();
    assert_eq!(tolerating(0.0).outcome, Outcome::Invalid);
    let plain = "the loop left its real-time core for Linux in 10 of 10 000 cycles";
    assert_eq!(said(0.0), plain);
    assert_eq!(tolerating(0.0009).outcome, Outcome::Invalid);
    assert_eq!(
        said(0.0009),
        format!("{plain}; at most 0.09 % is tolerated")
    );
    // Exactly the tolerated number is reported, and no more.
    let found = tolerating(0.001);
    assert_eq!(found.outcome, Outcome::Passed);
    assert_eq!(
        found.cautions,
        [Caution::ModeSwitches {
            switched: 10,
            executed: 10_000
        }]
    );
}

//! What would lose the vehicle: the searches for the latency and the misses at which it is lost.

use wakepath_assess::Search;
use wakepath_flight::search::{Brink, Terms};
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::duration;

/// Of one period, with and without rotor drag.
pub(super) fn search_text(search: &Search) -> String {
    let terms = &search.terms;
    let found = brinks_text(terms, &search.latency, &search.misses);
    let without = search.without_rotor_drag.as_ref().map(|brinks| {
        let found = brinks_text(terms, &brinks.latency, &brinks.misses);
        format!("without rotor drag: {found}\n")
    });
    format!(
        "loss at a period of {}: {found}\n{}",
        duration(terms.period_ns as i64),
        without.unwrap_or_default()
    )
}

fn brinks_text(terms: &Terms, latency: &Brink, misses: &Brink) -> String {
    let latency = match latency.lost {
        None => format!(
            "no sustained latency up to {} lost it",
            duration((terms.most_periods * terms.period_ns) as i64)
        ),
        Some(lost) => format!(
            "a sustained latency of {} in {} s of flight",
            three_digits(lost.cast_signed()),
            terms.flight_ns / 1_000_000_000
        ),
    };
    let misses = match misses.lost {
        None => format!(
            "no number of consecutive misses up to {} lost it",
            terms.most_misses
        ),
        Some(lost) => format!(
            "{lost} consecutive misses ({}) when a kick of {} rad/s falls just after the last \
             sample",
            duration((lost * terms.period_ns) as i64),
            terms.kick_rad_s
        ),
    };
    format!("{latency}; {misses}")
}

//! The time that minor page faults can have taken. The kernel records that a fault began, not when
//! it ended: a fault that had to wait shows as blocked, the others are bounded here.

use crate::track::{Happened, Mark};
use std::collections::VecDeque;

/// The next fault so soon, in nanoseconds, means that the thread did little between the two but
/// fault: it walks through new pages. Clearing a page and mapping it takes one to three microseconds.
const DENSE_NS: u64 = 20_000;
/// A fault without such a successor takes at most this, in nanoseconds.
const ALONE_NS: u64 = 5_000;

/// Time that the faults between two instants took at most, in nanoseconds.
pub(crate) fn price_ns(marks: &VecDeque<Mark>, from_ns: u64, to_ns: u64) -> u64 {
    let first = marks.partition_point(|mark| mark.at_ns < from_ns);
    let within = marks.range(first..).take_while(|mark| mark.at_ns <= to_ns);
    let faults = within.filter(|mark| mark.what == Happened::Fault);
    let mut at: Vec<u64> = faults.map(|mark| mark.at_ns).collect();
    at.push(u64::MAX);
    let gaps = at.windows(2).map(|pair| pair[1] - pair[0]);
    let price = gaps.map(|gap_ns| match gap_ns <= DENSE_NS {
        true => gap_ns,
        false => ALONE_NS,
    });
    price.sum()
}

//! Which of a machine's threads is the loop: as the user says, else with what there is to choose
//! from.

use crate::ImportError;
use crate::wakeups::Woken;
use std::collections::BTreeMap;
use wakepath_timeline::duration::three_digits;

/// So many threads are named where the user must choose.
const NAMED: usize = 5;

/// The threads that the user asked for, by number or by name.
pub(crate) fn chosen<'a>(
    all: &'a BTreeMap<u32, Woken>,
    wanted: &[&str],
) -> Result<Vec<(u32, &'a Woken)>, ImportError> {
    let woken: Vec<(u32, &Woken)> = all
        .iter()
        .filter(|(_, found)| !found.wake_ups.is_empty())
        .map(|(number, found)| (*number, found))
        .collect();
    let choose = |why: String, among: Vec<(u32, &Woken)>| {
        ImportError::whole(format!("{why}: {}", listed(among)))
    };
    if wanted.is_empty() {
        let why = "select the loop's thread with --thread".to_owned();
        return Err(choose(why, woken));
    }
    let mut chosen: Vec<(u32, &Woken)> = Vec::new();
    for word in wanted {
        let number = word.parse::<u32>().ok();
        let mut found: Vec<(u32, &Woken)> = woken
            .iter()
            .filter(|(own, thread)| number == Some(*own) || thread.name.bytes() == word.as_bytes())
            .copied()
            .collect();
        match (found.pop(), found.is_empty()) {
            (None, _) => {
                return Err(choose(
                    format!("no wake-up of a thread {word:?}; there are"),
                    woken,
                ));
            }
            (Some(only), true) => chosen.push(only),
            (Some(last), false) => {
                found.push(last);
                return Err(choose(
                    format!("{word:?} matches several threads; give a number"),
                    found,
                ));
            }
        }
    }
    chosen.dedup_by_key(|(number, _)| *number);
    Ok(chosen)
}

/// Real-time threads first, then those that were woken most.
fn listed(mut threads: Vec<(u32, &Woken)>) -> String {
    threads.sort_by_cached_key(|(_, found)| {
        (
            std::cmp::Reverse(found.real_time_priority()),
            std::cmp::Reverse(found.wake_ups.len()),
        )
    });
    let more = threads.len().saturating_sub(NAMED);
    let mut words: Vec<String> = threads
        .iter()
        .take(NAMED)
        .map(|(number, found)| {
            let interval = found.median_interval_ns().map_or(String::new(), |ns| {
                format!(", {} apart", three_digits(ns.cast_signed()))
            });
            let priority = match found.real_time_priority() {
                None => String::new(),
                Some(priority) => format!(", priority {priority}"),
            };
            let count = found.wake_ups.len();
            format!(
                "{number} `{}` ({count} wake-ups{interval}{priority})",
                found.name
            )
        })
        .collect();
    if more > 0 {
        words.push(format!("{more} more"));
    }
    words.join(", ")
}

/// What to say where the period must be given.
pub(crate) fn no_period(found: &Woken) -> String {
    let apart = found.median_interval_ns().map_or(String::new(), |ns| {
        format!(
            " (its wake-ups are {} apart in the median)",
            three_digits(ns.cast_signed())
        )
    });
    format!("has no period of the loop: give --period{apart}")
}

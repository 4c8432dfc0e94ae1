//! Result of a bisection, for a terminal.

use super::kept::Bisection;
use super::parted::Parted;
use super::search::{Became, Turn};
use super::watched::WatchedCount;
use std::fmt::Write;
use wakepath_timeline::duration::exact;

/// Number of functions to list.
const LISTED: usize = 15;

/// A line for a completed step.
pub fn step_text(bisection: &Bisection, kernel: usize) -> String {
    let name = &bisection.order.guests.kernels[kernel];
    let Some(step) = bisection.step(kernel) else {
        return format!("{name}: not measured");
    };
    if let Some(why) = &step.failed {
        return format!("{name}: skipped: {why}");
    }
    match bisection.watched() {
        None => format!("{name}: measured"),
        Some(watched) => {
            let value = watched.value(&step.conditions);
            let became = match bisection.became(step, &watched) {
                Became::Good => "good",
                Became::Bad => "bad",
                Became::Skipped => "skipped: it lacks the condition",
            };
            format!(
                "{name}: {}: {became}",
                value.map_or("–".into(), |ns| exact(ns.unsigned_abs()))
            )
        }
    }
}

/// The answer.
pub fn found_text(bisection: &Bisection, watched: &WatchedCount, turn: &Turn) -> String {
    let kernels = &bisection.order.guests.kernels;
    let value = |kernel: usize| {
        let step = bisection.step(kernel);
        let value = step.and_then(|step| watched.value(&step.conditions));
        value.map_or("–".into(), |ns| exact(ns.unsigned_abs()))
    };
    let mut text = format!(
        "first bad: {}\n{}, {}: {} on {}, {} on {}\n",
        kernels[turn.bad],
        watched.condition,
        watched.count.trim_end_matches("_ns").replace('_', " "),
        value(turn.good),
        kernels[turn.good],
        value(turn.bad),
        kernels[turn.bad]
    );
    for unsure in turn.unsure() {
        let _ = writeln!(
            text,
            "or already {}: it could not be measured",
            kernels[unsure]
        );
    }
    text
}

/// The functions in which the two windows differ.
pub fn parted_text(parted: &[Parted]) -> String {
    let mut text = format!(
        "{:>9} {:>9} {:>9}  instructions of its own\n",
        "good", "bad", "more"
    );
    for Parted {
        function,
        good,
        bad,
    } in parted.iter().take(LISTED)
    {
        let more = *bad as i64 - *good as i64;
        let _ = writeln!(text, "{good:>9} {bad:>9} {more:>+9}  {function}");
    }
    let rest = parted.iter().skip(LISTED);
    let rest: i64 = rest.map(|one| one.bad as i64 - one.good as i64).sum();
    if parted.len() > LISTED {
        let _ = writeln!(
            text,
            "{:>29}  {} others",
            format!("{rest:+}"),
            parted.len() - LISTED
        );
    }
    text
}

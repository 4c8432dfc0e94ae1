//! Result of a bisection, for a terminal.

use super::kept::Bisection;
use super::parted::Parted;
use super::search::{Became, Turn};
use super::watched::{BY_CHANCE, RULE, WatchedCount, chance, median};
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
            let values = watched.values(&step.seeds());
            let became = match bisection.became(step, &watched) {
                Became::Good => "good",
                Became::Bad => "bad",
                Became::Skipped if values.is_some() => "skipped: as many seeds are good as bad",
                Became::Skipped => "skipped: it lacks the condition",
            };
            format!("{name}: {}: {became}", over_seeds(values.as_deref()))
        }
    }
}

/// The median, and the range.
fn over_seeds(values: Option<&[i64]>) -> String {
    let Some(values) = values.filter(|values| !values.is_empty()) else {
        return "–".into();
    };
    let time = |ns: i64| exact(ns.unsigned_abs());
    let least = values.iter().min().copied().unwrap_or(0);
    let most = values.iter().max().copied().unwrap_or(0);
    format!(
        "{} ({} to {}, {} seeds)",
        time(median(values)),
        time(least),
        time(most),
        values.len()
    )
}

/// Values on both sides of the turn.
fn sides(bisection: &Bisection, watched: &WatchedCount, turn: &Turn) -> [Option<Vec<i64>>; 2] {
    [turn.good, turn.bad].map(|kernel| watched.values(&bisection.step(kernel)?.seeds()))
}

/// Probability that the two sides of the turn differ by chance.
fn by_chance(bisection: &Bisection, watched: &WatchedCount, turn: &Turn) -> f64 {
    match sides(bisection, watched, turn) {
        [Some(good), Some(bad)] => chance(&good, &bad),
        _ => 1.0,
    }
}

/// Whether the answer is open: kernels between the two could not be measured, or the two don't differ by
/// more than chance.
pub fn is_open(bisection: &Bisection, watched: &WatchedCount, turn: &Turn) -> bool {
    !turn.unsure().is_empty() || by_chance(bisection, watched, turn) > BY_CHANCE
}

/// The answer.
pub fn found_text(bisection: &Bisection, watched: &WatchedCount, turn: &Turn) -> String {
    let kernels = &bisection.order.guests.kernels;
    let [good, bad] = sides(bisection, watched, turn);
    let p = by_chance(bisection, watched, turn);
    let mut text = format!(
        "first bad: {}\n{}, {}: {} on {}, {} on {}; by chance with p = {:.1} %\n",
        kernels[turn.bad],
        watched.condition,
        watched.count.trim_end_matches("_ns").replace('_', " "),
        over_seeds(good.as_deref()),
        kernels[turn.good],
        over_seeds(bad.as_deref()),
        kernels[turn.bad],
        100.0 * p
    );
    if p > BY_CHANCE {
        text += "open: these two don't differ by more than chance; more seeds may decide\n";
    }
    for unsure in turn.unsure() {
        let _ = writeln!(
            text,
            "or already {}: it could not be measured, or as many of its seeds are good as bad",
            kernels[unsure]
        );
    }
    text + RULE + "\n"
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

//! The late runs of a callback, each with its cause.

use super::why::why;
use wakepath_assess::watched::FirstAbove;
use wakepath_ros2::{Kind, Row};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::{length, three_digits};

/// How many gaps of a callback were long, or how many messages of a subscription waited longer than `limit_ns`; `None`
/// if none was.
pub(super) fn headline(row: &Row, name: &str, limit_ns: Option<u64>) -> Option<String> {
    let count = row.late.filter(|count| *count > 0)?;
    let symbol = row.callback.symbol.as_ref();
    let function = symbol.filter(|of| !name.contains(&***of));
    let function = function.map_or(String::new(), |of| format!(" ({of})"));
    let Some(period_ns) = row.period_ns else {
        let messages = counted(count, "message", "messages");
        let limit = length(limit_ns?);
        return Some(format!(
            "{name}{function}: {messages} above {limit}, the longest"
        ));
    };
    let gaps = counted(count, "gap", "gaps");
    let limit_ns = period_ns * 3 / 2;
    // The period of anything but a timer is measured.
    let limit = match row.callback.kind {
        Kind::Timer { .. } => length(limit_ns),
        _ => three_digits(limit_ns.cast_signed()),
    };
    Some(format!(
        "{name}{function}: {gaps} above {limit}, the longest"
    ))
}

/// A line for each of the longest.
pub(super) fn lines(row: &Row, began_ns: u64) -> impl Iterator<Item = String> {
    row.worst.iter().map(move |late| {
        let at = late.at_ns.saturating_sub(began_ns) as f64 / 1e9;
        let figure = match row.period_ns {
            Some(_) => format!("gap {}", three_digits(late.gap_ns.cast_signed())),
            None => format!("latency {}", three_digits(late.latency_ns.cast_signed())),
        };
        format!("{figure} at {at:.3} s: {}", why(late))
    })
}

/// The run that a watch was to stop at.
pub(super) fn first_above(of: &FirstAbove, began_ns: u64, above_ns: u64) -> String {
    let at = of.late.at_ns.saturating_sub(began_ns) as f64 / 1e9;
    format!(
        "stopped: {}: a latency of {}, above {}, at {at:.3} s: {}",
        of.callback,
        three_digits(of.late.latency_ns.cast_signed()),
        length(above_ns),
        why(&of.late)
    )
}

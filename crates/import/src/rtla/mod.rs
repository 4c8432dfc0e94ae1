//! rtla's text: `timerlat hist` and `osnoise hist` in `hist`, `timerlat top` in `top`. What both say at
//! their end is read here.

mod hist;
mod top;

pub(crate) use hist::{OSNOISE, TIMERLAT};
pub(crate) use top::FORM as TOP;

use crate::histogram_lines::shortened;
use crate::imported::stopped;
use wakepath_timeline::Lack;

/// A line below the figures that the reader must see.
fn remark(line: &str) -> Option<Lack> {
    let line = line.trim();
    if line.contains("hit stop tracing") {
        return Some(stopped("its threshold (`hit stop tracing`)"));
    }
    let (missed, _) = line.split_once("events missed")?;
    let missed = missed.trim();
    let count = match missed.strip_prefix("unknown") {
        Some(_) => "an unknown number of",
        None => missed,
    };
    Some(Lack::Other(format!(
        "{} events that rtla missed: their values are not counted",
        shortened(count)
    )))
}

/// `# Duration:   0 00:01:30`, days first, in nanoseconds.
fn duration_ns(told: &str) -> Option<u64> {
    let (days, clock) = told.trim().split_once(char::is_whitespace)?;
    let mut parts = clock.trim().split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let days: u64 = days.parse().ok()?;
    let hours = days.checked_mul(24)?.checked_add(hours)?;
    let minutes = hours.checked_mul(60)?.checked_add(minutes)?;
    let seconds = minutes.checked_mul(60)?.checked_add(seconds)?;
    seconds.checked_mul(1_000_000_000)
}

/// The unit of `(us)` or `(ns)` in a line, in nanoseconds.
fn unit_ns(line: &str) -> Option<i64> {
    match (line.contains("(us)"), line.contains("(ns)")) {
        (true, false) => Some(1_000),
        (false, true) => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_and_durations_are_read() {
        let missed = |line: &str| remark(line).unwrap().to_string();
        let some = missed("12 (0.61%) events missed, results might not be accurate");
        assert!(
            some.starts_with("12 (0.61%) events that rtla missed"),
            "{some}"
        );
        let unknown = missed("unknown number of events missed, results might not be accurate");
        assert!(
            unknown.starts_with("an unknown number of events"),
            "{unknown}"
        );
        assert!(missed("rtla timerlat hit stop tracing").contains("stopped"));
        assert_eq!(remark("max:          2"), None);
        assert_eq!(duration_ns("  1 01:00:30"), Some(90_030_000_000_000));
        assert_eq!(duration_ns("0 00:00"), None);
        assert_eq!(duration_ns("99999999999999999 00:00:00"), None);
    }
}

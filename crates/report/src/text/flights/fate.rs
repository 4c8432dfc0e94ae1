//! How a flight ended, and what speaks against it.

use super::table::Row;
use crate::Style;
use wakepath_assess::{FlownCondition, loss_text};
use wakepath_flight::replay::{FlightReport, Flown};
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::Outcome;

/// How the flight ended. A vehicle that was not lost within the recording isn't said to fly where
/// its delay is beyond the margin: the loss may only take longer.
pub(super) fn fate(row: Row<'_>, report: &FlightReport, flown: &Flown) -> String {
    let margins = &report.margins;
    let beyond = |left: Option<i64>| left.is_none_or(|left| left < 0);
    match row {
        _ if flown.lost() => "LOST",
        Row::Ideal => "flies",
        _ if beyond(margins.delay_ns) => "unstable",
        _ if beyond(margins.delay_if_worst_lasted_ns) => "flew",
        _ => "flies",
    }
    .into()
}

/// How bad a condition's flight is, for comparison alone: lost, then not flown, then by the delay margin left.
pub(super) fn badness(condition: &FlownCondition) -> i64 {
    match &condition.flight {
        Some(report) if report.flights.measured.lost() => i64::MAX,
        None => i64::MAX - 1,
        Some(report) => report
            .margins
            .delay_if_worst_lasted_ns
            .map_or(i64::MAX - 2, i64::saturating_neg),
    }
}

/// End of a condition's flight; `None` if it was not flown.
pub(crate) fn fate_of(condition: &FlownCondition) -> Option<String> {
    let report = condition.flight.as_ref()?;
    let measured = &report.flights.measured;
    Some(fate(Row::Measured(condition), report, measured))
}

/// Why it isn't reported to fly although it was not lost.
pub(super) fn beyond_margin(report: &FlightReport) -> Option<String> {
    let (margins, timing) = (&report.margins, &report.timing);
    if report.flights.measured.lost() {
        return None;
    }
    let Some(left) = margins.delay_ns else {
        return Some("unstable: the loop is unstable at this period without any delay".into());
    };
    let longest = i64::try_from(timing.reaction.max_ns).unwrap_or(i64::MAX);
    let worst = margins.delay_if_worst_lasted_ns?;
    let whole = three_digits(longest.saturating_add(worst));
    if left < 0 {
        let beyond = three_digits(left.saturating_neg());
        return Some(format!(
            "unstable: its mean delay is {beyond} beyond the delay margin of {whole}; the \
             loop is unstable there, though it was not lost within the recording"
        ));
    }
    (worst < 0).then(|| {
        format!(
            "flew: its longest reaction, {}, is longer than the delay margin of {whole}: the loop \
             would be unstable if every reaction took that long",
            three_digits(longest)
        )
    })
}

/// The findings that speak against the flight.
pub(super) fn against(condition: &FlownCondition) -> Vec<String> {
    let findings = condition.findings.iter();
    let against = findings.filter(|finding| finding.bearing() != Outcome::Passed);
    against.map(ToString::to_string).collect()
}

/// The problems, in one line.
pub(super) fn line(condition: &FlownCondition, style: Style) -> String {
    let against = against(condition);
    let lost = condition
        .flight
        .as_ref()
        .and_then(|report| loss_text(&report.flights.measured));
    let text = match (against.is_empty(), lost) {
        (false, _) => against.join("; "),
        (true, Some(how)) => format!("lost: {how}"),
        (true, None) => match condition.flight.as_ref().and_then(beyond_margin) {
            Some(how) => return format!("{}: {how}\n", condition.name),
            None => return String::new(),
        },
    };
    format!("{}: {}\n", condition.name, style.bad(&text))
}

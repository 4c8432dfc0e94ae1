//! What ros2_control's controller manager publishes of itself (`~/statistics`), as
//! `ros2 topic echo /controller_manager/statistics/full` writes it: extremes and averages alone.

use crate::form::{Fit, Reader};
use crate::{Asked, Form, Histogram, ImportError, Imported, Thread, Values};
use std::collections::BTreeMap;
use wakepath_timeline::Lack;

/// A controller's rate of updates, in hertz.
const PERIODICITY: &str = "periodicity";
const NEEDED: &str = "`ros2 topic echo /controller_manager/statistics/full > FILE`";
const MOST_CONTROLLERS: usize = 1000;

/// Figures of one controller, by name.
type Figures = BTreeMap<String, f64>;

pub(crate) const FORM: Form = Form {
    word: "ros2-control",
    written_by: "ros2 topic echo /controller_manager/statistics/full",
    uses: &[],
    reader: Reader::Text(fits, read),
};

fn fits(text: &str) -> Fit {
    let mut lines = text.lines().map(str::trim);
    Fit::certain_if(lines.any(|line| line.starts_with("statistics:") || line.contains(PERIODICITY)))
}

pub(crate) fn read(text: &str, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let found = controllers(text)?;
    let Some(period_ns) = asked.period_ns else {
        return Err(ImportError::whole(
            "does not say the rate that was meant: give --period, of the controller manager's \
             update_rate",
        ));
    };
    let mut threads = Vec::new();
    for (name, figures) in found {
        if let Some(histogram) = lateness(&name, &figures, period_ns)? {
            threads.push(Thread::new(name, None, Values::Histogram(histogram)));
        }
    }
    if threads.is_empty() {
        let why = format!(
            "holds no rate of updates (…/periodicity/min, max, average): record with {NEEDED}, of \
             a controller manager that publishes them"
        );
        return Err(ImportError::whole(why));
    }
    Ok(Imported {
        tool: "ros2_control",
        measures: "longest time between two updates less the period, out of the lowest rate",
        lacks: vec![
            Lack::Other(
                "every value but the extremes: summaries have no quantiles, and misses are \
                 counted as at least one"
                    .into(),
            ),
            Lack::Other(
                "the latency: it is the time between two updates, in which a late and an early \
                 one add up"
                    .into(),
            ),
            Lack::SkippedPeriods,
            Lack::Order,
            Lack::DueTimes,
            Lack::EndOfWork,
            Lack::WarmUp,
            Lack::EffectivePolicy,
            Lack::Machine,
        ],
        threads,
        period_ns: Some(period_ns),
        ..Imported::default()
    })
}

/// How late updates were at most and at least, of the rates.
fn lateness(name: &str, of: &Figures, period_ns: u64) -> Result<Option<Histogram>, ImportError> {
    let figure = |key: &str| of.get(key).copied();
    let (Some(low), Some(high)) = (figure("min"), figure("max")) else {
        return Ok(None);
    };
    // Nothing was measured yet: pal_statistics publishes NaN.
    if low.is_nan() || high.is_nan() {
        return Ok(None);
    }
    let odd = || ImportError::whole(format!("{name}: its rates are no rates of updates"));
    let late = |hertz: f64| {
        let ns = (1e9 / hertz).round() - period_ns as f64;
        (hertz.is_finite() && hertz > 0.0 && ns.abs() < 1e15).then_some(ns as i64)
    };
    let (most, least) = (late(low).ok_or_else(odd)?, late(high).ok_or_else(odd)?);
    let count = figure("sample_count").unwrap_or(2.0);
    if most < least || !(1.0..1e12).contains(&count) {
        return Err(odd());
    }
    let count = (count as u64).max(2);
    Ok(Some(Histogram {
        bins: vec![(least, least, 1)],
        // All that is known of the others is where they lie.
        overflowed: count - 1,
        range_end_ns: Some(least),
        min_ns: Some(least),
        max_ns: Some(most),
        mean_ns: figure("average").and_then(late),
    }))
}

/// The last figures of every controller: they are of all time since it began.
fn controllers(text: &str) -> Result<BTreeMap<String, Figures>, ImportError> {
    let mut found: BTreeMap<String, Figures> = BTreeMap::new();
    let (mut is_statistics, mut name) = (false, None);
    for (number, line) in (1..).zip(text.lines()) {
        let bare = line.trim();
        let bare = bare.strip_prefix("- ").unwrap_or(bare);
        is_statistics |= bare.starts_with("statistics:");
        let Some((key, value)) = bare.split_once(':') else {
            if bare.is_empty() || bare == "---" || bare.starts_with('#') {
                continue;
            }
            return Err(ImportError::at(
                number,
                "not as `ros2 topic echo` writes it",
            ));
        };
        let value = value.trim().trim_matches(['\'', '"']);
        match key.trim() {
            "name" => name = Some(value.to_owned()),
            "value" => {
                let Some(name) = name.take() else {
                    return Err(ImportError::at(number, "a value without its name"));
                };
                let value = number_of(value)
                    .ok_or_else(|| ImportError::at(number, format!("{value:?} is no number")))?;
                let mut parts = name.rsplitn(3, '/');
                let (figure, what, of) = (parts.next(), parts.next(), parts.next());
                if let (Some(figure), Some(PERIODICITY), Some(of)) = (figure, what, of) {
                    let of = of.strip_suffix(".stats").unwrap_or(of).replace('/', " ");
                    if found.len() == MOST_CONTROLLERS && !found.contains_key(&of) {
                        let why = format!("more than {MOST_CONTROLLERS} controllers");
                        return Err(ImportError::at(number, why));
                    }
                    found
                        .entry(of)
                        .or_default()
                        .insert(figure.to_owned(), value);
                }
            }
            _ => {}
        }
    }
    match is_statistics {
        true => Ok(found),
        false => Err(ImportError::whole(format!(
            "holds no message of statistics: record with {NEEDED}"
        ))),
    }
}

/// YAML writes `.nan` and `.inf`.
fn number_of(text: &str) -> Option<f64> {
    match text {
        ".nan" => Some(f64::NAN),
        ".inf" => Some(f64::INFINITY),
        "-.inf" => Some(f64::NEG_INFINITY),
        other => other.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../tests/fixtures/ros2-control-statistics.yaml");

    fn read_at(text: &str, period_ns: Option<u64>) -> Result<Imported, ImportError> {
        let asked = Asked {
            period_ns,
            ..Asked::default()
        };
        read(text, &asked)
    }

    #[test]
    fn rates_become_the_longest_and_the_shortest_time_between_updates() {
        let found = read_at(TEXT, Some(10_000_000)).unwrap();
        let names: Vec<&str> = found.threads.iter().map(|of| &*of.name).collect();
        assert_eq!(names, ["arm_controller", "rrbot read_cycle"]);
        let Values::Histogram(arm) = &found.threads[0].values else {
            panic!("{found:?}");
        };
        // 80 Hz is 12.5 ms between two updates, 125 Hz 8 ms; the last message holds.
        assert_eq!(
            (arm.max_ns, arm.min_ns),
            (Some(2_500_000), Some(-2_000_000))
        );
        assert_eq!((arm.count(), arm.overflowed), (5000, 4999));
        assert_eq!(arm.mean_ns, Some(0));
    }

    #[test]
    fn what_is_no_such_message_says_what_would_be_right() {
        let refused = |text: &str| read_at(text, Some(10_000_000)).unwrap_err().to_string();
        assert!(read_at(TEXT, None).unwrap_err().why.contains("--period"));
        assert!(refused("").contains("ros2 topic echo"));
        assert!(refused("statistics: []\n---\n").contains("no rate of updates"));
        assert_eq!(
            refused("statistics:\n- name: a\n  value: x\n"),
            "3: \"x\" is no number"
        );
        assert!(refused("statistics:\n  value: 1\n").starts_with("2: "));
        let odd = TEXT.replace("80.0", "-3.0");
        assert!(
            refused(&odd).contains("arm_controller"),
            "{}",
            refused(&odd)
        );
    }
}

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
    let mut slower: Vec<String> = Vec::new();
    for (name, rates) in found {
        let every = rates.every(period_ns);
        let own_ns = period_ns.saturating_mul(every);
        if every > 1 {
            slower.push(format!("{name} every {every}"));
        }
        threads.push(Thread {
            period_ns: Some(own_ns),
            ..Thread::new(name, None, Values::Histogram(rates.lateness(own_ns)))
        });
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
        lacks: lacks(slower),
        threads,
        period_ns: Some(period_ns),
        ..Imported::default()
    })
}

fn lacks(slower: Vec<String>) -> Vec<Lack> {
    let mut lacks = vec![Lack::Quantiles];
    if !slower.is_empty() {
        lacks.push(Lack::Other(format!(
            "the update_rate of slower controllers: taken from their average ({} periods)",
            slower.join(", ")
        )));
    }
    lacks.extend([
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
    ]);
    lacks
}

/// Rates of a controller's updates since its statistics began, in hertz.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rates {
    min: f64,
    max: f64,
    average: Option<f64>,
    /// How many updates; `None` where the message does not tell.
    count: Option<u64>,
}

impl Rates {
    /// The last figures of a message; `None` of those before anything was measured.
    fn new(name: &str, figures: &Figures) -> Result<Option<Self>, ImportError> {
        let figure = |key: &str| figures.get(key).copied();
        let (Some(min), Some(max)) = (figure("min"), figure("max")) else {
            return Ok(None);
        };
        // Nothing was measured yet: pal_statistics publishes NaN.
        if min.is_nan() || max.is_nan() {
            return Ok(None);
        }
        let is_rate = |hertz: f64| (1e-6..1e9).contains(&hertz);
        let count = figure("sample_count");
        if !is_rate(min)
            || !is_rate(max)
            || min > max
            || count.is_some_and(|n| !(1.0..1e12).contains(&n))
        {
            let why = format!("{name}: its rates are not update rates");
            return Err(ImportError::whole(why));
        }
        Ok(Some(Self {
            min,
            max,
            average: figure("average").filter(|average| is_rate(*average)),
            count: count.map(|count| count as u64),
        }))
    }

    /// Whether statistics began again between the figures before and these.
    fn are_anew(&self, before: &Self) -> bool {
        let fewer = self
            .count
            .zip(before.count)
            .is_some_and(|(own, before)| own < before);
        fewer || self.min > before.min || self.max < before.max
    }

    /// Over both stretches.
    fn with(&self, other: &Self) -> Self {
        let counts = self.count.zip(other.count);
        let average = counts.and_then(|(one, two)| {
            let sum = self.average? * one as f64 + other.average? * two as f64;
            Some(sum / (one + two) as f64)
        });
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            average,
            count: counts.map(|(one, two)| one + two),
        }
    }

    /// Every how many of the manager's updates it was updated: a controller may have a lower rate,
    /// which the manager keeps by leaving updates out.
    fn every(&self, period_ns: u64) -> u64 {
        let manager = 1e9 / period_ns as f64;
        let times = self.average.map_or(1.0, |average| manager / average);
        let whole = times.round();
        if (2.0..1e6).contains(&whole) && (times / whole - 1.0).abs() < 0.05 {
            whole as u64
        } else {
            1
        }
    }

    /// How late updates were: all that is known are the extremes.
    fn lateness(&self, period_ns: u64) -> Histogram {
        let late = |hertz: f64| (1e9 / hertz - period_ns as f64).round() as i64;
        Histogram {
            mean_ns: self.average.map(late),
            ..Histogram::summary(
                self.count.unwrap_or(2).max(2),
                late(self.max),
                late(self.min),
            )
        }
    }
}

/// Rates that grow message by message.
#[derive(Default)]
struct Growing {
    /// Of stretches that ended with a reset.
    before: Option<Rates>,
    last: Option<Rates>,
}

impl Growing {
    fn take(&mut self, rates: Rates) {
        if let Some(last) = self.last
            && rates.are_anew(&last)
        {
            self.before = Some(self.before.map_or(last, |before| before.with(&last)));
        }
        self.last = Some(rates);
    }

    fn whole(&self) -> Option<Rates> {
        match (self.before, self.last) {
            (Some(before), Some(last)) => Some(before.with(&last)),
            (None, last) => last,
            (before, None) => before,
        }
    }
}

/// The figures of every controller over all messages: each is of all time since its statistics began.
fn controllers(text: &str) -> Result<BTreeMap<String, Rates>, ImportError> {
    let mut all: BTreeMap<String, Growing> = BTreeMap::new();
    let mut message: BTreeMap<String, Figures> = BTreeMap::new();
    let mut end = |message: &mut BTreeMap<String, Figures>| {
        for (name, figures) in std::mem::take(message) {
            if let Some(rates) = Rates::new(&name, &figures)? {
                all.entry(name).or_default().take(rates);
            }
        }
        Ok(())
    };
    let (mut is_statistics, mut name) = (false, None);
    for (number, line) in (1..).zip(text.lines()) {
        let bare = line.trim();
        let bare = bare.strip_prefix("- ").unwrap_or(bare);
        is_statistics |= bare.starts_with("statistics:");
        if bare == "---" {
            end(&mut message)?;
            continue;
        }
        let Some((key, value)) = bare.split_once(':') else {
            if bare.is_empty() || bare.starts_with('#') {
                continue;
            }
            return Err(ImportError::at(
                number,
                "not as `ros2 topic echo` writes it: `key: value` would be right",
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
                    .ok_or_else(|| ImportError::at(number, format!("{value:?} is not a number")))?;
                let mut parts = name.rsplitn(3, '/');
                let (figure, what, of) = (parts.next(), parts.next(), parts.next());
                if let (Some(figure), Some(PERIODICITY), Some(of)) = (figure, what, of) {
                    let of = of.strip_suffix(".stats").unwrap_or(of).replace('/', " ");
                    if message.len() == MOST_CONTROLLERS && !message.contains_key(&of) {
                        let why = format!("more than {MOST_CONTROLLERS} controllers");
                        return Err(ImportError::at(number, why));
                    }
                    let own = message.entry(of).or_default();
                    own.insert(figure.to_owned(), value);
                }
            }
            _ => {}
        }
    }
    end(&mut message)?;
    if !is_statistics {
        return Err(ImportError::whole(format!(
            "holds no message of statistics: record with {NEEDED}"
        )));
    }
    let whole = all.into_iter();
    Ok(whole
        .filter_map(|(name, own)| Some((name, own.whole()?)))
        .collect())
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
        assert_eq!((arm.count(), arm.bins.len()), (5000, 0));
        assert_eq!(arm.mean_ns, Some(0));
    }

    fn message(name: &str, [min, max, average, count]: [f64; 4]) -> String {
        let figures = [
            ("min", min),
            ("max", max),
            ("average", average),
            ("sample_count", count),
        ];
        let lines = figures.map(|(figure, value)| {
            format!("- name: {name}.stats/periodicity/{figure}\n  value: {value}\n")
        });
        format!("statistics:\n{}---\n", lines.concat())
    }

    fn only(text: &str) -> (Thread, Histogram) {
        let found = read_at(text, Some(1_000_000)).unwrap();
        let thread = found.threads[0].clone();
        match &thread.values {
            Values::Histogram(histogram) => (thread.clone(), histogram.clone()),
            _ => panic!("{thread:?}"),
        }
    }

    #[test]
    fn a_controller_of_a_lower_rate_has_a_period_of_its_own() {
        let (slow, found) = only(&message("battery", [49.9, 50.1, 50.0, 3_000.0]));
        assert_eq!(slow.period_ns, Some(20_000_000));
        assert_eq!(found.max_ns, Some(40_080));
        // One that is late has the manager's period, whatever its average.
        let (late, _) = only(&message("arm", [300.0, 1_000.0, 700.0, 3_000.0]));
        assert_eq!(late.period_ns, Some(1_000_000));
    }

    #[test]
    fn what_was_measured_before_a_reset_counts() {
        let before = message("arm", [500.0, 1_002.0, 1_000.0, 4_000.0]);
        let later = message("arm", [400.0, 1_002.0, 1_000.0, 5_000.0]);
        let anew = message("arm", [998.0, 1_001.0, 1_000.0, 2_000.0]);
        let (_, found) = only(&[before, later, anew].concat());
        assert_eq!((found.count(), found.max_ns), (7_000, Some(1_500_000)));
    }

    #[test]
    fn what_is_no_such_message_says_what_would_be_right() {
        let refused = |text: &str| read_at(text, Some(10_000_000)).unwrap_err().to_string();
        assert!(read_at(TEXT, None).unwrap_err().why.contains("--period"));
        assert!(refused("").contains("ros2 topic echo"));
        assert!(refused("statistics: []\n---\n").contains("no rate of updates"));
        assert_eq!(
            refused("statistics:\n- name: a\n  value: x\n"),
            "3: \"x\" is not a number"
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

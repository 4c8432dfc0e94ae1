//! Latency and response distributions: histograms as small multiples, and the complementary
//! cumulative distribution on log–log axes, where tails can be compared, the policies over each
//! other. One pair for each phase.

use super::multiples::histogram;
use super::plot::{NARROW, Plot, legend_height, place, slug};
use super::scale::Log;
use super::{Drawn, Figure, distinct};
use std::fmt::Write;
use wakepath_assess::{Measure, Picture, Shape};
use wakepath_statistics::wilson_interval;
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::{count, duration};

/// Which of a condition's measured times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MeasureName {
    Latency,
    Response,
    Execution,
}

impl MeasureName {
    pub(crate) const ALL: [Self; 3] = [Self::Latency, Self::Response, Self::Execution];

    /// Its name in data and file names.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Response => "response",
            Self::Execution => "execution",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Latency => "Wake-up latency",
            Self::Response => "Response time",
            Self::Execution => "Execution time",
        }
    }

    pub(crate) fn chosen(self, picture: &Picture) -> &Measure {
        match self {
            Self::Latency => &picture.latency,
            Self::Response => &picture.response,
            Self::Execution => &picture.execution,
        }
    }

    /// Its limit by the criterion, in nanoseconds.
    pub(crate) fn limit(self, picture: &Picture) -> Option<i64> {
        let limit = match self {
            Self::Latency => picture.latency_limit_ns?,
            Self::Response => picture.deadline_ns?,
            Self::Execution => return None,
        };
        i64::try_from(limit).ok()
    }

    /// Name of that limit at its line.
    pub(super) fn limit_word(self) -> &'static str {
        match self {
            Self::Response => "deadline",
            Self::Latency | Self::Execution => "criterion",
        }
    }

    /// Where the axis of times is, for scripts.
    pub(super) fn note(self, plot: &mut Plot, phase: &str, times: Log) {
        plot.note("data-measure", self.key());
        plot.note("data-phase", phase);
        plot.note("data-low", times.low);
        plot.note("data-high", times.high);
        plot.note("data-from", place(times.from));
        plot.note("data-to", place(times.to));
    }
}

const HEIGHT: f64 = 320.0;

/// Standard deviations on either side of a 95 % interval.
const NORMAL_95: f64 = 1.959_964;

/// A distribution among others.
#[derive(Clone)]
pub(crate) struct Line<'a> {
    pub(crate) name: String,
    pub(crate) colour: usize,
    /// Its number in the page's data.
    pub(crate) condition: usize,
    pub(crate) shape: &'a Shape,
}

/// Histogram and complementary cumulative distribution of the wake-up latencies of several sources
/// over each other, in order of their colours; `name` says what they have in common.
pub fn latencies_overlaid(name: &str, sources: &[(&str, &Shape)]) -> [Figure; 2] {
    let sources = sources.iter().enumerate();
    let lines: Vec<Line<'_>> = sources
        .map(|(colour, &(name, shape))| Line {
            name: name.to_owned(),
            colour,
            condition: colour,
            shape,
        })
        .collect();
    overlaid(name, &lines, None)
}

/// Histogram and complementary cumulative distribution of wake-up latencies, over each other.
pub(crate) fn overlaid(name: &str, lines: &[Line<'_>], limit: Option<i64>) -> [Figure; 2] {
    let times = Log::around(ends(lines).chain(limit));
    let measure = MeasureName::Latency;
    [
        histogram(measure, name, lines, times, limit, most(lines)),
        exceedance(measure, name, lines, times, limit, most(lines)),
    ]
}

fn ends<'a>(lines: &'a [Line<'_>]) -> impl Iterator<Item = i64> + 'a {
    lines
        .iter()
        .flat_map(|line| [line.shape.min, line.shape.max])
}

/// The most values that one of them has.
fn most(lines: &[Line<'_>]) -> u64 {
    lines.iter().map(|line| line.shape.count).max().unwrap_or(1)
}

pub(super) fn draw<'a>(drawn: &'a [Drawn<'a>]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for measure in [MeasureName::Latency, MeasureName::Response] {
        let of = |one: &'a Drawn<'a>| {
            let line = Line {
                name: one.policy(),
                colour: one.colour,
                condition: one.condition,
                shape: measure.chosen(one.picture).shape.as_ref()?,
            };
            Some((one.phase(), line))
        };
        let (phases, all): (Vec<&str>, Vec<Line<'_>>) = drawn.iter().filter_map(of).unzip();
        let limit = drawn.iter().find_map(|one| measure.limit(one.picture));
        // The same axes for all phases, so that they compare at a glance.
        let times = Log::around(ends(&all).chain(limit));
        for phase in distinct(phases.iter().copied()) {
            let own = phases.iter().zip(&all).filter(|(of, _)| **of == phase);
            let lines: Vec<Line<'_>> = own.map(|(_, line)| line.clone()).collect();
            figures.push(histogram(measure, phase, &lines, times, limit, most(&all)));
            figures.push(exceedance(measure, phase, &lines, times, limit, most(&all)));
        }
    }
    figures
}

fn exceedance(
    measure: MeasureName,
    phase: &str,
    lines: &[Line<'_>],
    times: Log,
    limit: Option<i64>,
    most: u64,
) -> Figure {
    let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
    let mut plot = Plot::new(NARROW, HEIGHT + legend_height(&names, NARROW), 50.0, 12.0);
    plot.bottom = HEIGHT - 40.0;
    let times = times.between(plot.left, plot.right);
    plot.times_below(times, measure.title());
    measure.note(&mut plot, phase, times);
    let shares = Log {
        low: -((most as f64).log10().ceil() as i32).max(1),
        high: 0,
        from: plot.bottom,
        to: plot.top,
    };
    for power in shares.low..=shares.high {
        let y = shares.at(10_f64.powi(power));
        plot.line("grid", [plot.left, y, plot.right, y]);
        plot.text("mark end", plot.left - 6.0, y + 4.0, &share_mark(power));
    }
    plot.text("mark", 2.0, plot.top - 9.0, "share");
    for one in lines {
        let shape = one.shape;
        // From the smallest value to the largest; each point holds to its left until the next.
        let mut path = String::new();
        let share = |at_least: u64| place(shares.at(at_least as f64 / shape.count as f64));
        for (number, point) in shape.tail.iter().rev().enumerate() {
            let (x, y) = (place(times.at_ns(point.value)), share(point.at_least));
            let _ = match number {
                0 => write!(path, "M{x},{y}"),
                _ => write!(path, "V{y}H{x}"),
            };
        }
        let largest = shape
            .tail
            .first()
            .map_or(plot.left, |tail| times.at_ns(tail.value));
        let _ = write!(path, "V{}", place(plot.bottom));
        band(&mut plot, one, times, shares);
        series(&mut plot, one, &path);
        plot.group(one.colour, &[("data-condition", one.condition.to_string())]);
        let hint = format!(
            "{}: largest of {} {}",
            one.name,
            count(shape.count),
            three_digits(shape.max)
        );
        let y = shares.at(1.0 / shape.count as f64);
        plot.dot("solid", largest, y, 3.0, &hint);
        plot.ungroup();
    }
    if let Some(limit) = limit {
        let text = format!("{} {}", measure.limit_word(), duration(limit));
        plot.limit_upright(times.at_ns(limit), &text);
    }
    let keys: Vec<_> = lines
        .iter()
        .map(|line| {
            let data = vec![
                ("data-key", line.condition.to_string()),
                ("data-label", line.name.clone()),
            ];
            (line.colour, line.name.as_str(), data)
        })
        .collect();
    plot.legend(&keys);
    let title = format!(
        "{}: share of due times at or above, {phase}",
        measure.title()
    );
    plot.done(
        format!("exceedance-{}-{}", measure.key(), slug(phase)),
        title.clone(),
        "How often a value is reached, on log–log axes: a curve that falls steeply has a short tail. The \
         pale band is the 95 % interval of each share, if values are independent; the dot is the largest \
         observed, which is not a bound.",
        alternative(&title, lines),
    )
}

/// The 95 % interval of each share around its curve: there along the upper ends, back along the lower ones.
fn band(plot: &mut Plot, one: &Line<'_>, times: Log, shares: Log) {
    let mut there = String::new();
    let mut back = String::new();
    let mut before = None;
    for point in one.shape.tail.iter().rev() {
        let x = place(times.at_ns(point.value));
        // Several points of one pixel are one point of the band.
        if before == Some(x.round()) {
            continue;
        }
        before = Some(x.round());
        let (low, high) = wilson_interval(point.at_least, one.shape.count, NORMAL_95);
        let [low, high] = [low, high].map(|share| place(shares.at(share)));
        let _ = if there.is_empty() {
            write!(there, "M{x},{high}")
        } else {
            write!(there, "L{x},{high}")
        };
        back.insert_str(0, &format!("L{x},{low}"));
    }
    if there.is_empty() {
        return;
    }
    let path = format!("{there}{back}Z");
    plot.group(one.colour, &[("data-condition", one.condition.to_string())]);
    plot.body
        .shape("path", &[("class", &"interval"), ("d", &path)]);
    plot.ungroup();
}

fn series(plot: &mut Plot, one: &Line<'_>, path: &str) {
    let data = [("data-condition", one.condition.to_string())];
    plot.group(one.colour, &data);
    plot.body
        .open("path", &[("class", &"series"), ("d", &path)]);
    plot.hint(&one.name);
    plot.body.close("path");
    plot.ungroup();
}

/// `100 %`, `1 %`, `0.001 %`, then `10⁻⁶`.
pub(super) fn share_mark(power: i32) -> String {
    match power {
        0 => "100 %".into(),
        -1 => "10 %".into(),
        -2 => "1 %".into(),
        -5..=-3 => format!("0.{}1 %", "0".repeat((-power - 3) as usize)),
        _ => {
            let digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
            let superscript: String = (-power)
                .to_string()
                .bytes()
                .filter_map(|digit| digits.chars().nth(usize::from(digit - b'0')))
                .collect();
            format!("10⁻{superscript}")
        }
    }
}

pub(super) fn alternative(title: &str, lines: &[Line<'_>]) -> String {
    let told: Vec<String> = lines
        .iter()
        .map(|line| {
            format!(
                "{}: median {}, largest of {} {}",
                line.name,
                super::boxes::known(line.shape.quantiles[1]),
                line.shape.count,
                three_digits(line.shape.max)
            )
        })
        .collect();
    format!("{title}. {}.", told.join("; "))
}

#[cfg(test)]
mod tests {
    use super::share_mark;

    #[test]
    fn shares_are_percentages_as_long_as_those_can_be_read() {
        let marks = [0, -1, -2, -3, -4, -6].map(share_mark);
        assert_eq!(marks, ["100 %", "10 %", "1 %", "0.1 %", "0.01 %", "10⁻⁶"]);
    }
}

//! Latency over the time measured, one figure for each policy, its phases below each other on the same
//! axis: the whole run at a glance, every spike in it.

use super::plot::{NARROW, Plot, place, slug};
use super::scale::{Linear, Log};
use super::{Drawn, Figure, distinct};
use std::fmt::Write;
use wakepath_assess::{Level, Picture, Pyramid};
use wakepath_timeline::duration::three_digits;

/// Height of a strip, and of the room between two.
const STRIP: f64 = 64.0;
const GAP: f64 = 20.0;
/// More buckets than this are more than a figure has pixels.
const MOST: usize = 360;

pub(super) fn draw(drawn: &[Drawn<'_>]) -> Vec<Figure> {
    let ends = drawn
        .iter()
        .filter_map(|one| one.picture.latency.shape.as_ref())
        .flat_map(|shape| [shape.min, shape.max]);
    let limits = drawn.iter().filter_map(|one| one.picture.latency_limit_ns);
    let axis = Log::around(ends.chain(limits.filter_map(|limit| i64::try_from(limit).ok())));
    distinct(drawn.iter().map(Drawn::policy))
        .into_iter()
        .map(|policy| {
            let own: Vec<_> = drawn.iter().filter(|one| one.policy() == policy).collect();
            strips(&policy, &own, axis)
        })
        .collect()
}

fn strips(policy: &str, phases: &[&Drawn<'_>], axis: Log) -> Figure {
    let height = 52.0 + phases.len() as f64 * (STRIP + GAP);
    let mut plot = Plot::new(NARROW, height, 52.0, 14.0);
    plot.bottom = height - 36.0;
    let seconds = |picture: &Picture| picture.due_times as f64 * period_s(picture);
    // Phases share one axis; a shorter one ends earlier on it.
    let most = phases
        .iter()
        .map(|one| seconds(one.picture))
        .fold(0.0, f64::max);
    let clock = Linear {
        most: most.max(1e-9),
        from: plot.left,
        to: plot.right,
    };
    plot.top = 18.0;
    plot.numbers_below(
        clock,
        "",
        "measured time in s; dashed: the limit, red: missed",
    );
    let mut told = Vec::new();
    for (number, one) in phases.iter().enumerate() {
        let top = 18.0 + number as f64 * (STRIP + GAP);
        let picture = one.picture;
        let axis = axis.between(top + STRIP, top);
        plot.times_left(axis);
        let missed = picture.violations.count();
        let head = match (picture.deadline_ns, missed) {
            // Without a criterion nothing is missed or met.
            (None, _) => one.phase().to_owned(),
            (Some(_), 0) => format!("{}: nothing missed", one.phase()),
            (Some(_), _) => format!("{}: {missed} missed", one.phase()),
        };
        plot.text("strong", plot.left, top - 5.0, &head);
        plot.plain(&[("data-condition", one.condition.to_string())]);
        let x = |index: u64| clock.at(index.min(picture.due_times) as f64 * period_s(picture));
        let path = envelope(level(&picture.latency.pyramid), x, axis);
        plot.body.shape("path", &[("class", &"band"), ("d", &path)]);
        plot.ungroup();
        if let Some(limit) = picture.latency_limit_ns {
            let y = axis.at(limit as f64);
            plot.line("limit", [plot.left, y, plot.right, y]);
        }
        violations(&mut plot, one, clock, axis);
        told.push(format!(
            "{head}, largest {}",
            picture
                .latency
                .shape
                .as_ref()
                .map_or("–".into(), |shape| three_digits(shape.max))
        ));
    }
    plot.done(
        format!("time-{}", slug(policy)),
        format!("Wake-up latency over the run: {policy}"),
        "From the smallest to the largest latency of neighbouring cycles; a skipped cycle counts with \
         the latency that it suffered. Repetitions follow each other.",
        format!(
            "Wake-up latency over the run, {policy}. {}.",
            told.join("; ")
        ),
    )
}

/// The finest level that is no finer than a figure can show.
fn level(pyramid: &Pyramid) -> &Level {
    let fitting = pyramid
        .levels
        .iter()
        .find(|level| level.buckets.len() <= MOST);
    fitting.unwrap_or_else(|| pyramid.coarsest())
}

/// Seconds from one due time to the next.
fn period_s(picture: &Picture) -> f64 {
    picture.period_ns as f64 / 1e9
}

/// There along the largest values, back along the smallest.
fn envelope(level: &Level, x: impl Fn(u64) -> f64, axis: Log) -> String {
    let x = |index: u64| place(x(index));
    let mut there = String::new();
    let mut back: Vec<(f64, f64, f64)> = Vec::new();
    let mut end = None;
    for (number, bucket) in (0_u64..).zip(&level.buckets) {
        let Some(bucket) = bucket else { continue };
        let (from, to) = (x(number * level.size), x((number + 1) * level.size));
        let (high, low) = (place(axis.at_ns(bucket.max)), place(axis.at_ns(bucket.min)));
        // Neighbours share an edge: going up or down on it takes no place to begin at.
        let _ = match end == Some(from) {
            true => write!(there, "V{high}H{to}"),
            false if there.is_empty() => write!(there, "M{from},{high}H{to}"),
            false => write!(there, "L{from},{high}H{to}"),
        };
        back.push((from, to, low));
        end = Some(to);
    }
    let mut begin = None;
    for (from, to, low) in back.into_iter().rev() {
        let _ = if begin == Some(to) {
            write!(there, "V{low}H{from}")
        } else {
            write!(there, "L{to},{low}H{from}")
        };
        begin = Some(from);
    }
    there + "Z"
}

/// A dot where due times were missed; those that would lie on one dot are one.
fn violations(plot: &mut Plot, one: &Drawn<'_>, clock: Linear, axis: Log) {
    let picture = one.picture;
    let late = picture
        .violations
        .late
        .iter()
        .map(|v| (v.index, v.latency_ns));
    let skipped = picture
        .violations
        .skipped
        .iter()
        .map(|v| (v.index, v.latency_ns));
    let mut places: Vec<(i64, i64)> = late
        .chain(skipped)
        .map(|(index, latency)| {
            let x = clock.at(index as f64 * period_s(picture));
            (
                (x * 1.5).round() as i64,
                (axis.at_ns(latency) * 1.5).round() as i64,
            )
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut path = String::new();
    for (x, y) in places {
        let (x, y) = (place(x as f64 / 1.5 - 1.2), place(y as f64 / 1.5 - 1.2));
        let _ = write!(path, "M{x},{y}h2.4v2.4h-2.4z");
    }
    if !path.is_empty() {
        plot.body
            .shape("path", &[("class", &"violation"), ("d", &path)]);
    }
}

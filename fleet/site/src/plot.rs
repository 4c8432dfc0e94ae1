//! Plots as SVG: a board's history, and the latency plot as OSADL's readers know it: latency across,
//! samples upwards on a logarithmic scale, a line for each thread.

use crate::markup::escaped;
use crate::seen::{Curve, SeenRun};
use std::fmt::Write;
use wakepath_timeline::duration::rounded;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 15.0;
const TOP: f64 = 15.0;
const BOTTOM: f64 = 40.0;

fn x_of(share: f64) -> f64 {
    LEFT + share * (WIDTH - LEFT - RIGHT)
}

fn y_of(share: f64) -> f64 {
    HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
}

fn begin(title: &str) -> String {
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>\n",
        escaped(title)
    )
}

/// The history of a board: p99.9 as dots, the largest as circles, invalid runs as crosses at the foot,
/// changes as lines. `changes` are run names. `None` without a run that has a figure.
pub(crate) fn history(runs: &[&SeenRun], changes: &[&str]) -> Option<String> {
    let usable = |run: &SeenRun| !run.is_invalid();
    let figures = runs.iter().filter(|run| usable(run));
    let values: Vec<i64> = figures
        .flat_map(|run| [run.p999_ns, run.max_ns])
        .flatten()
        .filter(|&ns| ns > 0)
        .collect();
    let (least, most) = (*values.iter().min()?, *values.iter().max()?);
    let (low, high) = ((least as f64).log10().floor(), (most as f64).log10().ceil());
    let high = if high > low { high } else { low + 1.0 };
    let y = |ns: i64| y_of(((ns as f64).log10() - low) / (high - low));
    let x = |index: usize| x_of((index as f64 + 0.5) / runs.len() as f64);
    let mut svg = begin("p99.9 and largest latency of each run, in order");
    for decade in low as i32..=high as i32 {
        let ns = 10_f64.powi(decade) as i64;
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {0:.1}H{1}\"/><text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{4}</text>",
            y(ns),
            WIDTH - RIGHT,
            LEFT - 6.0,
            y(ns) + 4.0,
            escaped(&rounded(ns))
        );
    }
    for (index, run) in runs.iter().enumerate() {
        if changes.contains(&&*run.run_id) {
            let at = x(index) - (x_of(1.0) - LEFT) / runs.len() as f64 / 2.0;
            let _ = writeln!(
                svg,
                "<path class=\"change\" d=\"M{at:.1} {TOP}V{}\"/>",
                HEIGHT - BOTTOM
            );
        }
        let tip = format!(
            "<title>{} of {}: {}</title>",
            escaped(&run.run_id),
            escaped(&run.started),
            escaped(run.verdict())
        );
        if run.is_invalid() {
            let (at, foot) = (x(index), HEIGHT - BOTTOM - 6.0);
            let _ = writeln!(
                svg,
                "<path class=\"bad\" d=\"M{:.1} {:.1}l8 8m0 -8l-8 8\">{tip}</path>",
                at - 4.0,
                foot - 4.0
            );
            continue;
        }
        if let Some(ns) = run.max_ns.filter(|&ns| ns > 0) {
            let _ = writeln!(
                svg,
                "<circle class=\"peak\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"/>",
                x(index),
                y(ns)
            );
        }
        if let Some(ns) = run.p999_ns.filter(|&ns| ns > 0) {
            let _ = writeln!(
                svg,
                "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\">{tip}</circle>",
                x(index),
                y(ns)
            );
        }
    }
    let _ = writeln!(
        svg,
        "<path class=\"axis\" d=\"M{LEFT} {TOP}V{0}H{1}\"/><text x=\"{LEFT}\" y=\"{2}\">{3}</text>\
         <text x=\"{1}\" y=\"{2}\" text-anchor=\"end\">{4}</text>",
        HEIGHT - BOTTOM,
        WIDTH - RIGHT,
        HEIGHT - BOTTOM + 18.0,
        escaped(runs.first().map_or("", |run| &run.started)),
        escaped(runs.last().map_or("", |run| &run.started)),
    );
    Some(svg + "</svg>\n")
}

/// Latencies of one run. `None` without samples.
pub(crate) fn latencies(curves: &[Curve]) -> Option<String> {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let last = points().map(|point| point.0).max()?.max(1);
    let first = points().map(|point| point.0).min()?.min(0);
    let most = points().map(|point| point.1).max()?;
    let decades = (most.max(2) as f64).log10().ceil();
    let x = |us: i64| x_of((us - first) as f64 / (last - first) as f64);
    let y = |samples: u64| y_of((samples as f64).log10() / decades);
    let mut svg = begin("samples by latency");
    for decade in 0..=decades as u32 {
        let samples = 10_u64.pow(decade);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {0:.1}H{1}\"/><text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\">{4}</text>",
            y(samples),
            WIDTH - RIGHT,
            LEFT - 6.0,
            y(samples) + 4.0,
            wakepath_timeline::count::count(samples)
        );
    }
    for (number, curve) in curves.iter().enumerate() {
        let mut path = String::new();
        for &(us, samples) in &curve.points {
            // A bar without its sides: as gnuplot's histeps.
            let _ = write!(
                path,
                "M{:.1} {:.1}V{:.1}",
                x(us),
                y_of(0.0),
                y(samples.max(1))
            );
        }
        let _ = writeln!(
            svg,
            "<path class=\"curve s{}\" d=\"{path}\"><title>{}</title></path>",
            number % 8,
            escaped(&curve.name)
        );
        let end = curve.points.last().map_or(0, |point| point.0);
        let _ = writeln!(
            svg,
            "<path class=\"curve s{0}\" d=\"M{1} {2}h18\"/><text x=\"{3}\" y=\"{4}\">{5}, largest {6} µs</text>",
            number % 8,
            WIDTH - 260.0,
            TOP + 8.0 + 16.0 * number as f64,
            WIDTH - 236.0,
            TOP + 12.0 + 16.0 * number as f64,
            escaped(&curve.name),
            end
        );
    }
    let _ = writeln!(
        svg,
        "<path class=\"axis\" d=\"M{LEFT} {TOP}V{0}H{1}\"/><text x=\"{LEFT}\" y=\"{2}\">{first} µs</text>\
         <text x=\"{1}\" y=\"{2}\" text-anchor=\"end\">{last} µs</text>\
         <text x=\"{3}\" y=\"{2}\" text-anchor=\"middle\">latency</text>\
         <text x=\"14\" y=\"{4}\" transform=\"rotate(-90 14 {4})\" text-anchor=\"middle\">samples</text>",
        HEIGHT - BOTTOM,
        WIDTH - RIGHT,
        HEIGHT - BOTTOM + 18.0,
        x_of(0.5),
        HEIGHT / 2.0
    );
    Some(svg + "</svg>\n")
}

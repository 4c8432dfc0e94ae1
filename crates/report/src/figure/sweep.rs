//! The share of task sets that hold over their utilization: a curve for each policy, with its
//! interval as a band.

use super::Figure;
use super::plot::{Plot, place, room, slug};
use super::scale::Linear;
use super::style::colour;
use wakepath_assess::{Sweep, SweptShare};

/// One figure for each distribution and each kernel's overheads.
pub(crate) fn draw(sweep: &Sweep) -> Vec<Figure> {
    let mut figures = Vec::new();
    for distribution in &sweep.plan.distributions {
        for overheads in &sweep.plan.overheads {
            figures.push(one(sweep, &distribution.name, &overheads.name));
        }
    }
    figures
}

fn one(sweep: &Sweep, distribution: &str, overheads: &str) -> Figure {
    let mut plot = Plot::new(620.0, 300.0, 56.0, 28.0);
    let across = Linear {
        most: 100.0,
        from: plot.left,
        to: plot.right,
    };
    let up = Linear {
        most: 100.0,
        from: plot.bottom,
        to: plot.top,
    };
    plot.numbers_below(across, " %", "Utilization of all CPUs");
    for mark in up.marks() {
        let y = up.at(mark);
        plot.line("grid", [plot.left, y, plot.right, y]);
        plot.text(
            "mark end",
            plot.left - 6.0,
            y + 4.0,
            &format!("{mark:.0} %"),
        );
    }
    let mut told = Vec::new();
    let mut key_at = plot.left;
    for (index, policy) in sweep.plan.policies.iter().enumerate() {
        let points: Vec<(f64, &SweptShare)> =
            sweep.curve(distribution, overheads, policy).collect();
        plot.group(index, &[]);
        let at = |utilization: f64, share: f64| {
            let (x, y) = (across.at(utilization * 100.0), up.at(share * 100.0));
            format!("{},{}", place(x), place(y))
        };
        let low = points
            .iter()
            .map(|(utilization, share)| at(*utilization, share.low));
        let high = points
            .iter()
            .rev()
            .map(|(utilization, share)| at(*utilization, share.high));
        let band: Vec<String> = low.chain(high).collect();
        plot.body.shape(
            "polygon",
            &[("class", &"interval"), ("points", &band.join(" "))],
        );
        let curve: Vec<String> = points
            .iter()
            .map(|(utilization, share)| at(*utilization, share.share))
            .collect();
        plot.body.shape(
            "polyline",
            &[("class", &dashed(index)), ("points", &curve.join(" "))],
        );
        for (utilization, share) in &points {
            let hint = format!(
                "{policy} at {:.1} %: {:.2} % hold ({:.2} to {:.2} %)",
                utilization * 100.0,
                share.share * 100.0,
                share.low * 100.0,
                share.high * 100.0
            );
            let (x, y) = (across.at(utilization * 100.0), up.at(share.share * 100.0));
            plot.dot("solid", x, y, 2.2, &hint);
        }
        plot.line("whisker", [key_at, 10.0, key_at + 16.0, 10.0]);
        plot.ungroup();
        plot.text("", key_at + 20.0, 14.0, policy);
        key_at += 36.0 + room(policy);
        let half = sweep.up_to(0.5, distribution, overheads, policy);
        told.push(match half {
            Some(utilization) => {
                format!(
                    "{policy}: half of the sets hold up to {:.1} %",
                    utilization * 100.0
                )
            }
            None => format!("{policy}: half of the sets hold at no utilization"),
        });
    }
    let title = format!("{distribution} tasks, {overheads} overheads");
    plot.done(
        format!("sweep-{}-{}", slug(distribution), slug(overheads)),
        title.clone(),
        "The share of random task sets that hold, over the utilization of all CPUs together; the band \
         is the interval at 95 %. Point at a dot to read it.",
        format!("Share of task sets that hold, {title}. {}.", told.join("; ")),
    )
}

/// Curves on top of each other can be distinguished.
fn dashed(index: usize) -> String {
    match index % 4 {
        0 => "series".into(),
        1 => "series d1".into(),
        2 => "series d2".into(),
        _ => format!("series {}", colour(index)),
    }
}

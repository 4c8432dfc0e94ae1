//! A sweep as text: its parameter, and for each curve how far it holds.

use super::ToText;
use crate::Style;
use crate::table::{Cell, Table, number};
use std::fmt::Write;
use wakepath_assess::Sweep;
use wakepath_timeline::count::counted;
use wakepath_timeline::duration;

impl ToText for Sweep {
    fn to_text(&self, style: Style) -> String {
        let mut text = format!("{}\n", sweep_headline(self));
        for distribution in &self.plan.distributions {
            let _ = write!(
                text,
                "\n{}, {} of a CPU each\n",
                distribution.name,
                spread(distribution.low, distribution.high)
            );
            text.push_str(&sweep_table(self, &distribution.name).to_terminal(style.columns));
        }
        text.push('\n');
        for line in sweep_remarks(self) {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

fn spread(low: f64, high: f64) -> String {
    format!("{} to {}", percent(low), percent(high))
}

/// The parameter of the sweep, in one line.
pub(crate) fn sweep_headline(sweep: &Sweep) -> String {
    let cpus = counted(sweep.plan.cpus.into(), "CPU", "CPUs");
    format!(
        "{} random task sets on {cpus}, periods from {} to {}, seed {}",
        sweep.sets(),
        duration::exact(sweep.plan.periods_ns.0),
        duration::exact(sweep.plan.periods_ns.1),
        sweep.plan.seed
    )
}

/// How far each policy holds with each kernel's overheads.
pub(crate) fn sweep_table(sweep: &Sweep, distribution: &str) -> Table {
    let mut table = Table::new("policy")
        .caption(format!("How far each policy holds, {distribution} tasks"))
        .group(
            "holds up to a utilization of",
            "%",
            &["99 % of sets", "half of them"].map(number),
        )
        .column(number("weighted share").unit("%"));
    for overheads in &sweep.plan.overheads {
        table.heading(overheads.name.clone());
        for policy in &sweep.plan.policies {
            let of =
                |share: Option<f64>| Cell::from(share.map(|share| format!("{:.1}", share * 100.0)));
            let up_to = |least| of(sweep.up_to(least, distribution, &overheads.name, policy));
            table.row(
                policy.as_str(),
                vec![
                    up_to(0.99),
                    up_to(0.5),
                    of(sweep.weighted(distribution, &overheads.name, policy)),
                ],
            );
        }
    }
    table
}

/// Notes on a sweep.
pub(crate) fn sweep_remarks(sweep: &Sweep) -> Vec<String> {
    let mut lines: Vec<String> = not_to_be_compared(sweep).into_iter().collect();
    lines.extend([
        "The weighted share is Σ U · S(U) / Σ U over the points: one figure for a curve, high \
         utilizations counted more."
            .to_owned(),
        format!(
            "A set holds under a partitioned or clustered policy (clusters of {}) where worst-fit \
             decreasing finds a placement that is proved. G-EDF and C-EDF have sufficient tests \
             alone: a set that they refuse may hold.",
            sweep.plan.cluster
        ),
    ]);
    let widest = sweep
        .points
        .iter()
        .flat_map(|point| &point.shares)
        .map(|share| (share.high - share.low) / 2.0)
        .fold(0.0, f64::max);
    lines.push(format!(
        "Shares have Wilson intervals at 95 %, the widest ± {:.2} percentage points; a point ends \
         when all of its are within ± {:.2}, or after {} sets.",
        widest * 100.0,
        sweep.plan.half_width * 100.0,
        sweep.plan.most_sets
    ));
    for overheads in &sweep.plan.overheads {
        if overheads.source.is_empty() {
            continue;
        }
        let unknown = match &overheads.unknown[..] {
            [] => String::new(),
            unknown => format!(
                " Not known, and counted as nothing: {}.",
                unknown.join(", ")
            ),
        };
        lines.push(format!(
            "{}: {}.{unknown}",
            overheads.name, overheads.source
        ));
    }
    lines
}

/// A warning where the costs that one kernel lacks are counted for another: the poorer data would look
/// like the better kernel.
fn not_to_be_compared(sweep: &Sweep) -> Option<String> {
    let measured = || sweep.plan.overheads.iter().filter(|o| !o.source.is_empty());
    let first = measured().next()?;
    measured().any(|other| other.unknown != first.unknown).then(|| {
        let names: Vec<&str> = measured().map(|overheads| overheads.name.as_str()).collect();
        format!(
            "Don't compare {} with each other: not the same costs are known of each, and what is \
             unknown counts as nothing (below). Compare policies under one of them.",
            names.join(" and ")
        )
    })
}

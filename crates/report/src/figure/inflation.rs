//! How much longer the work takes under load than idle: from the idle time to the loaded one.

use super::Figure;
use super::plot::Plot;
use super::scale::Log;
use wakepath_assess::{Inflation, Ratio};
use wakepath_timeline::duration::three_digits;

const ROW: f64 = 24.0;

pub(super) fn draw(inflation: &[Inflation]) -> Vec<Figure> {
    execution(inflation).into_iter().collect()
}

fn execution(inflation: &[Inflation]) -> Option<Figure> {
    inflation.first()?;
    let label = |one: &Inflation| format!("{}, {}", name(one), one.phase);
    let named: Vec<_> = inflation
        .iter()
        .map(|one| (name(one), one.phase.clone()))
        .collect();
    let (mut plot, edges) = Plot::grouped(&named, ROW, 88.0);
    let ratios = |one: &Inflation| {
        let p99 = one.execution.p99;
        [Some(one.execution.median), p99]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    };
    let ends = inflation.iter().flat_map(ratios);
    let axis = Log::around(ends.flat_map(|ratio| [ratio.idle_ns, ratio.loaded_ns]))
        .between(plot.left, plot.right);
    plot.times_below(axis, "Execution time: median (upper), 99 % (lower)");
    let mut told = Vec::new();
    for (one, top) in inflation.iter().zip(edges) {
        let middle = top + ROW / 2.0;
        plot.plain(&[]);
        span(
            &mut plot,
            axis,
            middle - 4.0,
            one.execution.median,
            "median",
        );
        if let Some(p99) = one.execution.p99 {
            span(&mut plot, axis, middle + 5.0, p99, "99 %");
        }
        plot.ungroup();
        let times = |ratio: Ratio| {
            let ratio = ratio.inflation;
            ratio.map_or("–".into(), |ratio| format!("median × {ratio:.2}"))
        };
        let median = one.execution.median;
        let ends = ratios(one).into_iter();
        let ends = ends.map(|ratio| axis.at_ns(ratio.idle_ns.max(ratio.loaded_ns)));
        let end = ends.fold(plot.left, f64::max);
        plot.text("mark", end + 8.0, middle + 4.0, &times(median));
        told.push(format!(
            "{}: {} idle, {} loaded, {}",
            label(one),
            three_digits(median.idle_ns),
            three_digits(median.loaded_ns),
            times(median)
        ));
    }
    Some(plot.done(
        "inflation-execution",
        "Execution time idle and under load",
        "From the idle time (hollow) to the time under load (filled), with the ratio of the medians. \
         Interruptions of the work are included.",
        format!("Execution time idle and under load. {}.", told.join("; ")),
    ))
}

fn span(plot: &mut Plot, axis: Log, y: f64, ratio: Ratio, what: &str) {
    let (idle, loaded) = (axis.at_ns(ratio.idle_ns), axis.at_ns(ratio.loaded_ns));
    let hint = format!(
        "{what}: idle {}, loaded {}",
        three_digits(ratio.idle_ns),
        three_digits(ratio.loaded_ns)
    );
    plot.line("whisker", [idle, y, loaded, y]);
    plot.dot("hollow", idle, y, 3.0, &hint);
    plot.dot("solid", loaded, y, 3.0, &hint);
}

fn name(one: &Inflation) -> String {
    let policy = one.policy.map(|policy| policy.to_string());
    let parts: Vec<String> = policy.into_iter().chain(one.task.clone()).collect();
    if parts.is_empty() {
        "task set".into()
    } else {
        parts.join(", ")
    }
}

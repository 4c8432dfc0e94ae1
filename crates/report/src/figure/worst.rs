//! The worst cycles: a panel for each real-time policy, in it a lane for each CPU, from the due time to the
//! loop's first instruction, in the colours of what took the time.

use super::cause_colour::of_kind;
use super::plot::{NARROW, Plot, shortened, slug};
use super::scale::{Linear, fitting_unit};
use super::{Figure, distinct};
use wakepath_assess::Assessment;
use wakepath_explain::{ConditionExplanation, Explanation, LateCycle, LatePiece};
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::fraction;

/// A lane's name, and the bar below it.
const NAME: f64 = 16.0;
const BAR: f64 = 20.0;
const LANE: f64 = NAME + BAR + 8.0;
/// A line of the legend, and the causes in it; smaller ones share the last.
const LEGEND: f64 = 17.0;
const NAMED: usize = 7;

/// The worst cycle of a policy on a CPU.
struct Lane<'a> {
    cpu: String,
    condition: &'a ConditionExplanation,
    cycle: &'a LateCycle,
}

pub(super) fn draw(assessment: &Assessment, explanation: Option<&Explanation>) -> Vec<Figure> {
    let real_time: Vec<String> = (assessment.conditions.iter())
        .filter_map(|of| of.name.policy.filter(|policy| policy.is_real_time()))
        .map(|policy| policy.to_string())
        .collect();
    let all = explanation.into_iter().flat_map(|of| &of.conditions);
    let all: Vec<&ConditionExplanation> = all.collect();
    let is_real_time = |of: &&&ConditionExplanation| real_time.contains(&of.condition);
    let chosen: Vec<&ConditionExplanation> = if all.iter().any(|of| is_real_time(&of)) {
        all.iter().filter(is_real_time).copied().collect()
    } else {
        all
    };
    let policies = distinct(chosen.iter().map(|of| of.condition.as_str()));
    let panels = policies.into_iter().filter_map(|policy| {
        let own = chosen.iter().filter(|of| of.condition == policy);
        let lanes = lanes(&own.copied().collect::<Vec<_>>());
        (!lanes.is_empty()).then(|| panel(policy, &lanes))
    });
    panels.collect()
}

/// The worst cycle on each CPU over all phases, the CPUs in order.
fn lanes<'a>(conditions: &[&'a ConditionExplanation]) -> Vec<Lane<'a>> {
    let mut lanes: Vec<Lane<'a>> = Vec::new();
    for condition in conditions {
        let has_pieces = |cycle: &&LateCycle| cycle.latency_ns > 0 && !cycle.pieces.is_empty();
        let worst = condition.worst.iter().filter(has_pieces);
        let Some(cycle) = worst.max_by_key(|cycle| cycle.latency_ns) else {
            continue;
        };
        let lane = Lane {
            cpu: cpu_of(condition),
            condition,
            cycle,
        };
        match lanes.iter_mut().find(|known| known.cpu == lane.cpu) {
            Some(known) if known.cycle.latency_ns < cycle.latency_ns => *known = lane,
            Some(_) => {}
            None => lanes.push(lane),
        }
    }
    lanes.sort_by(|one, other| (one.cpu.len(), &one.cpu).cmp(&(other.cpu.len(), &other.cpu)));
    lanes
}

/// Its CPU; its thread if it may run on several.
fn cpu_of(condition: &ConditionExplanation) -> String {
    let cpus = condition.interference.as_ref().map(|of| &of.cpus[..]);
    match cpus {
        Some([cpu]) => format!("CPU {cpu}"),
        _ => condition.thread.clone(),
    }
}

fn panel(policy: &str, lanes: &[Lane<'_>]) -> Figure {
    let most_ns = lanes.iter().map(|lane| lane.cycle.latency_ns).max();
    let most_ns = most_ns.unwrap_or(1) as f64;
    let shares = shares(lanes);
    let whole_ns = lanes.iter().map(|lane| lane.cycle.latency_ns).sum::<i64>();
    let below = shares.len() as f64 * LEGEND;
    let lower = 24.0 + lanes.len() as f64 * LANE;
    let mut plot = Plot::new(NARROW, lower + 40.0 + below + 8.0, 8.0, 14.0);
    plot.bottom = lower;
    let (unit_ns, unit) = fitting_unit(most_ns);
    let axis = Linear {
        most: most_ns / unit_ns,
        from: plot.left,
        to: plot.right,
    };
    plot.numbers_below(axis, "", &format!("{unit} after the due time"));
    let mut words = Vec::new();
    for (row, lane) in lanes.iter().enumerate() {
        let top = plot.top + row as f64 * LANE + NAME;
        let cycle = lane.cycle;
        let name = format!(
            "{}: {}, segment {} cycle {}, {} late",
            lane.cpu,
            lane.condition.phase,
            cycle.segment,
            cycle.cycle,
            three_digits(cycle.latency_ns)
        );
        let short = shortened(&name, plot.right - plot.left);
        plot.text("strong", plot.left, top - 4.0, &short);
        for run in runs(&cycle.pieces, most_ns / (plot.right - plot.left)) {
            let [from, to] = [run.from_ns, run.to_ns].map(|ns| axis.at(ns / unit_ns));
            let hint = format!("{}: {}", run.piece.stretch, run.piece.cause);
            plot.classed(of_kind(&run.piece.kind), &[]);
            plot.rect("lane", [from, top, (to - from).max(0.6), BAR], &hint);
            plot.ungroup();
        }
        words.push(name);
    }
    // Lanes have limits of their own if loads or threads have.
    for (row, lane) in lanes.iter().enumerate() {
        let limit = lane.condition.threshold_ns as f64;
        if limit < most_ns {
            let x = axis.at(limit / unit_ns);
            let top = plot.top + row as f64 * LANE + NAME;
            plot.line("limit", [x, top - 3.0, x, top + BAR + 3.0]);
            if row == 0 {
                let text = format!("limit {}", three_digits(limit as i64));
                plot.limit_name(x, &text);
            }
        }
    }
    for (row, share) in shares.iter().enumerate() {
        let y = plot.bottom + 40.0 + (row as f64 + 0.8) * LEGEND;
        plot.classed(share.class, &[]);
        plot.rect("lane", [plot.left, y - 9.0, 10.0, 10.0], "");
        plot.ungroup();
        let time = three_digits(share.ns);
        let part = fraction(share.ns as f64 / whole_ns.max(1) as f64);
        let name = shortened(&share.cause, NARROW - 160.0);
        plot.text("", plot.left + 16.0, y, &name);
        plot.text("mark end", plot.right - 55.0, y, &time);
        plot.text("mark end", plot.right, y, &part);
        words.push(format!("{} {time}, {part}", share.cause));
    }
    let title = format!("Worst cycle of {policy}");
    plot.done(
        format!("worst-{}", slug(policy)),
        title.clone(),
        "The CPU's activity from the due time until the loop's first instruction. Grey is the kernel's usual \
         path; every other colour means one kind of cause in all figures and tables of this page.",
        format!("{title}. {}.", words.join("; ")),
    )
}

/// A cause with its time over all lanes.
struct Share {
    cause: String,
    class: &'static str,
    ns: i64,
}

/// Largest first; the smallest ones together.
fn shares(lanes: &[Lane<'_>]) -> Vec<Share> {
    let mut all: Vec<Share> = Vec::new();
    for piece in lanes.iter().flat_map(|lane| &lane.cycle.pieces) {
        let ns = i64::try_from(piece.ns).unwrap_or(i64::MAX);
        match all.iter_mut().find(|known| known.cause == piece.cause) {
            Some(known) => known.ns = known.ns.saturating_add(ns),
            None => all.push(Share {
                cause: piece.cause.clone(),
                class: of_kind(&piece.kind),
                ns,
            }),
        }
    }
    all.sort_by_cached_key(|share| std::cmp::Reverse(share.ns));
    if all.len() > NAMED {
        let rest = all.split_off(NAMED - 1);
        all.push(Share {
            cause: format!("{} smaller causes", rest.len()),
            class: "plain",
            ns: rest
                .iter()
                .fold(0, |sum, share| sum.saturating_add(share.ns)),
        });
    }
    all
}

/// Neighbouring columns of one cause.
struct Run<'a> {
    piece: &'a LatePiece,
    from_ns: f64,
    to_ns: f64,
}

/// The pieces in columns of a point each: a column shows the piece that has most of it, so a storm of
/// thousands of pieces is as many bars as can be seen.
fn runs(pieces: &[LatePiece], point_ns: f64) -> Vec<Run<'_>> {
    let end = pieces.iter().map(|piece| piece.from_ns + piece.ns).max();
    let end = end.unwrap_or(0) as f64;
    let columns = (end / point_ns).ceil() as usize;
    let mut most: Vec<Option<(f64, &LatePiece)>> = vec![None; columns];
    for piece in pieces {
        let (from, to) = (piece.from_ns as f64, (piece.from_ns + piece.ns) as f64);
        let first = (from / point_ns) as usize;
        for (place, column) in most.iter_mut().enumerate().skip(first) {
            let (low, high) = (place as f64 * point_ns, (place + 1) as f64 * point_ns);
            let inside = to.min(high) - from.max(low);
            if inside <= 0.0 {
                break;
            }
            if column.is_none_or(|(known, _)| known < inside) {
                *column = Some((inside, piece));
            }
        }
    }
    let mut runs: Vec<Run<'_>> = Vec::new();
    for (place, column) in most.into_iter().enumerate() {
        let Some((_, piece)) = column else { continue };
        let (from_ns, to_ns) = (place as f64 * point_ns, (place + 1) as f64 * point_ns);
        match runs.last_mut() {
            Some(last) if last.piece.cause == piece.cause && last.to_ns == from_ns => {
                last.to_ns = to_ns;
            }
            _ => runs.push(Run {
                piece,
                from_ns,
                to_ns: to_ns.min(end),
            }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(cause: &str, from_ns: u64, ns: u64) -> LatePiece {
        LatePiece {
            stretch: "waking → switch-in".into(),
            kind: "thread".into(),
            cause: cause.into(),
            from_ns,
            ns,
            stack: None,
            behind: None,
        }
    }

    #[test]
    fn a_storm_is_no_more_bars_than_columns_and_the_largest_piece_of_each_is_seen() {
        let storm =
            (0..30_000).map(|at| piece(["timer", "softirq"][at as usize % 2], at * 700, 700));
        let mut pieces: Vec<LatePiece> = storm.collect();
        pieces.push(piece("thread", 21_000_000, 9_000_000));
        let runs = runs(&pieces, 100_000.0);
        assert!(runs.len() <= 300, "{}", runs.len());
        let last = runs.last().unwrap();
        assert_eq!(last.piece.cause, "thread");
        assert_eq!((last.from_ns, last.to_ns), (21_000_000.0, 30_000_000.0));
        // Nothing is drawn twice, and no gap is left.
        for two in runs.windows(2) {
            assert_eq!(two[0].to_ns, two[1].from_ns);
        }
    }
}

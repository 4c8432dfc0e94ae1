//! The latency plot over all CPUs that everybody knows: latencies from left to right, how often each
//! occurred on a log axis, a line for each CPU. One figure for each policy and phase in which
//! several CPUs were measured side by side.

use super::plot::{NARROW, Plot, legend_height, place, slug};
use super::scale::{Linear, Log};
use super::{Drawn, Figure};
use std::fmt::Write;
use wakepath_assess::CpuCounts;
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::count;

const HEIGHT: f64 = 280.0;

pub(super) fn draw(drawn: &[Drawn<'_>]) -> Vec<Figure> {
    let several = drawn.iter().filter(|one| one.picture.cpus.len() > 1);
    let all = || several.clone().flat_map(|one| &one.picture.cpus);
    let counts = all().flat_map(|cpu| &cpu.micros);
    let Some(last) = counts.clone().map(|(micro, _)| micro).max() else {
        return Vec::new();
    };
    let most = counts.map(|(_, count)| *count).max().unwrap_or(1);
    // The same axes for all of them, so that they compare at a glance.
    let reach = round_up(*last + 1);
    several.map(|one| plot_of(one, reach, most)).collect()
}

/// The next of 1, 2, 5, 10, 20 and so on.
fn round_up(micros: u32) -> u32 {
    let mut power = 1;
    loop {
        for step in [1, 2, 5] {
            if step * power >= micros {
                return step * power;
            }
        }
        power *= 10;
    }
}

fn plot_of(one: &Drawn<'_>, reach: u32, most: u64) -> Figure {
    let cpus = &one.picture.cpus;
    let names: Vec<String> = cpus
        .iter()
        .map(|cpu| {
            let largest = three_digits(cpu.max_ns);
            format!("CPU {}: max {largest}", cpu.cpu)
        })
        .collect();
    let legend = legend_height(&names, NARROW);
    let mut plot = Plot::new(NARROW, HEIGHT + legend, 46.0, 12.0);
    plot.bottom = HEIGHT - 40.0;
    let x = Linear {
        most: f64::from(reach),
        from: plot.left,
        to: plot.right,
    };
    plot.numbers_below(x, "", "Wake-up latency, µs");
    let y = Log {
        low: 0,
        high: ((most as f64).log10().ceil() as i32).max(1),
        // Above the ground, so that a single one is seen.
        from: plot.bottom - 6.0,
        to: plot.top,
    };
    for (mark, _) in y.marks().into_iter().filter(|(_, whole)| *whole) {
        let at = y.at(mark);
        plot.line("grid", [plot.left, at, plot.right, at]);
        plot.text("mark end", plot.left - 5.0, at + 4.0, &count(mark as u64));
    }
    plot.text("mark", 2.0, plot.top - 9.0, "due times");
    for (index, cpu) in cpus.iter().enumerate() {
        plot.group(index, &[]);
        let path = steps(cpu, x, y, plot.bottom);
        plot.body
            .open("path", &[("class", &"series"), ("d", &path)]);
        plot.hint(&names[index]);
        plot.body.close("path");
        plot.ungroup();
    }
    plot.legend(
        &names
            .iter()
            .enumerate()
            .map(|(at, name)| (at, name.as_str(), vec![]))
            .collect::<Vec<_>>(),
    );
    let limit = one.picture.latency_limit_ns.map(|limit| limit as f64 / 1e3);
    if let Some(limit) = limit.filter(|limit| *limit <= f64::from(reach)) {
        plot.limit_upright(x.at(limit), &format!("criterion {limit} µs"));
    }
    let beyond: u64 = cpus.iter().map(|cpu| cpu.beyond).sum();
    let all: u64 = cpus
        .iter()
        .flat_map(|cpu| &cpu.micros)
        .map(|(_, count)| count)
        .sum();
    let more = match beyond {
        0 => String::new(),
        beyond => format!(
            " Not on the axis: {} of {} beyond 1 ms.",
            count(beyond),
            count(all + beyond)
        ),
    };
    let (policy, phase) = one.row();
    let title = format!("Latency of each CPU: {policy}, {phase}");
    plot.done(
        format!("cpus-{}-{}", slug(&policy), slug(phase.as_str())),
        title.clone(),
        format!(
            "How many due times had each latency, to the microsecond, on a log axis of counts: one \
             line for each CPU. Skipped due times count with the latency they suffered.{more}"
        ),
        format!("{title}. {}.{more}", names.join("; ")),
    )
}

/// Up and down at the edges of each microsecond.
fn steps(cpu: &CpuCounts, x: Linear, y: Log, ground: f64) -> String {
    let mut path = String::new();
    let mut end = None;
    for &(micro, count) in &cpu.micros {
        let (from, to) = (
            place(x.at(f64::from(micro))),
            place(x.at(f64::from(micro + 1))),
        );
        if end != Some(micro) {
            let close = if end.is_some() {
                format!("V{ground}")
            } else {
                String::new()
            };
            // Writing to a String can't fail.
            let _ = write!(path, "{close}M{from},{ground}");
        }
        let _ = write!(path, "V{}H{to}", place(y.at(count as f64)));
        end = Some(micro + 1);
    }
    if end.is_some() {
        let _ = write!(path, "V{ground}");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_number() {
        assert_eq!(
            [1, 3, 47, 200, 201, 999].map(round_up),
            [1, 5, 50, 200, 500, 1_000]
        );
    }
}

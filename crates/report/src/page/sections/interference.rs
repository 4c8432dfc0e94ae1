//! What else ran on the loop's CPUs while it was traced, and what the kernel's own tracers measured
//! there. No part of a verdict.

use super::scrolling;
use crate::page::Reported;
use crate::page::markup::Markup;
use wakepath_archive::{KernelLatency, KernelNoise};
use wakepath_explain::Explanation;
use wakepath_verdict::duration;

/// So many names of each kind are listed.
const NAMED: usize = 4;

/// Writes both, where there is anything.
pub(super) fn write(markup: &mut Markup, run: &Reported<'_>) {
    if let Some(explanation) = run.explanation {
        what_else_ran(markup, explanation);
    }
    let Some(effect) = &run.assessment.probe_effect else {
        return;
    };
    latencies(markup, &effect.kernel_latency);
    noises(markup, &effect.kernel_noise);
}

fn what_else_ran(markup: &mut Markup, explanation: &Explanation) {
    let mut table = head(
        "What else ran on the loop's CPUs, in cycles and between them",
        "Condition and kind",
        &["Began", "Time in it"],
        Some("Most often"),
    );
    let mut any = false;
    for condition in &explanation.conditions {
        let Some(found) = &condition.interference else {
            continue;
        };
        any = true;
        for why in &condition.unproven_loads {
            let why = format!("{}, {}: {why}", condition.condition, condition.phase);
            markup.element("p", &[("class", &"remark")], why);
        }
        let cpus: Vec<String> = found.cpus.iter().map(u16::to_string).collect();
        let title = format!(
            "{}, {}, {}: CPU {}, {} observed",
            condition.condition,
            condition.phase,
            condition.thread,
            cpus.join(", "),
            time(found.observed_ns)
        );
        table.raw("<tr class=\"phase\">");
        table.element("th", &[("scope", &"rowgroup"), ("colspan", &4)], title);
        table.raw("</tr>");
        for all in &found.kinds {
            let numbers = [all.count.to_string(), time(all.total_ns)];
            row(
                &mut table,
                all.kind.words(),
                &numbers,
                Some(&found.names(all, NAMED)),
            );
        }
        if found.kinds.is_empty() {
            row(&mut table, "nothing", &["0".into(), time(0)], Some(""));
        }
    }
    if any {
        end(markup, table, "What else ran");
    }
}

fn latencies(markup: &mut Markup, all: &[KernelLatency]) {
    if all.is_empty() {
        return;
    }
    let mut table = head(
        "Measured by the kernel itself: timerlat, a thread of FIFO 95",
        "Phase and CPU",
        &[
            "Due → interrupt, median",
            "largest",
            "Due → thread, median",
            "largest",
            "Wake-ups",
        ],
        None,
    );
    for one in all {
        let name = format!("{}, CPU {}", one.phase, one.cpu);
        match &one.not_available {
            Some(why) => missing(&mut table, &name, 5, why),
            None => {
                let stages = [
                    one.interrupt.median_ns,
                    one.interrupt.largest_ns,
                    one.thread.median_ns,
                    one.thread.largest_ns,
                ];
                let mut cells = stages.map(duration).to_vec();
                cells.push(one.thread.samples.to_string());
                row(&mut table, &name, &cells, None);
            }
        }
    }
    end(markup, table, "Measured by timerlat");
}

fn noises(markup: &mut Markup, all: &[KernelNoise]) {
    if all.is_empty() {
        return;
    }
    let mut table = head(
        "Taken by the kernel from a busy thread of FIFO 95: osnoise",
        "Phase and CPU",
        &["CPU time taken", "Longest at once", "Looked for"],
        None,
    );
    for one in all {
        let name = format!("{}, CPU {}", one.phase, one.cpu);
        match &one.not_available {
            Some(why) => missing(&mut table, &name, 3, why),
            None => {
                let share = 100.0 * one.noise_ns as f64 / one.looked_ns.max(1) as f64;
                let cells = [
                    format!("{share:.3} %"),
                    time(one.largest_ns),
                    time(one.looked_ns),
                ];
                row(&mut table, &name, &cells, None);
            }
        }
    }
    end(markup, table, "Measured by osnoise");
}

fn time(ns: u64) -> String {
    duration(i64::try_from(ns).unwrap_or(i64::MAX))
}

fn head(caption: &str, first: &str, numbers: &[&str], last: Option<&str>) -> Markup {
    let mut table = Markup::default();
    table.raw("<table class=\"measured\">");
    table.element("caption", &[], caption);
    table.raw("<thead><tr>");
    table.element("th", &[("scope", &"col")], first);
    for name in numbers {
        table.element("th", &[("scope", &"col"), ("class", &"number")], name);
    }
    if let Some(name) = last {
        table.element("th", &[("scope", &"col")], name);
    }
    table.raw("</tr></thead><tbody>");
    table
}

fn row(table: &mut Markup, name: &str, numbers: &[String], last: Option<&str>) {
    table.raw("<tr>");
    table.element("th", &[("scope", &"row")], name);
    for number in numbers {
        table.element("td", &[("class", &"number")], number);
    }
    if let Some(text) = last {
        table.element("td", &[], text);
    }
    table.raw("</tr>");
}

fn missing(table: &mut Markup, name: &str, columns: usize, why: &str) {
    table.raw("<tr>");
    table.element("th", &[("scope", &"row")], name);
    let why = format!("not available: {why}");
    table.element("td", &[("colspan", &columns)], why);
    table.raw("</tr>");
}

fn end(markup: &mut Markup, mut table: Markup, name: &'static str) {
    table.raw("</tbody></table>");
    scrolling(markup, name, &table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_archive::StageLatency;

    #[test]
    fn what_the_kernel_measured_stands_beside_why_it_did_not() {
        let stage = |median_ns, largest_ns| StageLatency {
            samples: 1_000,
            least_ns: 1,
            median_ns,
            p99_ns: largest_ns,
            largest_ns,
        };
        let measured = KernelLatency {
            phase: "idle".into(),
            cpu: 3,
            period_ns: 1_000_000,
            interrupt: stage(593, 2_813),
            thread: stage(4_360, 6_448),
            not_available: None,
        };
        let not = KernelLatency {
            phase: "stress".into(),
            not_available: Some("no timerlat <tracer>".into()),
            ..measured.clone()
        };
        let mut markup = Markup::default();
        latencies(&mut markup, &[measured, not]);
        let page = markup.into_string();
        for part in [
            "idle, CPU 3",
            "593 ns",
            "6.448 µs",
            "1000",
            "not available: no timerlat &lt;tracer&gt;",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let noise = KernelNoise {
            phase: "idle".into(),
            cpu: 3,
            noise_ns: 1_000,
            looked_ns: 1_000_000_000,
            largest_ns: 700,
            ..KernelNoise::default()
        };
        let mut markup = Markup::default();
        noises(&mut markup, &[noise]);
        let page = markup.into_string();
        assert!(
            page.contains("0.000 %") && page.contains("700 ns"),
            "{page}"
        );
        let mut nothing = Markup::default();
        noises(&mut nothing, &[]);
        latencies(&mut nothing, &[]);
        assert_eq!(nothing.into_string(), "");
    }
}

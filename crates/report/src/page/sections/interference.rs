//! Other activity on the loop's CPUs while it was traced, and measurements of the kernel's own tracers and of a
//! real-time core. No part of a verdict.

use crate::explained::title;
use crate::markup::Markup;
use crate::page::Reported;
use crate::table::{Cell, Table, number, words};
use crate::text::{
    core_latencies_table, latencies_table, noises_table, places_table, sections_table,
};
use wakepath_archive::{KernelLatency, KernelNoise, KernelSections};
use wakepath_explain::Explanation;
use wakepath_timeline::duration::three_digits;

/// So many names of each kind are listed.
const NAMED: usize = 4;

/// Writes those that the run has.
pub(super) fn write(markup: &mut Markup, run: &Reported<'_>) {
    if let Some(explanation) = run.explanation {
        what_else_ran(markup, explanation);
    }
    let by_cores = core_latencies_table(&run.assessment.core_latency);
    if !by_cores.is_empty() {
        by_cores.write_html(markup, "Measured by the core");
    }
    let Some(effect) = &run.assessment.probe_effect else {
        return;
    };
    kernel(markup, &effect.kernel_latency, &effect.kernel_noise);
    kernel_sections(markup, &effect.kernel_sections);
}

/// Sections measured by the kernel's own events.
fn kernel_sections(markup: &mut Markup, sections: &[KernelSections]) {
    for (table, name) in [
        (sections_table(sections), "Measured by the kernel's events"),
        (places_table(sections), "Section or interrupt"),
    ] {
        if !table.is_empty() {
            table.write_html(markup, name);
        }
    }
}

/// Measurements of the kernel's own tracers.
fn kernel(markup: &mut Markup, latencies: &[KernelLatency], noises: &[KernelNoise]) {
    for (table, name) in [
        (latencies_table(latencies), "Measured by timerlat"),
        (noises_table(noises), "Measured by osnoise"),
    ] {
        if !table.is_empty() {
            table.write_html(markup, name);
        }
    }
}

fn what_else_ran(markup: &mut Markup, explanation: &Explanation) {
    let mut table = Table::new("Condition and kind")
        .class("measured")
        .caption("Other activity on the loop's CPUs, in cycles and between them")
        .column(number("Began"))
        .column(number("Time in it"))
        .column(words("Most often"));
    for condition in &explanation.conditions {
        let Some(found) = &condition.interference else {
            continue;
        };
        for why in &condition.doubts {
            let why = format!("{}: {why}", title(explanation, condition));
            markup.element("p", &[("class", &"remark")], why);
        }
        let cpus: Vec<String> = found.cpus.iter().map(u16::to_string).collect();
        table.heading(format!(
            "{}: CPU {}, {} observed",
            title(explanation, condition),
            cpus.join(", "),
            time(found.observed_ns)
        ));
        for all in &found.kinds {
            let cells = vec![
                Cell::new(all.count),
                time(all.total_ns).into(),
                found.names(all, NAMED).into(),
            ];
            table.row(all.kind.words(), cells);
        }
        if found.kinds.is_empty() {
            table.row("nothing", vec![Cell::new(0), time(0).into()]);
        }
    }
    if !table.is_empty() {
        markup.open("details", &[("class", &"screen")]);
        markup.element("summary", &[], "Other activity on the loop's CPUs");
        table.write_html(markup, "Other activity");
        markup.close("details");
    }
}

fn time(ns: u64) -> String {
    three_digits(i64::try_from(ns).unwrap_or(i64::MAX))
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
        kernel(&mut markup, &[measured, not], &[]);
        let page = markup.into_string();
        for part in [
            "idle, CPU 3",
            "593\u{a0}ns</td>",
            "6.45\u{a0}µs</td>",
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
        kernel(&mut markup, &[], &[noise]);
        let page = markup.into_string();
        assert!(
            page.contains(">1e-4</td>") && page.contains(">700\u{a0}ns</td>"),
            "{page}"
        );
        let mut nothing = Markup::default();
        kernel(&mut nothing, &[], &[]);
        assert_eq!(nothing.into_string(), "");
    }
}

//! What a person sees while a run is under way: a live view on a terminal, plain lines elsewhere.
//! Both go to standard error; standard output is for the result.

mod live;
mod plain;

use std::io::IsTerminal;
use std::path::Path;
use wakepath_assess::explanation::{WorstCycle, worst_cycle};
use wakepath_measure::{Observer, Plan, Segment};

/// The view that fits: live on a terminal of a useful size, unless plain lines are wanted.
pub fn fitting(plain_wanted: bool) -> Box<dyn Observer> {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    match !plain_wanted && !dumb && std::io::stderr().is_terminal() {
        true => live::LiveView::new().map_or_else(
            // A terminal that can't be driven still shows lines.
            |_| Box::new(plain::PlainView::default()) as Box<dyn Observer>,
            |view| Box::new(view),
        ),
        false => Box::new(plain::PlainView::default()),
    }
}

/// Microseconds with one decimal, or milliseconds when they are many: what fits a column.
fn short_time(ns: i64) -> String {
    match ns.unsigned_abs() {
        0..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

/// The worst cycle of a segment whose trace is written, explained.
fn worst_of(
    observer: &mut dyn Observer,
    segment: &Segment,
    directory: &Path,
) -> Option<WorstCycle> {
    match worst_cycle(directory, segment.planned.segment) {
        Ok(worst) => worst,
        Err(error) => {
            // No part of the record: the run is explained as a whole when it has ended.
            observer.note(&format!("not explained yet: {error}"));
            None
        }
    }
}

/// A cycle and what it waited for, in one line.
fn worst_line(worst: &WorstCycle) -> String {
    let latency = short_time(worst.latency_ns.cast_signed());
    match &worst.main_cause {
        Some((cause, ns)) => format!("{latency}, {} of it: {cause}", short_time(ns.cast_signed())),
        None => format!("{latency}, all of it the wake-up itself"),
    }
}

/// What is measured, in one line.
fn headline(plan: &Plan) -> String {
    let segments = plan.segments().count();
    let cpus: Vec<String> = plan.loop_cpus.iter().map(u16::to_string).collect();
    let plural = if segments == 1 { "" } else { "s" };
    format!(
        "{segments} segment{plural}, loop on CPU {}",
        cpus.join(", ")
    )
}

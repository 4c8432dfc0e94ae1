//! A real-time core's own measurements, as a table with the loop's latencies. No part of a verdict.

use crate::table::{Cell, Table, number};
use wakepath_archive::CoreStageLatency;
use wakepath_assess::BesideTheCore;
use wakepath_timeline::duration;

const HANDLER: &str = "timer's handler";
const THREAD: &str = "thread of the kernel";
const LOOP: &str = "the loop";

/// The table: for each condition what each step sees and adds; why figures are missing, where some are.
pub(crate) fn core_latencies_table(all: &[BesideTheCore]) -> Table {
    let latency = ["min", "mean", "max"].map(number);
    let mut table = Table::new("measured by the core")
        .class("measured")
        .caption(
            "Measured by the real-time core itself, by its testing device, while the loop runs",
        )
        .group("latency", "", &latency)
        .column(number("gravity"))
        .column(number("adds"))
        .column(number("periods"))
        .column(number("overruns"));
    for one in all {
        let core = &one.core;
        if let Some(why) = &core.not_available {
            table.instead(name(one), format!("not measured by the core: {why}"));
        }
        if core.handler.is_none() && core.thread.is_none() {
            continue;
        }
        table.heading(format!("measured by the core: {}", name(one)));
        let gravity = core.gravity;
        let steps = [
            (
                HANDLER,
                core.handler,
                gravity.map(|of| of.handler_ns),
                one.adds.interrupt_ns,
            ),
            (
                THREAD,
                core.thread,
                gravity.map(|of| of.thread_ns),
                one.adds.scheduler_ns,
            ),
        ];
        for (name, stage, gravity_ns, adds) in steps {
            if let Some(stage) = stage {
                table.row(
                    label(name, &stage, core.cpu),
                    of_stage(&stage, gravity_ns, adds),
                );
            }
        }
        if let Some(of) = one.the_loop {
            let mut cells = vec![
                Cell::time(of.smallest_ns),
                Cell::mean_time(of.mean_ns),
                Cell::time(of.largest_ns),
            ];
            cells.push(known(gravity.map(|of| of.program_ns as f64)));
            cells.push(known(one.adds.user_space_ns));
            cells.push(Cell::new(of.cycles));
            table.row(LOOP, cells);
        }
    }
    table
}

fn name(one: &BesideTheCore) -> String {
    let core = &one.core;
    let task = one.task.iter().map(|task| format!("{task}, "));
    let period = duration::exact(core.period_ns);
    let place = format!("CPU {}, every {period}", core.cpu);
    let task: String = task.collect();
    format!("{task}{}, {}, {place}", core.policy, core.phase)
}

/// Where the core put its thread elsewhere than the loop is, that is to be known.
fn label(name: &str, stage: &CoreStageLatency, cpu: u16) -> String {
    match stage.cpu {
        Some(other) if other != cpu => format!("{name}, on CPU {other}"),
        Some(_) => name.to_owned(),
        None => format!("{name}, CPU not known"),
    }
}

fn of_stage(stage: &CoreStageLatency, gravity_ns: Option<i64>, adds: Option<f64>) -> Vec<Cell> {
    let latencies = [stage.smallest_ns, stage.mean_ns, stage.largest_ns];
    let mut cells: Vec<Cell> = latencies.map(Cell::time).into();
    cells.push(known(gravity_ns.map(|ns| ns as f64)));
    cells.push(known(adds));
    cells.push(Cell::new(stage.periods));
    cells.push(Cell::new(stage.overruns));
    cells
}

fn known(ns: Option<f64>) -> Cell {
    ns.map_or_else(|| Cell::Text("–".into()), Cell::mean_time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_archive::{CoreGravity, CoreLatency};
    use wakepath_assess::{Added, LoopLatency};

    fn stage(mean_ns: i64, cpu: u16) -> Option<CoreStageLatency> {
        Some(CoreStageLatency {
            periods: 1_000,
            smallest_ns: mean_ns - 50,
            mean_ns,
            largest_ns: mean_ns + 300,
            overruns: 0,
            cpu: Some(cpu),
        })
    }

    fn one() -> BesideTheCore {
        BesideTheCore {
            task: None,
            core: CoreLatency {
                phase: "idle".into(),
                policy: "COBALT FIFO 80".into(),
                cpu: 1,
                period_ns: 1_000_000,
                gravity: Some(CoreGravity {
                    handler_ns: 0,
                    thread_ns: 0,
                    program_ns: 2_000,
                }),
                handler: stage(700, 1),
                thread: stage(1_500, 0),
                ..CoreLatency::default()
            },
            the_loop: Some(LoopLatency {
                cycles: 300,
                smallest_ns: 190,
                mean_ns: 204.4,
                largest_ns: 247,
            }),
            adds: Added {
                interrupt_ns: Some(700.0),
                scheduler_ns: Some(800.0),
                user_space_ns: Some(704.4),
            },
        }
    }

    fn words<'a>(text: &'a str, of: &str) -> Vec<&'a str> {
        let line = text.lines().find(|line| line.contains(of)).unwrap();
        let after = line.split_once(of).unwrap().1;
        after
            .split("  ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .collect()
    }

    #[test]
    fn each_step_stands_with_its_latency_its_gravity_and_what_it_adds() {
        let text = core_latencies_table(&[one()]).to_terminal(None);
        assert!(
            text.contains("COBALT FIFO 80, idle, CPU 1, every 1 ms"),
            "{text}"
        );
        let handler = ["650 ns", "700 ns", "1.00 µs", "0 ns", "700 ns", "1000", "0"];
        assert_eq!(words(&text, HANDLER), handler);
        let thread = [
            "1.45 µs", "1.50 µs", "1.80 µs", "0 ns", "800 ns", "1000", "0",
        ];
        assert_eq!(words(&text, "thread of the kernel, on CPU 0"), thread);
        let own = ["190 ns", "204 ns", "247 ns", "2.00 µs", "704 ns", "300"];
        assert_eq!(words(&text, LOOP), own);
    }

    #[test]
    fn what_was_not_measured_says_why_once_and_has_no_rows() {
        let mut without = one();
        without.core.handler = None;
        without.core.thread = None;
        without.core.not_available = Some("there is no /dev/rtdm/timerbench".into());
        let text = core_latencies_table(&[without.clone(), without]).to_terminal(None);
        let why =
            "idle, CPU 1, every 1 ms: not measured by the core: there is no /dev/rtdm/timerbench";
        assert_eq!(text.matches(why).count(), 1, "{text}");
        assert!(!text.contains(LOOP), "{text}");
        assert!(core_latencies_table(&[]).is_empty());
    }
}

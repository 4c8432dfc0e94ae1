//! Measurements of the kernel's own tracers, as tables next to the loop's figures. No part of a verdict.

use crate::table::{Cell, Table, number, words};
use wakepath_archive::{KernelLatency, KernelNoise, KernelSections, SectionKind, StageLatency};
use wakepath_timeline::duration;
use wakepath_timeline::number::three_digits;

/// Measurements of timerlat, or the reason for none.
pub(crate) fn latencies_table(all: &[KernelLatency]) -> Table {
    let stage = ["median", "p99", "max"].map(number);
    let mut table = Table::new("measured by the kernel (timerlat, FIFO 95)")
        .class("measured")
        .caption("Measured by the kernel itself: timerlat, a thread of FIFO 95")
        .group("due → interrupt", "", &stage)
        .group("due → thread", "", &stage)
        .column(number("wake-ups"));
    for one in all {
        let place = format!("{}, CPU {}", one.phase, one.cpu);
        if let Some(why) = &one.not_available {
            table.instead(place, not_available(why));
            continue;
        }
        let period = duration::exact(one.period_ns);
        let mut cells = times(&one.interrupt);
        cells.extend(times(&one.thread));
        cells.push(Cell::new(one.thread.samples));
        table.row(format!("{place}, every {period}"), cells);
    }
    table
}

/// What osnoise measured, likewise.
pub(crate) fn noises_table(all: &[KernelNoise]) -> Table {
    let kinds = ["hardware", "NMI", "interrupt", "SoftIRQ", "thread"].map(number);
    let mut table = Table::new("taken from a FIFO 95 thread (osnoise)")
        .class("measured")
        .caption("Taken by the kernel from a busy thread of FIFO 95: osnoise")
        .group("CPU time taken", "%", &[number("all")])
        .group("at once", "", &[number("max")])
        .group("interfered", "per s", &kinds)
        .column(number("looked"));
    for one in all {
        let place = format!("{}, CPU {}", one.phase, one.cpu);
        if let Some(why) = &one.not_available {
            table.instead(place, not_available(why));
            continue;
        }
        let seconds = one.looked_ns as f64 / 1e9;
        let share = 100.0 * one.noise_ns as f64 / one.looked_ns.max(1) as f64;
        let mut cells = vec![three_digits(share).into(), Cell::length(one.largest_ns)];
        let counts = [
            one.hardware,
            one.nmis,
            one.interrupts,
            one.softirqs,
            one.threads,
        ];
        let each_second = |count: u64| Cell::Text(three_digits(count as f64 / seconds));
        cells.extend(counts.map(each_second));
        cells.push(Cell::length(one.looked_ns));
        table.row(place, cells);
    }
    table
}

/// The sections that keep threads from running: the longest of each kind, and the effect of recording them
/// on the wake-ups of a thread that ran at the same time.
pub(crate) fn sections_table(all: &[KernelSections]) -> Table {
    let longest = ["off", "before", "scheduler", "switch", "interrupt"].map(number);
    let turns = ["median", "max"].map(number);
    let mut table = Table::new("sections of kernel code (preemptirq:*)")
        .class("measured")
        .caption(
            "Sections of kernel code that keep threads from running, from the kernel's events preemptirq:*, \
             interrupts left out: preemption or interrupts off; both on, before the scheduler's call; that \
             call; the switch in it. The last columns: wake-ups of a FIFO 95 thread, without and with the events",
        )
        .group("longest", "", &longest)
        .group("woke without", "", &turns)
        .group("woke with", "", &turns)
        .column(number("sections"))
        .column(number("lost"));
    for one in all {
        let place = format!("{}, CPU {}", one.phase, one.cpu);
        if let Some(why) = &one.not_available {
            table.instead(place, not_available(why));
            continue;
        }
        let kind =
            |kind: Option<SectionKind>| kind.map(|kind| Cell::length(kind.longest_ns)).into();
        let interrupt = one.interrupts.first();
        let mut cells: Vec<Cell> = vec![
            kind(Some(one.preemption_off)),
            kind(one.before_scheduler),
            kind(one.scheduler),
            kind(one.switch),
            interrupt.map(|first| Cell::length(first.longest_ns)).into(),
        ];
        for stage in [&one.effect.without, &one.effect.with] {
            let both = [stage.median_ns, stage.largest_ns];
            cells.extend(both.map(|ns| Cell::length(ns.unsigned_abs())));
        }
        cells.push(Cell::new(one.preemption_off.count));
        cells.push(Cell::new(one.lost));
        table.row(place, cells);
    }
    table
}

/// Where the longest of them lie, and the interrupts.
pub(crate) fn places_table(all: &[KernelSections]) -> Table {
    let mut table = Table::new("longest sections and interrupts")
        .class("measured")
        .caption("The longest sections by the function that they begin in, and the interrupts")
        .column(number("longest"))
        .column(number("apart ≥"))
        .column(number("times"))
        .column(words("to").leading());
    for one in all {
        if one.longest.is_empty() && one.interrupts.is_empty() {
            continue;
        }
        table.heading(format!("{}, CPU {}", one.phase, one.cpu));
        for section in &one.longest {
            let cells = vec![
                Cell::length(section.longest_ns),
                None::<String>.into(),
                Cell::new(section.count),
                section.ended.clone().into(),
            ];
            table.row(section.began.clone(), cells);
        }
        for interrupt in &one.interrupts {
            let cells = vec![
                Cell::length(interrupt.longest_ns),
                interrupt.shortest_distance_ns.map(Cell::length).into(),
                Cell::new(interrupt.count),
                None::<String>.into(),
            ];
            table.row(format!("interrupt {}", interrupt.name), cells);
        }
    }
    table
}

fn not_available(why: &str) -> String {
    format!("measured by the kernel: not available: {why}")
}

fn times(stage: &StageLatency) -> Vec<Cell> {
    [stage.median_ns, stage.p99_ns, stage.largest_ns]
        .map(Cell::time)
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_in_a_table_and_a_reason_once() {
        let stage = StageLatency {
            samples: 50,
            least_ns: 400,
            median_ns: 593,
            p99_ns: 2_000,
            largest_ns: 2_813,
        };
        let measured = KernelLatency {
            phase: "idle".into(),
            cpu: 3,
            period_ns: 1_000_000,
            interrupt: stage,
            thread: stage,
            not_available: None,
        };
        let missing = KernelLatency {
            not_available: Some("this kernel has no timerlat tracer".into()),
            ..measured.clone()
        };
        let text = latencies_table(&[measured, missing.clone(), missing]).to_terminal(None);
        assert!(text.contains("idle, CPU 3, every 1 ms"), "{text}");
        assert!(
            text.contains("593 ns") && text.contains("2.81 µs"),
            "{text}"
        );
        assert_eq!(text.matches("not available").count(), 1, "{text}");
        assert_eq!(latencies_table(&[]).to_terminal(None), "");
    }

    #[test]
    fn noise_is_told_by_the_second_and_as_a_share() {
        let measured = KernelNoise {
            phase: "stress".into(),
            cpu: 1,
            looked_ns: 2_000_000_000,
            noise_ns: 846_000,
            largest_ns: 74_000,
            hardware: 41,
            interrupts: 2013,
            ..KernelNoise::default()
        };
        let text = noises_table(&[measured]).to_terminal(None);
        for figure in [
            "stress, CPU 1",
            "0.042",
            "74.0 µs",
            "20.5",
            "1010",
            "2.00 s",
        ] {
            assert!(text.contains(figure), "{figure}: {text}");
        }
        assert_eq!(noises_table(&[]).to_terminal(None), "");
    }
}

//! The tracer timerlat: each activation of the kernel's own thread, with how late its timer's
//! interrupt, the thread, and its return to user space were. `rtla timerlat -t` saves it.

use super::{Measured, each, fits, passed_over, period_of, threads};
use crate::form::{Fit, Reader};
use crate::{Asked, Form, ImportError, Imported};
use std::collections::BTreeMap;
use wakepath_timeline::Lack;

pub(crate) const FORM: Form = Form {
    word: "timerlat-tracer",
    written_by: "rtla timerlat hist -t, or cat trace with current_tracer timerlat",
    uses: &[],
    reader: Reader::Text(fit, read),
};

fn fit(text: &str) -> Fit {
    fits(text, "timerlat", |line| line.contains(" timer_latency "))
}

/// One activation so far.
#[derive(Debug, Clone, Copy)]
struct Activation {
    number: u64,
    due_ns: u64,
    thread_ns: Option<i64>,
    return_ns: Option<i64>,
}

pub(crate) fn read(text: &str, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let mut cpus: BTreeMap<u16, Vec<Activation>> = BTreeMap::new();
    let others = each(
        text,
        |head| {
            let Some(rest) = head.rest.strip_prefix('#') else {
                return Some(false);
            };
            let mut words = rest.split_whitespace();
            let number = words.next()?.parse::<u64>().ok()?;
            let is_it = words.next()? == "context";
            let context = words.next()?;
            let is_it = is_it && words.next()? == "timer_latency";
            let latency = words.next()?.parse::<i64>().ok().filter(|_| is_it)?;
            (latency >= 0 && words.next()? == "ns").then_some(())?;
            let of_cpu = cpus.entry(head.cpu).or_default();
            let due_ns = head.at_ns.saturating_sub_signed(latency);
            let known = of_cpu.last().filter(|last| last.number == number);
            if known.is_none() {
                of_cpu.push(Activation {
                    number,
                    due_ns,
                    thread_ns: None,
                    return_ns: None,
                });
            }
            let last = of_cpu.last_mut()?;
            match context {
                "irq" => last.due_ns = due_ns,
                "thread" => last.thread_ns = Some(latency),
                "user-ret" => last.return_ns = Some(latency),
                _ => return None,
            }
            Some(true)
        },
        "no line of timerlat: `task-pid [cpu] flags seconds: #number context thread timer_latency \
         latency ns`",
    )?;
    let has_returns = cpus.values().flatten().any(|of| of.return_ns.is_some());
    let mut lacks = vec![Lack::SkippedPeriodsInferred];
    if !has_returns {
        lacks.push(Lack::ExecutionTimes);
    }
    lacks.push(Lack::Other(
        "when cycles were due below a microsecond; latencies are in nanoseconds".into(),
    ));
    let mut measured: BTreeMap<u16, (Vec<Measured>, u64)> = BTreeMap::new();
    for (cpu, all) in &cpus {
        let whole: Vec<Measured> = all
            .iter()
            .filter_map(|of| {
                let latency_ns = of.thread_ns?;
                let response_ns = of.return_ns.unwrap_or(latency_ns).max(latency_ns);
                Some(Measured {
                    due_ns: of.due_ns,
                    latency_ns,
                    response_ns,
                })
            })
            .collect();
        // The numbers rise by one with each activation, and not with a period that was skipped.
        let (first, last) = (all.first(), all.last());
        let numbered = match (first, last) {
            (Some(first), Some(last)) => last.number.saturating_sub(first.number).saturating_add(1),
            _ => 0,
        };
        let mut lost = numbered.saturating_sub(whole.len() as u64);
        if let Some(last) = last.filter(|last| last.thread_ns.is_none()) {
            // Tracing stopped between the interrupt and the thread.
            lost -= u64::from(lost > 0);
            lacks.push(Lack::Other(format!(
                "the end on CPU {cpu}: tracing stopped before the thread of activation #{} ran",
                last.number
            )));
        }
        if !whole.is_empty() {
            measured.insert(*cpu, (whole, lost));
        }
    }
    if measured.is_empty() {
        let why = "holds no activation of timerlat's threads: `context thread timer_latency`";
        return Err(ImportError::whole(why));
    }
    let period_ns = period_of(asked.period_ns, measured.values().map(|(all, _)| all))?;
    lacks.extend(passed_over(others));
    lacks.extend([Lack::WarmUp, Lack::EffectivePolicy, Lack::Machine]);
    Ok(Imported {
        tool: "timerlat",
        measures: "latency of the kernel's own thread, from the due time to its first instruction",
        lacks,
        threads: threads("timerlat", measured, period_ns),
        period_ns: Some(period_ns),
        ..Imported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    fn line(number: u64, context: &str, at: &str, ns: u64) -> String {
        format!(
            "  <idle>-0  [001] d.h1. {at}: #{number:<5} context {context:>6} timer_latency {ns:>9} ns\n"
        )
    }

    fn row(text: &str) -> (crate::Row, Vec<Lack>) {
        let found = read(text, &Asked::default()).unwrap();
        let Values::Row(row) = found.threads[0].values.clone() else {
            panic!("{:?}", found.threads);
        };
        (row, found.lacks)
    }

    #[test]
    fn every_activation_has_its_latency_and_its_due_time() {
        let mut text = String::from("# tracer: timerlat\n");
        for (k, at) in [
            (1, "5.000001"),
            (2, "5.001001"),
            (3, "5.004001"),
            (4, "5.005002"),
        ] {
            text += &line(k, "irq", at, 900);
            text += &line(k, "thread", at, 3_000 + k);
            text += &line(k, "user-ret", at, 8_000);
        }
        text += " => hrtimer_interrupt\n";
        let (row, lacks) = row(&text);
        let found: Vec<(u64, i64, i64)> = row
            .samples
            .iter()
            .map(|of| (of.cycle, of.latency_ns(), of.response_ns()))
            .collect();
        let right = [
            (0, 3_001, 8_000),
            (1, 3_002, 8_000),
            (4, 3_003, 8_000),
            (5, 3_004, 8_000),
        ];
        assert_eq!(found, right);
        assert_eq!((row.due.period_ns, row.lost), (1_000_000, 0));
        assert!(!lacks.contains(&Lack::ExecutionTimes));
    }

    #[test]
    fn an_activation_that_is_missing_is_lost_and_a_stop_is_told() {
        let mut text = String::new();
        for (k, at) in [
            (1, "5.000001"),
            (2, "5.001001"),
            (3, "5.002001"),
            (6, "5.005001"),
        ] {
            text += &line(k, "irq", at, 900);
            text += &line(k, "thread", at, 3_000);
        }
        text += &line(7, "irq", "5.006100", 99_000);
        let (row, lacks) = row(&text);
        assert_eq!((row.samples.len(), row.lost), (4, 2));
        let told = lacks
            .iter()
            .any(|lack| lack.text().contains("activation #7"));
        assert!(told, "{lacks:?}");
        let broken = line(1, "irq", "5.000001", 900).replace("timer_latency", "latency");
        let error = read(&format!("{broken}{broken}"), &Asked::default()).unwrap_err();
        assert_eq!(error.line, Some(1));
    }
}

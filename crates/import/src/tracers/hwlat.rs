//! The tracer hwlat: stretches in which the hardware took a CPU away, those alone that were longer
//! than its threshold.

use super::{Measured, each, fits, interruptions};
use crate::form::{Fit, Reader};
use crate::{Asked, Form, ImportError, Imported};
use std::collections::BTreeMap;

pub(crate) const FORM: Form = Form {
    word: "hwlat-tracer",
    written_by: "cat trace with current_tracer hwlat",
    uses: &[],
    reader: Reader::Text(fit, read),
};

fn fit(text: &str) -> Fit {
    fits(text, "hwlat", |line| line.contains(" inner/outer(us): "))
}

pub(crate) fn read(text: &str, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let mut cpus: BTreeMap<u16, (Vec<Measured>, u64)> = BTreeMap::new();
    let others = each(
        text,
        |head| {
            let Some((_, rest)) = head.rest.split_once("inner/outer(us):") else {
                return Some(false);
            };
            let both = rest.split_whitespace().next()?;
            // The kernel pads the first one alone.
            let (inner, outer) = match both.split_once('/') {
                Some(both) => both,
                None => return None,
            };
            let number = |text: &str| text.parse::<u64>().ok();
            let longest = number(inner)?.max(number(outer)?);
            let latency_ns = i64::try_from(longest.checked_mul(1_000)?).ok()?;
            let (measured, _) = cpus.entry(head.cpu).or_default();
            measured.push(Measured {
                due_ns: head.at_ns,
                latency_ns,
                response_ns: latency_ns,
            });
            Some(true)
        },
        "no line of hwlat: `task-pid [cpu] flags seconds: #number inner/outer(us): inner/outer …`",
    )?;
    if cpus.is_empty() {
        let why =
            "holds no sample of hwlat: the hardware took no CPU for longer than its threshold";
        return Err(ImportError::whole(why));
    }
    let Some(period_ns) = asked.period_ns else {
        let why = "has no detector interval: give --period (hwlat's window is 1 s by default)";
        return Err(ImportError::whole(why));
    };
    let below = "samples below the tracer's threshold: windows without one look skipped";
    Ok(Imported {
        tool: "hwlat",
        measures: "stretches in which the hardware took the CPU, which are not latencies",
        ..interruptions("hwlat", below, others, cpus, period_ns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    #[test]
    fn a_sample_is_the_longer_of_both_in_the_window_that_it_fell_in() {
        let mut text = String::from("# tracer: hwlat\n");
        for (at, both) in [("20.6", "    0/23   "), ("22.6", "   31/7    ")] {
            text += &format!(
                "  <...>-1729  [000] d... {at}: #1     inner/outer(us): {both} ts:1499.917  count:2\n"
            );
        }
        let asked = Asked {
            period_ns: Some(1_000_000_000),
            ..Asked::default()
        };
        let found = read(&text, &asked).unwrap();
        let Values::Row(row) = &found.threads[0].values else {
            panic!("{found:?}");
        };
        let samples: Vec<(u64, i64)> = row
            .samples
            .iter()
            .map(|of| (of.cycle, of.latency_ns()))
            .collect();
        assert_eq!(samples, [(0, 23_000), (2, 31_000)]);
        let error = read(&text, &Asked::default()).unwrap_err().to_string();
        assert!(error.contains("give --period"), "{error}");
    }
}

//! The tracer osnoise: for each measurement on a CPU its length, the noise in it, the longest single
//! noise, and what it came from. `rtla osnoise -t` saves it.

use super::{Measured, each, fits, interruptions, period_of};
use crate::form::Reader;
use crate::{Asked, Form, ImportError, Imported};
use std::collections::BTreeMap;

pub(crate) const FORM: Form = Form {
    word: "osnoise-tracer",
    written_by: "rtla osnoise hist -t, or cat trace with current_tracer osnoise",
    uses: &[],
    reader: Reader::Text(|text| fits(text, "osnoise", |_| false), read),
};

pub(crate) fn read(text: &str, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let mut cpus: BTreeMap<u16, (Vec<Measured>, u64)> = BTreeMap::new();
    let others = each(
        text,
        |head| {
            // Runtime, noise, percentage, longest single noise; then counts of each source.
            let words: Vec<&str> = head.rest.split_whitespace().collect();
            let is_it = words.len() >= 8 && words[2].contains('.') && !words[0].ends_with(':');
            if !is_it {
                return Some(false);
            }
            let number = |at: usize| words[at].parse::<u64>().ok();
            let (runtime, noise, longest) = (number(0)?, number(1)?, number(3)?);
            (longest <= noise && noise <= runtime.max(noise)).then_some(())?;
            let latency_ns = i64::try_from(longest.checked_mul(1_000)?).ok()?;
            let (measured, _) = cpus.entry(head.cpu).or_default();
            measured.push(Measured {
                due_ns: head.at_ns,
                latency_ns,
                response_ns: latency_ns,
            });
            Some(true)
        },
        "no line of osnoise: `task-pid [cpu] flags seconds: runtime noise percentage longest …`",
    )?;
    if cpus.is_empty() {
        return Err(ImportError::whole("holds no measurement of osnoise"));
    }
    let period_ns = period_of(asked.period_ns, cpus.values().map(|(all, _)| all))?;
    let shorter = "single noises: of each measurement the longest is taken";
    Ok(Imported {
        tool: "osnoise",
        measures: "longest single noise of each measurement, which is not a latency",
        ..interruptions("osnoise", shorter, others, cpus, period_ns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    #[test]
    fn each_measurement_is_a_cycle_with_its_longest_noise() {
        let mut text = String::from("# tracer: osnoise\n");
        for (at, longest) in [("81.0", 9), ("82.000001", 17), ("83.0", 11)] {
            for cpu in [0, 3] {
                text += &format!(
                    "   <...>-859     [00{cpu}] ....    {at}: 1000000        190  99.98100       \
                     {longest}     18      0   1007     18      1\n"
                );
            }
        }
        text +=
            "   <...>-859  [000] .... 83.1: irq_noise: local_timer:236 start 83.0 duration 12 ns\n";
        let found = read(&text, &Asked::default()).unwrap();
        assert_eq!(found.period_ns, Some(1_000_000_000));
        let names: Vec<&str> = found.threads.iter().map(|of| of.name.as_str()).collect();
        assert_eq!(names, ["osnoise/0", "osnoise/3"]);
        let Values::Row(row) = &found.threads[1].values else {
            panic!("{found:?}");
        };
        let longest: Vec<i64> = row.samples.iter().map(|of| of.latency_ns()).collect();
        assert_eq!(longest, [9_000, 17_000, 11_000]);
        assert!(read("# tracer: osnoise\n", &Asked::default()).is_err());
    }
}

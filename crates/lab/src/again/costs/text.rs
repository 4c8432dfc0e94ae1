//! Costs for a terminal.

use super::{ConditionCosts, RunCosts};
use crate::cost::CostModel;
use std::fmt::Write;
use wakepath_timeline::duration::exact;

/// All of it.
pub fn to_text(run: &RunCosts) -> String {
    let model = run.model;
    let mut text = format!(
        "cost model {}: {}\n\
         cost of the same instructions there by published figures, next to their virtual time; not a \
         machine's latencies: one\ncore that no other disturbs, nothing mispredicted, overlapped, translated or \
         fetched ahead\n",
        model.name, model.about
    );
    for condition in &run.conditions {
        one(&mut text, model, condition);
    }
    text += "\nfigures:\n";
    for source in model.sources {
        let _ = writeln!(text, "  {source}");
    }
    text
}

fn one(text: &mut String, model: &CostModel, condition: &ConditionCosts) {
    let cycles = &condition.cycles;
    let _ = writeln!(
        text,
        "\n{}, {}: {} cycles",
        condition.condition,
        condition.phase,
        cycles.len()
    );
    let latencies = cycles.iter().filter_map(|cycle| cycle.latency);
    let executions = cycles
        .iter()
        .map(|cycle| (cycle.execution.total(), cycle.execution_ns));
    for (what, pairs) in [
        ("latency", latencies.collect::<Vec<_>>()),
        ("execution", executions.collect()),
    ] {
        let model_ns = pairs.iter().map(|pair| model.ns(pair.0)).collect();
        let virtual_ns = pairs.iter().map(|pair| pair.1).collect();
        let _ = writeln!(
            text,
            "  {what:9}  {}; in virtual time {}",
            spread(model_ns),
            spread(virtual_ns)
        );
    }
    let sum = cycles.iter().fold([0_u64; 4], |sum, cycle| {
        let of = cycle.execution;
        let parts = [of.instructions, of.code, of.data, of.lines];
        std::array::from_fn(|part| sum[part] + parts[part])
    });
    let all = sum.iter().sum::<u64>().max(1);
    let share = |part: usize| 100.0 * sum[part] as f64 / all as f64;
    let _ = writeln!(
        text,
        "  of the execution: instructions {:.0} %, waiting for code {:.0} %, for data {:.0} %, lines written \
         {:.0} %",
        share(0),
        share(1),
        share(2),
        share(3)
    );
}

/// The median and the largest.
fn spread(mut ns: Vec<u64>) -> String {
    ns.sort_unstable();
    let Some(largest) = ns.last() else {
        return "none".to_owned();
    };
    let median = ns[(ns.len() - 1) / 2];
    format!("median {}, largest {}", exact(median), exact(*largest))
}

#[cfg(test)]
mod tests {
    use super::super::CycleCost;
    use super::*;
    use crate::cost::Spent;

    #[test]
    fn costs_are_told_beside_virtual_time_and_with_what_they_consist_of() {
        // 9600 quarters of a cycle are a microsecond at 2.4 GHz.
        let cycle = |times: u64| CycleCost {
            execution: Spent {
                instructions: 960 * times,
                code: 4_800 * times,
                data: 2_880 * times,
                lines: 960 * times,
            },
            execution_ns: 110,
            latency: (times > 1).then_some((9_600 * times, 3_000)),
        };
        let run = RunCosts {
            model: CostModel::new("cortex-a76").unwrap(),
            conditions: vec![ConditionCosts {
                condition: "FIFO 80".into(),
                phase: "idle".into(),
                cycles: vec![cycle(3), cycle(1), cycle(2)],
            }],
        };
        let text = to_text(&run);
        let expected = "
FIFO 80, idle: 3 cycles
  latency    median 2 µs, largest 3 µs; in virtual time median 3 µs, largest 3 µs
  execution  median 2 µs, largest 3 µs; in virtual time median 110 ns, largest 110 ns
  of the execution: instructions 10 %, waiting for code 50 %, for data 30 %, lines written 10 %
";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("not a machine's latencies"), "{text}");
        assert!(text.ends_with("tinymembench)\n"), "{text}");
    }
}

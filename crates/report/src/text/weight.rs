//! The order in which the threads of an explanation matter.

use wakepath_explain::{ConditionExplanation, Explanation};

/// In the order of their weight. A loop that never ran comes before all that were late, and one that passed a limit or
/// its period before those that were late by their own percentile alone: a thread always has such cycles. Of the late
/// threads of one condition the periodic and most urgent one leads; leaders come by the time that they lost, then the
/// others likewise.
pub(crate) fn by_weight(mut conditions: Vec<&ConditionExplanation>) -> Vec<&ConditionExplanation> {
    let of_one = |one: &ConditionExplanation, other: &ConditionExplanation| {
        one.phase == other.phase && one.condition == other.condition
    };
    let passed =
        |of: &ConditionExplanation| of.overran > 0 || (of.threshold_is_limit && of.late > 0);
    let weight = |of: &ConditionExplanation| (passed(of), of.is_periodic, of.urgency);
    let all = conditions.clone();
    let leads = |of: &ConditionExplanation| {
        let mut late = all.iter().filter(|other| other.late > 0);
        !late.any(|other| of_one(of, other) && weight(other) > weight(of))
    };
    // Stable, so that of those alike the first is shown.
    conditions.sort_by_cached_key(|of| {
        let is_late = of.late > 0;
        let rank = (
            of.silent_segments,
            is_late,
            passed(of),
            is_late && leads(of),
            of.late_ns,
            of.late,
        );
        std::cmp::Reverse(rank)
    });
    conditions
}

/// The thread that matters most.
pub(crate) fn leader(explanation: &Explanation) -> Option<&str> {
    let all = by_weight(explanation.conditions.iter().collect());
    Some(&all.first()?.thread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_explain::{Bands, Totals, Usual};

    fn lost(thread: &str, urgency: u8, is_periodic: bool, late_ns: u64) -> ConditionExplanation {
        let names = ("watched", "robot", thread);
        let totals = Totals::new(0, 0, 0, Bands::of(&mut []));
        ConditionExplanation {
            urgency,
            is_periodic,
            late: u64::from(late_ns > 0),
            late_ns,
            ..ConditionExplanation::of(names, "", Usual::default(), &totals, |_| 0)
        }
    }

    #[test]
    fn the_most_urgent_late_thread_with_a_period_leads_and_the_others_follow_by_time_lost() {
        let all = [
            lost("telemetry", 0, true, 900),
            lost("idle-but-urgent", 99, true, 0),
            lost("irq", 90, false, 800),
            lost("control", 80, true, 30),
        ];
        let order = by_weight(all.iter().collect());
        let order: Vec<&str> = order.iter().map(|of| of.thread.as_str()).collect();
        assert_eq!(order, ["control", "telemetry", "irq", "idle-but-urgent"]);
    }

    #[test]
    fn a_loop_that_overran_its_period_comes_before_a_more_urgent_one_s_own_percentile() {
        let radio = lost("radio", 90, true, 2_280);
        let control = ConditionExplanation {
            overran: 47,
            ..lost("control", 80, true, 425_000)
        };
        let leader = |all: [&ConditionExplanation; 2]| by_weight(all.to_vec())[0].thread.clone();
        assert_eq!(leader([&radio, &control]), "control");
        let limited = ConditionExplanation {
            threshold_is_limit: true,
            ..radio
        };
        assert_eq!(leader([&control, &limited]), "radio");
    }
}

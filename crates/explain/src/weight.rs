//! The order in which the threads of an explanation matter: terminal, report and JSON have it.

use crate::cycle::BY_THREAD;
use crate::summary::ConditionExplanation;
use std::cmp::Ordering;

/// So many times as much lost time is far more.
const FAR_MORE: u64 = 4;

/// Weight of a thread's late cycles; the greatest matters most. A loop that never ran comes before all that were late,
/// and one that passed a limit or its period before those that were late by their own percentile alone: a thread always
/// has such cycles. One that sleeps for a time has no due time to pass. Of the late threads of one condition the periodic
/// and most urgent one leads, and of two real-time or two ordinary ones that passed their periods one that lost far more
/// than the other. Of two that are as urgent a thread that its own timer wakes comes before one that works for others, and
/// one that keeps due times before one that sleeps for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight {
    silent_segments: u64,
    is_late: bool,
    passed: bool,
    leads: bool,
}

impl Weight {
    /// Of one among all conditions of an explanation.
    pub fn new(condition: &ConditionExplanation, all: &[ConditionExplanation]) -> Self {
        let of_one = |other: &ConditionExplanation| {
            condition.phase == other.phase && condition.condition == other.condition
        };
        let mut late = all.iter().filter(|other| other.late > 0);
        let is_late = condition.late > 0;
        Self {
            silent_segments: condition.silent_segments,
            is_late,
            passed: passed(condition),
            leads: is_late && !late.any(|other| of_one(other) && goes_before(other, condition)),
        }
    }
}

/// Whether one late thread of a condition leads before another.
fn goes_before(one: &ConditionExplanation, other: &ConditionExplanation) -> bool {
    let place = |of: &ConditionExplanation| (passed(of), of.is_periodic);
    let is_real_time = |of: &ConditionExplanation| of.urgency > 0;
    let lost_far_more = |one: &ConditionExplanation, other: &ConditionExplanation| {
        let counts = passed(one) && is_real_time(one) >= is_real_time(other);
        counts && one.late_ns > other.late_ns.saturating_mul(FAR_MORE)
    };
    let urgent =
        |of: &ConditionExplanation| (of.urgency, !works_for_others(of), !of.sleeps_for_time);
    match place(one).cmp(&place(other)) {
        Ordering::Equal if lost_far_more(one, other) => true,
        Ordering::Equal if lost_far_more(other, one) => false,
        Ordering::Equal => urgent(one) > urgent(other),
        order => order.is_gt(),
    }
}

/// Whether another thread woke it for most of its cycles.
fn works_for_others(of: &ConditionExplanation) -> bool {
    let by_thread = of.woken.get(BY_THREAD);
    by_thread.is_some_and(|count| count * 2 > of.cycles)
}

fn passed(of: &ConditionExplanation) -> bool {
    let overran = of.overran > 0 && !of.sleeps_for_time;
    overran || (of.threshold_is_limit && of.late > 0)
}

/// In the order of their weight; those of one weight by the time that they lost.
pub fn by_weight(conditions: Vec<ConditionExplanation>) -> Vec<ConditionExplanation> {
    let rank = |of: &ConditionExplanation| (Weight::new(of, &conditions), of.late_ns, of.late);
    let ranks: Vec<_> = conditions.iter().map(rank).collect();
    let mut ranked: Vec<_> = ranks.into_iter().zip(conditions).collect();
    // Stable, so that of those alike the first measured is first.
    ranked.sort_by_cached_key(|(rank, _)| std::cmp::Reverse(*rank));
    ranked.into_iter().map(|(_, of)| of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bands, Totals, Usual};

    fn lost(thread: &str, urgency: u8, is_periodic: bool, late_ns: u64) -> ConditionExplanation {
        let names = ("watched", "robot", thread);
        let totals = Totals::new(0, 0, 0, Bands::new(&mut []));
        ConditionExplanation {
            urgency,
            is_periodic,
            late: u64::from(late_ns > 0),
            late_ns,
            ..ConditionExplanation::new(names, "", Usual::default(), &totals, None, |_| 0)
        }
    }

    fn names(all: Vec<ConditionExplanation>) -> Vec<String> {
        by_weight(all).into_iter().map(|of| of.thread).collect()
    }

    #[test]
    fn the_most_urgent_late_thread_with_a_period_leads_and_the_others_follow_by_time_lost() {
        let all = vec![
            lost("telemetry", 0, true, 900),
            lost("idle-but-urgent", 99, true, 0),
            lost("irq", 90, false, 800),
            lost("control", 80, true, 30),
        ];
        let wanted = ["control", "telemetry", "irq", "idle-but-urgent"];
        assert_eq!(names(all), wanted);
    }

    #[test]
    fn of_loops_that_overran_one_that_lost_far_more_leads_and_else_the_urgent_one_or_that_of_a_timer()
     {
        let overran = |thread, urgency, late_ns| ConditionExplanation {
            overran: 1,
            ..lost(thread, urgency, true, late_ns)
        };
        let first = |all: [ConditionExplanation; 2]| names(all.to_vec()).remove(0);
        let radio = || overran("radio", 70, 100);
        assert_eq!(first([overran("balance", 60, 401), radio()]), "balance");
        assert_eq!(first([overran("balance", 60, 400), radio()]), "radio");
        let ordinary = overran("balance", 0, 900);
        assert_eq!(first([ordinary, radio()]), "radio");
        let logger = |late_ns| ConditionExplanation {
            cycles: 9,
            woken: [(BY_THREAD.to_owned(), 8)].into(),
            ..overran("logger", 0, late_ns)
        };
        assert_eq!(first([logger(300), overran("flight", 0, 100)]), "flight");
        assert_eq!(first([logger(401), overran("flight", 0, 100)]), "logger");
        let helper = ConditionExplanation {
            sleeps_for_time: true,
            threshold_is_limit: true,
            ..overran("helper", 0, 300)
        };
        assert_eq!(first([helper, overran("flight", 0, 100)]), "flight");
    }

    #[test]
    fn a_loop_that_overran_its_period_comes_before_those_that_have_none_to_overrun() {
        let radio = lost("radio", 90, true, 2_280);
        let control = ConditionExplanation {
            overran: 47,
            ..lost("control", 80, true, 425_000)
        };
        let first = names(vec![radio.clone(), control.clone()]);
        assert_eq!(first[0], "control");
        let logger = ConditionExplanation {
            overran: 74,
            sleeps_for_time: true,
            ..lost("logger", 0, true, 900_000)
        };
        assert_eq!(names(vec![logger.clone(), radio.clone()])[0], "radio");
        assert_eq!(names(vec![logger, control.clone()])[0], "control");
        let limited = ConditionExplanation {
            threshold_is_limit: true,
            late_ns: 200_000,
            ..radio
        };
        assert_eq!(names(vec![control, limited])[0], "radio");
    }
}

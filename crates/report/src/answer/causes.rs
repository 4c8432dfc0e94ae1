//! Causes of late cycles for the answer, by the time that they took.

use super::Matter;
use std::collections::BTreeMap;
use wakepath_assess::Assessment;
use wakepath_explain::{CauseFigures, Explanation};
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::one_line;
use wakepath_verdict::counted;

/// Number of causes shown; checks of the machine follow them.
const MOST_CAUSES: usize = 2;

/// Causes of late cycles over all conditions, by their time, each with its consequences, and those with one remedy
/// together; where a policy is recommended, over
/// that policy's alone: the others' causes no longer matter. With the time of each in all, in nanoseconds.
pub(super) fn causes(assessment: &Assessment, explanation: &Explanation) -> Vec<(u64, Matter)> {
    let recommended = assessment.overall.recommendation.as_ref();
    let recommended = recommended.map(|of| of.policy.to_string());
    let conditions = explanation.conditions.iter();
    let wanted = conditions.filter(|of| recommended.as_ref().is_none_or(|it| *it == of.condition));
    let conditions = wanted.enumerate();
    let sums =
        by_time(conditions.flat_map(|(at, of)| of.causes.iter().map(move |cause| (at, cause))));
    let matter = |sum: &Sum<'_>| Matter {
        what: match sum.causes.len() {
            1 => one_line(sum.causes[0]),
            all => one_line(&format!("{} and {} more like it", sum.causes[0], all - 1)),
        },
        size: format!(
            "{} at worst, {} in all, {}{}",
            three_digits(sum.worst_ns.cast_signed()),
            three_digits(sum.total_ns.cast_signed()),
            counted(sum.cycles(), "late cycle", "late cycles"),
            if sum.are_least() { " or more" } else { "" },
        ),
        remedy: one_line(sum.remedy),
    };
    let told = sums.iter().take(MOST_CAUSES);
    told.map(|sum| (sum.total_ns, matter(sum))).collect()
}

/// Causes that are answered together.
struct Sum<'a> {
    causes: Vec<&'a str>,
    remedy: &'a str,
    /// Number of causes in each condition by its place, and late cycles of the one with most: two causes
    /// can be in the same cycle.
    cycles: BTreeMap<usize, (u64, u64)>,
    total_ns: u64,
    worst_ns: u64,
}

impl Sum<'_> {
    fn add(&mut self, condition: usize, cause: &CauseFigures) {
        let (causes, cycles) = self.cycles.entry(condition).or_default();
        *causes += 1;
        *cycles = (*cycles).max(cause.late_cycles);
        self.total_ns += cause.late_ns;
        self.worst_ns = self.worst_ns.max(late_worst_ns(cause));
    }

    fn cycles(&self) -> u64 {
        self.cycles.values().map(|(_, cycles)| cycles).sum()
    }

    fn are_least(&self) -> bool {
        self.cycles.values().any(|(causes, _)| *causes > 1)
    }
}

/// Causes of late cycles, the one with most time first, whether anything can be done about it or not. A consequence
/// counts as its cause, and causes with one remedy as one.
fn by_time<'a>(all: impl Iterator<Item = (usize, &'a CauseFigures)>) -> Vec<Sum<'a>> {
    let mut sums: Vec<Sum<'a>> = Vec::new();
    let usual = |cause: &&CauseFigures| matches!(&*cause.kind, "path" | "timer-delivery");
    let late = all.filter(|(_, cause)| cause.late_ns > 0);
    for (condition, cause) in late.filter(|(_, cause)| !usual(cause)) {
        let remedy = cause.remedy.as_deref().unwrap_or_default();
        let name = cause.because.as_deref().unwrap_or(&cause.cause);
        let alike = |sum: &Sum<'_>| {
            let same = remedy.is_empty() && sum.causes == [name];
            sum.remedy == remedy && (!remedy.is_empty() || same)
        };
        let at = sums.iter().position(alike);
        let at = at.unwrap_or_else(|| {
            sums.push(Sum {
                causes: Vec::new(),
                remedy,
                cycles: BTreeMap::new(),
                total_ns: 0,
                worst_ns: 0,
            });
            sums.len() - 1
        });
        if !sums[at].causes.contains(&name) {
            sums[at].causes.push(name);
        }
        sums[at].add(condition, cause);
    }
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.total_ns));
    sums
}

/// Its largest part in a late cycle; in what older versions explained, in any.
fn late_worst_ns(cause: &CauseFigures) -> u64 {
    match cause.late_worst_ns {
        0 => cause.worst_ns,
        late => late,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(kind: &str, cause: &str, late_ns: u64, remedy: Option<&str>) -> CauseFigures {
        CauseFigures {
            kind: kind.into(),
            cause: cause.into(),
            because: None,
            cycles: 1,
            late_cycles: 1,
            total_ns: late_ns,
            late_ns,
            worst_ns: late_ns,
            worst_cycle: 0,
            late_worst_ns: late_ns,
            remedy: remedy.map(str::to_owned),
        }
    }

    #[test]
    fn the_largest_cause_comes_first_with_its_consequences_and_without_a_remedy_too() {
        let overrun = CauseFigures {
            because: Some("own code".into()),
            ..cause("overrun", "the cycle before: own code", 50, None)
        };
        let all = [
            cause("softirq", "RCU", 60, Some("rcu_nocbs")),
            overrun,
            cause("user-code", "own code", 30, None),
            cause("path", "the wake-up itself", 900, None),
        ];
        let sums = by_time(all.iter().map(|cause| (0, cause)));
        assert_eq!(
            (sums[0].total_ns, &*sums[0].causes),
            (80, &["own code"][..])
        );
        // The overrun and its cause may be one cycle or two.
        assert_eq!((sums[0].cycles(), sums[0].are_least()), (1, true));
        assert_eq!((sums[1].total_ns, sums[1].remedy), (60, "rcu_nocbs"));
        assert_eq!((sums[1].cycles(), sums[1].are_least()), (1, false));
        assert_eq!(sums.len(), 2);
    }
}

//! Causes of late cycles for the answer, in the order in which their threads matter.

use super::{Matter, nearest_to_passing};
use wakepath_assess::Assessment;
use wakepath_explain::{AlikeFigures, ConditionExplanation, Explanation, Weight};
use wakepath_scenario::PoliciesNeeded;
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::one_line;
use wakepath_verdict::counted;

/// Number of causes shown; checks of the machine follow them.
const MOST_CAUSES: usize = 2;

/// A matter that cost time.
pub(super) struct Lost {
    /// Of the threads that lost it.
    pub(super) weight: Option<Weight>,
    /// In all, in nanoseconds.
    pub(super) ns: u64,
    pub(super) matter: Matter,
}

/// Weight of a thread of this name.
pub(super) fn weight_of(explanation: Option<&Explanation>, thread: &str) -> Option<Weight> {
    let all = &explanation?.conditions;
    let own = all.iter().filter(|of| of.thread == thread);
    own.map(|of| Weight::new(of, all)).max()
}

/// Of several explained policies the one that came nearest to passing, if a trace shows what made it late. No policy is
/// better, so its causes are the ones to remove; the rest may be late only because they are not real-time.
pub(super) fn nearest_explained(
    assessment: &Assessment,
    explanation: &Explanation,
) -> Option<String> {
    let overall = &assessment.overall;
    // Where every policy must pass, the others' causes matter as much.
    if overall.recommendation.is_some() || overall.needed != PoliciesNeeded::Any {
        return None;
    }
    let nearest = nearest_to_passing(assessment)?;
    let all = &explanation.conditions;
    let is_one_of_several = all.iter().any(|of| of.condition != nearest);
    let mut own = all.iter().filter(|of| of.condition == nearest);
    let is_explained = own.any(|of| of.alike.iter().any(is_cause));
    (is_one_of_several && is_explained).then_some(nearest)
}

/// Causes of late cycles: those of the threads that matter most first, of threads that matter alike by their time over all
/// conditions, each with its consequences, and those with one remedy together. If a policy is recommended, only that
/// policy's: the others' causes no longer matter. If none is, those of the policy that came nearest, which each names.
pub(super) fn causes(assessment: &Assessment, explanation: &Explanation) -> Vec<Lost> {
    let nearest = nearest_explained(assessment, explanation);
    let recommended = assessment.overall.recommendation.as_ref();
    let recommended = recommended.map(|of| of.policy.to_string());
    let policy = recommended.as_ref().or(nearest.as_ref());
    let all = &explanation.conditions;
    let wanted = all
        .iter()
        .filter(|of| policy.is_none_or(|it| *it == of.condition));
    let mut weighed: Vec<(Weight, Vec<&ConditionExplanation>)> = Vec::new();
    for condition in wanted {
        let weight = Weight::new(condition, all);
        match weighed.iter_mut().find(|(known, _)| *known == weight) {
            Some((_, alike)) => alike.push(condition),
            None => weighed.push((weight, vec![condition])),
        }
    }
    weighed.sort_by_cached_key(|(weight, _)| std::cmp::Reverse(*weight));
    let is_of_one = all.iter().all(|of| of.thread == all[0].thread);
    let mut causes = Vec::new();
    for (weight, conditions) in weighed {
        let alike = conditions
            .iter()
            .flat_map(|of| of.alike.iter().map(|alike| (&*of.thread, alike)));
        causes.extend(by_time(alike).iter().map(|sum| Lost {
            weight: Some(weight),
            ns: sum.total_ns,
            matter: matter(sum, !is_of_one, nearest.as_deref()),
        }));
    }
    causes.truncate(MOST_CAUSES);
    causes
}

fn matter(sum: &Sum<'_>, has_others: bool, policy: Option<&str>) -> Matter {
    let thread = match sum.threads[..] {
        [thread] if has_others => format!("{thread}: "),
        _ => String::new(),
    };
    let more = if sum.are_least { " or more" } else { "" };
    Matter {
        what: one_line(&format!("{thread}{}", sum.name())),
        size: format!(
            "{}{more} at worst, {} in all, {}{more}{}",
            three_digits(sum.worst_ns.cast_signed()),
            three_digits(sum.total_ns.cast_signed()),
            counted(sum.late_cycles, "late cycle", "late cycles"),
            policy.map_or(String::new(), |policy| format!(" under {policy}")),
        ),
        remedy: one_line(sum.remedy),
        is_check: false,
    }
}

/// Causes of several conditions that are answered together.
struct Sum<'a> {
    /// The threads that lost the time.
    threads: Vec<&'a str>,
    /// The largest of each condition.
    causes: Vec<&'a str>,
    /// Names of the condition with most.
    names: u64,
    remedy: &'a str,
    late_cycles: u64,
    are_least: bool,
    total_ns: u64,
    worst_ns: u64,
}

impl Sum<'_> {
    fn name(&self) -> String {
        match self.names.max(self.causes.len() as u64) {
            ..=1 => self.causes[0].to_owned(),
            all => format!("{} and {} more like it", self.causes[0], all - 1),
        }
    }
}

/// Whether it made cycles late and is not the kernel's usual path.
fn is_cause(of: &AlikeFigures) -> bool {
    of.late_ns > 0 && !matches!(&*of.kind, "path" | "timer-delivery")
}

/// Causes of late cycles, the one with most time first, whether anything can be done about it or not.
fn by_time<'a>(all: impl Iterator<Item = (&'a str, &'a AlikeFigures)>) -> Vec<Sum<'a>> {
    let mut sums: Vec<Sum<'a>> = Vec::new();
    for (thread, of) in all.filter(|(_, of)| is_cause(of)) {
        let remedy = of.remedy.as_deref().unwrap_or_default();
        let is_alike = |sum: &Sum<'_>| {
            let is_same = remedy.is_empty() && sum.causes == [&*of.cause];
            sum.remedy == remedy && (!remedy.is_empty() || is_same)
        };
        let at = sums.iter().position(is_alike);
        let at = at.unwrap_or_else(|| {
            sums.push(Sum {
                threads: Vec::new(),
                causes: Vec::new(),
                names: 0,
                remedy,
                late_cycles: 0,
                are_least: false,
                total_ns: 0,
                worst_ns: 0,
            });
            sums.len() - 1
        });
        let sum = &mut sums[at];
        if !sum.causes.contains(&&*of.cause) {
            sum.causes.push(&of.cause);
        }
        if !sum.threads.contains(&thread) {
            sum.threads.push(thread);
        }
        sum.names = sum.names.max(of.names);
        sum.late_cycles += of.late_cycles;
        sum.are_least |= of.are_least();
        sum.total_ns += of.late_ns;
        sum.worst_ns = sum.worst_ns.max(of.late_worst_ns);
    }
    sums.sort_by_cached_key(|sum| std::cmp::Reverse(sum.total_ns));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(cause: &str, names: u64, late_ns: u64, remedy: Option<&str>) -> AlikeFigures {
        AlikeFigures {
            kind: cause.into(),
            cause: cause.into(),
            causes: names,
            names,
            cycles: 1,
            late_cycles: 1,
            total_ns: late_ns,
            late_ns,
            worst_ns: late_ns,
            late_worst_ns: late_ns,
            remedy: remedy.map(str::to_owned),
        }
    }

    #[test]
    fn causes_of_two_conditions_with_one_fix_are_one_and_those_without_go_by_their_name() {
        let all = [
            alike("RCU", 1, 60, Some("rcu_nocbs")),
            alike("path", 1, 900, None),
            alike("own code", 1, 30, None),
            alike("own code", 1, 50, None),
            alike("events lost", 1, 20, None),
            alike("RCU on CPU 1", 3, 10, Some("rcu_nocbs")),
        ];
        let sums = by_time(all.iter().map(|of| ("loop", of)));
        let found: Vec<_> = sums
            .iter()
            .map(|of| (of.name(), of.total_ns, of.late_cycles, of.are_least))
            .collect();
        let expected = [
            ("own code", 80, 2, false),
            ("RCU and 2 more like it", 70, 2, true),
            ("events lost", 20, 1, false),
        ];
        assert_eq!(
            found,
            expected.map(|(name, ns, cycles, least)| (name.to_owned(), ns, cycles, least))
        );
    }
}

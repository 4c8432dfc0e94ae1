//! Our values for a claim: one for each run of a condition's guest.

use super::shown::Seen;
use super::{Condition, Quantity};
use crate::{GuestRun, Repeated, Setting};
use wakepath_explain::ConditionExplanation;
use wakepath_timeline::duration::three_digits;

/// Missing values, so that a claim can't be tested.
#[derive(Debug, thiserror::Error)]
pub(super) enum Missing {
    #[error("no run of {0}")]
    Runs(String),
    #[error("no valid figures of {0}")]
    Figures(String),
    #[error("no kernel events of {0}")]
    Events(String),
    #[error("no kernel events of {0}, which was measured without --trace")]
    Untraced(String),
    #[error("too little of {0} is explained")]
    Explanation(String),
}

impl Missing {
    /// Whether nothing was measured, rather than something that can't be used.
    pub(super) fn is_not_run(&self) -> bool {
        matches!(self, Self::Runs(_) | Self::Untraced(_))
    }
}

/// If a smaller share of a condition's latency is explained, its disturbers aren't counted.
const EXPLAINED: f64 = 0.99;

/// The values of a condition, and how far each can be off: CPUs that take turns affect each other by up to a
/// turn. `None` for the error if the length of the turns is unknown.
pub(super) fn values(
    repeated: &Repeated,
    condition: &Condition,
    quantity: Quantity,
) -> Result<(Seen, bool), Missing> {
    let runs: Vec<&GuestRun> = repeated.runs_of(&condition.guest).collect();
    if runs.is_empty() {
        return Err(Missing::Runs(name(condition)));
    }
    match quantity {
        Quantity::Figure(figure) => {
            let values = runs
                .iter()
                .filter_map(|run| run.figure(&condition.phase, &condition.policy, figure));
            let values: Vec<f64> = values.collect();
            if values.is_empty() {
                return Err(Missing::Figures(name(condition)));
            }
            let off: Option<Vec<f64>> = runs.iter().map(|run| run.may_be_off_ns()).collect();
            let most = off.map(|all| all.into_iter().fold(0.0, f64::max));
            let is_known = most.is_some();
            let off = most.unwrap_or(0.0);
            Ok((
                Seen {
                    values,
                    off,
                    slowed: 1.0,
                },
                is_known,
            ))
        }
        Quantity::DisturbedCycles => {
            let all = explained(repeated, condition)?;
            let little = |found: &&&ConditionExplanation| {
                (found.all_explained_ns as f64) < EXPLAINED * found.all_ns as f64
            };
            if all.iter().any(|found| little(&found)) {
                return Err(Missing::Explanation(name(condition)));
            }
            // None at all would make every ratio infinite.
            let values = all.into_iter().map(|found| disturbers(found).1 as f64);
            let values = values.collect();
            Ok((
                Seen {
                    values,
                    off: 0.0,
                    slowed: 1.0,
                },
                true,
            ))
        }
    }
}

/// How many times longer emulated CPUs can make a path of one condition than the same path of the other. Under one load
/// the other CPUs work in both; under different loads they can take turns in one and be idle in the other.
pub(super) fn slowed(repeated: &Repeated, [one, other]: [&Condition; 2]) -> f64 {
    if one.phase == other.phase {
        return 1.0;
    }
    let runs = [one, other].into_iter();
    let runs = runs.flat_map(|condition| repeated.runs_of(&condition.guest));
    runs.map(GuestRun::may_be_slowed).fold(1.0, f64::max)
}

/// Explanations of a condition, one for each run in which its traced segments are evidence.
pub(super) fn explained<'a>(
    repeated: &'a Repeated,
    condition: &'a Condition,
) -> Result<Vec<&'a ConditionExplanation>, Missing> {
    let mut runs: Vec<&GuestRun> = repeated.runs_of(&condition.guest).collect();
    if runs.is_empty() {
        return Err(Missing::Runs(name(condition)));
    }
    runs.retain(|run| {
        let measured = run.condition(&condition.phase, &condition.policy);
        measured.is_none_or(|measured| measured.invalid_while_traced.is_none())
    });
    if runs.is_empty() {
        return Err(Missing::Figures(name(condition)));
    }
    let found = runs
        .into_iter()
        .map(|guest| guest.explained(&condition.phase, &condition.policy));
    let found: Option<Vec<_>> = found.collect();
    found.ok_or_else(|| match repeated.experiment.setting {
        Setting::Board => Missing::Untraced(name(condition)),
        Setting::Laboratory => Missing::Events(name(condition)),
    })
}

/// Number of threads, interrupts and SoftIRQs that took part in a wake-up, and the sum of the
/// cycles of each.
pub(crate) fn disturbers(explained: &ConditionExplanation) -> (usize, u64) {
    let all = explained.causes.iter();
    let others = all.filter(|cause| DISTURBERS.contains(&cause.kind.as_str()));
    others.fold((0, 0), |(causes, cycles), cause| {
        (causes + 1, cycles + cause.cycles)
    })
}

/// Kinds of causes that are something else running on the loop's CPU.
const DISTURBERS: [&str; 7] = [
    "thread",
    "interrupt",
    "softirq",
    "ipi",
    "not-preemptible",
    "ran-on",
    "other-timer",
];

/// A condition in a sentence.
pub(super) fn name(condition: &Condition) -> String {
    let Condition {
        guest,
        phase,
        policy,
    } = condition;
    format!("{guest}, {policy}, {phase}")
}

/// The value of each run, in short: the middle one, the least and the greatest.
pub(super) fn over_runs(setting: Setting, quantity: Quantity, values: &[f64]) -> String {
    let shown = |value: f64| match quantity {
        Quantity::Figure(_) => three_digits(value.round() as i64),
        Quantity::DisturbedCycles => value.to_string(),
    };
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted[..] {
        [] => "–".to_owned(),
        [one] => shown(one),
        [least, .., greatest] => format!(
            "{} ({} to {}, {} {})",
            shown(middle(values)),
            shown(least),
            shown(greatest),
            sorted.len(),
            setting.replicates()
        ),
    }
}

/// The upper median; 0 of none.
pub(super) fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

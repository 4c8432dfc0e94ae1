//! Published findings as tests that our own figures can fail.
//!
//! A claim that such a repetition can't show is marked as such and neither agrees nor contradicts.

use super::shown::{self, Seen, Shown};
use super::{Cell, Figure, GuestRun, Repeated, Setting};
use serde::Serialize;
use wakepath_explain::ConditionExplanation;
use wakepath_verdict::duration;

/// A published finding.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// In one sentence.
    pub claim: &'static str,
    /// The published figures; empty if it has none.
    pub published: &'static str,
    /// The test of our figures.
    pub test: Test,
}

/// Kinds of tests.
#[derive(Debug, Clone, Copy)]
pub enum Test {
    /// One figure is below another by this factor at least.
    Lower {
        /// The condition that should be lower.
        low: Cell<'static>,
        /// The one that should be higher.
        high: Cell<'static>,
        /// Which figure.
        figure: Figure,
        /// Least ratio.
        times: f64,
    },
    /// Neither figure is more than this multiple of the other.
    Alike {
        /// A condition.
        one: Cell<'static>,
        /// Another.
        other: Cell<'static>,
        /// Which figure.
        figure: Figure,
        /// Largest ratio of the higher to the lower.
        within: f64,
    },
    /// A figure is below this, in nanoseconds: one that is no other machine's, such as a period.
    Below {
        /// The condition.
        cell: Cell<'static>,
        /// Which figure.
        figure: Figure,
        /// In nanoseconds.
        ns: f64,
    },
    /// [`Test::Lower`] under each policy of a phase by itself.
    EachLower {
        /// The guest that should be lower.
        low: &'static str,
        /// The one that should be higher.
        high: &'static str,
        /// The phase.
        phase: &'static str,
        /// Which figure.
        figure: Figure,
        /// Least ratio.
        times: f64,
    },
    /// More than half of the cycles were woken in this way, by `ConditionExplanation::woken`.
    Woken {
        /// The condition.
        cell: Cell<'static>,
        /// `direct` or `deferred`.
        way: &'static str,
    },
    /// Threads and interrupts of others took fewer cycles' time on the loop's CPU.
    FewerDisturbed {
        /// The condition that is to have fewer.
        low: Cell<'static>,
        /// The one that is to have more.
        high: Cell<'static>,
    },
    /// Such a repetition can't show it, for this reason.
    NotVisible(&'static str),
    /// Both have the figures, and they are of different things: our figures are shown, and judged by nothing.
    NotComparable {
        /// The two conditions.
        cells: [Cell<'static>; 2],
        /// Which figure.
        figure: Figure,
        /// Why the figures can't be compared with the published ones.
        reason: &'static str,
    },
}

/// Whether our figures agree with the published ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// They do.
    Agrees,
    /// They contradict it.
    Contradicts,
    /// Too few runs for either, or the figures differ by less than the guest's turns.
    Undecided,
    /// Not testable by such a repetition.
    NotVisible,
    /// Ours are figures of something else, for the reason that is given.
    NotComparable,
    /// The figures are missing.
    NotMeasured,
}

impl Agreement {
    /// As a person reads it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Contradicts => "contradicts",
            Self::Undecided => "undecided",
            Self::NotVisible => "not testable here",
            Self::NotComparable => "not comparable",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A claim with the result of our figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The published finding.
    pub claim: &'static str,
    /// Its figures; empty if it has none.
    pub published: &'static str,
    /// Whether we found the same.
    pub agreement: Agreement,
    /// Our figures, or why there are none.
    pub here: String,
}

/// Result of every claim, in their order.
pub fn findings(repeated: &Repeated) -> Vec<Finding> {
    let claims = repeated.experiment.claims.iter();
    claims
        .map(|claim| {
            let (agreement, here) = tried(repeated, &claim.test);
            Finding {
                claim: claim.claim,
                published: claim.published,
                agreement,
                here,
            }
        })
        .collect()
}

/// The same for a person, under each experiment's title.
pub fn findings_text(all: &[Repeated]) -> String {
    let mut text = String::new();
    for one in all {
        text += &format!("{}\n", one.experiment.title);
        for finding in findings(one) {
            let agreement = finding.agreement.name();
            let published = match finding.published {
                "" => String::new(),
                figures => format!(" ({figures})"),
            };
            text += &format!(
                "  {agreement}: {}{published}\n    here: {}\n",
                finding.claim, finding.here
            );
        }
    }
    text
}

fn tried(repeated: &Repeated, test: &Test) -> (Agreement, String) {
    let outcome = match *test {
        Test::Lower {
            low,
            high,
            figure,
            times,
        } => compared(repeated, [low, high], figure, |[low, high]| {
            shown::lower(low, high, times)
        }),
        Test::Alike {
            one,
            other,
            figure,
            within,
        } => compared(repeated, [one, other], figure, |[one, other]| {
            shown::alike(one, other, within)
        }),
        Test::EachLower {
            low,
            high,
            phase,
            figure,
            times,
        } => each_lower(repeated, [low, high], phase, figure, times),
        Test::Below { cell, figure, ns } => below(repeated, cell, figure, ns),
        Test::Woken { cell, way } => woken(repeated, cell, way),
        Test::FewerDisturbed { low, high } => disturbed(repeated, low, high),
        Test::NotComparable {
            cells,
            figure,
            reason,
        } => not_comparable(repeated, cells, figure, reason),
        Test::NotVisible(why) => return (Agreement::NotVisible, why.to_owned()),
    };
    outcome.unwrap_or_else(|missing| (Agreement::NotMeasured, missing.to_string()))
}

/// Result of a claim with its figures; or what is missing.
type Tried = Result<(Agreement, String), Missing>;

/// Missing figures, so that a claim can't be tested.
#[derive(Debug, thiserror::Error)]
enum Missing {
    #[error("no figures of {0}")]
    Figures(String),
    #[error("no kernel events of {0}")]
    Events(String),
    #[error("no kernel events of {0}, which was measured without --trace")]
    Untraced(String),
    #[error("too little of {0} is explained")]
    Explanation(String),
}

/// CPUs that take turns affect each other by up to a turn, so each of their figures can be off by
/// that much either way; a result must hold for all figures in that range.
fn compared(
    repeated: &Repeated,
    cells: [Cell<'_>; 2],
    figure: Figure,
    test: impl Fn([&Seen; 2]) -> Option<Shown>,
) -> Tried {
    let mut seen = Vec::new();
    for cell in cells {
        let off = repeated.runs_of(cell.guest).map(GuestRun::may_be_off_ns);
        let values = repeated.figures(cell, figure);
        let values = values.ok_or_else(|| Missing::Figures(told(cell)))?;
        seen.push((values, off.collect::<Option<Vec<f64>>>()));
    }
    let setting = repeated.experiment.setting;
    let values = |at: usize| over_seeds(setting, &seen[at].0, |ns| duration(ns.round() as i64));
    let here = format!(
        "{} of {}: {}; of {}: {}",
        figure.name(),
        told(cells[0]),
        values(0),
        told(cells[1]),
        values(1)
    );
    let [(first, Some(first_off)), (second, Some(second_off))] = &seen[..] else {
        let why = "the guest's CPUs took turns of no known length";
        return Ok((Agreement::Undecided, format!("{here}; {why}")));
    };
    let most = |off: &[f64]| off.iter().copied().fold(0.0, f64::max);
    let of = |values: &[f64], off: f64| Seen {
        values: values.to_vec(),
        off,
    };
    let (one, other) = (of(first, most(first_off)), of(second, most(second_off)));
    let Some(found) = test([&one, &other]) else {
        return Err(Missing::Figures(told(cells[0])));
    };
    let still = test([&of(first, 0.0), &of(second, 0.0)]);
    let by_turns = still.filter(|still| still.agreement != found.agreement);
    let why = match by_turns {
        Some(_) => {
            let turn = duration(one.off.max(other.off).round() as i64);
            format!("too close for CPUs that take turns of {turn}")
        }
        None => probability(setting, &found),
    };
    Ok((found.agreement, format!("{here}; {why}")))
}

fn not_comparable(
    repeated: &Repeated,
    cells: [Cell<'_>; 2],
    figure: Figure,
    reason: &str,
) -> Tried {
    let setting = repeated.experiment.setting;
    let mut here = reason.to_owned();
    for cell in cells {
        let values = repeated.figures(cell, figure);
        let values = values.ok_or_else(|| Missing::Figures(told(cell)))?;
        let values = over_seeds(setting, &values, |ns| duration(ns.round() as i64));
        here += &format!("; {} of {}: {values}", figure.name(), told(cell));
    }
    Ok((Agreement::NotComparable, here))
}

fn below(repeated: &Repeated, cell: Cell<'_>, figure: Figure, ns: f64) -> Tried {
    let missing = || Missing::Figures(told(cell));
    let values = repeated.figures(cell, figure).ok_or_else(missing)?;
    let holds: Vec<bool> = values.iter().map(|value| *value < ns).collect();
    let found = shown::mostly(&holds).ok_or_else(missing)?;
    let setting = repeated.experiment.setting;
    let here = format!(
        "{} of {}: {}; {}",
        figure.name(),
        told(cell),
        over_seeds(setting, &values, |ns| duration(ns.round() as i64)),
        probability(setting, &found)
    );
    Ok((found.agreement, here))
}

/// A figure of each run, in short: the middle one, the least and the greatest.
fn over_seeds(setting: Setting, values: &[f64], shown: impl Fn(f64) -> String) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted[..] {
        [] => "–".to_owned(),
        [one] => shown(one),
        [least, .., greatest] => {
            let middle = sorted[sorted.len() / 2];
            format!(
                "{} ({} to {}, {} {})",
                shown(middle),
                shown(least),
                shown(greatest),
                sorted.len(),
                setting.replicates()
            )
        }
    }
}

fn probability(setting: Setting, found: &Shown) -> String {
    if found.too_few {
        return format!("too few {} to decide", setting.replicates());
    }
    match 100.0 * found.p {
        small if small < 0.01 => "by chance with p < 0.01 %".to_owned(),
        percent => format!("by chance with p = {percent:.2} %"),
    }
}

fn each_lower(
    repeated: &Repeated,
    [low, high]: [&str; 2],
    phase: &str,
    figure: Figure,
    times: f64,
) -> Tried {
    let mut by_agreement: Vec<(Agreement, Vec<&str>)> = Vec::new();
    for policy in repeated.policies(phase) {
        let cell = |guest| Cell {
            guest,
            phase,
            policy,
        };
        let cells = [cell(low), cell(high)];
        let (agreement, _) = compared(repeated, cells, figure, |[low, high]| {
            shown::lower(low, high, times)
        })?;
        match by_agreement.iter_mut().find(|(one, _)| *one == agreement) {
            Some((_, policies)) => policies.push(policy),
            None => by_agreement.push((agreement, vec![policy])),
        }
    }
    let counted = by_agreement
        .iter()
        .map(|(agreement, policies)| format!("{} under {}", agreement.name(), policies.join(", ")));
    let here = format!(
        "{} of {low} against {high}: {}",
        figure.name(),
        counted.collect::<Vec<_>>().join("; ")
    );
    let agreement = match &by_agreement[..] {
        [] => return Err(Missing::Figures(format!("{low}, {phase}"))),
        [(agreement, _)] => *agreement,
        _ => Agreement::Undecided,
    };
    Ok((agreement, here))
}

/// Explanations of a condition, one for each run.
fn explained<'a>(
    repeated: &'a Repeated,
    cell: Cell<'a>,
) -> Result<Vec<&'a ConditionExplanation>, Missing> {
    let runs = repeated.runs_of(cell.guest);
    let found = runs.map(|guest| guest.explained(cell.phase, cell.policy));
    let found = found.collect::<Option<Vec<_>>>();
    let found = found.filter(|found| !found.is_empty());
    let is_there = repeated.runs_of(cell.guest).next().is_some();
    found.ok_or_else(|| match repeated.experiment.setting {
        Setting::Board if is_there => Missing::Untraced(told(cell)),
        _ => Missing::Events(told(cell)),
    })
}

fn woken(repeated: &Repeated, cell: Cell<'_>, way: &str) -> Tried {
    let all = explained(repeated, cell)?;
    let count = |found: &ConditionExplanation| found.woken.get(way).copied().unwrap_or(0);
    let mostly: Vec<bool> = all
        .iter()
        .map(|found| 2 * count(found) > found.cycles)
        .collect();
    let sum: u64 = all.iter().map(|found| count(found)).sum();
    let cycles: u64 = all.iter().map(|found| found.cycles).sum();
    let runs = mostly.iter().filter(|&&one| one).count();
    let setting = repeated.experiment.setting;
    let found = shown::mostly(&mostly).ok_or_else(|| Missing::Events(told(cell)))?;
    let here = format!(
        "{}: {sum} of {cycles} {way}, most in {runs} of {} {}; {}",
        told(cell),
        mostly.len(),
        setting.replicates(),
        probability(setting, &found)
    );
    Ok((found.agreement, here))
}

/// If a smaller share of a condition's latency is explained, its disturbers aren't counted.
const EXPLAINED: f64 = 0.99;

fn disturbed(repeated: &Repeated, low: Cell<'_>, high: Cell<'_>) -> Tried {
    let told_of = |cell| {
        let all = explained(repeated, cell)?;
        let little = |found: &&&ConditionExplanation| {
            (found.all_explained_ns as f64) < EXPLAINED * found.all_ns as f64
        };
        match all.iter().find(little) {
            Some(_) => Err(Missing::Explanation(told(cell))),
            None => Ok(all.into_iter().map(disturbers).collect::<Vec<_>>()),
        }
    };
    let (few, many) = (told_of(low)?, told_of(high)?);
    let shares = |all: &[(usize, u64)]| Seen {
        values: all.iter().map(|one| one.1 as f64).collect(),
        off: 0.0,
    };
    let (fewer, more) = (shares(&few), shares(&many));
    let found = shown::lower(&fewer, &more, 1.0).ok_or_else(|| Missing::Events(told(low)))?;
    let setting = repeated.experiment.setting;
    let shown = |cell, seen: &Seen| {
        let cycles = over_seeds(setting, &seen.values, |cycles| cycles.to_string());
        format!("{}: {cycles}", told(cell))
    };
    let here = format!(
        "cycles with other threads or interrupts, {}; {}; {}",
        shown(low, &fewer),
        shown(high, &more),
        probability(setting, &found)
    );
    Ok((found.agreement, here))
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

fn told(cell: Cell<'_>) -> String {
    format!("{}, {}, {}", cell.guest, cell.policy, cell.phase)
}

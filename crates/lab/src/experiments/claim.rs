//! What was published as a finding, as a test that our own figures can fail. A claim that virtual time
//! can't show is named so and neither agrees nor contradicts.

use super::{Cell, Figure, GuestRun, Repeated};
use serde::Serialize;
use wakepath_explain::ConditionExplanation;
use wakepath_verdict::duration;

/// A published finding.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// In one sentence, with its figures.
    pub published: &'static str,
    /// What our figures must show for it.
    pub test: Test,
}

/// What figures must show.
#[derive(Debug, Clone, Copy)]
pub enum Test {
    /// One figure lies below another by this factor at least.
    Lower {
        /// The condition that is to be lower.
        low: Cell,
        /// The one that is to be higher.
        high: Cell,
        /// Which figure.
        figure: Figure,
        /// How many times as high.
        times: f64,
    },
    /// Neither figure is more than so many times the other.
    Alike {
        /// A condition.
        one: Cell,
        /// Another.
        other: Cell,
        /// Which figure.
        figure: Figure,
        /// How many times the lower one the higher may be.
        within: f64,
    },
    /// More than half of the cycles were woken in this way, by `ConditionExplanation::woken`.
    Woken {
        /// The condition.
        cell: Cell,
        /// `direct` or `deferred`.
        way: &'static str,
    },
    /// Threads and interrupts of others took fewer cycles' time on the loop's CPU.
    FewerDisturbed {
        /// The condition that is to have fewer.
        low: Cell,
        /// The one that is to have more.
        high: Cell,
    },
    /// Virtual time can't show it, for this reason.
    NotVisible(&'static str),
}

/// Whether our figures say what was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// They do.
    Agrees,
    /// They say something else.
    Contradicts,
    /// They lie closer together than the guest's turns can tell.
    Undecided,
    /// Virtual time can't tell.
    NotVisible,
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
            Self::NotVisible => "not visible in virtual time",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A claim with what our figures say of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was published.
    pub published: &'static str,
    /// Whether we found the same.
    pub agreement: Agreement,
    /// Our figures, or why there are none.
    pub here: String,
}

/// What the figures say of every claim, in their order.
pub fn findings(repeated: &Repeated) -> Vec<Finding> {
    let claims = repeated.experiment.claims.iter();
    claims
        .map(|claim| {
            let (agreement, here) = tried(repeated, &claim.test);
            Finding {
                published: claim.published,
                agreement,
                here,
            }
        })
        .collect()
}

fn tried(repeated: &Repeated, test: &Test) -> (Agreement, String) {
    let outcome = match *test {
        Test::Lower {
            low,
            high,
            figure,
            times,
        } => compared(repeated, [low, high], figure, |[low, high]| {
            low * times < high
        }),
        Test::Alike {
            one,
            other,
            figure,
            within,
        } => compared(repeated, [one, other], figure, |[one, other]| {
            one.max(other) <= within * one.min(other)
        }),
        Test::Woken { cell, way } => woken(repeated, cell, way),
        Test::FewerDisturbed { low, high } => disturbed(repeated, low, high),
        Test::NotVisible(why) => return (Agreement::NotVisible, why.to_owned()),
    };
    outcome.unwrap_or_else(|missing| (Agreement::NotMeasured, missing.to_string()))
}

/// What the figures say, and the figures; or what is missing.
type Tried = Result<(Agreement, String), Missing>;

/// What there is not, so that a claim can't be held against anything.
#[derive(Debug, thiserror::Error)]
enum Missing {
    #[error("no figures of {}", told(*.0))]
    Figures(Cell),
    #[error("no kernel events of {}", told(*.0))]
    Events(Cell),
    #[error("too little of {} is explained", told(*.0))]
    Explanation(Cell),
}

fn told_by(holds: bool) -> Agreement {
    match holds {
        true => Agreement::Agrees,
        false => Agreement::Contradicts,
    }
}

/// CPUs that take turns feel each other up to a turn late, so a figure of theirs may be off by that
/// much either way. What does not hold for all such figures alike is undecided.
fn compared(
    repeated: &Repeated,
    cells: [Cell; 2],
    figure: Figure,
    holds: impl Fn([f64; 2]) -> bool,
) -> Tried {
    let mut values = [0.0; 2];
    let mut off = [Some(0.0); 2];
    for (at, cell) in cells.into_iter().enumerate() {
        let found = repeated.figure(cell, figure);
        values[at] = found.ok_or(Missing::Figures(cell))?;
        off[at] = repeated.guest(cell.guest).and_then(GuestRun::may_be_off_ns);
    }
    let shown = |cell: Cell, ns: f64| format!("{}: {}", told(cell), duration(ns.round() as i64));
    let here = format!(
        "{} of {} and of {}",
        figure.name(),
        shown(cells[0], values[0]),
        shown(cells[1], values[1])
    );
    let [Some(first), Some(second)] = off else {
        let why = "the guest's CPUs took turns of no known length";
        return Ok((Agreement::Undecided, format!("{here}; {why}")));
    };
    let told = holds(values);
    let same = [-first, first].into_iter().all(|by| {
        let both = [-second, second].map(|other| [values[0] + by, values[1] + other]);
        both.into_iter().all(|moved| holds(moved) == told)
    });
    if same {
        return Ok((told_by(told), here));
    }
    let turn = duration(first.max(second).round() as i64);
    let why = format!("too close for CPUs that take turns of {turn}");
    Ok((Agreement::Undecided, format!("{here}; {why}")))
}

fn explained(repeated: &Repeated, cell: Cell) -> Result<&ConditionExplanation, Missing> {
    repeated
        .guest(cell.guest)
        .and_then(|guest| guest.explained(cell.phase, cell.policy))
        .ok_or(Missing::Events(cell))
}

fn woken(repeated: &Repeated, cell: Cell, way: &str) -> Tried {
    let found = explained(repeated, cell)?;
    let count = found.woken.get(way).copied().unwrap_or(0);
    let here = format!("{}: {count} of {} {way}", told(cell), found.cycles);
    Ok((told_by(2 * count > found.cycles), here))
}

/// Less than this share of a condition's latency explained, and what disturbed it is not counted.
const EXPLAINED: f64 = 0.99;

fn disturbed(repeated: &Repeated, low: Cell, high: Cell) -> Tried {
    let told_of = |cell: Cell| {
        let found = explained(repeated, cell)?;
        match found.all_explained_ns as f64 >= EXPLAINED * found.all_ns as f64 {
            true => Ok(disturbers(found)),
            false => Err(Missing::Explanation(cell)),
        }
    };
    let (few, many) = (told_of(low)?, told_of(high)?);
    let shown = |cell: Cell, (causes, cycles): (usize, u64)| {
        format!("{}: {causes} of them in {cycles} cycles", told(cell))
    };
    let here = format!(
        "threads and interrupts of others, {}; {}",
        shown(low, few),
        shown(high, many)
    );
    Ok((told_by(few.0 < many.0 && few.1 < many.1), here))
}

/// How many threads, interrupts and SoftIRQs took a part of a wake-up, and in how many cycles each,
/// summed.
pub(crate) fn disturbers(explained: &ConditionExplanation) -> (usize, u64) {
    let all = explained.causes.iter();
    let others = all.filter(|cause| DISTURBERS.contains(&cause.kind.as_str()));
    others.fold((0, 0), |(causes, cycles), cause| {
        (causes + 1, cycles + cause.cycles)
    })
}

/// Kinds of cause that are something else that ran on the loop's CPU.
const DISTURBERS: [&str; 6] = [
    "thread",
    "interrupt",
    "softirq",
    "ipi",
    "not-preemptible",
    "other-timer",
];

fn told(cell: Cell) -> String {
    format!("{}, {}, {}", cell.guest, cell.policy, cell.phase)
}

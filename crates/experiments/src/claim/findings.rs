//! The verdict on each claim of an experiment, by our figures.

use super::figures::{Missing, explained, middle, name, over_runs, slowed, values};
use super::shown::{self, Seen, Shown};
use super::{Claim, Condition, Quantity, Reasoned, Smallest, Test, holm};
use crate::{Repeated, Setting};
use serde::Serialize;
use wakepath_explain::ConditionExplanation;
use wakepath_verdict::duration;

/// Error probability of all claims of an experiment together.
const BY_CHANCE: f64 = 0.05;

/// Whether our figures agree with the published ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// They do, by the smallest effect that counts at least.
    Agrees,
    /// They show that the effect is smaller, or the opposite one.
    Contradicts,
    /// Neither is shown.
    Undecided,
    /// Ours are figures of something else, for the reason that is given.
    NotComparable,
    /// The figures are missing.
    NotRun,
}

impl Agreement {
    /// As a person reads it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Contradicts => "contradicts",
            Self::Undecided => "undecided",
            Self::NotComparable => "not comparable",
            Self::NotRun => "not run",
        }
    }
}

/// A claim with the result of our figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The published statement.
    pub claim: String,
    /// Its figures; empty if it has none.
    pub published: String,
    /// Our figures, or why there are none.
    pub here: String,
    /// The smallest effect that counts, and why; empty if no test decides it.
    pub smallest: String,
    /// Whether we found the same.
    pub agreement: Agreement,
    /// Probability of being wrong in this direction by chance, corrected for all claims of the experiment; `None`
    /// if no test was made.
    pub p: Option<f64>,
}

/// What our figures show of one claim, before the correction.
enum Tried {
    /// No probability decides it.
    Settled(Agreement, String),
    Tested {
        here: String,
        shown: Shown,
        /// Runs of the condition that has fewest.
        runs: usize,
        /// Reason why an open result can be open.
        doubt: Option<String>,
    },
}

/// The verdict on every claim, in their order.
pub fn findings(repeated: &Repeated) -> Vec<Finding> {
    let claims = &repeated.claims;
    let tried: Vec<Tried> = claims
        .all
        .iter()
        .map(|claim| tried(repeated, &claim.test))
        .collect();
    // A claim without enough runs counts too: it was registered with the others.
    let probability = |one: &Tried| match one {
        Tried::Tested { shown, runs, .. } if *runs >= claims.seeds => shown.two_sided(),
        _ => 1.0,
    };
    let is_tested = claims.all.iter().map(|claim| claim.test.is_statistical());
    let family: Vec<f64> = tried
        .iter()
        .zip(is_tested.clone())
        .filter(|(_, is_tested)| *is_tested)
        .map(|(one, _)| probability(one))
        .collect();
    let mut adjusted = holm::adjusted(&family).into_iter();
    let adjusted = is_tested.map(|is_tested| if is_tested { adjusted.next() } else { None });
    let adjusted: Vec<Option<f64>> = adjusted.collect();
    let all = claims.all.iter().zip(tried).zip(adjusted);
    all.map(|((claim, tried), p)| finding(repeated, claim, tried, p.unwrap_or(1.0)))
        .collect()
}

fn finding(repeated: &Repeated, claim: &Claim, tried: Tried, adjusted: f64) -> Finding {
    let wanted = repeated.claims.seeds;
    let replicates = repeated.experiment.setting.replicates();
    let (agreement, here, p) = match tried {
        Tried::Settled(agreement, here) => (agreement, here, None),
        Tried::Tested { here, .. } if !repeated.claims.before_the_runs => (
            Agreement::Undecided,
            format!("{here}; no claims were registered before the first run"),
            None,
        ),
        Tried::Tested { here, runs, .. } if runs < wanted => (
            Agreement::Undecided,
            format!("{here}; {runs} of the {wanted} {replicates} that decide it"),
            None,
        ),
        Tried::Tested {
            here, shown, doubt, ..
        } => {
            let agreement = match (adjusted <= BY_CHANCE, shown.is_for()) {
                (true, true) => Agreement::Agrees,
                (true, false) => Agreement::Contradicts,
                (false, _) => Agreement::Undecided,
            };
            let doubt = doubt.filter(|_| agreement == Agreement::Undecided);
            let here = doubt
                .into_iter()
                .fold(here, |here, doubt| format!("{here}; {doubt}"));
            (agreement, here, Some(adjusted))
        }
    };
    Finding {
        claim: claim.statement.clone(),
        published: claim.published.clone(),
        here,
        smallest: smallest(&claim.test),
        agreement,
        p,
    }
}

/// The same for a person, under each experiment's title.
pub fn findings_text(all: &[Repeated]) -> String {
    let mut text = String::new();
    for one in all {
        text += &format!("{}\n", one.experiment.title);
        for finding in findings(one) {
            let published = match &*finding.published {
                "" => String::new(),
                figures => format!(" ({figures})"),
            };
            text += &format!(
                "  {}: {}{published}\n    here: {}\n",
                finding.verdict(),
                finding.claim,
                finding.here
            );
        }
    }
    text
}

impl Finding {
    /// The verdict, with its probability if a test was made.
    pub fn verdict(&self) -> String {
        let name = self.agreement.name();
        match self.p {
            None => name.to_owned(),
            Some(p) if p < 0.0001 => format!("{name}, p < 0.01 %"),
            Some(p) => format!("{name}, p = {:.2} %", 100.0 * p),
        }
    }
}

fn smallest(test: &Test) -> String {
    let of = |smallest: &Smallest| match &smallest.from {
        Reasoned::ThirdOf(times) => {
            format!("{:.2} times: a third of {times:.2} times", smallest.times)
        }
        Reasoned::Argued(because) => format!("{:.2} times: {because}", smallest.times),
    };
    match test {
        Test::Lower { smallest, .. } => of(smallest),
        Test::Alike { smallest, .. } => format!("less than {}", of(smallest)),
        Test::Below { ns, .. } => format!("below {}", duration(*ns as i64)),
        Test::Woken { .. } => "more than half of the cycles".into(),
        Test::NotComparable { .. } | Test::NotRun { .. } => String::new(),
    }
}

fn tried(repeated: &Repeated, test: &Test) -> Tried {
    let outcome = match test {
        Test::Lower {
            low,
            high,
            quantity,
            smallest,
        } => compared(repeated, [low, high], *quantity, |[low, high]| {
            shown::lower(low, high, smallest.times)
        }),
        Test::Alike {
            both: [one, other],
            quantity,
            smallest,
        } => compared(repeated, [one, other], *quantity, |[one, other]| {
            shown::alike(one, other, smallest.times)
        }),
        Test::Below {
            condition,
            quantity,
            ns,
        } => below(repeated, condition, *quantity, *ns),
        Test::Woken { condition, way } => woken(repeated, condition, way),
        Test::NotComparable { reason, shown } => {
            return Tried::Settled(Agreement::NotComparable, beside(repeated, reason, shown));
        }
        Test::NotRun { reason } => return Tried::Settled(Agreement::NotRun, reason.clone()),
    };
    outcome.unwrap_or_else(|missing| {
        let agreement = if missing.is_not_run() {
            Agreement::NotRun
        } else {
            Agreement::Undecided
        };
        Tried::Settled(agreement, missing.to_string())
    })
}

/// A result must hold for all values within the error of each.
fn compared(
    repeated: &Repeated,
    [first, second]: [&Condition; 2],
    quantity: Quantity,
    test: impl Fn([&Seen; 2]) -> Option<Shown>,
) -> Result<Tried, Missing> {
    let (mut one, one_is_known) = values(repeated, first, quantity)?;
    let (mut other, other_is_known) = values(repeated, second, quantity)?;
    if let Quantity::Figure(_) = quantity {
        let slowed = slowed(repeated, [first, second]);
        (one.slowed, other.slowed) = (slowed, slowed);
    }
    let setting = repeated.experiment.setting;
    let mut here = format!(
        "{} of {}: {}; of {}: {}",
        quantity.name(),
        name(first),
        over_runs(setting, quantity, &one.values),
        name(second),
        over_runs(setting, quantity, &other.values)
    );
    let (low, high) = (middle(&one.values), middle(&other.values));
    if low > 0.0 {
        here += &format!("; {:.2} times", high / low);
    }
    if !(one_is_known && other_is_known) {
        here += "; the guest's CPUs took turns of no known length";
        return Ok(Tried::Settled(Agreement::Undecided, here));
    }
    let missing = || Missing::Figures(name(first));
    let shown = test([&one, &other]).ok_or_else(missing)?;
    let still = test([&one.exact(), &other.exact()]).ok_or_else(missing)?;
    let by_turns = still.two_sided() <= BY_CHANCE && shown.two_sided() > BY_CHANCE;
    let doubt = by_turns.then(|| {
        let turn = duration(one.off.max(other.off).round() as i64);
        let speed = if one.slowed > 1.0 {
            format!(" and have 1/{} of the speed while all work", one.slowed)
        } else {
            String::new()
        };
        format!("too close for CPUs that take turns of {turn}{speed}")
    });
    Ok(Tried::Tested {
        here,
        shown,
        runs: one.values.len().min(other.values.len()),
        doubt,
    })
}

/// The reason, and our figures as far as they are there.
fn beside(repeated: &Repeated, reason: &str, shown: &Option<(Vec<Condition>, Quantity)>) -> String {
    let mut here = reason.to_owned();
    let Some((conditions, quantity)) = shown else {
        return here;
    };
    let setting = repeated.experiment.setting;
    for condition in conditions {
        let values = match values(repeated, condition, *quantity) {
            Ok((seen, _)) => over_runs(setting, *quantity, &seen.values),
            Err(missing) if missing.is_not_run() => "not run".into(),
            Err(_) => "invalid".into(),
        };
        here += &format!("; {} of {}: {values}", quantity.name(), name(condition));
    }
    here
}

fn below(
    repeated: &Repeated,
    condition: &Condition,
    quantity: Quantity,
    ns: f64,
) -> Result<Tried, Missing> {
    let (seen, _) = values(repeated, condition, quantity)?;
    let holds: Vec<bool> = seen.values.iter().map(|value| *value < ns).collect();
    let shown = shown::mostly(&holds).ok_or_else(|| Missing::Figures(name(condition)))?;
    let setting = repeated.experiment.setting;
    Ok(Tried::Tested {
        here: format!(
            "{} of {}: {}",
            quantity.name(),
            name(condition),
            over_runs(setting, quantity, &seen.values)
        ),
        shown,
        runs: holds.len(),
        doubt: None,
    })
}

fn woken(repeated: &Repeated, condition: &Condition, way: &str) -> Result<Tried, Missing> {
    let all = explained(repeated, condition)?;
    let count = |found: &ConditionExplanation| found.woken.get(way).copied().unwrap_or(0);
    let mostly: Vec<bool> = all
        .iter()
        .map(|found| 2 * count(found) > found.cycles)
        .collect();
    let sum: u64 = all.iter().map(|found| count(found)).sum();
    let cycles: u64 = all.iter().map(|found| found.cycles).sum();
    let runs = mostly.iter().filter(|&&one| one).count();
    let setting: Setting = repeated.experiment.setting;
    Ok(Tried::Tested {
        here: format!(
            "{}: {sum} of {cycles} {way}, most in {runs} of {} {}",
            name(condition),
            mostly.len(),
            setting.replicates()
        ),
        shown: shown::mostly(&mostly).ok_or_else(|| Missing::Events(name(condition)))?,
        runs: mostly.len(),
        doubt: None,
    })
}

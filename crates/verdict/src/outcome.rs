//! The four outcomes and how several of them combine.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Result of a run against its criterion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The criterion is met, with evidence enough.
    Passed,
    /// The criterion is violated, with evidence enough.
    Failed,
    /// Too little evidence either way.
    Undecided,
    /// The run itself can't be trusted; it says nothing about the criterion.
    Invalid,
    /// The run is in virtual time: lengths of software paths, which no criterion of performance is
    /// judged by, however they compare with it.
    VirtualTime,
    /// No criterion was given: there are figures, and nothing to hold them against.
    NotJudged,
}

impl Outcome {
    /// Exit code of the command: 0 passed or nothing to judge, 1 invalid (like any other error), 2 failed,
    /// 3 undecided, as which virtual time counts.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Passed | Self::NotJudged => 0,
            Self::Invalid => 1,
            Self::Failed => 2,
            Self::Undecided | Self::VirtualTime => 3,
        }
    }

    /// The outcome of one condition from what each reason would make of it: one invalid reason
    /// spoils it, then virtual time or a missing criterion takes it out of judgement, then one failure fails it, then one
    /// doubt leaves it undecided. Nothing at all is undecided.
    pub(crate) fn of_reasons(bearings: impl Iterator<Item = Self>) -> Self {
        let all: Vec<Self> = bearings.collect();
        [
            Self::Invalid,
            Self::VirtualTime,
            Self::NotJudged,
            Self::Failed,
            Self::Undecided,
            Self::Passed,
        ]
        .into_iter()
        .find(|outcome| all.contains(outcome))
        .unwrap_or(Self::Undecided)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
            Self::Invalid => "invalid",
            Self::VirtualTime => "virtual time",
            Self::NotJudged => "not judged",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome::{self, *};

    #[test]
    fn one_invalid_reason_spoils_a_condition_and_no_reason_decides_nothing() {
        let of = |all: &[Outcome]| Outcome::of_reasons(all.iter().copied());
        assert_eq!(of(&[Passed, Failed, Invalid]), Invalid);
        assert_eq!(of(&[Passed, Failed, Undecided]), Failed);
        assert_eq!(of(&[Passed, VirtualTime]), VirtualTime);
        assert_eq!(of(&[Failed, VirtualTime]), VirtualTime);
        assert_eq!(of(&[Invalid, VirtualTime]), Invalid);
        assert_eq!(of(&[Passed, Undecided]), Undecided);
        assert_eq!(of(&[Failed, NotJudged]), NotJudged);
        assert_eq!(of(&[Invalid, NotJudged]), Invalid);
        assert_eq!(of(&[Passed, Passed]), Passed);
        assert_eq!(of(&[]), Undecided);
    }

    #[test]
    fn exit_codes_are_those_of_the_manual() {
        assert_eq!(
            [Passed, Invalid, Failed, Undecided, VirtualTime, NotJudged].map(Outcome::exit_code),
            [0, 1, 2, 3, 3, 0]
        );
    }
}

//! Compares the flight of a vehicle through the measured timing with its criterion. It flies
//! nothing: the figures are arguments.

use crate::wording::duration;
use crate::{Judgement, Outcome, Reason};
use serde::Serialize;
use std::fmt;
use wakepath_scenario::{FlightCriterion, Losses};
use wakepath_timeline::duration::three_digits;

/// Judged result of a flight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlightFigures {
    /// The vehicle's name.
    pub vehicle: String,
    /// How the vehicle was lost, in a few words; `None` if it was not.
    pub lost: Option<String>,
    /// Whether it is lost at this period even without latency, which no timing can help.
    pub ideal_lost: bool,
    /// Constant delay that the loop tolerates beyond its own, in nanoseconds; negative beyond the
    /// margin, `None` if it has no margin at all.
    pub delay_left_ns: Option<i64>,
    /// Greatest tilt after a kick, in degrees.
    pub peak_tilt_deg: f64,
    /// Kicks flown.
    pub kicks: u64,
}

/// One thing that a flight showed. Times are nanoseconds, angles degrees.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "found", rename_all = "kebab-case")]
#[allow(
    missing_docs,
    reason = "the fields are named by the words of the glossary"
)]
pub enum FlightFinding {
    /// The recording could not be flown.
    NotFlown { why: String },
    /// The vehicle was lost.
    Lost {
        vehicle: String,
        how: String,
        /// Whether it is lost without latency, too.
        ideal_lost: bool,
        tolerated: bool,
    },
    /// The vehicle flew to the end in every flight.
    Flown { vehicle: String, kicks: u64 },
    /// What constant delay the loop bears beyond its own.
    DelayMargin { left_ns: Option<i64>, least_ns: u64 },
    /// The greatest tilt after a kick.
    PeakTilt { degrees: f64, most: f64, kicks: u64 },
}

impl FlightFinding {
    /// Outcome by this alone.
    pub fn bearing(&self) -> Outcome {
        let met = match self {
            Self::NotFlown { .. } => return Outcome::Undecided,
            Self::Lost { tolerated, .. } => *tolerated,
            Self::Flown { .. } => true,
            Self::DelayMargin { left_ns, least_ns } => left_ns
                .and_then(|left| u64::try_from(left).ok())
                .is_some_and(|left| left >= *least_ns),
            // Written so that a tilt that is no number is too much.
            Self::PeakTilt { degrees, most, .. } => degrees <= most,
        };
        if met {
            Outcome::Passed
        } else {
            Outcome::Failed
        }
    }
}

/// Findings for each part of the criterion.
pub fn flight_findings(figures: &FlightFigures, criterion: &FlightCriterion) -> Vec<FlightFinding> {
    let vehicle = figures.vehicle.clone();
    let kicks = figures.kicks;
    let mut findings = vec![match &figures.lost {
        Some(how) => FlightFinding::Lost {
            vehicle,
            how: how.clone(),
            ideal_lost: figures.ideal_lost,
            tolerated: criterion.lost == Losses::Tolerated,
        },
        None => FlightFinding::Flown { vehicle, kicks },
    }];
    findings.extend(
        criterion
            .delay_margin_ns
            .map(|least_ns| FlightFinding::DelayMargin {
                left_ns: figures.delay_left_ns,
                least_ns,
            }),
    );
    findings.extend(criterion.peak_tilt_deg.map(|most| FlightFinding::PeakTilt {
        degrees: figures.peak_tilt_deg,
        most,
        kicks,
    }));
    findings
}

impl Judgement {
    /// The verdict with what the flight showed: a condition whose cycles met their criterion still
    /// fails when its flight does not meet its own.
    #[must_use]
    pub fn with_flight(mut self, findings: Vec<FlightFinding>) -> Self {
        let reasons = findings
            .into_iter()
            .map(|finding| Reason::Flight { finding });
        self.reasons.extend(reasons);
        self.judge_again()
    }

    /// The verdict on the flight alone.
    #[must_use]
    pub fn by_flight_alone(mut self) -> Self {
        self.reasons
            .retain(|reason| matches!(reason, Reason::Flight { .. }));
        self.judge_again()
    }

    fn judge_again(mut self) -> Self {
        self.reasons.sort_by_cached_key(Reason::rank);
        self.outcome = Outcome::of_reasons(self.reasons.iter().map(Reason::bearing));
        self.more = self.more.filter(|_| self.outcome == Outcome::Undecided);
        self
    }
}

impl fmt::Display for FlightFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFlown { why } => write!(f, "not flown: {why}"),
            Self::Lost {
                vehicle,
                how,
                ideal_lost,
                ..
            } => {
                write!(f, "the {vehicle} is lost: {how}")?;
                if *ideal_lost {
                    write!(f, "; without any latency it is lost at this period, too")
                } else {
                    Ok(())
                }
            }
            Self::Flown { vehicle, kicks } => {
                write!(f, "the {vehicle} flies, also after {kicks} kicks")
            }
            Self::DelayMargin { left_ns, least_ns } => {
                let least = duration(i64::try_from(*least_ns).unwrap_or(i64::MAX));
                match left_ns {
                    None => write!(f, "no delay margin at all, {least} asked for"),
                    Some(left @ ..0) => {
                        let beyond = three_digits(left.saturating_neg());
                        write!(f, "{beyond} beyond the delay margin, {least} asked for")
                    }
                    Some(left) => {
                        let left = crate::wording::duration_against(
                            *left,
                            i64::try_from(*least_ns).unwrap_or(i64::MAX),
                        );
                        write!(f, "delay margin left {left}, {least} asked for")
                    }
                }
            }
            Self::PeakTilt {
                degrees,
                most,
                kicks,
            } => write!(
                f,
                "tilt of {degrees:.2}° after the worst of {kicks} kicks, {most}° tolerated"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> FlightFigures {
        FlightFigures {
            vehicle: "Hummingbird".into(),
            lost: None,
            ideal_lost: false,
            delay_left_ns: Some(4_000_000),
            peak_tilt_deg: 30.0,
            kicks: 24,
        }
    }

    fn bearings(figures: &FlightFigures, lost: Losses) -> Vec<Outcome> {
        let criterion = FlightCriterion {
            lost,
            delay_margin_ns: Some(4_000_000),
            peak_tilt_deg: Some(30.0),
        };
        let findings = flight_findings(figures, &criterion);
        findings.iter().map(FlightFinding::bearing).collect()
    }

    #[test]
    fn figures_exactly_at_the_criterion_meet_it() {
        assert_eq!(bearings(&figures(), Losses::Never), [Outcome::Passed; 3]);
    }

    #[test]
    fn each_part_of_the_criterion_fails_by_itself() {
        use Outcome::{Failed, Passed};
        let lost = FlightFigures {
            lost: Some("tracking".into()),
            ..figures()
        };
        assert_eq!(bearings(&lost, Losses::Never), [Failed, Passed, Passed]);
        assert_eq!(bearings(&lost, Losses::Tolerated), [Passed; 3]);
        for left in [Some(3_999_999), Some(-1), None] {
            let late = FlightFigures {
                delay_left_ns: left,
                ..figures()
            };
            assert_eq!(bearings(&late, Losses::Never), [Passed, Failed, Passed]);
        }
        for tilt in [30.01, f64::NAN] {
            let tilted = FlightFigures {
                peak_tilt_deg: tilt,
                ..figures()
            };
            assert_eq!(bearings(&tilted, Losses::Never), [Passed, Passed, Failed]);
        }
    }

    #[test]
    fn a_margin_a_hair_below_the_criterion_does_not_read_like_it() {
        let text = |left_ns| {
            FlightFinding::DelayMargin {
                left_ns,
                least_ns: 4_000_000,
            }
            .to_string()
        };
        assert_eq!(
            text(Some(3_999_999)),
            "delay margin left 3 999 999 ns, 4 ms asked for"
        );
        assert_eq!(
            text(Some(-8_500_000)),
            "8.50 ms beyond the delay margin, 4 ms asked for"
        );
        assert_eq!(text(None), "no delay margin at all, 4 ms asked for");
    }
}

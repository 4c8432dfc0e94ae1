//! Cost and severity of a finding for the loop. Figures come from the machine (an idle state's
//! latency, a throttling share); if there is no figure, the check's own weight counts and no figure
//! is printed.

use crate::LoopAtHand;
use serde::{Deserialize, Serialize};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::length;
use wakepath_timeline::number;

/// Severity of a finding for the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; it can't break the criterion by itself.
    Minor,
    /// Can cost a noticeable part of what the loop tolerates.
    Notable,
    /// Can break the criterion by itself, or prevents the loop from running as meant.
    Grave,
}

impl Severity {
    /// As printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Notable => "major",
            Self::Grave => "critical",
        }
    }
}

/// How much it can cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Magnitude {
    /// No figure is known here: the check's own weight counts.
    #[default]
    NotKnown,
    /// The loop can't run as meant at all.
    Prevents,
    /// A delay of this length, whenever it strikes.
    Delay {
        /// ns.
        ns: u64,
    },
    /// A stop of this length in each period of that length.
    Stop {
        /// ns.
        ns: u64,
        /// ns.
        every_ns: u64,
    },
}

impl Magnitude {
    /// A delay in microseconds.
    pub fn delay_us(us: u64) -> Self {
        Self::Delay {
            ns: us.saturating_mul(1_000),
        }
    }

    /// Severity for this loop; `weight` if no figure is known.
    pub fn severity(self, subject: &LoopAtHand, weight: Severity) -> Severity {
        let ns = match self {
            Self::NotKnown => return weight,
            Self::Prevents => return Severity::Grave,
            Self::Delay { ns } => ns,
            // It strikes only a loop that never sleeps, so it breaks no criterion by itself.
            Self::Stop { ns, .. } if ns >= subject.noticeable_ns() => return Severity::Notable,
            Self::Stop { .. } => return Severity::Minor,
        };
        if ns >= subject.tolerance_ns() {
            Severity::Grave
        } else if ns >= subject.noticeable_ns() {
            Severity::Notable
        } else {
            Severity::Minor
        }
    }

    /// Meaning for this loop, in words with figures.
    pub fn for_loop(self, subject: &LoopAtHand) -> Option<String> {
        match self {
            Self::NotKnown => None,
            Self::Prevents => Some("the loop can't run as intended".to_owned()),
            Self::Delay { ns } => Some(format!(
                "{} is {} of the {} period{}",
                length(ns),
                share(ns, subject.period_ns),
                length(subject.period_ns),
                subject.latency_ns.map_or(String::new(), |latency| format!(
                    " and {} of the {} that its criterion allows",
                    share(ns, latency),
                    length(latency)
                ))
            )),
            Self::Stop { ns, every_ns } => Some(format!(
                "{} of each {}: {} of this loop in a row",
                length(ns),
                length(every_ns),
                counted(subject.due_times_in(ns), "due time", "due times")
            )),
        }
    }
}

fn share(part: u64, whole: u64) -> String {
    number::percent(part as f64 / whole.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(period_ns: u64, latency_ns: Option<u64>) -> LoopAtHand {
        LoopAtHand {
            period_ns,
            latency_ns,
            cpus: "1".parse().unwrap(),
            priority: None,
            program: None,
        }
    }

    #[test]
    fn the_same_delay_is_minor_to_a_slow_loop_and_grave_to_a_fast_one() {
        let delay = Magnitude::delay_us(100);
        let severity = |period, latency| delay.severity(&subject(period, latency), Severity::Minor);
        // 100 Hz: 5 % of 10 ms is 500 µs.
        assert_eq!(severity(10_000_000, None), Severity::Minor);
        // 250 Hz with 400 µs allowed: a quarter of it is 100 µs.
        assert_eq!(severity(4_000_000, Some(400_000)), Severity::Notable);
        // 1 kHz: a tenth of the period is 100 µs.
        assert_eq!(severity(1_000_000, None), Severity::Grave);
    }

    #[test]
    fn throttling_is_told_in_due_times_of_the_loop() {
        let stop = Magnitude::Stop {
            ns: 50_000_000,
            every_ns: 1_000_000_000,
        };
        let text = stop.for_loop(&subject(4_000_000, None)).unwrap();
        assert_eq!(
            text,
            "50 ms of each 1 s: 12 due times of this loop in a row"
        );
    }

    #[test]
    fn a_delay_is_told_as_a_share_of_period_and_criterion() {
        let text = Magnitude::delay_us(130)
            .for_loop(&subject(4_000_000, Some(400_000)))
            .unwrap();
        assert_eq!(
            text,
            "130 µs is 3.25 % of the 4 ms period and 32.5 % of the 400 µs that its criterion allows"
        );
    }
}

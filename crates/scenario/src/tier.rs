//! The timing tiers of BeaglePilot (a Linux autopilot on a BeagleBone, 2013).
//!
//! How soon each kind of event must be served, from the pins of a bus to a position. The room
//! `verdict` finds the tiers that a machine reaches.

use crate::{Criterion, PoliciesNeeded};
use serde::Serialize;

/// A tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tier {
    /// How often it must be served, in nanoseconds.
    pub period_ns: u64,
    /// Name of the tier's criterion in a scenario; `None` if no thread can serve it.
    pub criterion: Option<&'static str>,
    /// The events served.
    pub serves: &'static str,
    /// Reason why no Linux thread can serve it; `None` if one might.
    pub out_of_reach: Option<&'static str>,
}

/// From the shortest to the longest.
pub static TIERS: [Tier; 5] = [
    Tier {
        period_ns: 10,
        criterion: None,
        serves: "transitions of SPI's lines",
        out_of_reach: Some(
            "a processor executes about ten instructions in 10 ns; use a hardware controller",
        ),
    },
    Tier {
        period_ns: 1_000,
        criterion: None,
        serves: "edges of PWM",
        out_of_reach: Some(
            "a wake-up alone takes longer than 1 µs; use a PWM unit, a PRU or a microcontroller",
        ),
    },
    Tier {
        period_ns: 1_000_000,
        criterion: Some("1 ms tier"),
        serves: "gyroscopes, accelerometers",
        out_of_reach: None,
    },
    Tier {
        period_ns: 20_000_000,
        criterion: Some("20 ms tier"),
        serves: "barometer, compass, airspeed, sonar",
        out_of_reach: None,
    },
    Tier {
        period_ns: 200_000_000,
        criterion: Some("200 ms tier"),
        serves: "GPS",
        out_of_reach: None,
    },
];

impl Tier {
    /// The tier that a criterion's name means.
    pub fn named(name: &str) -> Option<&'static Self> {
        TIERS.iter().find(|tier| tier.criterion == Some(name))
    }

    /// Criterion of a loop that serves it: awake within a tenth of its period and done within the
    /// period, except for 0.5 % of the due times, with 95 % confidence. The tenth is the
    /// requirement at 1 ms of the qualification of a Jetson Orin (seed jetson-1khz).
    pub fn criterion(&self) -> Criterion {
        Criterion {
            latency_ns: Some(self.period_ns / 10),
            deadline_ns: self.period_ns,
            miss_fraction: 0.005,
            evidence: None,
            confidence: 0.95,
            consecutive_misses: None,
            outage_ns: None,
            mode_switches: 0.0,
            policies: PoliciesNeeded::Any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KnownCpus, Scenario};

    #[test]
    fn a_scenario_with_any_tier_is_read_again_as_it_was_written() {
        for (name, rate) in TIERS
            .iter()
            .filter_map(|tier| tier.criterion)
            .flat_map(|name| ["1 kHz", "250 Hz", "1 Hz"].map(|rate| (name, rate)))
        {
            let text = format!(
                "name = \"a\"\nrate = \"{rate}\"\ncycles = 10\npolicies = [\"OTHER\"]\ncriterion = \"{name}\""
            );
            let cpus = KnownCpus::first(1);
            let read = Scenario::parse(&text, "a.toml", &cpus).unwrap();
            let again = Scenario::parse(&read.to_toml(), "again", &cpus);
            assert_eq!(again.unwrap(), read, "{name}, {rate}");
        }
    }

    #[test]
    fn every_tier_within_reach_is_a_criterion_by_its_name_and_no_other_is() {
        let named: Vec<&str> = TIERS.iter().filter_map(|tier| tier.criterion).collect();
        assert_eq!(named, ["1 ms tier", "20 ms tier", "200 ms tier"]);
        for tier in &TIERS {
            assert_eq!(tier.criterion.is_none(), tier.out_of_reach.is_some());
        }
        let first = Tier::named("1 ms tier").unwrap().criterion();
        assert_eq!(
            (first.latency_ns, first.deadline_ns),
            (Some(100_000), 1_000_000)
        );
    }
}

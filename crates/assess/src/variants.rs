//! Phases in which the loop is another program, or the same one started in another way: the variants that
//! such an experiment compares. From the scenario alone; figures are those of the conditions.

use serde::Serialize;
use wakepath_scenario::{Scenario, Work};

/// A phase with a program of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// The phase.
    pub phase: String,
    /// The program and its arguments.
    pub command: Vec<String>,
}

/// The variants in the scenario's order; none if there is only one.
pub(crate) fn variants(scenario: &Scenario) -> Vec<Variant> {
    let own = scenario
        .phases
        .iter()
        .filter_map(|phase| match &phase.work {
            Some(Work::Program { command }) => Some(Variant {
                phase: phase.name.clone(),
                command: command.clone(),
            }),
            _ => None,
        });
    let own: Vec<Variant> = own.collect();
    let differ = own.windows(2).any(|two| two[0].command != two[1].command);
    if differ { own } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::{KnownCpus, builtin};

    fn variants_of(name: &str) -> Vec<Variant> {
        let text = builtin::named(name).unwrap().text;
        let scenario = Scenario::parse(text, name, &KnownCpus::first(2)).unwrap();
        variants(&scenario)
    }

    #[test]
    fn phases_with_programs_of_their_own_are_variants_and_other_phases_are_not() {
        let found = variants_of("aura-logging");
        let phases: Vec<&str> = found.iter().map(|of| of.phase.as_str()).collect();
        assert_eq!(
            phases,
            [
                "C++, synchronous",
                "C++, thread",
                "C++, process",
                "Python, synchronous",
                "Python, thread",
                "Python, process"
            ]
        );
        assert_eq!(found[1].command, ["./autopilot", "--logging", "thread"]);
        assert_eq!(variants_of("contention"), []);
    }
}

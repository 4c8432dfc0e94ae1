//! What to do next, in words and as a command to type: the run's own command with what the advice
//! changes in it.

use std::fmt;
use wakepath_archive::{Invocation, MeasuringVerb, RunOption, command_about, shell_word};
use wakepath_assess::{Assessment, NextStep};
use wakepath_timeline::duration::long;
use wakepath_timeline::one_line;
use wakepath_verdict::Advice;

/// A step that would decide the run.
pub(crate) struct Step {
    /// The policies that it would decide.
    pub(crate) of: String,
    /// What to do.
    pub(crate) what: String,
    /// The command, if one can be typed.
    pub(crate) command: Option<NextCommand>,
}

/// A command to type.
pub(crate) enum NextCommand {
    /// Explain this run's late cycles.
    Explain {
        /// The run.
        run: String,
    },
    /// Measure again.
    Measure(Invocation),
    /// Measure again as root.
    MeasureAsRoot(Invocation),
}

impl fmt::Display for NextCommand {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Explain { run } => out.write_str(&command_about("explain", run, "")),
            Self::Measure(command) => command.fmt(out),
            Self::MeasureAsRoot(command) => write!(out, "sudo {command}"),
        }
    }
}

/// The steps that would decide the run.
pub(crate) fn steps_of(assessment: &Assessment) -> Vec<Step> {
    let steps = merged(&assessment.next_steps);
    steps.iter().map(|step| of_step(assessment, step)).collect()
}

/// Policies whose cycles are late in different places have one command, which is listed once.
fn merged(steps: &[NextStep]) -> Vec<NextStep> {
    let mut merged: Vec<NextStep> = Vec::new();
    for step in steps {
        let shared = match &step.advice {
            Advice::FindCauses { places } => merged.iter_mut().find_map(|known| match known {
                NextStep {
                    of,
                    advice: Advice::FindCauses { places: others },
                    ..
                } => Some((of, others, places)),
                _ => None,
            }),
            _ => None,
        };
        match shared {
            Some((of, others, places)) => {
                add_new(of, &step.of);
                add_new(others, places);
            }
            None => merged.push(step.clone()),
        }
    }
    merged
}

/// Adds the names that are not in the list yet.
fn add_new(list: &mut Vec<String>, names: &[String]) {
    for name in names {
        if !list.contains(name) {
            list.push(name.clone());
        }
    }
}

fn of_step(assessment: &Assessment, step: &NextStep) -> Step {
    let (what, command) = match &step.advice {
        Advice::MeasureLonger { more, .. } => (
            format!("{} more of each condition would decide", long(more.seconds)),
            longer(assessment, step).map(NextCommand::Measure),
        ),
        Advice::MeasureToTheEnd => (
            "the run did not get to its end; the same again".to_owned(),
            again(assessment).map(NextCommand::Measure),
        ),
        Advice::FindCauses { places } => (
            format!(
                "at this miss rate a longer run won't pass ({}); see what makes cycles late",
                places.join(", ")
            ),
            match assessment.probe_effect {
                Some(_) => Some(NextCommand::Explain {
                    run: assessment.run.directory.clone(),
                }),
                None => traced(assessment).map(|(command, _)| NextCommand::Measure(command)),
            },
        ),
        Advice::GetRight => (
            "insufficient privileges".to_owned(),
            again(assessment).map(NextCommand::MeasureAsRoot),
        ),
    };
    Step {
        of: one_line(&step.of.join(", ")),
        what,
        command,
    }
}

/// A run that is long enough: if one policy would decide, of only that policy, and untraced.
fn longer(assessment: &Assessment, step: &NextStep) -> Option<Invocation> {
    let own = again(assessment)?;
    if let (Some(ns), [policy, ..], MeasuringVerb::Check) = (step.alone_ns, &step.of[..], own.verb)
    {
        let own = own.without(&[RunOption::Trace]);
        return Some(lasting(own.with(RunOption::Policy, policy), ns));
    }
    Some(lasting(own, step.run_ns?))
}

/// For this long, in whole seconds.
fn lasting(command: Invocation, ns: u64) -> Invocation {
    with_duration(command, &format!("{}s", ns.div_ceil(1_000_000_000)))
}

/// A command with a length has no other.
pub(crate) fn with_duration(command: Invocation, duration: &str) -> Invocation {
    let command = command.without(&[RunOption::Quick]);
    command.with(RunOption::Duration, duration)
}

/// A length in words: minutes from two minutes on.
pub(crate) fn takes(ns: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    match ns {
        0..120_000_000_000 => format!("{} s", ns.div_ceil(SECOND)),
        120_000_000_000..7_200_000_000_000 => format!("{} min", ns.div_ceil(60 * SECOND)),
        _ => format!("{} h", ns.div_ceil(3_600 * SECOND)),
    }
}

/// The command that measured, with tracing, and about how long it takes, in nanoseconds. A length that was
/// given holds both passes, so it grows with them.
pub(crate) fn traced(assessment: &Assessment) -> Option<(Invocation, u64)> {
    let ns = assessment.traced_run_ns?;
    let own = again(assessment)?;
    // A recorded program has a length without asking for one.
    let has_length = own.has(RunOption::Duration) || own.verb == MeasuringVerb::Record;
    let own = own.with_switch(RunOption::Trace);
    Some(if has_length {
        (lasting(own, ns), ns)
    } else {
        (own, ns)
    })
}

/// The options that name this run's loop to `doctor` and `tune`; `None` if they can't name it.
fn subject(command: &Invocation) -> Option<String> {
    let mut words = String::new();
    let rates = command.values(RunOption::Rate);
    match (command.verb, &command.scenario) {
        (MeasuringVerb::Check, _) => {}
        // They take a scenario as its file has it.
        (MeasuringVerb::Run, Some(scenario)) if rates.is_empty() => {
            words += &format!(" --scenario {}", shell_word(scenario));
        }
        _ => return None,
    }
    for (name, values) in [("rate", rates), ("cpu", command.values(RunOption::Cpu))] {
        if let Some(value) = values.last() {
            words += &format!(" --{name} {}", shell_word(value));
        }
    }
    Some(words)
}

/// `wakepath doctor` for this run's loop.
pub(crate) fn doctor(assessment: &Assessment) -> String {
    let own = assessment.run.invocation.as_ref();
    let subject = own.and_then(subject).unwrap_or_default();
    format!("wakepath doctor{subject}")
}

/// The options that set a criterion's limits.
const LIMITS: [&str; 3] = ["latency", "miss-fraction", "criterion"];

/// `wakepath tune trial` for this run's loop, if it can be named.
pub(crate) fn trial(assessment: &Assessment) -> Option<String> {
    let own = assessment.run.invocation.as_ref()?;
    let subject = subject(own)?;
    // A scenario brings its own policies.
    let policy = match (&own.values(RunOption::Policy)[..], own.verb) {
        ([policy], MeasuringVerb::Check) => format!(" --policy {}", shell_word(policy)),
        _ => String::new(),
    };
    // By the limits of the run.
    let limits = own
        .options
        .iter()
        .filter(|of| LIMITS.contains(&of.name.as_str()));
    let limits: String = limits
        .filter_map(|of| {
            Some(format!(
                " --{} {}",
                of.name,
                shell_word(of.value.as_deref()?)
            ))
        })
        .collect();
    Some(format!("wakepath tune trial{subject}{policy}{limits}"))
}

/// The command that measured, without its directory, which is taken now; `None` for a run that no command
/// can repeat.
pub(crate) fn again(assessment: &Assessment) -> Option<Invocation> {
    let own = assessment.run.invocation.clone()?;
    Some(own.without(&[RunOption::Directory]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doctor_and_tune_are_asked_for_the_loop_that_was_measured() {
        let of_check = Invocation::new(MeasuringVerb::Check)
            .with(RunOption::Rate, "1kHz")
            .with(RunOption::Cpu, "0")
            .with_switch(RunOption::Trace);
        assert_eq!(subject(&of_check).unwrap(), " --rate 1kHz --cpu 0");
        let of_run = Invocation::of_scenario("my loop.toml")
            .with(RunOption::Cpu, "3")
            .with(RunOption::Duration, "60s");
        assert_eq!(
            subject(&of_run).unwrap(),
            " --scenario 'my loop.toml' --cpu 3"
        );
        // Neither takes a scenario at another rate, nor a program of the user's.
        assert_eq!(subject(&of_run.with(RunOption::Rate, "1kHz")), None);
        let of_program = Invocation {
            program: vec!["./loop".into(), "--rate".into(), "9".into()],
            ..Invocation::new(MeasuringVerb::Record)
        };
        assert_eq!(subject(&of_program), None);
    }

    #[test]
    fn a_longer_run_is_not_quick() {
        let quick = Invocation::new(MeasuringVerb::Check).with_switch(RunOption::Quick);
        let longer = with_duration(quick, "1h").to_string();
        assert_eq!(longer, "wakepath check --duration 1h");
    }

    #[test]
    fn times_are_said_in_the_unit_that_a_person_plans_with() {
        assert_eq!(takes(24_000_000_000), "24 s");
        assert_eq!(takes(200_000_000_000), "4 min");
        assert_eq!(takes(20_000_000_000_000), "6 h");
    }
}

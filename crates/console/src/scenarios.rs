//! Scenarios chosen on a command line: by a built-in name or a file, with what its options change.

use crate::overrides::ScenarioOverrides;
use wakepath_archive::shell_word;
use wakepath_machine::{Facts, Root};
use wakepath_measure::HostCpus;
use wakepath_scenario::{KnownCpus, Scenario, Warning, builtin, units};
use wakepath_timeline::count::{count, counted};

type Failure = Box<dyn std::error::Error>;

/// CPUs of this host as far as this process may use them.
pub fn host_cpus() -> Result<HostCpus, Failure> {
    let mut allowed = wakepath_rt::affinity::current()?;
    // CPUs that `tune apply` set apart: the loop's process is put into their group.
    if let Some(group) = wakepath_tuning::LoopGroup::find(&Root::host()) {
        allowed.extend(group.cpus.numbers());
        allowed.sort_unstable();
        allowed.dedup();
    }
    let facts = Facts::read(&Root::host());
    let isolated = facts.varying.cpu_time.isolated.known();
    let isolated = isolated.map_or(Vec::new(), |cpus| cpus.numbers().to_vec());
    Ok(HostCpus { allowed, isolated })
}

/// The text of a scenario and what messages call it: a built-in name, else a file.
pub fn scenario_text(name: &str) -> Result<(String, String), Failure> {
    if let Some(builtin) = builtin::named(name) {
        return Ok((builtin.text.into(), format!("{name} (built in)")));
    }
    match std::fs::read_to_string(name) {
        Ok(text) if text.starts_with("#!") => Err(no_scenario(name).into()),
        Ok(text) => Ok((text, name.into())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let meant = builtin::instead_of(name);
            Err(format!("{name}: no such file, and no built-in scenario; {meant}").into())
        }
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err(no_scenario(name).into())
        }
        Err(error) => Err(format!("{name}: {error}").into()),
    }
}

fn no_scenario(name: &str) -> String {
    format!(
        "{name}: is not a scenario but a program or other data; a program is watched: wakepath watch -- {}",
        shell_word(name)
    )
}

/// Refuses a CPU for the loop that wakepath may not use.
pub fn check_cpu(cpu: Option<u16>, host: &HostCpus) -> Result<(), Failure> {
    let may = host.for_a_loop();
    match cpu.filter(|cpu| !may.contains(cpu)) {
        None => Ok(()),
        Some(cpu) => {
            let there: Vec<String> = may.iter().map(u16::to_string).collect();
            let there = match &there[..] {
                [only] => format!("only CPU {only}"),
                several => format!("CPUs {}; give one of them", several.join(", ")),
            };
            Err(format!("--cpu {cpu}: wakepath can use only {there}").into())
        }
    }
}

/// Reads a scenario for this host.
pub fn read_scenario(
    text: &str,
    source: &str,
    host: &HostCpus,
) -> Result<(Scenario, Vec<Warning>), Failure> {
    let known = KnownCpus::new(host.for_a_loop()).ok_or("no CPU can be used")?;
    let (mut scenario, warnings) = Scenario::parse_with_warnings(text, source, &known)?;
    crate::files::embed(&mut scenario, source)?;
    Ok((scenario, warnings))
}

/// Warnings as the notes of a run.
pub fn notes(warnings: &[Warning]) -> Vec<String> {
    warnings.iter().map(ToString::to_string).collect()
}

/// A scenario with the command line's changes. The file itself must be right too: its faults are reported with their
/// lines.
pub fn read_with_overrides(
    text: &str,
    source: &str,
    overrides: &ScenarioOverrides<'_>,
    host: &HostCpus,
) -> Result<(Scenario, Vec<Warning>), Failure> {
    let own = read_scenario(text, source, host)?;
    if overrides.is_empty() {
        Ok(own)
    } else {
        read_scenario(&overrides.apply_to(text)?, source, host)
            .map_err(|error| format!("with {overrides}: {error}").into())
    }
}

/// Fits a scenario into a time for the whole run, the value of `option`. Warnings about the file's own length are
/// replaced by those about the new one.
///
/// # Errors
/// In one line that begins with the option, and has the shortest time that is accepted.
pub fn fit_duration(
    scenario: &Scenario,
    warnings: Vec<Warning>,
    option: &str,
    duration: &str,
) -> Result<(Scenario, Vec<Warning>), Failure> {
    let fitted = scenario
        .with_total_duration(duration_ns(option, duration)?)
        .map_err(|error| {
            let seconds = error.least_ns / SECOND_NS;
            format!("{option} {duration}: {error}; give {option} {seconds}s or longer")
        })?;
    let mut kept = warnings;
    kept.retain(|warning| !matches!(warning, Warning::TooShortToPass { .. }));
    for warning in fitted.warnings() {
        if !kept.contains(&warning) {
            kept.push(warning);
        }
    }
    Ok((fitted, kept))
}

/// As [`fit_duration`], and refuses a time in which no condition could pass.
///
/// # Errors
/// As [`fit_duration`]: the time that is accepted is long enough to pass.
pub fn fit_to_pass(
    scenario: &Scenario,
    warnings: Vec<Warning>,
    option: &'static str,
    duration: &str,
) -> Result<(Scenario, Vec<Warning>), Failure> {
    let fitted = scenario.with_total_duration(duration_ns(option, duration)?);
    // If no cycle fits, the shortest run might be too short to pass.
    let (shortest, fits) = match fitted {
        Ok(fitted) => (fitted, true),
        Err(_) => {
            let cycles = u64::from(scenario.repetitions);
            let shortest = Scenario {
                cycles,
                ..scenario.clone()
            };
            (shortest, false)
        }
    };
    match TooShort::find(option, duration, fits, &shortest.warnings()) {
        Some(refused) => Err(refused.into()),
        None => fit_duration(scenario, warnings, option, duration),
    }
}

const SECOND_NS: u64 = 1_000_000_000;

fn duration_ns(option: &str, duration: &str) -> Result<u64, Failure> {
    units::parse_duration(duration)
        .map_err(|complaint| format!("{option} {duration} {complaint}").into())
}

/// A time in which no condition could pass, even without a single miss.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{option} {given} is too short for a verdict: each condition gets {gets} and needs at least \
     {needed}; give {option} {seconds}s or longer, a higher rate, or fewer policies",
    gets = counted(*.cycles, "cycle", "cycles"),
    needed = count(*.needed)
)]
struct TooShort {
    option: &'static str,
    given: String,
    /// Judged cycles of each condition.
    cycles: u64,
    /// Cycles without a miss that can pass.
    needed: u64,
    /// Whole seconds of the shortest run that has them.
    seconds: u64,
}

impl TooShort {
    /// If the warnings of a scenario that was fitted into a time include it.
    fn find(option: &'static str, given: &str, fits: bool, warnings: &[Warning]) -> Option<Self> {
        warnings.iter().find_map(|warning| match warning {
            Warning::TooShortToPass {
                cycles,
                needed,
                run_ns,
            } => Some(Self {
                option,
                given: given.to_owned(),
                cycles: if fits { *cycles } else { 0 },
                needed: *needed,
                seconds: run_ns.div_ceil(SECOND_NS),
            }),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overrides::ScenarioOverrides;
    use wakepath_scenario::{KnownCpus, builtin};

    /// The times that a refusal gives are typed as they are printed.
    #[test]
    fn the_time_that_a_refusal_gives_is_accepted_for_every_scenario_and_policy() {
        let known = KnownCpus::first(64);
        let mut refusals = 0;
        for builtin in builtin::all() {
            for policies in [
                &[][..],
                &["FIFO 80"],
                &["OTHER", "RR 50", "DEADLINE 400 us"],
            ] {
                for (rate, trace) in [
                    (None, false),
                    (Some("1 kHz"), true),
                    (Some("333 Hz"), false),
                ] {
                    let policies: Vec<String> =
                        policies.iter().map(|it| (*it).to_owned()).collect();
                    let overrides = ScenarioOverrides {
                        rate,
                        policies: &policies,
                        ..ScenarioOverrides::default()
                    };
                    let Ok(text) = overrides.apply_to(builtin.text) else {
                        continue;
                    };
                    let Ok(mut scenario) = Scenario::parse(&text, builtin.name, &known) else {
                        continue;
                    };
                    if trace {
                        scenario.trace.get_or_insert_default();
                    }
                    let named = format!("{} {policies:?} {rate:?}", builtin.name);
                    for given in ["1ms", "4s", "19s"] {
                        let fits = fit_duration(&scenario, Vec::new(), "--duration", given);
                        refusals +=
                            u64::from(is_refused_once(&scenario, &named, fits, fit_duration));
                        let passes = fit_to_pass(&scenario, Vec::new(), "--duration", given);
                        refusals +=
                            u64::from(is_refused_once(&scenario, &named, passes, fit_to_pass));
                    }
                }
            }
        }
        assert!(refusals > 100, "{refusals}");
    }

    type Fitted = Result<(Scenario, Vec<Warning>), Failure>;

    /// Whether it is refused, and the time that the refusal gives is not.
    #[track_caller]
    fn is_refused_once(
        scenario: &Scenario,
        named: &str,
        fitted: Fitted,
        fit: fn(&Scenario, Vec<Warning>, &'static str, &str) -> Fitted,
    ) -> bool {
        let Err(refused) = fitted.map_err(|refused| refused.to_string()) else {
            return false;
        };
        let (_, remedy) = refused.split_once("give --duration ").unwrap();
        let (typed, _) = remedy.split_once(' ').unwrap();
        let again = fit(scenario, Vec::new(), "--duration", typed);
        assert!(
            again.is_ok(),
            "{named}: {refused}; then {}",
            again.unwrap_err()
        );
        true
    }
}

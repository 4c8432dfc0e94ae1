//! Scenarios chosen on a command line: by a built-in name or a file, with what its options change.

use crate::overrides::ScenarioOverrides;
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
        "{name}: is not a scenario but a program or other data; a program is watched: wakepath watch -- {name}"
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
            Err(format!("--cpu {cpu}: wakepath may use {there}").into())
        }
    }
}

/// Reads a scenario for this host.
pub fn read_scenario(
    text: &str,
    source: &str,
    host: &HostCpus,
) -> Result<(Scenario, Vec<Warning>), Failure> {
    let known = KnownCpus::new(host.for_a_loop()).ok_or("no CPU may be used")?;
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
    match overrides.is_empty() {
        true => Ok(own),
        false => read_scenario(&overrides.apply_to(text)?, source, host)
            .map_err(|error| format!("with {overrides}: {error}").into()),
    }
}

/// Fits a scenario into a time for the whole run, the value of `option`. Warnings about the file's own length are
/// replaced by those about the new one.
///
/// # Errors
/// In one line that begins with the option.
pub fn fit_duration(
    scenario: &Scenario,
    warnings: Vec<Warning>,
    option: &str,
    duration: &str,
) -> Result<(Scenario, Vec<Warning>), Failure> {
    let total_ns = units::parse_duration(duration)
        .map_err(|complaint| format!("{option} {duration} {complaint}"))?;
    let fitted = scenario
        .with_total_duration(total_ns)
        .map_err(|error| format!("{option} {duration}: {error}"))?;
    let mut kept = warnings;
    kept.retain(|warning| !matches!(warning, Warning::TooShortToPass { .. }));
    for warning in fitted.warnings() {
        if !kept.contains(&warning) {
            kept.push(warning);
        }
    }
    Ok((fitted, kept))
}

/// A time in which no condition could pass, even without a single miss.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{option} {given} is too short for a verdict: each condition gets {gets} and needs at least \
     {needed}; give {option} {seconds}s or longer, a higher rate, or fewer policies",
    gets = counted(*.cycles, "cycle", "cycles"),
    needed = count(*.needed)
)]
pub struct TooShort {
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
    pub fn find(option: &'static str, given: &str, warnings: &[Warning]) -> Option<Self> {
        warnings.iter().find_map(|warning| match warning {
            Warning::TooShortToPass {
                cycles,
                needed,
                run_ns,
            } => Some(Self {
                option,
                given: given.to_owned(),
                cycles: *cycles,
                needed: *needed,
                seconds: run_ns.div_ceil(1_000_000_000),
            }),
            _ => None,
        })
    }
}

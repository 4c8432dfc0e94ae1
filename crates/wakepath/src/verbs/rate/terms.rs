//! Terms of a search: loop, policy, CPU, time of each step. Only a search with the same terms can
//! be resumed.

use crate::command_line::Rate;
use crate::{check_scenario, criterion_options};
use serde::{Deserialize, Serialize};
use std::path::Path;
use wakepath_archive::{Invocation, MeasuringVerb, RunOption, shell_word};
use wakepath_console::overrides::ScenarioOverrides;
use wakepath_console::scenarios;
use wakepath_directory::Directory;
use wakepath_measure::HostCpus;
use wakepath_scenario::Scenario;

type Failure = Box<dyn std::error::Error>;

/// Default policy of `check`'s loop.
const USUAL: &str = "FIFO 80";
/// File with the terms of a search, in its directory.
const FILE: &str = "rate.json";

/// Terms of a search.
pub(super) struct Terms<'a> {
    arguments: &'a Rate,
    /// `None` where a scenario's own policies are meant.
    pub(super) policy: Option<String>,
}

/// What two searches must have in common.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct StoredTerms {
    scenario: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    policy: Option<String>,
    cpu: Option<u16>,
    block: String,
    /// The limits, as they are typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    limits: Vec<String>,
}

impl<'a> Terms<'a> {
    pub(super) fn new(arguments: &'a Rate) -> Self {
        let usual = arguments.scenario.is_none().then(|| USUAL.to_owned());
        Self {
            arguments,
            policy: arguments.policy.clone().or(usual),
        }
    }

    /// The scenario of a step at this rate, and its name in messages.
    pub(super) fn at(&self, rate: u32, host: &HostCpus) -> Result<(Scenario, String), Failure> {
        scenarios::check_cpu(self.arguments.cpu, host)?;
        let rate = format!("{rate} Hz");
        let policies: Vec<String> = self.policy.iter().cloned().collect();
        let criterion = criterion_options::table(&self.arguments.limits)?;
        let cpu = self.arguments.cpu;
        let ((scenario, warnings), source) = match &self.arguments.scenario {
            None => (
                check_scenario::read(&rate, cpu, &policies, criterion.as_ref(), host)?,
                check_scenario::SOURCE.to_owned(),
            ),
            Some(name) => {
                let (text, source) = scenarios::scenario_text(name)?;
                let overrides = ScenarioOverrides {
                    rate: Some(&rate),
                    cpu,
                    task: self.arguments.task.as_deref(),
                    policies: &policies,
                    criterion: criterion.as_ref(),
                    reserved_for: None,
                };
                (
                    scenarios::read_with_overrides(&text, &source, &overrides, host)?,
                    source,
                )
            }
        };
        let block = &self.arguments.block;
        // In a shorter block no rate could pass: the search would measure without result.
        let (scenario, _) = scenarios::fit_to_pass(&scenario, warnings, "--block", block)
            .map_err(|refused| format!("at {rate}: {refused}"))?;
        Ok((scenario, source))
    }

    /// The command that repeats a step alone.
    pub(super) fn command_at(&self, rate: u32) -> Invocation {
        let mut command = match &self.arguments.scenario {
            None => Invocation::new(MeasuringVerb::Check),
            Some(scenario) => Invocation::of_scenario(scenario),
        };
        command = command
            .with(RunOption::Rate, format!("{rate} Hz"))
            .with(RunOption::Duration, &self.arguments.block);
        if let Some(task) = &self.arguments.task {
            command = command.and("task", Some(task.clone()));
        }
        if let Some(policy) = &self.policy {
            command = command.with(RunOption::Policy, policy);
        }
        if let Some(cpu) = self.arguments.cpu {
            command = command.with(RunOption::Cpu, cpu.to_string());
        }
        let limits = criterion_options::given(&self.arguments.limits);
        limits.fold(command, |command, (name, value)| {
            command.and(name, Some(value.to_owned()))
        })
    }

    /// Stores the terms of the search, or refuses to resume one with other terms.
    pub(super) fn store_in(&self, directory: &Path) -> Result<(), Failure> {
        let own = StoredTerms {
            scenario: self.arguments.scenario.clone(),
            task: self.arguments.task.clone(),
            policy: self.policy.clone(),
            cpu: self.arguments.cpu,
            block: self.arguments.block.clone(),
            limits: criterion_options::words(&self.arguments.limits),
        };
        let path = directory.join(FILE);
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let place = Directory::to_read(directory).map_err(failed)?;
        match place.read(FILE).map_err(failed)? {
            Some(bytes) => {
                let before: StoredTerms = serde_json::from_slice(&bytes)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                if before == own {
                    Ok(())
                } else {
                    Err(format!(
                        "{}: holds a search for {}; resume with the same options, or give another \
                         --directory",
                        directory.display(),
                        before.words()
                    )
                    .into())
                }
            }
            None => Ok(place
                .put(FILE, &serde_json::to_vec(&own)?)
                .map_err(failed)?),
        }
    }
}

impl StoredTerms {
    /// As it would be typed.
    fn words(&self) -> String {
        let scenario = self.scenario.iter().cloned();
        let task = self.task.iter().map(|task| format!("--task {task}"));
        let policy = self.policy.iter().map(|of| format!("--policy '{of}'"));
        let cpu = self.cpu.iter().map(|cpu| format!("--cpu {cpu}"));
        let block = [format!("--block {}", self.block)];
        let limits = self.limits.iter().map(|word| shell_word(word));
        let words = scenario.chain(task).chain(policy).chain(cpu).chain(block);
        let words = words.chain(limits);
        format!("`wakepath rate {}`", words.collect::<Vec<_>>().join(" "))
    }
}

//! The criterion of a loop in the field, and how its segments describe themselves: as a run of a
//! scenario with one phase, `service`.

use super::ServiceOrder;
use crate::beginning::{Command, run_started};
use crate::criterion_options;
use crate::machine_facts::clock_source;
use crate::program_scenario::ProgramLoops;
use std::time::SystemTime;
use wakepath_console::scenarios;
use wakepath_machine::{Facts, Root};
use wakepath_measure::{AnnouncedLoop, HostCpus};
use wakepath_scenario::{Criterion, Scenario};
use wakepath_service::{Described, Found, Refusal, Terms};

/// The phase of all segments.
const PHASE: &str = "service";
/// Assumed number of cycles for a loop whose segments are not known yet.
const SOME_CYCLES: u64 = 10_000;

/// By the order that the recorder has.
pub struct FieldTerms<'a> {
    order: &'a ServiceOrder,
    host: HostCpus,
}

impl<'a> FieldTerms<'a> {
    /// For this machine.
    pub fn new(order: &'a ServiceOrder) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self {
            order,
            host: scenarios::host_cpus()?,
        })
    }

    fn scenario(
        &self,
        found: &Found,
        cycles: u64,
        criterion: Option<&str>,
    ) -> Result<Scenario, Refusal> {
        let one = AnnouncedLoop {
            name: found.name.clone(),
            period_ns: found.period_ns,
            overrun: found.overrun,
            policy: found.policy,
            cpus: if found.cpus.is_empty() {
                self.host.allowed.clone()
            } else {
                found.cpus.clone()
            },
        };
        let (text, source) = scenarios::scenario_text("check")?;
        let criterion = criterion.map(criterion_options::parse);
        let asked = ProgramLoops {
            name: self.order.program.clone(),
            command: self.order.settings.command.clone(),
            loops: vec![one],
            criterion: criterion.transpose()?,
            policies: &[],
            cpu: None,
            idle: true,
        };
        let text = asked.put_into(&text)?;
        let mut table: toml::Table = text.parse().map_err(|error| format!("{source}: {error}"))?;
        let lasts_ns = cycles.saturating_mul(found.period_ns);
        table.remove("repetitions");
        table.insert("duration".into(), format!("{lasts_ns} ns").into());
        table.insert("warm-up".into(), "0 s".into());
        let mut phase = toml::Table::new();
        phase.insert("name".into(), PHASE.into());
        table.insert("phases".into(), vec![phase].into());
        let text = toml::to_string(&table)?;
        let (scenario, _) = scenarios::read_scenario(&text, PHASE, &self.host)?;
        Ok(scenario)
    }
}

impl Terms for FieldTerms<'_> {
    fn criterion(&self, found: &Found) -> Result<Criterion, Refusal> {
        let criterion = self.order.criterion.as_deref();
        Ok(self.scenario(found, SOME_CYCLES, criterion)?.criterion)
    }

    fn describe(&self, found: &Found, cycles: u64) -> Result<Described, Refusal> {
        let criterion = self.order.criterion.as_deref();
        // That it does not fit has been said; the samples are kept all the same.
        let scenario = self
            .scenario(found, cycles, criterion)
            .or_else(|_| self.scenario(found, cycles, None))?;
        let facts = Facts::read(&Root::host());
        let clock = clock_source(&facts);
        let facts = facts.to_json()?;
        let note = "a segment of a service; its whole is in the directory above".to_owned();
        let start = run_started(
            &scenario,
            clock,
            vec![note],
            SystemTime::now(),
            Command::foreign(self.order.settings.command.clone()),
        )?;
        Ok(Described {
            start,
            phase: PHASE.into(),
            facts,
        })
    }
}

//! From a file to the resolved scenario, and back.

use crate::document::Section;
use crate::error::{Findings, ScenarioErrors};
use crate::keys::{
    Context, MOST_UNKNOWN, advice, read_keys, scenario, scenario_table, with_root, written_after,
};
use crate::{KnownCpus, Scenario, Warning};

/// Reads the root table, and advises where keys belong that it does not have.
fn read_root(
    root: &Section<'_>,
    context: Context<'_>,
    findings: &mut Findings,
) -> Option<Scenario> {
    let (known, title, scenario) = read_keys(
        root,
        context,
        findings,
        scenario::blank(),
        scenario::declare,
    );
    let unknown = root.names().filter(|name| !known.contains(name));
    for name in unknown.take(MOST_UNKNOWN) {
        let advice = advice(root, name, &known, &scenario_table());
        findings.push(root.refuse_key(name, format!("is not a key of {title}"), advice));
    }
    scenario
}

impl Scenario {
    /// Reads a scenario file. `source_name` is the file's name for messages; `known` are the CPUs
    /// of the machine that will run it. [`Scenario::parse_with_warnings`] also returns warnings
    /// about dubious but valid settings.
    ///
    /// # Errors
    /// Every fault found, each in one line with its place in the file.
    pub fn parse(text: &str, source_name: &str, known: &KnownCpus) -> Result<Self, ScenarioErrors> {
        Self::parse_with_warnings(text, source_name, known).map(|(scenario, _)| scenario)
    }

    /// As [`Scenario::parse`], with warnings about valid but surprising settings.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn parse_with_warnings(
        text: &str,
        source_name: &str,
        known: &KnownCpus,
    ) -> Result<(Self, Vec<Warning>), ScenarioErrors> {
        let mut findings = Findings::default();
        let scenario = with_root(text, &mut findings, |root, findings| {
            let context = Context {
                known: Some(known),
                period_ns: 0,
            };
            read_root(root, context, findings)
        });
        let mut warnings = std::mem::take(&mut findings.warnings);
        let scenario = findings.or(scenario, source_name, text)?;
        warnings.extend(scenario.warnings());
        Ok((scenario, warnings))
    }

    /// The scenario as a TOML file with every default, so that a run means the same under any later
    /// version. On a machine that has its CPUs, [`Scenario::parse`] reads the same scenario back.
    pub fn to_toml(&self) -> String {
        let table = written_after(toml::Table::new(), &mut self.clone(), scenario::declare);
        toml::to_string_pretty(&table).expect("a table is TOML")
    }
}

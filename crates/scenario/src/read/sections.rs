//! The longest sections of kernel code, from their file.

use super::text::read_needed_name;
use crate::document::Section;
use crate::error::{Findings, ScenarioErrors};
use crate::keys;
use crate::units::parse_duration;
use wakepath_schedulability::{Interrupting, Sections};

const TIME: &str = "give a time such as \"60 us\"";
const INTERRUPTS: &str =
    "give [{ name = \"timer\", longest = \"12 us\", distance = \"1 ms\" }], or []";

/// Reads a file of sections.
///
/// # Errors
/// Everything found wrong, each in one line with its place in the file.
pub fn sections(text: &str, source_name: &str) -> Result<Sections, ScenarioErrors> {
    let mut findings = Findings::default();
    let found = super::with_root(text, &mut findings, |root, findings| {
        keys::check(root, &keys::SECTIONS, findings);
        let mut time = |key: &str| needed_time(root, key, findings);
        let (preemption_off_ns, before_scheduler_ns) =
            (time("preemption-off"), time("before-scheduler"));
        let (scheduler_ns, switch_ns) = (time("scheduler"), time("switch"));
        let after_scheduler_ns = match root.get("after-scheduler") {
            None => Some(0),
            Some(node) => findings.keep(node.quantity(TIME, parse_duration)),
        };
        let node = findings.keep(root.need("interrupts", INTERRUPTS))?;
        let items = findings.keep(node.items(keys::MOST_INTERRUPTS, INTERRUPTS))?;
        let mut interrupts = Vec::with_capacity(items.len());
        for item in &items {
            let table = findings.keep(item.table(INTERRUPTS))?;
            keys::check(&table, &keys::SECTION_INTERRUPT, findings);
            let name = read_needed_name(&table, "such as \"timer\"", findings);
            let longest_ns = needed_time(&table, "longest", findings);
            let distance_ns = match table.get("distance") {
                None => None,
                Some(node) => {
                    let read = findings.keep(node.quantity(TIME, parse_duration))?;
                    if read == 0 {
                        findings.push(node.refuse("is not a distance", "give a time above 0"));
                        return None;
                    }
                    Some(read)
                }
            };
            interrupts.push(Interrupting {
                name: name?,
                longest_ns: longest_ns?,
                distance_ns,
            });
        }
        Some(Sections {
            preemption_off_ns: preemption_off_ns?,
            before_scheduler_ns: before_scheduler_ns?,
            scheduler_ns: scheduler_ns?,
            switch_ns: switch_ns?,
            after_scheduler_ns: after_scheduler_ns?,
            interrupts,
        })
    });
    findings.or(found, source_name, text)
}

fn needed_time(table: &Section<'_>, key: &str, findings: &mut Findings) -> Option<u64> {
    let node = table.need(key, TIME);
    findings.keep(node.and_then(|node| node.quantity(TIME, parse_duration)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "preemption-off = \"60 us\"\nbefore-scheduler = \"2 us\"\nscheduler = \"10 us\"\n\
                        switch = \"4 us\"\n[[interrupts]]\nname = \"timer\"\nlongest = \"12 us\"\n\
                        distance = \"1 ms\"\n";

    #[test]
    fn a_file_is_read_and_what_is_wrong_with_one_has_its_place_and_remedy() {
        let found = sections(GOOD, "s.toml").unwrap();
        assert_eq!(found.preemption_off_ns, 60_000);
        assert_eq!(found.interrupts[0].distance_ns, Some(1_000_000));
        assert_eq!(found.after_scheduler_ns, 0);
        let back = sections(&format!("after-scheduler = \"1 us\"\n{GOOD}"), "s.toml");
        assert_eq!(back.unwrap().after_scheduler_ns, 1_000);
        for (from, to, expected) in [
            (
                "\"60 us\"",
                "60",
                "s.toml:1:18: preemption-off = 60 is a bare number",
            ),
            (
                "\"10 us\"",
                "\"-1 us\"",
                "s.toml:3:13: scheduler = \"-1 us\" is negative",
            ),
            (
                "\"1 ms\"",
                "\"0 ms\"",
                "s.toml:8:12: interrupts[0].distance = \"0 ms\" is not a distance",
            ),
            ("switch", "swich", "did you mean \"switch\"?"),
        ] {
            let wrong = GOOD.replacen(from, to, 1);
            let said = sections(&wrong, "s.toml").unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
    }
}

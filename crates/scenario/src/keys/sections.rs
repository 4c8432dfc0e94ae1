//! A file with the longest sections of kernel code: `wakepath bound --sections`.

use super::document::with_root;
use super::form::{Name, time};
use super::visitor::{Context, Keys, read};
use crate::error::{Findings, ScenarioErrors};
use wakepath_schedulability::{Interrupting, Sections};

const INTERRUPTS: &str =
    "give [{ name = \"timer\", longest = \"12 us\", distance = \"1 ms\" }], or []";
/// The most interrupts of a file.
const MOST_INTERRUPTS: usize = 256;

/// Reads a file of sections.
///
/// # Errors
/// Everything found wrong, each in one line with its place in the file.
pub fn sections(text: &str, source_name: &str) -> Result<Sections, ScenarioErrors> {
    let mut findings = Findings::default();
    let found = with_root(text, &mut findings, |root, findings| {
        read(root, Context::default(), findings, blank(), declare)
    });
    findings.or(found, source_name, text)
}

pub(crate) fn blank() -> Sections {
    Sections {
        preemption_off_ns: 0,
        before_scheduler_ns: 0,
        scheduler_ns: 0,
        switch_ns: 0,
        after_scheduler_ns: 0,
        interrupts: Vec::new(),
    }
}

pub(crate) fn declare(keys: &mut Keys<'_>, sections: &mut Sections) {
    keys.title(
        "a file of sections",
        "The longest sections of kernel code that keep a thread from running, as observed by a tracer, without \
         interrupts. `wakepath bound --sections` composes a bound from them.",
    );
    keys.required(
        "preemption-off",
        time("60 us"),
        "Preemption or interrupts off, in code other than the scheduler's call.",
        &mut sections.preemption_off_ns,
    );
    keys.required(
        "before-scheduler",
        time("2 us"),
        "Both on: from the end of a section with either off to the call of the scheduler.",
        &mut sections.before_scheduler_ns,
    );
    keys.required(
        "scheduler",
        time("10 us"),
        "Preemption off to call the scheduler, until it returns.",
        &mut sections.scheduler_ns,
    );
    keys.required(
        "switch",
        time("4 us"),
        "Within that, from interrupts masked for the switch to preemption on again.",
        &mut sections.switch_ns,
    );
    keys.or(
        "after-scheduler",
        time("1 us"),
        0,
        "From the scheduler's return to the loop's first instruction; with 0 the bound ends where the \
         scheduler returns.",
        &mut sections.after_scheduler_ns,
    );
    keys.tables(
        "interrupts",
        (
            Err(INTERRUPTS),
            "The interrupts of the CPU, including non-maskable ones; `[]` for none.",
        ),
        &mut sections.interrupts,
        ((0, MOST_INTERRUPTS), INTERRUPTS),
        no_interrupt,
        |keys, one, _| interrupt(keys, one),
    );
}

pub(crate) fn no_interrupt() -> Interrupting {
    Interrupting {
        name: String::new(),
        longest_ns: 0,
        distance_ns: None,
    }
}

pub(crate) fn interrupt(keys: &mut Keys<'_>, one: &mut Interrupting) {
    keys.title(
        "an interrupt",
        "An interrupt, which lengthens all sections.",
    );
    keys.required("name", Name("timer"), "Its name.", &mut one.name);
    keys.required(
        "longest",
        time("12 us"),
        "Longest observed time.",
        &mut one.longest_ns,
    );
    keys.optional(
        "distance",
        time("1 ms").above_0(),
        "it occurs once",
        "Minimum time from one to the next.",
        &mut one.distance_ns,
    );
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
                "s.toml:8:12: interrupts[0].distance = \"0 ms\" is not a time above 0",
            ),
            ("switch", "swich", "did you mean \"switch\"?"),
        ] {
            let wrong = GOOD.replacen(from, to, 1);
            let said = sections(&wrong, "s.toml").unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
    }
}

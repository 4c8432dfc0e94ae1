//! A condition's sections as the file that `wakepath bound --sections` reads.

use super::told::{ConditionSections, RunSections};
use wakepath_timeline::duration::exact_ascii;

/// The file of a condition.
pub fn to_file(run: &RunSections, condition: &ConditionSections) -> String {
    let sections = condition.figures.sections(run.ns_per_instruction);
    let time = |key: &str, ns: u64| format!("{key} = \"{}\"\n", exact_ascii(ns));
    let mut text = format!(
        "# {}, {}: the longest sections of a run in virtual time, by `wakepath lab sections`.\n\
         # Lengths of software paths, not a machine's latencies.\n",
        condition.condition, condition.phase
    );
    text += &time("preemption-off", sections.preemption_off_ns);
    text += &time("before-scheduler", sections.before_scheduler_ns);
    text += &time("scheduler", sections.scheduler_ns);
    text += &time("switch", sections.switch_ns);
    text += &time("after-scheduler", sections.after_scheduler_ns);
    for interrupt in &sections.interrupts {
        text += &format!("\n[[interrupts]]\nname = \"{}\"\n", interrupt.name);
        text += &time("longest", interrupt.longest_ns);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::{Figures, Kind, Stretch, Variable};
    use wakepath_scenario::read_sections;

    #[test]
    fn what_is_written_is_read_back_the_same() {
        let variable = |length| Variable {
            longest: Some(Stretch {
                kind: Kind::Off,
                from: 0,
                to: length,
                interrupts: 0,
                began: 0,
                ended: 0,
            }),
            count: 1,
            total: length,
        };
        let figures = Figures {
            off: variable(60_001),
            scheduler: variable(1_200),
            switch: variable(900),
            back: 777,
            own_interrupt: 3_000,
            interference: 5,
            ..Figures::default()
        };
        let condition = ConditionSections {
            condition: "FIFO 80".into(),
            phase: "idle".into(),
            figures,
            longest: Vec::new(),
            interrupts: Vec::new(),
            as_scheduled: None,
            shortest: 0,
        };
        let run = RunSections {
            preemption: "full",
            ns_per_instruction: 2,
            cost_model: String::new(),
            conditions: Vec::new(),
            left_out: Vec::new(),
        };
        let text = to_file(&run, &condition);
        let read = read_sections(&text, "sections.toml").unwrap();
        assert_eq!(read, condition.figures.sections(2));
        let bound = read.latency_bound().unwrap().latency_ns;
        assert_eq!(bound, 2 * (60_001 + 1_200 + 777 + 3_000 + 5));
    }
}

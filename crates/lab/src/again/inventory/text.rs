//! The sections of a run for a terminal.

use super::told::{ConditionSections, RunSections, SectionFound};
use crate::window::Within;
use std::fmt::Write;
use wakepath_timeline::duration::exact;

/// Number of functions to list for a section.
const OF_A_SECTION: usize = 3;
/// Number of call-stack frames to show, from the innermost.
const FRAMES: usize = 8;

/// All of it.
pub fn to_text(run: &RunSections) -> String {
    let mut text = format!(
        "virtual time: {}; lengths of software paths, not a machine's latencies\npreemption: {}\n",
        run.cost_model, run.preemption
    );
    for condition in &run.conditions {
        text.push('\n');
        one(&mut text, run, condition);
    }
    if !run.left_out.is_empty() {
        let _ = writeln!(
            text,
            "\nnot told, for a thread without a real-time policy waits for its turn too, which no section \
             bounds: {}",
            run.left_out.join("; ")
        );
    }
    text
}

fn one(text: &mut String, run: &RunSections, condition: &ConditionSections) {
    let figures = &condition.figures;
    let time = |instructions: u64| exact(instructions * run.ns_per_instruction);
    let faults = figures.faults();
    let _ = writeln!(text, "{}, {}", condition.condition, condition.phase);
    let _ = writeln!(
        text,
        "  latency of wake-ups: largest of {} sampled {} ≤ due at any instant {} ≤ bound {}{}",
        figures.cycles,
        time(figures.sampled),
        time(figures.largest()),
        time(figures.bound),
        if faults.is_empty() {
            ""
        } else {
            ": DOES NOT HOLD"
        }
    );
    if let Some(scheduled) = condition.as_scheduled.filter(|one| one.skipped > 0) {
        let _ = writeln!(
            text,
            "  latency as scheduled: largest {}, with {}; the bound holds for no skipped due time",
            exact(scheduled.largest_ns),
            skipped(scheduled.skipped)
        );
    }
    for fault in &faults {
        let _ = writeln!(text, "  FAULT: {fault}");
    }
    let _ = writeln!(text, "  the bound consists of");
    let waited = if figures.switch.most() > figures.off.most() {
        ("D_ST", "the tail of a switch", &figures.switch)
    } else {
        ("D_POID", "preemption or interrupts off", &figures.off)
    };
    let kinds = [
        waited,
        (
            "D_PAIE",
            "on, and the scheduler not called yet",
            &figures.before_scheduler,
        ),
        ("D_PSD", "the scheduler's call", &figures.scheduler),
    ];
    for (name, what, of) in kinds {
        let _ = writeln!(
            text,
            "    {name:6}  {:>12}  {what} (longest of {})",
            time(of.most()),
            of.count
        );
    }
    let _ = writeln!(
        text,
        "            {:>12}  from there to the loop",
        time(figures.back)
    );
    let _ = writeln!(
        text,
        "    I_IRQ   {:>12}  the wake-up's own interrupt, with its timer's delay",
        time(figures.own_interrupt)
    );
    let _ = writeln!(
        text,
        "            {:>12}  the most in any window of the bound ({} interrupts)",
        time(figures.interference),
        figures.interrupts.count
    );
    let _ = writeln!(
        text,
        "    I_NMI   {:>12}  non-maskable ones, in I_IRQ",
        nmi(condition, &time)
    );
    if waited.0 == "D_POID" {
        let _ = writeln!(text, "    (D_ST   {:>12})", time(figures.switch.most()));
    }
    sweep(text, condition, &time);
    longest(text, condition, &time);
    for found in &condition.interrupts {
        let apart = found.apart.map_or(String::new(), |apart| {
            format!(", {} apart at least", time(apart))
        });
        let _ = writeln!(
            text,
            "  interrupt {}: {}, longest {}{apart}",
            found.entry,
            times(found.variable.count),
            time(found.variable.most())
        );
        let Some(within) = &found.within else {
            continue;
        };
        let _ = writeln!(
            text,
            "                  longest: {}",
            within.heaviest().join(" → ")
        );
        most_in(text, within);
    }
}

/// The functions with the most own instructions.
fn most_in(text: &mut String, within: &Within) {
    let most = within.functions.iter().take(OF_A_SECTION);
    let most: Vec<String> = most
        .map(|one| format!("{} {}", one.symbol, one.own))
        .collect();
    let _ = writeln!(text, "                  most in {}", most.join(", "));
}

fn skipped(count: u64) -> String {
    match count {
        1 => "1 skipped due time".to_owned(),
        count => format!("{count} skipped due times"),
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

fn nmi(condition: &ConditionSections, time: &impl Fn(u64) -> String) -> String {
    let mut all = condition.interrupts.iter();
    let found = all.find(|found| found.entry == "asm_exc_nmi");
    found.map_or("none came".into(), |found| time(found.variable.most()))
}

fn sweep(text: &mut String, condition: &ConditionSections, time: &impl Fn(u64) -> String) {
    let figures = &condition.figures;
    let sweep = &figures.sweep;
    let share = 100.0 * sweep.waiting() as f64 / sweep.instants().max(1) as f64;
    let _ = writeln!(
        text,
        "  due at any instant: {} if nothing delays it; at {share:.2} % of the instants it waits for a section; \
         {} more at most, later than {} in 1 of 100, than {} in 1 of 10 000",
        time(figures.path),
        time(sweep.longest_delay()),
        time(sweep.exceeded_by(0.01)),
        time(sweep.exceeded_by(0.000_1)),
    );
    let expected = match figures.expected_cycles() {
        Some(cycles) => format!("1 of {cycles} instants is as late"),
        None => "no instant is".into(),
    };
    let _ = match figures.within_tenth {
        Some(cycle) => writeln!(
            text,
            "  sampling came within 10 % of that largest at cycle {cycle} ({expected})"
        ),
        None => writeln!(
            text,
            "  sampling did not come within 10 % of that largest in {} cycles ({expected})",
            figures.cycles
        ),
    };
    if condition.shortest > 0 {
        let _ = writeln!(
            text,
            "  there were too many sections to keep: those shorter than {} are in no figure but the \
             loop's own",
            time(condition.shortest)
        );
    }
}

fn longest(text: &mut String, condition: &ConditionSections, time: &impl Fn(u64) -> String) {
    let _ = writeln!(
        text,
        "  the longest with preemption or interrupts off, by starting point"
    );
    for SectionFound {
        began,
        ended,
        variable,
        within,
    } in &condition.longest
    {
        let _ = writeln!(
            text,
            "    {:>12}  {began} … {ended}, {}",
            time(variable.most()),
            times(variable.count)
        );
        let Some(within) = within else { continue };
        let from = within.stack.len().saturating_sub(FRAMES);
        let cut = if from > 0 { "… → " } else { "" };
        let _ = writeln!(
            text,
            "                  {cut}{}",
            within.stack[from..].join(" → ")
        );
        most_in(text, within);
    }
}

//! The end of a hunt as a screen and for scripts.

use super::end::{HuntEnd, Longest, Repeated};
use super::finding::Finding;
use super::section::Section;
use crate::window::Within;
use serde_json::{Value, json};
use std::fmt::Write;
use wakepath_guest::hunt::Program;
use wakepath_timeline::duration::exact_ascii;

/// Rows of the table, if not all are wanted.
const ROWS: usize = 12;
/// Callers of a section that are shown, the nearest.
const CALLERS: usize = 6;

/// The screen; `all` shows every row.
pub fn to_text(end: &HuntEnd, all: bool) -> String {
    let ns = end.ns_per_instruction;
    let mut text = format!(
        "{}, preemption {}, programs as {}\n",
        end.kernel,
        end.preemption,
        if end.as_root {
            "root"
        } else {
            "a user without privileges"
        }
    );
    let effort = end.effort;
    let _ = writeln!(
        text,
        "{} programs in {} branches, {:.0} an hour ({} programs in this directory so far); {} kept, {} \
         functions and lengths\n",
        effort.programs,
        effort.branches,
        per_hour(effort.branches, effort.milliseconds),
        end.all_effort.programs,
        end.entries,
        end.covered
    );
    let rows = if all { end.longest.len() } else { ROWS };
    let _ = writeln!(text, "     longest  in call             program  section");
    for row in end.longest.iter().take(rows) {
        let Section {
            began,
            ended,
            length,
            ..
        } = &row.section;
        let _ = writeln!(
            text,
            "{:>12}  {:<18}  {:>7}  {began} … {ended}",
            time(length * ns),
            row.section.call_name(&row.program),
            row.entry
        );
    }
    if end.longest.len() > rows {
        let _ = writeln!(text, "… {} more: --all", end.longest.len() - rows);
    }
    let directory = end.directory.display();
    let options = &end.options;
    let repeat = format!("wakepath lab hunt {options} --directory {directory} --repeat");
    let _ = writeln!(text, "repeat one: {repeat} PROGRAM");
    for finding in &end.findings {
        text += &one(finding, ns);
        let _ = writeln!(text, "  {repeat} {}", finding.text.display());
    }
    for crash in &end.crashes {
        let _ = writeln!(
            text,
            "\n{}\n  program and log: {}",
            crash.name,
            crash.file.display()
        );
    }
    text
}

fn one(finding: &Finding, ns: u64) -> String {
    let Section {
        began,
        ended,
        length,
        ..
    } = &finding.section;
    let mut text = format!("\n{} {began} … {ended}", time(length * ns));
    text += &if finding.is_alone {
        format!(" (found with {})\n", time(finding.found * ns))
    } else {
        " (the program alone does not cause it: earlier programs contributed)\n".into()
    };
    text += &stack(finding.within.as_ref());
    for line in finding.program.to_string().lines() {
        let _ = writeln!(text, "  {line}");
    }
    let _ = writeln!(text, "  C: {}", finding.c.display());
    text
}

fn stack(within: Option<&Within>) -> String {
    let Some(within) = within else {
        return String::new();
    };
    let callers = within.stack.len().saturating_sub(CALLERS);
    let mut text = format!("  called by {}\n", within.stack[callers..].join(" → "));
    let most = within.functions.iter().take(3);
    let most: Vec<String> = most
        .map(|one| format!("{} {}", one.symbol, one.own))
        .collect();
    let _ = writeln!(text, "  instructions in {}", most.join(", "));
    text
}

fn per_hour(count: u64, milliseconds: u64) -> f64 {
    count as f64 * 3_600_000.0 / milliseconds.max(1) as f64
}

/// Three significant digits, in the unit below 1000.
fn time(ns: u64) -> String {
    match ns {
        0..1_000 => exact_ascii(ns),
        1_000..1_000_000 => format!("{:.3} µs", ns as f64 / 1e3),
        _ => format!("{:.3} ms", ns as f64 / 1e6),
    }
}

/// A repeated program's screen.
pub fn repeated_text(repeated: &Repeated, program: &Program, all: bool) -> String {
    let rows = if all { usize::MAX } else { ROWS };
    let mut text = String::new();
    for section in repeated.sections.iter().take(rows) {
        let Section {
            began,
            ended,
            length,
            ..
        } = section;
        let time = time(length * repeated.ns_per_instruction);
        let _ = writeln!(
            text,
            "{time:>12}  {:<18}  {began} … {ended}",
            section.call_name(program)
        );
    }
    text += &stack(repeated.within.as_ref());
    if let Some(crash) = &repeated.crash {
        let _ = writeln!(text, "{crash}");
    }
    let _ = writeln!(
        text,
        "{} branches the same: digest {:016x}",
        repeated.branches, repeated.digest
    );
    text
}

/// For scripts. Times in virtual nanoseconds.
pub fn to_json(end: &HuntEnd) -> Value {
    let ns = end.ns_per_instruction;
    let row = |row: &Longest| {
        json!({
            "began": row.section.began,
            "ended": row.section.ended,
            "length_ns": row.section.length * ns,
            "call": row.section.call_name(&row.program),
            "entry": row.entry,
            "program": row.program.to_string(),
        })
    };
    let finding = |one: &Finding| {
        json!({
            "began": one.section.began,
            "ended": one.section.ended,
            "length_ns": one.section.length * ns,
            "found_ns": one.found * ns,
            "alone": one.is_alone,
            "program": one.program.to_string(),
            "stack": one.within.as_ref().map(|within| &within.stack),
            "text": one.text,
            "c": one.c,
        })
    };
    let crashes = end.crashes.iter();
    let crashes: Vec<Value> = crashes
        .map(|crash| json!({ "name": crash.name, "file": crash.file }))
        .collect();
    json!({
        "kernel": end.kernel,
        "preemption": end.preemption,
        "as_root": end.as_root,
        "programs": end.effort.programs,
        "branches": end.effort.branches,
        "milliseconds": end.effort.milliseconds,
        "all_programs": end.all_effort.programs,
        "kept": end.entries,
        "covered": end.covered,
        "reached": end.reached,
        "longest": end.longest.iter().map(row).collect::<Vec<_>>(),
        "findings": end.findings.iter().map(finding).collect::<Vec<_>>(),
        "crashes": crashes,
    })
}

/// A repeated program for scripts. Times in virtual nanoseconds.
pub fn repeated_json(repeated: &Repeated, program: &Program) -> Value {
    let section = |section: &Section| {
        json!({
            "began": section.began,
            "ended": section.ended,
            "length_ns": section.length * repeated.ns_per_instruction,
            "call": section.call_name(program),
        })
    };
    json!({
        "digest": format!("{:016x}", repeated.digest),
        "branches": repeated.branches,
        "crash": repeated.crash,
        "sections": repeated.sections.iter().map(section).collect::<Vec<_>>(),
        "stack": repeated.within.as_ref().map(|within| &within.stack),
    })
}

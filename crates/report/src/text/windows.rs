//! Windows of a laboratory's run for a terminal.

use std::fmt::Write;
use std::path::Path;
use wakepath_archive::command_about;
use wakepath_assess::stacks_file_name;
use wakepath_explain::window::{Check, Window};

/// Number of functions to list for a window, and for a stretch.
const LISTED: usize = 12;
const OF_A_STRETCH: usize = 3;

/// All of it.
pub fn windows_text(windows: &[Window], run: &Path) -> String {
    let mut text = String::new();
    for window in windows {
        one(&mut text, window);
        let path = run.join(stacks_file_name(window));
        let _ = writeln!(text, "  stacks: {}\n", path.display());
    }
    let run = run.display().to_string();
    let _ = writeln!(
        text,
        "the same run, every nanosecond of every sample; flame graphs: {}\n\
         virtual time: lengths of software paths, not a machine's latencies",
        command_about("report", &run, "")
    );
    text
}

/// The code of a run's worst latencies, next to causes that kernel events show: of each window its
/// stretches and the functions with the most instructions.
pub fn windows_code_text(windows: &[&Window]) -> String {
    let mut text = String::new();
    for window in windows {
        let _ = writeln!(
            text,
            "code of {}, {}: segment {}, cycle {}: {} virtual ns late, {} instructions",
            window.condition,
            window.phase,
            window.segment,
            window.cycle,
            window.latency_ns,
            window.instructions
        );
        if let Some(function) = &window.when_due {
            let _ = writeln!(text, "  when it was due, {function} was under way");
        }
        stretches(&mut text, window);
        for line in unsure(window) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

fn one(text: &mut String, window: &Window) {
    let Window {
        instructions,
        latency_ns,
        ..
    } = window;
    let _ = writeln!(
        text,
        "{}, {}: segment {}, cycle {}: {latency_ns} virtual ns late, {instructions} instructions",
        window.condition, window.phase, window.segment, window.cycle
    );
    let _ = writeln!(text, "  {}", check(window));
    if let Some(function) = &window.when_due {
        let _ = writeln!(text, "  when it was due, {function} was under way");
    }
    if !window.is_whole {
        *text +=
            "  its beginning is not held: the emulator keeps 8 million blocks of instructions\n";
    }
    let share = |count: u64| 100.0 * count as f64 / (*instructions).max(1) as f64;
    stretches(text, window);
    let listed = window.symbols.iter().take(LISTED);
    let width = listed
        .clone()
        .map(|s| s.symbol.chars().count())
        .max()
        .unwrap_or(0);
    let _ = writeln!(
        text,
        "  {:width$}   its own   share  with callees",
        "function"
    );
    for symbol in listed {
        let _ = writeln!(
            text,
            "  {:width$}  {:8}  {:5.1} %  {:5.1} %",
            symbol.symbol,
            symbol.own,
            share(symbol.own),
            share(symbol.with_callees)
        );
    }
    let rest = window.symbols.len().saturating_sub(LISTED);
    if rest > 0 {
        let own: u64 = window.symbols[LISTED..]
            .iter()
            .map(|symbol| symbol.own)
            .sum();
        let _ = writeln!(text, "  {rest} others  {own}  {:.1} %", share(own));
    }
    for line in unsure(window) {
        let _ = writeln!(text, "  {line}");
    }
}

/// The stretches of a window with the functions that most of each was executed in.
fn stretches(text: &mut String, window: &Window) {
    let share = |count: u64| 100.0 * count as f64 / window.instructions.max(1) as f64;
    let width = window
        .stretches
        .iter()
        .map(|s| s.stretch.chars().count())
        .max()
        .unwrap_or(0);
    let _ = writeln!(
        text,
        "  {:width$}  instructions   share  mostly in",
        "stretch"
    );
    for part in &window.stretches {
        let most = most_of(window, &part.stretch).join(", ");
        let _ = writeln!(
            text,
            "  {:width$}  {:12}  {:5.1} %  {most}",
            part.stretch,
            part.instructions,
            share(part.instructions)
        );
    }
}

/// The functions that most of a stretch was executed in.
fn most_of(window: &Window, stretch: &str) -> Vec<String> {
    let mut own: Vec<(&str, u64)> = Vec::new();
    let mine = window
        .stacks
        .iter()
        .filter(|stack| stack.stretch == stretch);
    for stack in mine {
        let name = stack.frames.last().map_or("", String::as_str);
        match own.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += stack.instructions,
            None => own.push((name, stack.instructions)),
        }
    }
    own.sort_by_cached_key(|(_, count)| std::cmp::Reverse(*count));
    let most = own.into_iter().take(OF_A_STRETCH);
    most.map(|(name, count)| format!("{name} {count}"))
        .collect()
}

fn check(window: &Window) -> String {
    match window.check {
        Check::SinceIdle { difference_ns } => format!(
            "idle until due; {} of the latency are not instructions: the timer's own delay",
            ns(difference_ns)
        ),
        Check::SinceTheCycleBefore { difference_ns } => format!(
            "busy when due: counted back from its first instruction; since the cycle before, \
             instructions and the guest's clock are {} apart",
            ns(difference_ns)
        ),
        Check::CountedBack => {
            "busy when due, idle before that: counted back from its first instruction".to_owned()
        }
    }
}

fn ns(difference_ns: i64) -> String {
    format!("{difference_ns} ns")
}

/// Caveats about a window's stacks.
fn unsure(window: &Window) -> Vec<String> {
    let mut lines = Vec::new();
    if window.wakings_by_timers > 1 {
        lines.push(format!(
            "{} timers woke threads during the latency; the first is assumed to be the loop's",
            window.wakings_by_timers
        ));
    }
    if window.unmatched > 0 {
        lines.push(format!(
            "{} returns don't match a call: stacks near them might be wrong",
            window.unmatched
        ));
    }
    if window.nameless > 0 {
        lines.push(format!(
            "{} instructions of the kernel have no symbol",
            window.nameless
        ));
    }
    lines
}

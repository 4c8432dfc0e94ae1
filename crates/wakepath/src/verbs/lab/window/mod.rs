//! `wakepath lab window`: which instructions the worst latencies of a run consist of. The run is made
//! once more with the emulator noting what it executes; the guest knows nothing of it.

mod again;
mod repeat;
mod text;
mod wanted;

use super::prepare::cache;
use crate::command_line::LabWindow;
use crate::verbs::report::write;
use crate::verbs::{Outcome, print};
use again::Again;
use repeat::{Repeated, repeat};
use std::path::Path;
use std::process::ExitCode;
use wakepath_archive::Run;
use wakepath_lab::window::{Check, Symbols, Window, Windows, fold};
use wakepath_measure::Interrupt;
use wanted::Wanted;

type Failure = Box<dyn std::error::Error>;

/// Repeats the run, finds the windows, keeps and shows them.
pub fn run(arguments: &LabWindow) -> Outcome {
    let run = Run::open(&arguments.run)?;
    let wanted = Wanted::of(&run, arguments)?;
    let earlier = kept(&run)?;
    let interrupt = Interrupt::listen()?;
    let again = Again::of(&run, arguments, &cache())?;
    let outcome = repeat(&again, &wanted, &interrupt);
    // A console that explains a failure stays.
    if outcome.is_ok() {
        again.clean_up();
    }
    let repeated = outcome?;
    let windows = windows(&again, &wanted, &repeated)?;
    for window in &windows {
        let path = arguments.run.join(folded_name(window));
        write(&path, &window.folded())?;
    }
    let all = earlier.with(windows.clone());
    let path = arguments.run.join(Windows::FILE_NAME);
    write(&path, &(serde_json::to_string_pretty(&all)? + "\n"))?;
    print(&match arguments.json {
        true => {
            let found = Windows {
                windows,
                ..Windows::default()
            };
            serde_json::to_string_pretty(&found)? + "\n"
        }
        false => text::text(&windows, &arguments.run),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The windows that were found of a run before.
pub fn kept(run: &Run) -> Result<Windows, Failure> {
    let path = run.directory().join(Windows::FILE_NAME);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Windows::default());
        }
        Err(error) => return Err(format!("{}: {error}", path.display()).into()),
    };
    let remedy = "remove it; `wakepath lab window` makes it anew";
    let found: Windows = serde_json::from_slice(&text)
        .map_err(|error| format!("{}: no windows: {error}; {remedy}", path.display()))?;
    match found.version > Windows::VERSION {
        true => Err(format!("{}: written by a newer wakepath; {remedy}", path.display()).into()),
        false => Ok(found),
    }
}

/// Name of the file with a window's stacks.
fn folded_name(window: &Window) -> String {
    let (segment, thread, cycle) = (window.segment, window.thread, window.cycle);
    match thread {
        0 => format!("window-{segment}-{cycle}.folded"),
        _ => format!("window-{segment}-{thread}-{cycle}.folded"),
    }
}

/// From blocks to windows, the worst first in each condition.
fn windows(again: &Again, wanted: &Wanted, repeated: &Repeated) -> Result<Vec<Window>, Failure> {
    let symbols = Symbols::parse(&repeated.symbols)
        .map_err(|why| format!("the kernel's list of its functions: {why}"))?;
    let mut windows = Vec::new();
    for (number, (of, thread)) in wanted.loops.iter().zip(&wanted.threads).enumerate() {
        for &index in &of.wanted {
            let sample = &of.samples[index];
            let kept = repeated.of(number, index).map_err(|why| {
                let (segment, cycle) = (thread.segment, sample.cycle);
                format!("segment {segment}, cycle {cycle}: {why}")
            })?;
            let ns = u64::from(again.ns_per_instruction);
            let latency_ns = u64::try_from(sample.latency_ns()).unwrap_or(0);
            let wake = kept.found.wake;
            let cut = kept.blocks.cut(wake.count, latency_ns, ns);
            let cut = cut.ok_or("the emulator's blocks end before the cycle does")?;
            let check = match (cut.idle_ns, kept.found.before) {
                (Some(difference_ns), _) => Check::SinceIdle { difference_ns },
                (None, Some(before)) if before.halts == wake.halts => {
                    let clock = sample.wake_ns.abs_diff(of.samples[index - 1].end_ns);
                    let counted = (wake.count - before.count) * ns;
                    Check::SinceTheCycleBefore {
                        difference_ns: clock as i64 - counted as i64,
                    }
                }
                _ => Check::CountedBack,
            };
            let folded = fold(&kept.blocks, &cut, &symbols);
            windows.push(Window {
                condition: thread.condition.clone(),
                phase: thread.phase.clone(),
                segment: thread.segment,
                thread: thread.thread,
                cycle: sample.cycle,
                latency_ns,
                ns_per_instruction: again.ns_per_instruction,
                instructions: cut.instructions,
                check,
                is_whole: cut.is_whole,
                when_due: folded.when_due.filter(|_| cut.idle_ns.is_none()),
                wakings_by_timers: folded.wakings_by_timers,
                entered: folded.entered,
                unmatched: folded.unmatched,
                user: folded.user,
                nameless: folded.nameless,
                stretches: folded.stretches,
                symbols: folded.symbols,
                stacks: folded.stacks,
            });
        }
    }
    Ok(windows)
}

/// The run directory as it is named in what is said.
fn said(run: &Path) -> String {
    run.display().to_string()
}

//! Result of a run that was to end at the first latency above a limit: the cycle, and why it was
//! late. Its verdict is that latency alone; every segment of it was traced, so none is judged.

use crate::explained_cycle;
use crate::open_run::opened_in;
use crate::view::Stopped;
use std::process::ExitCode;
use wakepath_archive::{Ending, Run};
use wakepath_console::terminal::{OneLine, folded_for_people, print, print_result};
use wakepath_console::{Outcome, runs};
use wakepath_directory::Directory;
use wakepath_explain::LateCycle;
use wakepath_report::cycle_text_of;
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::{apart_from, length, three_digits};
use wakepath_timeline::{Sample, one_line};

/// Exit code if the limit was passed, as for any other criterion that is not met.
pub const ABOVE: u8 = 2;
/// Exit code where nobody can tell: the run was interrupted, or nothing was traced.
const UNDECIDED: u8 = 3;

/// Lines of one screen for the cycle itself; the others show the place and what to type next.
const ROOM: usize = 27;
/// Causes and pieces of a cycle that are shown if they fit, and in any case.
const MOST: usize = 12;
/// See [`MOST`].
const LEAST: usize = 2;

/// Shows the place and the cause, or that nothing was above the limit.
pub fn show(
    directory: &Directory,
    stopped: Option<&Stopped>,
    above_ns: u64,
    ending: &Ending,
    json: bool,
) -> Outcome {
    let run = opened_in(directory, json)?;
    let limit = length(above_ns);
    let measured = measured(&run)?;
    let late = measured
        .samples
        .iter()
        .filter(|late| stopped.is_none_or(|of| of.segment == late.segment))
        .find(|late| late.latency_ns > above_ns.cast_signed());
    let Some(late) = late else {
        if measured.samples.is_empty() {
            let notes = run.manifest.notes.join("; ");
            return Err(format!("--stop-above: nothing was measured: {notes}").into());
        }
        let cycles = measured.cycles();
        let is_whole = *ending == Ending::Complete;
        let text = if is_whole {
            format!("no latency above {limit} in {cycles} traced cycles\n")
        } else {
            format!("interrupted; until then none of {cycles} cycles above {limit}\n")
        };
        let value = serde_json::json!({
            "stopped": false, "limit_ns": above_ns, "cycles": cycles, "complete": is_whole,
        });
        tell(json, &value, &text, directory)?;
        return Ok(ExitCode::from(if is_whole { 0 } else { UNDECIDED }));
    };
    let described = described(&run, late, above_ns)?;
    let value = serde_json::json!({
        "stopped": true, "limit_ns": above_ns, "latency_ns": late.latency_ns,
        "segment": late.segment, "cycle": late.sample.cycle, "skipped_after_it": late.skipped,
        "thread": described.thread,
        "condition": described.condition, "phase": described.phase, "explained": described.explained,
    });
    tell(json, &value, &described.text, directory)?;
    Ok(ExitCode::from(ABOVE))
}

/// Of a watch that was to end at the first latency above a limit, whose figures and causes are
/// shown already: that latency and why it was.
pub fn first(directory: &Directory, above_ns: u64) -> Outcome {
    let run = opened_in(directory, false)?;
    let limit = length(above_ns);
    let measured = measured(&run)?;
    // A watch counts its own activations as skipped, and reports them.
    let mut samples = measured.samples.iter().filter(|late| late.skipped == 0);
    let late = samples.find(|late| late.latency_ns > above_ns.cast_signed());
    let Some(late) = late else {
        let cycles = measured.cycles();
        print(&folded_for_people(&format!(
            "\nno latency above {limit} in {cycles} activations of periodic threads\n"
        )))?;
        return Ok(ExitCode::SUCCESS);
    };
    print(&format!("\n{}", described(&run, late, above_ns)?.text))?;
    Ok(ExitCode::from(ABOVE))
}

/// A late cycle in words.
struct Described {
    thread: String,
    condition: String,
    phase: String,
    explained: Option<LateCycle>,
    text: String,
}

fn described(
    run: &Run,
    late: &Late,
    above_ns: u64,
) -> Result<Described, Box<dyn std::error::Error>> {
    let Late {
        segment,
        thread,
        sample,
        latency_ns,
        skipped,
    } = late;
    let explained = match skipped {
        0 => explained_cycle::find(run, *segment, *thread, sample.cycle)?,
        _ => None,
    };
    let mut segments = run.manifest.segments.iter();
    let record = segments.find(|of| of.segment == *segment);
    let (condition, phase) = record.map_or(("", ""), |of| (&*of.condition, &*of.phase));
    let name = record.and_then(|of| {
        of.threads
            .iter()
            .find(|of| usize::from(of.thread) == *thread)
    });
    let name = name.map_or("", |of| &*of.name);
    let limit = length(above_ns);
    let latency = apart_from(*latency_ns, above_ns.cast_signed());
    let place = [condition, phase, name].map(one_line).join(", ");
    let cycle = sample.cycle;
    let stopped_at = match skipped {
        0 => format!(
            "stopped: {place}: a latency of {latency}, above {limit}, in cycle {cycle} of segment {segment}\n\n"
        ),
        skipped => format!(
            "stopped: {place}: {} skipped after cycle {cycle} of segment {segment}; the first of them waited \
             {latency}, above {limit}\n\n",
            counted(*skipped, "due time", "due times")
        ),
    };
    let mut text = folded_for_people(&stopped_at);
    match (&explained, skipped) {
        (Some((heading, cycle)), _) => text += &in_short(cycle, heading),
        (None, 0) => text += "it has no kernel events: its window was not kept\n",
        (None, _) => {
            let took = three_digits(sample.execution_ns());
            text += &format!(
                "cycle {cycle} itself took {took} from its first instruction to its end\n"
            );
        }
    }
    // Without a name the latest run is meant.
    let run = runs::word_for(run.directory());
    text += "\nnext\n";
    let whole = format!("--cycle {cycle} --segment {segment}");
    let steps = [
        (whole.as_str(), "every piece of this cycle"),
        (
            "--perfetto late.perfetto-trace",
            "all of them on a timeline",
        ),
    ];
    for (options, what) in steps.into_iter().skip(usize::from(explained.is_none())) {
        let words = ["wakepath explain", &run, options];
        let words = words.into_iter().filter(|word| !word.is_empty());
        let command = words.collect::<Vec<_>>().join(" ");
        text += &folded_for_people(&format!("  {command}   {what}\n"));
    }
    Ok(Described {
        thread: name.to_owned(),
        condition: condition.to_owned(),
        phase: phase.to_owned(),
        explained: explained.map(|(_, cycle)| cycle),
        text,
    })
}

/// A cycle's causes and pieces, as many of them as leave the whole answer on one screen.
fn in_short(cycle: &LateCycle, heading: &str) -> String {
    let shown = |most| folded_for_people(&cycle_text_of(cycle, heading, most));
    let fits = |text: &String| text.lines().count() <= ROOM;
    let fewer = (LEAST..MOST).rev().map(shown);
    let mut all = std::iter::once(shown(MOST)).chain(fewer);
    all.find(fits).unwrap_or_else(|| shown(LEAST))
}

fn tell(
    json: bool,
    value: &serde_json::Value,
    text: &str,
    directory: &Directory,
) -> Result<(), Box<dyn std::error::Error>> {
    if json {
        return Ok(print_result(true, &format!("{value:#}\n"))?);
    }
    print(text)?;
    print(&format!("recording: {}\n", directory.path().in_one_line()))?;
    Ok(())
}

/// A cycle of a thread in a segment.
struct Late {
    segment: u32,
    thread: usize,
    sample: Sample,
    /// Of the cycle, or of the first due time that was skipped after it.
    latency_ns: i64,
    /// How many were.
    skipped: u64,
}

struct Measured {
    /// In the order of time.
    samples: Vec<Late>,
}

impl Measured {
    fn cycles(&self) -> usize {
        self.samples.iter().filter(|late| late.skipped == 0).count()
    }
}

/// The cycles after the warm-ups, and what was skipped between them.
fn measured(run: &Run) -> wakepath_archive::Result<Measured> {
    let mut samples = Vec::new();
    for segment in &run.manifest.segments {
        for thread in &segment.threads {
            let own = run.samples(segment.segment, thread.thread)?;
            let judged: Vec<Sample> = own.into_iter().filter(|of| !of.is_warm_up()).collect();
            let of = |sample: Sample, latency_ns, skipped| Late {
                segment: segment.segment,
                thread: thread.thread.into(),
                sample,
                latency_ns,
                skipped,
            };
            samples.extend(judged.iter().map(|&one| of(one, one.latency_ns(), 0)));
            // A due time without a cycle waited until the next one woke.
            samples.extend(judged.windows(2).filter_map(|pair| {
                let [before, after] = pair else { return None };
                let skipped = after.cycle.saturating_sub(before.cycle + 1);
                let first_ns = before.due_ns.saturating_add(thread.due.period_ns);
                let waited_ns = after.wake_ns.saturating_sub(first_ns).cast_signed();
                (skipped > 0).then(|| of(*before, waited_ns, skipped))
            }));
        }
    }
    samples.sort_by_cached_key(|late| late.sample.due_ns);
    Ok(Measured { samples })
}

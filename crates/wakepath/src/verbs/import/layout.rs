//! Layout of imported threads in a run: its segments, the policy of each thread, and the scenario.
//! Nothing is guessed: options must give facts that no file has.

use super::Failure;
use super::sources::Sources;
use super::stated::{StatedPolicy, agree_on_period};
use crate::command_line::{CriterionOptions, Import};
use crate::criterion_options;
use std::fmt::Write;
use wakepath_console::option_value::OptionError;
use wakepath_import::{Imported, Thread, Values};
use wakepath_scenario::{KnownCpus, Scenario, parse_policy};
use wakepath_timeline::duration::length;
use wakepath_timeline::{DueTimes, Policy};

/// Due times of an import without instants count from here: when it was measured is not known, and
/// 0 would mean that it never was.
const START_NS: u64 = 1_000_000_000;
/// The phase of what was measured without any.
const PHASE: &str = "imported";

/// One segment of the run, with its threads by file and by number in it.
pub(super) struct Segment {
    /// The file that it comes from.
    pub(super) file: usize,
    pub(super) phase: String,
    pub(super) repetition: u32,
    pub(super) condition: String,
    pub(super) threads: Vec<Placed>,
    /// Its number in the file.
    own: u32,
}

/// A thread in a segment.
pub(super) struct Placed {
    /// Its number in the file.
    pub(super) thread: usize,
    pub(super) due: DueTimes,
    pub(super) policy: Policy,
}

/// The segments of all files: each file a repetition, unless it tells its own.
pub(super) fn segments(
    arguments: &Import,
    sources: &Sources,
    asked_ns: Option<u64>,
) -> Result<Vec<Segment>, Failure> {
    let mut segments: Vec<Segment> = Vec::new();
    let mut repetitions = 0_u32;
    for (name, (number, file)) in sources.names.iter().zip(sources.files.iter().enumerate()) {
        let (begin, before) = (segments.len(), repetitions);
        for (at, thread) in file.threads.iter().enumerate() {
            let due = due(name, file, thread, asked_ns)?;
            let policy = policy(arguments, name, file, thread, due.period_ns)?;
            let placed = Placed {
                thread: at,
                due,
                policy,
            };
            let place = thread.place.as_ref();
            let (own, repetition) = place.map_or((0, 0), |p| (p.segment, p.repetition));
            let repetition = before.saturating_add(repetition);
            repetitions = repetitions.max(repetition.saturating_add(1));
            let mut known = segments[begin..].iter_mut();
            match known.find(|known| known.own == own) {
                Some(known) => known.threads.push(placed),
                None => {
                    let told = place.map(|p| p.condition.clone());
                    segments.push(Segment {
                        file: number,
                        phase: place.map_or(PHASE.into(), |p| p.phase.clone()),
                        repetition,
                        condition: told
                            .filter(|text| !text.is_empty())
                            .unwrap_or_else(|| policy.to_string()),
                        threads: vec![placed],
                        own,
                    });
                }
            }
        }
    }
    Ok(segments)
}

fn due(
    name: &str,
    file: &Imported,
    thread: &Thread,
    asked_ns: Option<u64>,
) -> Result<DueTimes, Failure> {
    let period_ns = match &thread.values {
        Values::Row(row) => return Ok(row.due),
        Values::Samples(samples) => samples.period_ns,
        Values::Histogram(_) => {
            let told = thread.period_ns.or(file.period_ns);
            // Of periods that differ by a distance or a multiple, the one that is given is the first.
            let first = file.threads.iter().filter_map(|of| of.period_ns).min();
            agree_on_period(name, file.period_ns.or(first), asked_ns)?;
            // Threads with periods of their own can't have one that is given for all.
            let own = told.filter(|_| has_periods(file));
            let known = own.or(asked_ns).or(told).or_else(|| unneeded(file));
            known.ok_or_else(|| format!("{name}: does not say the period: give --period"))?
        }
    };
    Ok(DueTimes {
        start_ns: START_NS,
        period_ns,
    })
}

/// Whether its threads have different periods.
fn has_periods(file: &Imported) -> bool {
    let mut periods = file.threads.iter().map(|thread| thread.period_ns);
    let first = periods.next();
    periods.any(|period| Some(period) != first)
}

/// A period for values that have no due times: no figure is made of it.
fn unneeded(file: &Imported) -> Option<u64> {
    (!file.measured.has_due_times()).then_some(1_000_000_000)
}

/// As the file states it, or as the option gives what it does not. Never guessed: verdicts are by policy.
fn policy(
    arguments: &Import,
    name: &str,
    file: &Imported,
    thread: &Thread,
    period_ns: u64,
) -> Result<Policy, Failure> {
    let stated = StatedPolicy::in_file(file, thread, period_ns);
    if let Some(text) = &arguments.policy {
        let given = parse_policy(text, period_ns)
            .map_err(|complaint| OptionError::new("--policy", text, complaint))?;
        if let Some(stated) = stated {
            stated.agree(name, thread, text, given)?;
        }
        return Ok(given);
    }
    match stated {
        Some(StatedPolicy::Whole(policy)) => Ok(policy),
        Some(StatedPolicy::Priority(0, _)) => Ok(Policy::Other { nice: 0 }),
        Some(StatedPolicy::Priority(priority, false)) => Ok(Policy::Fifo { priority }),
        Some(StatedPolicy::Priority(priority, true)) => Ok(Policy::RoundRobin { priority }),
        Some(StatedPolicy::Scheduler(scheduler)) => {
            let example = match scheduler {
                "DEADLINE" => "DEADLINE 1ms/5ms/5ms".to_owned(),
                other => format!("{other} 80"),
            };
            Err(format!(
                "{name}: {} measured it under {scheduler}, with parameters that the file does not \
                 say: give --policy, such as '{example}'",
                file.tool
            )
            .into())
        }
        Some(StatedPolicy::Seen(seen)) => Err(unsaid(name, &seen.example())),
        None => Err(unsaid(name, "FIFO 80")),
    }
}

fn unsaid(name: &str, example: &str) -> Failure {
    format!(
        "{name}: does not say under which policy it was measured: give --policy, such as '{example}'"
    )
    .into()
}

/// The terms as a scenario: policies that are compared, or where threads have periods of their own,
/// each thread a task.
pub(super) fn scenario(
    arguments: &Import,
    sources: &Sources,
    segments: &[Segment],
    latency_ns: Option<u64>,
) -> Result<Scenario, Failure> {
    refuse_too_long(arguments, sources, segments, latency_ns)?;
    let files = &sources.files;
    let placed = || {
        let all = segments.iter();
        all.flat_map(|s| {
            s.threads
                .iter()
                .map(|of| (&files[s.file].threads[of.thread], of))
        })
    };
    let values: u64 = placed().map(|(thread, _)| due_times(thread)).sum();
    let mut phases: Vec<&str> = Vec::new();
    for segment in segments {
        if !phases.contains(&&*segment.phase) {
            phases.push(&segment.phase);
        }
    }
    let repetitions = segments.iter().map(|s| s.repetition).max().unwrap_or(0);
    let repetitions = u64::from(repetitions) + 1;
    let name = files[0].tool.to_lowercase().replace(' ', "-");
    let phases: Vec<String> = phases
        .iter()
        .map(|phase| format!("{{ name = {} }}", quoted(phase)))
        .collect();
    let mut text = format!(
        "name = {}\nrepetitions = {repetitions}\nwarm-up = \"0 ns\"\nphases = [{}]\n",
        quoted(&name),
        phases.join(", "),
    );
    let first_ns = segments[0].threads[0].due.period_ns;
    let differ = placed().any(|(_, of)| of.due.period_ns != first_ns);
    let of_set = |thread: &Thread, of: &Placed| {
        let told = thread.place.as_ref().map(|place| &*place.condition);
        told.is_some_and(|told| !told.is_empty() && parse_policy(told, of.due.period_ns).is_err())
    };
    let has_tasks = files.iter().any(|file| file.has_tasks);
    if differ || has_tasks || placed().any(|(thread, of)| of_set(thread, of)) {
        let longest =
            placed().map(|(thread, of)| due_times(thread).saturating_mul(of.due.period_ns));
        let _ = writeln!(
            text,
            "duration = \"{} ns\"",
            longest.max().unwrap_or(first_ns)
        );
        text += &criterion(arguments, latency_ns)?;
        let mut known: Vec<&str> = Vec::new();
        for (thread, of) in placed() {
            if known.contains(&&*thread.name) {
                continue;
            }
            known.push(&thread.name);
            let _ = writeln!(
                text,
                "[[tasks]]\nname = {}\nperiod = \"{} ns\"\npolicy = {}",
                quoted(&thread.name),
                of.due.period_ns,
                quoted(&in_scenario(of.policy)),
            );
        }
    } else {
        let mut policies: Vec<String> = Vec::new();
        for (_, of) in placed() {
            let policy = quoted(&in_scenario(of.policy));
            if !policies.contains(&policy) {
                policies.push(policy);
            }
        }
        let _ = writeln!(
            text,
            "period = \"{first_ns} ns\"\ncycles = {}\npolicies = [{}]",
            values.max(repetitions),
            policies.join(", "),
        );
        text += &criterion(arguments, latency_ns)?;
    }
    let known = KnownCpus::first(1024);
    Scenario::parse(&text, "the import", &known).map_err(|errors| errors.to_string().into())
}

/// A limit beyond a period: the deadline of one period is missed before.
fn refuse_too_long(
    arguments: &Import,
    sources: &Sources,
    segments: &[Segment],
    latency_ns: Option<u64>,
) -> Result<(), Failure> {
    let (Some(limit_ns), Some(given)) = (latency_ns, &arguments.latency) else {
        return Ok(());
    };
    for segment in segments {
        let mut placed = segment.threads.iter();
        let Some(shorter) = placed.find(|of| of.due.period_ns < limit_ns) else {
            continue;
        };
        let (file, name) = (&sources.files[segment.file], &sources.names[segment.file]);
        let period = length(shorter.due.period_ns);
        return Err(format!(
            "--latency {given}: is longer than the period of {} in {name} ({period}), which is its deadline: \
             give at most {period}",
            file.threads[shorter.thread].name
        )
        .into());
    }
    Ok(())
}

fn criterion(arguments: &Import, latency_ns: Option<u64>) -> Result<String, Failure> {
    let table = criterion_options::table(&CriterionOptions {
        latency: latency_ns.map(|ns| format!("{ns} ns")),
        miss_fraction: arguments.miss_fraction.clone(),
        criterion: arguments.criterion.clone(),
    })?;
    let table = toml::to_string(&table.unwrap_or_default())?;
    Ok(format!("[criterion]\n{table}"))
}

/// A policy as scenarios write it.
fn in_scenario(policy: Policy) -> String {
    match policy {
        Policy::Deadline {
            runtime_ns,
            deadline_ns,
            period_ns,
        } => format!("DEADLINE {runtime_ns} ns/{deadline_ns} ns/{period_ns} ns"),
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Cycles of a thread that its file has a value of.
pub(super) fn cycles(thread: &Thread) -> u64 {
    match &thread.values {
        Values::Histogram(histogram) => histogram.count(),
        Values::Samples(samples) => samples.cycles.len() as u64,
        Values::Row(row) => row.samples.len() as u64,
    }
}

/// Due times of a thread, as far as its file has them: at least one for each cycle, recorded or lost.
pub(super) fn due_times(thread: &Thread) -> u64 {
    let (last, lost) = match &thread.values {
        Values::Histogram(histogram) => return histogram.count(),
        Values::Samples(samples) => {
            let last = samples.cycles.last().map(|(cycle, _)| *cycle);
            (last, samples.lost)
        }
        Values::Row(row) => match &row.judged {
            Some(judged) => return judged.end,
            None => (row.samples.last().map(|last| last.cycle), row.lost),
        },
    };
    let accounted = cycles(thread).saturating_add(lost);
    last.map_or(0, |last| last + 1).max(accounted)
}

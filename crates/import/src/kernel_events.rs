//! The kernel's events made cycles of named threads, whatever file they come from: by the thread's
//! own timer where its events are there, else by its wake-ups.

use crate::choice::{chosen, no_period};
use crate::{Asked, ImportError, Imported, KernelTrace, Row, Samples, Thread, Values, wakeups};
use wakepath_explain::Untold;
use wakepath_explain::watch::{Activations, BegunBy, ThreadActivity, row};
use wakepath_timeline::{KernelEvent, Lack, What};

/// As many events as are held in memory: 5 GB.
pub(crate) const MOST_EVENTS: usize = 50_000_000;

/// What a file holds besides its events.
pub(crate) struct Recording {
    pub(crate) tool: &'static str,
    pub(crate) tool_version: Option<String>,
    pub(crate) kernel: Option<String>,
    pub(crate) events: Vec<KernelEvent>,
    pub(crate) lost: u64,
    /// How to record what is needed.
    pub(crate) needed: &'static str,
    /// Whether the events' clock is the one that timers are programmed in.
    pub(crate) has_timers_clock: bool,
    /// What the file itself lacks.
    pub(crate) lacks: Vec<Lack>,
}

/// The cycles of the threads that are asked for.
///
/// # Errors
/// Where a thread or its period must be given, or events are missing that nothing works without.
pub(crate) fn imported(recording: Recording, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let Recording {
        tool,
        tool_version,
        kernel,
        mut events,
        lost,
        needed,
        has_timers_clock,
        lacks: own_lacks,
    } = recording;
    // Each CPU has a buffer of its own.
    events.sort_by_key(|event| event.at_ns);
    if !has_timers_clock {
        // What was programmed is on another clock than what happened.
        events.retain(|event| !matches!(event.what, What::TimerStart { .. }));
    }
    let has = |wanted: fn(&What) -> bool| events.iter().any(|event| wanted(&event.what));
    let from_waking = has(|what| matches!(what, What::Waking { .. }));
    let has_wake_ups = from_waking || has(|what| matches!(what, What::WakeUp { .. }));
    if !has_wake_ups || !has(|what| matches!(what, What::Switch { .. })) {
        let why = format!("holds no wake-ups with switches of threads: record with {needed}");
        return Err(ImportError::whole(why));
    }
    let woken = wakeups::threads(&events, from_waking);
    let chosen = chosen(&woken, asked.threads)?;
    let mut activities = activities(&events, chosen.iter().map(|(number, _)| *number));
    let mut threads: Vec<Thread> = Vec::new();
    let mut lacks = vec![Lack::FirstInstructions];
    for (number, found) in chosen {
        let name = unused(&threads, &found.name.to_string());
        let activity = activities.remove(&number).unwrap_or_default();
        let (values, lacking) = match by_timer(&activity, &name, asked.period_ns) {
            Some((row, lacking)) => (Values::Row(row), lacking),
            None => {
                let period_ns = asked
                    .period_ns
                    .ok_or_else(|| ImportError::whole(no_period(found)))?;
                let cycles = (0..).zip(&found.wake_ups).map(|(cycle, (_, latency))| {
                    (cycle, i64::try_from(*latency).unwrap_or(i64::MAX))
                });
                let samples = Samples {
                    period_ns,
                    cycles: cycles.collect(),
                    lost: found.incomplete,
                };
                let lacking = vec![
                    Lack::BeforeWakeUp,
                    Lack::MissedWakeUps,
                    Lack::DueTimes,
                    Lack::EndOfWork,
                ];
                (Values::Samples(samples), lacking)
            }
        };
        for lack in lacking {
            if !lacks.contains(&lack) {
                lacks.push(lack);
            }
        }
        threads.push(Thread {
            number: Some(number),
            ..Thread::new(name, None, values)
        });
    }
    lacks.extend(own_lacks);
    lacks.extend([
        Lack::Untraced,
        Lack::WarmUp,
        Lack::EffectivePolicy,
        Lack::Machine,
    ]);
    for thread in &mut threads {
        match &mut thread.values {
            Values::Row(row) => row.lost += lost,
            Values::Samples(samples) => samples.lost += lost,
            Values::Histogram(_) => {}
        }
    }
    let mut cpus: Vec<u16> = events.iter().map(|event| event.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let periods = threads.iter().map(|thread| match &thread.values {
        Values::Row(row) => Some(row.due.period_ns),
        Values::Samples(samples) => Some(samples.period_ns),
        Values::Histogram(_) => None,
    });
    Ok(Imported {
        tool,
        tool_version,
        kernel,
        measures: "kernel events of a program that does not measure itself",
        lacks,
        period_ns: periods.flatten().min(),
        threads,
        trace: Some(KernelTrace { events, cpus, lost }),
        // FIFO or RR, OTHER or BATCH: the events have the priority alone.
        ..Imported::default()
    })
}

/// What the wanted threads did.
fn activities(
    events: &[KernelEvent],
    threads: impl IntoIterator<Item = u32>,
) -> std::collections::BTreeMap<u32, ThreadActivity> {
    let mut untold = Untold::default();
    let mut activations = Activations::new(threads);
    for event in events {
        if let Some(switch) = untold.before(event) {
            activations.untold(&switch);
        }
        activations.event(event);
    }
    activations.finish()
}

/// Cycles on the row of a thread's own timer; `None` where it has no rhythm, or another one than the
/// user says.
fn by_timer(
    activity: &ThreadActivity,
    name: &str,
    asked_ns: Option<u64>,
) -> Option<(Row, Vec<Lack>)> {
    let rhythm = activity.rhythm().ok()?;
    if asked_ns.is_some_and(|asked| asked.abs_diff(rhythm.period_ns) > asked / 10) {
        return None;
    }
    let found = row(activity.turns(rhythm), rhythm);
    let mut lacks = vec![Lack::OwnDueTimes];
    if rhythm.anchor_ns.is_none() {
        lacks.push(Lack::Other(format!(
            "instants of {name}: it does not sleep until instants a whole number of periods apart, \
             so its cycles are moved onto an even row; latencies and run times are as measured"
        )));
    }
    if rhythm.begun_by == BegunBy::Other {
        lacks.push(Lack::Other(format!(
            "timers of {name}: something else wakes it, and its cycles are due when it was woken"
        )));
    } else if !rhythm.programmed {
        lacks.push(Lack::Other(format!(
            "programmed times of {name}: its cycles are due when the timer's callback began, and \
             the timer's own lateness is not in their latency"
        )));
    }
    let made = Row {
        due: found.due,
        samples: found.even(),
        lost: 0,
        judged: None,
    };
    (!made.samples.is_empty()).then_some((made, lacks))
}

/// A name that no other thread has.
fn unused(threads: &[Thread], name: &str) -> String {
    let taken = |name: &str| threads.iter().any(|thread| thread.name == name);
    let names = (1_u32..).map(|n| match n {
        1 => name.to_owned(),
        n => format!("{name}-{n}"),
    });
    let mut free = names.filter(|name| !taken(name));
    free.next().unwrap_or_else(|| name.to_owned())
}

//! The kernel's events made cycles of named threads, whatever file they come from: by the thread's
//! own timer where its events are there, else by its wake-ups.

use crate::choice::{chosen, no_period};
use crate::clock::{Clock, TimersClock, without_programmed};
use crate::due_times::{OnGrid, in_order, on_grid};
use crate::wakeups::Woken;
use crate::{Asked, ImportError, Imported, KernelTrace, Row, Thread, Values, wakeups};
use std::collections::BTreeMap;
use wakepath_explain::watch::{Activation, Activations, BegunBy, Task, ThreadActivity};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::length;
use wakepath_timeline::{DueTimes, KernelEvent, Lack, Left, Sample, ThreadName, What};

/// As many events as are held in memory: 5 GB.
pub(crate) const MOST_EVENTS: usize = 50_000_000;

/// Of no machine.
const NO_CPU: u16 = u16::MAX;

/// Contents of a file besides its events.
pub(crate) struct Recording {
    pub(crate) tool: &'static str,
    pub(crate) tool_version: Option<String>,
    pub(crate) command: Vec<String>,
    pub(crate) kernel: Option<String>,
    /// Missing ones are among them, each before the next event of its CPU.
    pub(crate) events: Vec<KernelEvent>,
    /// How to record what is needed.
    pub(crate) needed: &'static str,
    /// The clock that timers are programmed in, according to the events.
    pub(crate) clock: TimersClock,
    /// Data missing from the file itself.
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
        command,
        kernel,
        mut events,
        needed,
        clock,
        lacks: mut own_lacks,
    } = recording;
    // Each CPU has a buffer of its own.
    events.sort_by_cached_key(|event| event.at_ns);
    match clock.moves(&mut events) {
        Clock::Monotonic => {}
        Clock::Moved => own_lacks.push(Lack::Other(
            "the timers' clock: events are moved onto it by hrtimer_expire_entry, 1 or 2 µs early"
                .into(),
        )),
        Clock::Unknown => without_programmed(&mut events),
    }
    let has = |wanted: fn(&What) -> bool| events.iter().any(|event| wanted(&event.what));
    let from_waking = has(|what| matches!(what, What::Waking { .. }));
    let has_wake_ups = from_waking || has(|what| matches!(what, What::WakeUp { .. }));
    if !has_wake_ups || !has(|what| matches!(what, What::Switch { .. })) {
        let why = format!("holds no wake-ups with switches of threads: record with {needed}");
        return Err(ImportError::whole(why));
    }
    let has_timers = has(|what| matches!(what, What::TimerExpiryEntry { .. }));
    let woken = wakeups::threads(&events, from_waking);
    let chosen = chosen(&woken, asked.threads)?;
    let mut activities = activities(&events, &chosen, from_waking);
    let gaps = Gaps::new(&events);
    let mut threads: Vec<Thread> = Vec::new();
    let mut lacks = Vec::new();
    for (number, found) in chosen {
        let own_name = found.name.to_string();
        let activity = activities.remove(&number).unwrap_or_default();
        for lack in unrecorded(&activity, &own_name) {
            if !lacks.contains(&lack) {
                lacks.push(lack);
            }
        }
        let tasks = tasks(&activity, asked.period_ns, &own_name)?;
        let made = tasks.iter().filter_map(|task| {
            // Name the tasks of one thread by their difference.
            let name = match task.timer {
                Some(_) => format!("{own_name} {}", length(task.rhythm.period_ns)),
                None => own_name.clone(),
            };
            let (row, lacking) = by_rhythm(task, &gaps, &name, asked.period_ns, has_timers)?;
            Some((name, task.timer, Values::Row(row), lacking))
        });
        let mut made: Vec<_> = made.collect();
        if made.is_empty() {
            let (values, lacking) = by_wake_ups(found, asked.period_ns)?;
            made.push((own_name, None, values, lacking));
        }
        for (name, timer, values, lacking) in made {
            for lack in lacking {
                if !lacks.contains(&lack) {
                    lacks.push(lack);
                }
            }
            threads.push(Thread {
                number: Some(number),
                timer,
                scheduled_by: found.scheduled_by(),
                ..Thread::new(unused(&threads, &name), None, values)
            });
        }
    }
    if !from_waking {
        lacks.push(Lack::Other(
            "the start of wake-ups (sched_waking): latency counts from the run queue".into(),
        ));
    }
    lacks.extend(own_lacks);
    lacks.extend([
        Lack::Untraced,
        Lack::WarmUp,
        Lack::EffectivePolicy,
        Lack::Machine,
    ]);
    let mut cpus: Vec<u16> = events.iter().map(|event| event.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let periods = threads.iter().map(|thread| match &thread.values {
        Values::Row(row) => Some(row.due.period_ns),
        _ => None,
    });
    Ok(Imported {
        tool,
        tool_version,
        command,
        kernel,
        measures: "kernel events of a program that does not measure itself",
        lacks,
        period_ns: periods.flatten().min(),
        threads,
        trace: Some(KernelTrace { events, cpus }),
        // FIFO or RR, OTHER or BATCH: the events have the priority alone.
        ..Imported::default()
    })
}

/// Turns without a recorded beginning look like skipped periods, if they are more than this percentage of a thread's.
const MOST_UNRECORDED_PERCENT: u64 = 1;

/// Data that a thread lacks whose switches or wake-ups the kernel did not record, as some leave them out when idle ends.
fn unrecorded(activity: &ThreadActivity, name: &str) -> Vec<Lack> {
    let missing = activity.untold_switches + activity.unseen_wake_ups;
    let turns = activity.activations.len().max(activity.handed.len()) as u64;
    if missing * 100 <= turns * MOST_UNRECORDED_PERCENT {
        return Vec::new();
    }
    let many = counted(missing, "wake-up or switch", "wake-ups or switches");
    let why =
        format!("{many} of {name} that the kernel left out: these cycles may be there or not");
    vec![Lack::SkippedPeriods, Lack::Other(why)]
}

/// Activity of the wanted threads. Lost events cut nothing here: see [`Gaps`].
fn activities(
    events: &[KernelEvent],
    threads: &[(u32, &Woken)],
    from_waking: bool,
) -> BTreeMap<u32, ThreadActivity> {
    let mut activations = Activations::new(threads.iter().map(|(number, _)| *number));
    for event in events {
        if matches!(event.what, What::Lost { .. }) {
            continue;
        }
        match &event.what {
            // If the wake-up was not recorded, use the run queue's event.
            What::WakeUp { thread, target_cpu } if !from_waking => {
                let (thread, target_cpu) = (thread.clone(), *target_cpu);
                activations.event(&KernelEvent {
                    what: What::Waking { thread, target_cpu },
                    ..*event
                });
            }
            _ => activations.event(event),
        }
    }
    // The last turn of a thread that sleeps at the end is whole.
    let end_ns = events.last().map_or(0, |last| last.at_ns);
    for (number, found) in threads.iter().filter(|(_, found)| found.is_asleep()) {
        let of = |id, name| wakepath_timeline::Thread {
            id,
            name,
            priority: found.kernel_priority,
        };
        activations.event(&KernelEvent {
            at_ns: end_ns,
            cpu: NO_CPU,
            current: *number,
            what: What::Switch {
                previous: of(*number, found.name),
                left: Left::Dead,
                next: of(0, ThreadName::default()),
            },
        });
    }
    activations.finish()
}

/// Where events of a CPU are missing: from its event before to its event after.
struct Gaps(Vec<(u64, u64)>);

impl Gaps {
    fn new(events: &[KernelEvent]) -> Self {
        let mut last_ns = std::collections::HashMap::new();
        let mut found = Vec::new();
        for event in events {
            let before = last_ns.insert(event.cpu, event.at_ns);
            if matches!(event.what, What::Lost { .. }) {
                found.push((before.unwrap_or(0), event.at_ns));
            }
        }
        found.sort_unstable();
        Self(found)
    }

    /// Whether events are missing between two instants.
    fn touch(&self, from_ns: u64, to_ns: u64) -> bool {
        self.0.iter().any(|gap| gap.0 < to_ns && from_ns < gap.1)
    }
}

/// A thread's tasks with a period, or those with the one that the user says.
fn tasks(
    activity: &ThreadActivity,
    asked_ns: Option<u64>,
    name: &str,
) -> Result<Vec<Task>, ImportError> {
    let mut tasks = activity.tasks().unwrap_or_default();
    let Some(asked_ns) = asked_ns else {
        return Ok(tasks);
    };
    // Due times that were programmed on a row are no other period's.
    let on_row = |task: &&Task| task.rhythm.programmed && task.rhythm.anchor_ns.is_some();
    let shown = tasks.iter().find(on_row).map(|task| task.rhythm.period_ns);
    tasks.retain(|task| asked_ns.abs_diff(task.rhythm.period_ns) <= asked_ns / 10);
    match shown {
        Some(shown_ns) if tasks.is_empty() => Err(ImportError::whole(format!(
            "the timers of {name} show a period of {}, which --period {} contradicts: leave --period out",
            length(shown_ns),
            length(asked_ns)
        ))),
        _ => Ok(tasks),
    }
}

/// Cycles by the times between a thread's wake-ups.
fn by_rhythm(
    task: &Task,
    gaps: &Gaps,
    name: &str,
    asked_ns: Option<u64>,
    has_timers: bool,
) -> Option<(Row, Vec<Lack>)> {
    let rhythm = task.rhythm;
    // A latency within which events are missing is none.
    let whole = |of: &&Activation| !gaps.touch(of.expiry_ns, of.switched_in_ns);
    let turns = &task.turns;
    let kept: Vec<Activation> = turns.iter().filter(whole).copied().collect();
    let cut = turns.len() - kept.len();
    let OnGrid {
        mut row,
        moved,
        furthest_ns,
    } = match rhythm.sleeps_ns {
        None => on_grid(&kept, rhythm, asked_ns),
        Some(_) => in_order(&kept, rhythm),
    };
    row.lost += cut as u64;
    let mut lacks = vec![Lack::FirstInstructions];
    lacks.push(if rhythm.programmed {
        Lack::OwnDueTimes
    } else {
        Lack::BeforeWakeUp
    });
    if rhythm.begun_by == BegunBy::Other {
        lacks.push(if has_timers { Lack::Timers {
                threads: name.to_string(),
            } } else { Lack::Other(format!(
                "timers (hrtimer_start, hrtimer_expire_entry): the cycles of {name} are due when it \
                 was woken"
            )) });
    } else if !rhythm.programmed {
        lacks.push(Lack::ProgrammedTimes {
            threads: name.to_string(),
        });
    }
    if !rhythm.programmed {
        lacks.push(Lack::MissedWakeUps);
    }
    if rhythm.sleeps_ns.is_some() {
        lacks.push(Lack::SkippedPeriods);
        lacks.push(Lack::Other(format!(
            "instants of {name}: it sleeps for a relative time, so its cycles are moved onto an even grid; \
             latencies and run times are as recorded"
        )));
    }
    if moved > 0 {
        lacks.push(Lack::Other(format!(
            "an even grid of {name}: {moved} of its cycles were due up to {} off whole periods and \
             are moved onto them; latencies and run times are as recorded",
            length(furthest_ns)
        )));
    }
    (!row.samples.is_empty()).then_some((row, lacks))
}

/// Cycles of wake-ups that come with no rhythm, at the period that the user says.
fn by_wake_ups(found: &Woken, asked_ns: Option<u64>) -> Result<(Values, Vec<Lack>), ImportError> {
    let period_ns = asked_ns.ok_or_else(|| ImportError::whole(no_period(found)))?;
    let due = DueTimes {
        start_ns: found.wake_ups.first().map_or(0, |(at_ns, _)| *at_ns),
        period_ns,
    };
    let sample = |(cycle, latency_ns): (u64, i64)| {
        let due_ns = due.due_ns(cycle);
        let wake_ns = due_ns.saturating_add_signed(latency_ns);
        Sample {
            cycle,
            due_ns,
            wake_ns,
            // Where its work ends is not looked for.
            end_ns: wake_ns,
            ..Sample::default()
        }
    };
    let row = Row {
        due,
        samples: found.cycles(period_ns).into_iter().map(sample).collect(),
        lost: found.incomplete,
        judged: None,
    };
    let lacks = vec![
        Lack::BeforeWakeUp,
        Lack::MissedWakeUps,
        Lack::DueTimes,
        Lack::EndOfWork,
    ];
    Ok((Values::Row(row), lacks))
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

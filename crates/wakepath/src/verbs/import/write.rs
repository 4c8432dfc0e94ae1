//! An import written as a run: its log, and the kernel's events if it has any.

use super::layout::{Placed, Segment, due_times};
use super::{Failure, Prepared};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::SystemTime;
use wakepath_archive::{
    CpuCount, Effective, Ending, Event, EventKind, LogWriter, RunStarted, ScenarioText,
    SegmentEnded, SegmentStarted, SegmentTraced, ThreadEnd, ThreadEnded, ThreadHistogram,
    ThreadStarted, Tool, TraceDescription, TraceEnd, TraceWriter, run_id, trace_name,
};
use wakepath_directory::Directory;
use wakepath_import::{Histogram, Imported, KernelTrace, Row, Samples, Values};
use wakepath_timeline::{DueTimes, Sample, What};

/// Removes what was written.
pub(super) fn withdraw(directory: &Directory) -> Result<(), Failure> {
    let trace = trace_name(0);
    if directory.holds(&trace) {
        directory.remove(&trace)?;
    }
    wakepath_archive::withdraw_in(directory)?;
    Ok(())
}

/// Writes the run; finishing it is the caller's.
pub(super) fn write(prepared: &Prepared, directory: &Directory) -> Result<(), Failure> {
    let Prepared {
        sources,
        lacks,
        segments,
        scenario,
    } = prepared;
    let files = &sources.files;
    let first = &files[0];
    let started = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let mut random = [0; 4];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    let mut notes = vec![
        "imported: the start of the run is when it was imported; when it was measured is not known"
            .to_owned(),
    ];
    notes.extend(
        first
            .kernel
            .iter()
            .map(|release| format!("measured on Linux {release}")),
    );
    let mut log = LogWriter::create_in(directory)?;
    log.append_event(&Event::RunStarted(Box::new(RunStarted {
        run_id: run_id(&started, random),
        tool: Tool {
            name: first.tool.into(),
            version: first
                .tool_version
                .clone()
                .unwrap_or_else(|| "unknown".into()),
            commit: None,
        },
        command: first.command.clone(),
        started,
        scenario: ScenarioText {
            name: scenario.name.clone(),
            toml: scenario.to_toml(),
        },
        clock_source: "unknown".into(),
        notes,
        ..RunStarted::default()
    })))?;
    let mut histograms = Vec::new();
    for (number, segment) in (0..).zip(segments) {
        histograms.extend(of_segment(number, segment, &files[segment.file]));
    }
    log.append_event(&Event::Imported(Box::new(wakepath_archive::Imported {
        form: sources.form.word().into(),
        measures: first.measures.into(),
        measured: first.measured,
        lacks: lacks.clone(),
        sources: sources.records.clone(),
        histograms,
    })))?;
    for (number, segment) in (0..).zip(segments) {
        write_segment(&mut log, directory, number, segment, &files[segment.file])?;
    }
    log.end(Ending::Complete)?;
    Ok(())
}

fn of_segment(number: u32, segment: &Segment, file: &Imported) -> Vec<ThreadHistogram> {
    let threads = (0..).zip(&segment.threads);
    let found = threads.filter_map(|(thread, of)| {
        let Values::Histogram(found) = &file.threads[of.thread].values else {
            return None;
        };
        // Taken apart by field, so that a reader's new field is not forgotten here.
        let Histogram {
            bins,
            overflowed,
            range_end_ns,
            min_ns,
            max_ns,
            mean_ns,
        } = found.clone();
        Some(ThreadHistogram {
            segment: number,
            thread,
            bins,
            overflowed,
            range_end_ns,
            min_ns,
            max_ns,
            mean_ns,
            observed_ns: file.threads[of.thread].observed_ns,
        })
    });
    found.collect()
}

fn write_segment(
    log: &mut LogWriter,
    directory: &Directory,
    number: u32,
    segment: &Segment,
    file: &Imported,
) -> Result<(), Failure> {
    let threads = || (0..).zip(&segment.threads);
    log.append_event(&Event::SegmentStarted(SegmentStarted {
        segment: number,
        phase: segment.phase.clone(),
        repetition: segment.repetition,
        condition: segment.condition.clone(),
        traced: file.trace.is_some(),
        threads: threads()
            .map(|(number, of)| thread_started(number, of, file))
            .collect(),
    }))?;
    let mut ended = Vec::new();
    for (thread, of) in threads() {
        let (written, lost) = match &file.threads[of.thread].values {
            Values::Histogram(_) => (0, 0),
            Values::Samples(samples) => {
                let cpu = file.threads[of.thread].cpu;
                write_samples(log, (number, thread), samples, of.due, cpu)?;
                (samples.cycles.len() as u64, samples.lost)
            }
            Values::Row(row) => {
                for some in row.samples.chunks(1024) {
                    log.append_samples(number, thread, some)?;
                }
                (row.samples.len() as u64, row.lost)
            }
        };
        ended.push(ThreadEnded {
            thread,
            written,
            recorded: written,
            lost,
            skipped: None,
            counters: None,
            on_a_core: None,
            page_faults: None,
            modules: Vec::new(),
            ended: ThreadEnd::AllCycles,
        });
    }
    if let Some(trace) = &file.trace {
        let traced = write_trace(directory, number, file.tool, trace)?;
        log.append_event(&Event::SegmentTraced(traced))?;
    }
    log.append_event(&Event::SegmentEnded(SegmentEnded {
        segment: number,
        threads: ended,
        loads: Vec::new(),
    }))?;
    Ok(())
}

fn thread_started(number: u16, of: &Placed, file: &Imported) -> ThreadStarted {
    let Placed { due, policy, .. } = *of;
    let thread = &file.threads[of.thread];
    let mut details = json!({ "policy": policy, "callback": file.ros2.is_some() });
    if let Some(number) = thread.number {
        details["thread_id"] = number.into();
    }
    if let Some(timer) = thread.timer {
        details["timer"] = timer.into();
    }
    let first_judged_cycle = match &thread.values {
        Values::Row(Row {
            judged: Some(judged),
            ..
        }) => judged.start,
        Values::Row(row) => {
            let warm_up = row.samples.iter().rev().find(|sample| sample.is_warm_up());
            warm_up.map_or(0, |last| last.cycle + 1)
        }
        _ => 0,
    };
    ThreadStarted {
        thread: number,
        name: thread.name.clone(),
        due,
        requested: policy,
        effective: Effective {
            text: format!("{policy}, as requested"),
            details,
        },
        cpus: thread.cpu.into_iter().collect(),
        first_judged_cycle,
        end_cycle: due_times(thread),
    }
}

fn write_samples(
    log: &mut LogWriter,
    (segment, thread): (u32, u16),
    samples: &Samples,
    due: DueTimes,
    cpu: Option<u16>,
) -> Result<(), Failure> {
    for some in samples.cycles.chunks(1024) {
        let some: Vec<Sample> = some
            .iter()
            .map(|&(cycle, latency_ns)| {
                let due_ns = due.due_ns(cycle);
                let wake_ns = due_ns.saturating_add_signed(latency_ns);
                Sample {
                    cycle,
                    due_ns,
                    wake_ns,
                    // The tool has no work: the cycle ends at its beginning.
                    end_ns: wake_ns,
                    cpu: cpu.unwrap_or_default(),
                    ..Sample::default()
                }
            })
            .collect();
        log.append_samples(segment, thread, &some)?;
    }
    Ok(())
}

/// The events next to the log, for `wakepath explain`.
fn write_trace(
    directory: &Directory,
    segment: u32,
    tool: &str,
    trace: &KernelTrace,
) -> Result<SegmentTraced, Failure> {
    let began_ns = trace.events.first().map_or(0, |first| first.at_ns);
    let ended_ns = trace.events.last().map_or(0, |last| last.at_ns);
    let recorded: BTreeSet<EventKind> = trace.events.iter().filter_map(kind).collect();
    let mut writer = TraceWriter::create_in(
        directory,
        &TraceDescription {
            segment,
            cpus: trace.cpus.clone(),
            backend: tool.into(),
            clock: "that of the file".into(),
            recorded: recorded.into_iter().collect(),
            began_ns,
            ..TraceDescription::default()
        },
    )?;
    for event in &trace.events {
        writer.append(event)?;
    }
    let told = |event: &&wakepath_timeline::KernelEvent| !matches!(event.what, What::Lost { .. });
    let count = |cpu: u16| {
        let all = trace.events.iter().filter(|event| event.cpu == cpu);
        let events = all.clone().filter(told).count() as u64;
        let lost = all.filter_map(|event| match event.what {
            What::Lost { count } => Some(count.max(1)),
            _ => None,
        });
        CpuCount {
            cpu,
            events,
            taken: events,
            lost: lost.sum(),
            complete_from_ns: began_ns,
            ..CpuCount::default()
        }
    };
    let bytes = writer.finish(&TraceEnd {
        ended_ns,
        cpus: trace.cpus.iter().map(|cpu| count(*cpu)).collect(),
        ..TraceEnd::default()
    })?;
    let events = trace.events.iter().filter(told).count() as u64;
    let lost = trace.lost();
    Ok(SegmentTraced {
        segment,
        events,
        taken: events,
        lost: lost.values().sum(),
        lost_cpus: lost.keys().copied().collect(),
        bytes,
        wall_ns: ended_ns.saturating_sub(began_ns),
        ..SegmentTraced::default()
    })
}

/// The kind of an event, as traces describe themselves.
fn kind(event: &wakepath_timeline::KernelEvent) -> Option<EventKind> {
    use wakepath_timeline::Interrupt;
    Some(match &event.what {
        What::InterruptEntry(Interrupt::LocalTimer)
        | What::InterruptExit(Interrupt::LocalTimer) => EventKind::LocalTimer,
        What::InterruptEntry(Interrupt::Device { .. })
        | What::InterruptExit(Interrupt::Device { .. }) => EventKind::DeviceInterrupt,
        What::InterruptEntry(_) | What::InterruptExit(_) => EventKind::Vector,
        What::SoftIrqRaise(_) => EventKind::SoftIrqRaise,
        What::SoftIrqEntry(_) | What::SoftIrqExit(_) => EventKind::SoftIrq,
        What::TimerExpiryEntry { .. } | What::TimerExpiryExit { .. } => EventKind::TimerExpiry,
        What::TimerStart { .. } => EventKind::TimerStart,
        What::Waking { .. } => EventKind::Waking,
        What::WakeUp { .. } => EventKind::WakeUp,
        What::Switch { .. } => EventKind::Switch,
        What::Migrate { .. } => EventKind::Migrate,
        What::Inherits { .. } => EventKind::Inherits,
        What::IpiSend { .. } => EventKind::IpiSend,
        What::IdleEntry { .. } | What::IdleExit => EventKind::Idle,
        What::Frequency { .. } => EventKind::Frequency,
        What::PageFault { .. } | What::PageMapped => EventKind::PageFault,
        What::Mark { .. } => EventKind::Mark,
        What::Call(_) => EventKind::Call,
        What::SystemCallEntry { .. }
        | What::SystemCallExit
        | What::ClockSet { .. }
        | What::SetsAffinity { .. }
        | What::Followed { .. }
        | What::Descriptor { .. } => EventKind::SystemCall,
        What::Lost { .. } => return None,
    })
}

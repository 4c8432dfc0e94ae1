//! `perf record -e sched:sched_waking -e sched:sched_switch -a`: how long a thread took from the
//! beginning of its wake-up to the switch to it. When it was due no event tells.

mod file;
mod formats;
mod sample;

use crate::bytes::Bytes;
use crate::choice::{chosen, no_period};
use crate::form::{Fit, Reader};
use crate::wakeups;
use crate::{Asked, Form, ImportError, Imported, Samples, Thread, Use, Values};
use file::File;
use sample::Layout;
use std::collections::BTreeMap;
use wakepath_probe::Symbols;
use wakepath_probe::stream::{Decoder, Record, Wanted};
use wakepath_timeline::{KernelEvent, Lack, What};

/// Kinds of records: perf_event_open(2), and `tools/perf/util/event.h` from 64 on.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;
const LOST_SAMPLES: u32 = 13;
const AUXTRACE: u32 = 71;
const COMPRESSED: [u32; 2] = [81, 83];

const NEEDED: &str = "`perf record -e sched:sched_waking -e sched:sched_switch -a`";

pub(crate) const FORM: Form = Form {
    word: "perf",
    written_by: "perf record -e sched:sched_waking -e sched:sched_switch -a",
    uses: &[Use::Threads],
    reader: Reader::Bytes(fits, read),
};

fn fits(bytes: &[u8]) -> Fit {
    Fit::certain_if(bytes.starts_with(b"PERFILE2") || bytes.starts_with(b"2ELIFREP"))
}

pub(crate) fn read(bytes: &[u8], asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let file = File::parse(bytes)?;
    let Trace { mut events, lost } = trace(&file)?;
    // Each CPU has a buffer of its own; the file has them piece by piece.
    events.sort_by_key(|event| event.at_ns);
    let has = |wanted: fn(&What) -> bool| events.iter().any(|event| wanted(&event.what));
    let from_waking = has(|what| matches!(what, What::Waking { .. }));
    let has_wake_ups = from_waking || has(|what| matches!(what, What::WakeUp { .. }));
    if !has_wake_ups || !has(|what| matches!(what, What::Switch { .. })) {
        let why = format!("holds no wake-ups with switches of threads: record with {NEEDED}");
        return Err(ImportError::whole(why));
    }
    let all = wakeups::threads(&events, from_waking);
    let chosen = chosen(&all, asked.threads)?;
    let Some(period_ns) = asked.period_ns else {
        return Err(ImportError::whole(no_period(chosen[0].1)));
    };
    let threads = chosen.into_iter().map(|(number, found)| {
        let samples = Samples {
            period_ns,
            cycles: (0..)
                .zip(&found.wake_ups)
                .map(|(cycle, (_, latency))| (cycle, i64::try_from(*latency).unwrap_or(i64::MAX)))
                .collect(),
            lost: lost.saturating_add(found.incomplete),
        };
        Thread::new(
            format!("{} {number}", found.name),
            None,
            Values::Samples(samples),
        )
    });
    Ok(Imported {
        tool: "perf",
        tool_version: file.version,
        command: file.command,
        kernel: file.kernel,
        measures: match from_waking {
            true => "time from the beginning of the wake-up to the switch to the thread",
            false => "time from the run queue to the switch to the thread",
        },
        lacks: vec![
            Lack::BeforeWakeUp,
            Lack::MissedWakeUps,
            Lack::DueTimes,
            Lack::EndOfWork,
            Lack::WarmUp,
            Lack::Machine,
        ],
        threads: threads.collect(),
        period_ns: Some(period_ns),
        // FIFO or RR, OTHER or BATCH: the events have the priority alone.
        priority: None,
        ..Imported::default()
    })
}

struct Trace {
    events: Vec<KernelEvent>,
    lost: u64,
}

fn trace(file: &File<'_>) -> Result<Trace, ImportError> {
    let mut decoder = decoder(file)?;
    let layouts = Layouts::of(file)?;
    let mut trace = Trace {
        events: Vec::new(),
        lost: 0,
    };
    let mut records = file.records;
    let mut number = 0_u64;
    while !records.0.is_empty() {
        number += 1;
        let broken = || {
            ImportError::whole(format!(
                "record {number} is cut short or not as perf writes it"
            ))
        };
        let (kind, mut body) = record(&mut records).ok_or_else(broken)?;
        match kind {
            SAMPLE => {
                let layout = layouts.of_sample(body).ok_or_else(broken)?;
                if layout.tracepoint.is_none() {
                    continue;
                }
                let sample = layout.read(body).ok_or_else(broken)?;
                let record = Record {
                    at_ns: sample.at_ns,
                    bytes: sample.raw,
                };
                decoder.decode(&record, sample.cpu, |event| {
                    let of_use = matches!(
                        event.what,
                        What::Waking { .. } | What::WakeUp { .. } | What::Switch { .. }
                    );
                    if of_use {
                        trace.events.push(event);
                    }
                });
            }
            LOST => {
                let _number = body.u64().ok_or_else(broken)?;
                let more = body.u64().ok_or_else(broken)?;
                trace.lost = trace.lost.saturating_add(more);
            }
            LOST_SAMPLES => {
                let more = body.u64().ok_or_else(broken)?;
                trace.lost = trace.lost.saturating_add(more);
            }
            AUXTRACE => {
                // Bytes of a hardware trace follow, which its own length does not count.
                let more = body.u64().ok_or_else(broken)?;
                records.take(more).ok_or_else(broken)?;
            }
            kind if COMPRESSED.contains(&kind) => {
                return Err(ImportError::whole(
                    "its records are compressed: record without -z",
                ));
            }
            _ => {}
        }
    }
    Ok(trace)
}

/// A record's kind and what follows its head.
fn record<'a>(records: &mut Bytes<'a>) -> Option<(u32, Bytes<'a>)> {
    let mut head = *records;
    let (kind, _misc, size) = (head.u32()?, head.u16()?, head.u16()?);
    let mut whole = Bytes(records.take(size.into())?);
    whole.take(8)?;
    Some((kind, whole))
}

/// A decoder of the scheduler's tracepoints, by the formats that perf kept.
fn decoder(file: &File<'_>) -> Result<Decoder, ImportError> {
    let Some(section) = file.tracing else {
        let why = format!("holds no tracepoints: record with {NEEDED}");
        return Err(ImportError::whole(why));
    };
    let formats = formats::formats(section)
        .ok_or_else(|| ImportError::whole("what it says of the events' formats can't be read"))?;
    // No timer is of interest, so that its mode is none either.
    let mut decoder = Decoder::new(Symbols::default(), false);
    for wanted in Wanted::all() {
        let tracepoint = wanted.tracepoint;
        if tracepoint.system != "sched" {
            continue;
        }
        let is_it = |text: &str| {
            let name = text.lines().find_map(|line| line.strip_prefix("name: "));
            name == Some(tracepoint.name.as_str())
        };
        let found = formats
            .iter()
            .find(|(system, text)| *system == tracepoint.system && is_it(text));
        if let Some((_, text)) = found {
            decoder
                .learn(&tracepoint, text)
                .map_err(|error| ImportError::whole(format!("{}: {error}", tracepoint.path())))?;
        }
    }
    Ok(decoder)
}

/// Which sample is laid out how.
enum Layouts {
    Same(Layout),
    ByNumber(BTreeMap<u64, Layout>),
}

impl Layouts {
    fn of(file: &File<'_>) -> Result<Self, ImportError> {
        let tracepoints = || {
            file.layouts
                .iter()
                .filter(|(one, _)| one.tracepoint.is_some())
        };
        if let Some(lacks) = tracepoints().find_map(|(layout, _)| layout.lacks()) {
            return Err(ImportError::whole(format!("its samples lack {lacks}")));
        }
        let Some((first, _)) = tracepoints().next() else {
            let why = format!("holds no tracepoints: record with {NEEDED}");
            return Err(ImportError::whole(why));
        };
        if file.layouts.iter().all(|(layout, _)| layout.is_like(first)) {
            return Ok(Self::Same(*first));
        }
        if !file
            .layouts
            .iter()
            .all(|(layout, _)| layout.is_identified())
        {
            return Err(ImportError::whole(
                "its events are laid out differently and their samples do not say which they are",
            ));
        }
        let numbers = file
            .layouts
            .iter()
            .flat_map(|(layout, numbers)| numbers.iter().map(|&number| (number, *layout)));
        Ok(Self::ByNumber(numbers.collect()))
    }

    fn of_sample(&self, mut body: Bytes<'_>) -> Option<Layout> {
        match self {
            Self::Same(layout) => Some(*layout),
            Self::ByNumber(all) => all.get(&body.u64()?).copied(),
        }
    }
}

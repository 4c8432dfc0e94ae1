//! `perf record -e sched:sched_waking -e sched:sched_switch -a`: how long a thread took from the
//! beginning of its wake-up to the switch to it. When it was due no event tells.

mod file;
mod formats;
mod sample;

use crate::bytes::Bytes;
use crate::clock::TimersClock;
use crate::form::{Fit, Reader};
use crate::kernel_events::{MOST_EVENTS, Recording, imported};
use crate::{Asked, Form, ImportError, Imported, Use};
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
    let trace = trace(&file)?;
    let is_timers = |event: &KernelEvent| matches!(event.what, What::TimerExpiryEntry { .. });
    let has_timers = trace.events.iter().any(is_timers);
    imported(
        Recording {
            tool: "perf",
            tool_version: file.version,
            command: file.command,
            kernel: file.kernel,
            events: trace.events,
            needed: NEEDED,
            clock: trace.clock,
            lacks: if has_timers {
                vec![Lack::Other(
                    "names of timers' functions: perf keeps only their addresses".into(),
                )]
            } else {
                Vec::new()
            },
        },
        asked,
    )
}

#[derive(Default)]
struct Trace {
    events: Vec<KernelEvent>,
    clock: TimersClock,
    /// Events lost since the last sample, of a CPU that the record does not say.
    lost: u64,
}

impl Trace {
    /// The next sample is of the buffer that lost events before it.
    fn take_lost(&mut self, at_ns: u64, cpu: u16) {
        let count = std::mem::take(&mut self.lost);
        if count > 0 {
            self.events.push(KernelEvent {
                at_ns,
                cpu,
                current: 0,
                what: What::Lost { count },
            });
        }
    }
}

fn trace(file: &File<'_>) -> Result<Trace, ImportError> {
    let mut trace = Trace::default();
    let mut decoder = decoder(file, &mut trace.clock)?;
    let layouts = Layouts::new(file)?;
    let mut last = (0, 0);
    let mut records = file.records;
    let mut number = 0_u64;
    while !records.0.is_empty() {
        number += 1;
        let broken = || {
            ImportError::whole(format!(
                "record {number} is truncated or not in perf's form"
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
                last = (sample.at_ns, sample.cpu);
                trace.take_lost(sample.at_ns, sample.cpu);
                trace.clock.record(&record);
                let events = &mut trace.events;
                decoder.decode(&record, sample.cpu, |event| events.push(event));
                if trace.events.len() > MOST_EVENTS {
                    let why = format!("more than {MOST_EVENTS} events: record a shorter time");
                    return Err(ImportError::whole(why));
                }
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
    trace.take_lost(last.0, last.1);
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

/// A decoder of the tracepoints that are understood, by the formats that perf kept. Of functions perf
/// keeps the addresses alone.
fn decoder(file: &File<'_>, clock: &mut TimersClock) -> Result<Decoder, ImportError> {
    let Some(section) = file.tracing else {
        let why = format!("holds no tracepoints: record with {NEEDED}");
        return Err(ImportError::whole(why));
    };
    let formats = formats::formats(section).ok_or_else(|| {
        ImportError::whole("its descriptions of the events' formats can't be read")
    })?;
    let kernel = file.kernel.as_deref().unwrap_or("");
    let is_real_time = kernel.contains("-rt") || kernel.contains("PREEMPT_RT");
    let mut decoder = Decoder::new(Symbols::default(), is_real_time);
    for (system, text) in &formats {
        let name = text.lines().find_map(|line| line.strip_prefix("name: "));
        let wanted = name.and_then(|name| match *system {
            "irq_vectors" => Wanted::vector(name),
            _ => Wanted::all()
                .into_iter()
                .find(|w| w.tracepoint.system == *system && w.tracepoint.name == name),
        });
        if let Some(wanted) = wanted {
            // An event of another shape is of no use, and its records are passed over.
            let _ = decoder.learn(&wanted.tracepoint, text);
            if name == Some("hrtimer_expire_entry") {
                clock.learn(text);
            }
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
    fn new(file: &File<'_>) -> Result<Self, ImportError> {
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

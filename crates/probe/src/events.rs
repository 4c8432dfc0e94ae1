//! The wanted events that this kernel has, by their formats in tracefs. It records none.

use std::fs;
use std::io;
use std::path::Path;

use wakepath_archive::{EventKind, MissingEvents};

use crate::error::{ProbeError, Result, UnusableEvent};
use crate::stream::{Decoder, Tracepoint, Wanted};
use crate::symbols::Symbols;
use crate::tracefs::read_text;

/// Without these no wake-up can be explained.
const NEEDED: [&str; 2] = ["sched_switch", "sched_waking"];

/// Events that can be recorded, and those that can't.
#[derive(Debug, Default)]
pub(crate) struct KnownEvents {
    /// Tracepoints that the decoder has learnt.
    pub(crate) learnt: Vec<Tracepoint>,
    /// Tracepoints of system calls, if the kernel has them: recorded later, for some threads.
    pub(crate) calls: Vec<Tracepoint>,
    /// That of mapped pages, if the kernel has it: recorded of the same threads.
    pub(crate) mapped: Option<Tracepoint>,
    /// Kinds of events that are recorded.
    pub(crate) recorded: Vec<EventKind>,
    /// Events that are not, with the reason.
    pub(crate) missing: Vec<MissingEvents>,
}

impl KnownEvents {
    /// Learns the formats under `root`, which is tracefs or one of its instances. `usable` tries an event
    /// with its number, and returns why it is unusable.
    pub(crate) fn learn(
        root: &Path,
        marks: &[Wanted],
        mut usable: impl FnMut(&Tracepoint, u16) -> Result<(), UnusableEvent>,
    ) -> Result<(Self, Decoder)> {
        // Hidden addresses leave functions without names, which is no reason not to trace.
        let symbols = fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        let version = fs::read_to_string("/proc/version").unwrap_or_default();
        let mut decoder = Decoder::new(Symbols::parse(&symbols), version.contains("PREEMPT_RT"));
        let mut known = Self::default();
        let mut wanted = Wanted::all();
        wanted.extend(vectors(root));
        wanted.extend_from_slice(marks);
        for Wanted { tracepoint, kind } in wanted {
            let learnt = learn_one(root, &tracepoint, &mut decoder)
                .and_then(|number| usable(&tracepoint, number));
            match learnt {
                Ok(()) => {
                    known.learnt.push(tracepoint);
                    if !known.recorded.contains(&kind) {
                        known.recorded.push(kind);
                    }
                }
                Err(reason)
                    if NEEDED.contains(&tracepoint.name.as_str())
                        || matches!(kind, EventKind::Mark | EventKind::Call) =>
                {
                    return Err(ProbeError::NoEvents {
                        events: format!("{} ({reason})", tracepoint.path()),
                    });
                }
                Err(reason) => known.missing.push(MissingEvents {
                    events: tracepoint.path(),
                    kind,
                    reason: reason.to_string(),
                }),
            }
        }
        Ok((known, decoder))
    }

    /// Learns what is recorded of some threads alone: system calls and mapped pages. `usable` as in [`Self::learn`];
    /// without them all else is as good.
    pub(crate) fn learn_of_threads(
        &mut self,
        root: &Path,
        decoder: &mut Decoder,
        mut usable: impl FnMut(&Tracepoint) -> Result<(), UnusableEvent>,
    ) {
        // Without it the price of a page fault is estimated.
        let mapped = Wanted::mapped_pages().tracepoint;
        let learnt = learn_one(root, &mapped, decoder).and_then(|_| usable(&mapped));
        self.mapped = learnt.is_ok().then_some(mapped);
        for Wanted { tracepoint, kind } in Wanted::calls() {
            let learnt = learn_one(root, &tracepoint, decoder).and_then(|_| usable(&tracepoint));
            match learnt {
                Ok(()) => self.calls.push(tracepoint),
                Err(reason) => {
                    self.calls.clear();
                    return self.missing.push(MissingEvents {
                        events: tracepoint.path(),
                        kind,
                        reason: reason.to_string(),
                    });
                }
            }
        }
        self.recorded.push(EventKind::SystemCall);
    }
}

fn learn_one(
    root: &Path,
    tracepoint: &Tracepoint,
    decoder: &mut Decoder,
) -> Result<u16, UnusableEvent> {
    let format = match read_text(&root.join(tracepoint.place()).join("format")) {
        Ok(format) => format,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(UnusableEvent::Unknown);
        }
        Err(error) => return Err(error.into()),
    };
    Ok(decoder.learn(tracepoint, &format)?)
}

/// The vectors of an x86 CPU; an Arm kernel has none, and its interrupts all have numbers.
fn vectors(root: &Path) -> Vec<Wanted> {
    let Ok(entries) = fs::read_dir(root.join("events/irq_vectors")) else {
        return Vec::new();
    };
    let names = entries
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok());
    let mut found: Vec<Wanted> = names.filter_map(|name| Wanted::vector(&name)).collect();
    found.sort_by(|a, b| a.tracepoint.name.cmp(&b.tracepoint.name));
    found
}

//! LTTng's trace of the kernel (CTF 1.8 and 2): the kernel's events with LTTng's names for them.

use crate::clock::TimersClock;
use crate::ctf::{self, Event, Metadata, Stream};
use crate::events::{Fields, Read, Table, left_of_bits};
use crate::form::{Fit, Reader};
use crate::kernel_events::{MOST_EVENTS, Recording, imported};
use crate::{Asked, Form, ImportError, Imported, Part, Use};
use std::collections::HashMap;
use wakepath_timeline::{KernelEvent, Lack, Left, What};

const NEEDED: &str = "`lttng enable-event -k \
                      sched_waking,sched_switch,timer_hrtimer_start,timer_hrtimer_expire_entry`";

/// `MAX_RT_PRIO` of the kernel.
const REAL_TIME_PRIORITIES: i128 = 100;

pub(crate) const FORM: Form = Form {
    word: "lttng",
    written_by: "lttng create; lttng enable-event -k …; lttng start",
    uses: &[Use::Threads],
    reader: Reader::Directory(fits, read),
};

/// A trace that includes user space belongs to ros2_tracing.
fn fits(parts: &[Part]) -> Fit {
    let domains: Vec<Option<bool>> = metadata(parts)
        .map(|part| {
            let read = Metadata::parse(&part.bytes).ok()?;
            Some(read.environment("domain") == Some("kernel"))
        })
        .collect();
    let is_kernels = domains.contains(&Some(true)) && !domains.contains(&Some(false));
    Fit::certain_if(is_kernels)
}

/// The files that describe a trace each.
pub(crate) fn metadata(parts: &[Part]) -> impl Iterator<Item = &Part> {
    let is_it = |part: &&Part| part.path == "metadata" || part.path.ends_with("/metadata");
    parts.iter().filter(is_it)
}

/// Files next to a description: its streams.
pub(crate) fn streams<'a>(parts: &'a [Part], metadata: &Part) -> impl Iterator<Item = &'a Part> {
    let folder = metadata
        .path
        .strip_suffix("metadata")
        .unwrap_or("")
        .to_owned();
    parts.iter().filter(move |part| {
        let rest = part.path.strip_prefix(folder.as_str());
        rest.is_some_and(|rest| rest != "metadata" && !rest.contains('/') && !rest.is_empty())
    })
}

fn read(parts: &[Part], asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let mut seen = Seen::default();
    let (mut kernel, mut version) = (None, None);
    let mut traces = 0;
    for part in metadata(parts) {
        let at = |what: String| ImportError::whole(format!("{}: {what}", part.path));
        let metadata = Metadata::parse(&part.bytes).map_err(|error| at(error.to_string()))?;
        if metadata
            .environment("domain")
            .is_some_and(|domain| domain != "kernel")
        {
            continue;
        }
        traces += 1;
        if traces > 1 {
            let why = "a second trace of the kernel is there: import each separately";
            return Err(at(why.to_owned()));
        }
        let text = |name: &str| metadata.environment(name).map(str::to_owned);
        kernel = text("kernel_release");
        version = text("tracer_major").zip(text("tracer_minor"));
        seen.trace(parts, part, &metadata)?;
    }
    if seen.events.is_empty() {
        let why = format!("contains no known event: record {NEEDED}");
        return Err(ImportError::whole(why));
    }
    let mut lacks = Vec::new();
    if seen.broken > 0 {
        lacks.push(Lack::Other(format!(
            "{} events whose fields are not as LTTng 2.13 writes them",
            seen.broken
        )));
    }
    imported(
        Recording {
            tool: "LTTng",
            tool_version: version.map(|(major, minor)| format!("{major}.{minor}")),
            command: Vec::new(),
            kernel,
            events: seen.events,
            needed: NEEDED,
            clock: seen.clock,
            lacks,
        },
        asked,
    )
}

/// The kernel's events of a trace.
#[derive(Default)]
pub(crate) struct Seen {
    table: Table,
    pub(crate) events: Vec<KernelEvent>,
    pub(crate) clock: TimersClock,
    /// The thread on each CPU, by the last switch.
    current: HashMap<u16, u32>,
    pub(crate) broken: u64,
}

impl Seen {
    /// Takes the streams next to a description.
    pub(crate) fn trace(
        &mut self,
        parts: &[Part],
        part: &Part,
        metadata: &Metadata,
    ) -> Result<(), ImportError> {
        for stream in streams(parts, part) {
            let mut reader = Stream::new(metadata, &stream.bytes);
            let read = reader.each(|event| self.event(&event));
            read.map_err(|error| ImportError::whole(format!("{}: {error}", stream.path)))?;
            if self.events.len() > MOST_EVENTS {
                let why = format!("{}: more than {MOST_EVENTS} events", part.path);
                return Err(ImportError::whole(why));
            }
            self.current.clear();
        }
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>) {
        let name = kernels(event.name);
        let cpu = event.fields.integer("cpu_id").unwrap_or(0);
        let cpu = match name {
            // Their own field of this name comes after the packet's.
            "cpu_idle" | "cpu_frequency" => event.fields.first("cpu_id").unwrap_or(cpu),
            _ => cpu,
        };
        let cpu = u16::try_from(cpu).unwrap_or(0);
        let current = self.current.get(&cpu).copied().unwrap_or(0);
        let mut push = |cpu, current, what| {
            self.events.push(KernelEvent {
                at_ns: event.at_ns,
                cpu,
                current,
                what,
            });
        };
        if event.lost_before > 0 {
            let count = event.lost_before;
            push(cpu, current, What::Lost { count });
        }
        let fields = Of(&event.fields);
        match self.table.read(name, &fields) {
            Read::Happened(happened) => {
                for (own_cpu, what) in happened {
                    let current = match &what {
                        What::Switch { previous, next, .. } => {
                            self.current.insert(cpu, next.id);
                            previous.id
                        }
                        _ => current,
                    };
                    push(own_cpu.unwrap_or(cpu), current, what);
                }
            }
            Read::Useless => {}
            Read::Broken => self.broken += 1,
        }
        if name == "hrtimer_expire_entry"
            && let Some(now) = fields.number("now").and_then(|now| u64::try_from(now).ok())
        {
            self.clock.sees(event.at_ns, now);
        }
    }
}

/// The kernel's name of an event: LTTng puts the system before it.
fn kernels(name: &str) -> &str {
    let systems = [
        "x86_irq_vectors_",
        "x86_exceptions_",
        "timer_",
        "power_",
        "irq_softirq_",
    ];
    let found = systems
        .iter()
        .find_map(|system| Some((system, name.strip_prefix(system)?)));
    match found {
        Some((&"irq_softirq_", "raise")) => "softirq_raise",
        Some((&"irq_softirq_", "entry")) => "softirq_entry",
        Some((&"irq_softirq_", "exit")) => "softirq_exit",
        Some((_, rest)) => rest,
        None => name,
    }
}

/// Fields of an event of CTF.
struct Of<'a>(&'a ctf::Fields);

impl Fields for Of<'_> {
    fn number(&self, name: &str) -> Option<i128> {
        let value = self.0.integer(name)?;
        // LTTng counts priorities from the lowest real-time one on.
        let is_priority = ["prio", "prev_prio", "next_prio"].contains(&name);
        Some(if is_priority {
            value + REAL_TIME_PRIORITIES
        } else {
            value
        })
    }

    fn address(&self, name: &str) -> Option<u64> {
        // Addresses may be signed there.
        let value = self.0.integer(name)?;
        u64::try_from(value)
            .ok()
            .or_else(|| i64::try_from(value).ok().map(i64::cast_unsigned))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.text(name)
    }

    fn left(&self, name: &str) -> Option<Left> {
        self.0.integer(name).map(left_of_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_kernels_name() {
        for (own, kernel) in [
            ("sched_switch", "sched_switch"),
            ("timer_hrtimer_start", "hrtimer_start"),
            ("irq_softirq_raise", "softirq_raise"),
            ("irq_handler_entry", "irq_handler_entry"),
            ("x86_irq_vectors_local_timer_entry", "local_timer_entry"),
            ("power_cpu_idle", "cpu_idle"),
        ] {
            assert_eq!(kernels(own), kernel);
        }
    }
}

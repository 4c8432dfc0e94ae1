//! `trace`: how kernel events are recorded.

use super::form::{Words, size, time};
use super::shape::Shape;
use super::visitor::{Context, Keys, described, read, written_after};
use crate::document::Node;
use crate::error::Findings;
use crate::{Trace, TraceBackend, TraceBuffer};
use serde_json::json;
use toml::Value;

const SECOND_NS: u64 = 1_000_000_000;
const LONGEST_NS: u64 = 60 * SECOND_NS;
/// Smallest and largest buffer of a CPU in bytes: less holds no second of a busy CPU, more has no room on
/// any machine that is measured.
const BUFFER: (u64, u64) = (1 << 20, 16 << 30);

/// `trace = true` or a table.
pub(super) fn key(keys: &mut Keys<'_>, trace: &mut Option<Trace>) {
    keys.nested(
        "trace",
        (
            Ok("false"),
            "Record kernel events, so that late cycles can be explained. Each segment is measured a second time \
             with tracing. Verdicts come from the untraced segments; the difference is shown as the probe effect. \
             The run takes twice the time.",
        ),
        trace,
        || {
            let table = described(Trace::default(), declare);
            Shape::Either(vec![Shape::Boolean, Shape::Table(Box::new(table))])
        },
        read_trace,
        |trace| {
            let table = written_after(toml::Table::new(), trace.as_mut()?, declare);
            Some(if table.is_empty() {
                true.into()
            } else {
                Value::Table(table)
            })
        },
    );
}

fn read_trace(
    node: &Node<'_>,
    context: Context<'_>,
    findings: &mut Findings,
) -> Option<Option<Trace>> {
    if let Ok(wanted) = node.boolean() {
        return Some(wanted.then(Trace::default));
    }
    let remedy = "give true, or a table such as { mode = \"drained\" }";
    let section = findings.keep(node.table(remedy))?;
    read(&section, context, findings, Trace::default(), declare).map(Some)
}

pub(crate) fn declare(keys: &mut Keys<'_>, trace: &mut Trace) {
    keys.title(
        "the trace",
        "How kernel events are recorded, on the CPUs of the loop alone.",
    );
    keys.optional(
        "backend",
        Words(&[
            ("tracefs", TraceBackend::Tracefs),
            ("perf", TraceBackend::Perf),
        ]),
        "a tracefs instance, or perf if none can be created",
        "Recording interface. perf costs twice as much for each event, and still needs a readable tracefs.",
        &mut trace.backend,
    );
    keys.optional(
        "mode",
        Words(&[
            ("flight-recorder", TraceBuffer::FlightRecorder),
            ("drained", TraceBuffer::Drained),
        ]),
        "a flight recorder if the longest segment fits into the buffer, otherwise drained",
        "A flight recorder is read after the segment, and overwrites its oldest events when it is full. A drained \
         buffer is emptied by another process while the loop runs.",
        &mut trace.mode,
    );
    keys.optional(
        "buffer",
        size(BUFFER.0, BUFFER.1),
        "12 MB for each second of the longest segment (24 MB if it is drained), at most an \
         eighth of the free memory over all CPUs",
        "Buffer of each CPU.",
        &mut trace.buffer_bytes,
    );
    keys.optional(
        "timerlat",
        // The kernel's buffer holds no more.
        time("5 s").within(SECOND_NS / 10, LONGEST_NS),
        "not measured",
        "Duration of the kernel's own measurement at the end of each phase, under its loads, on \
         each of the loop's CPUs: with its timerlat tracer, if built in (Linux 5.14, CONFIG_TIMERLAT_TRACER). Its \
         figures are listed with the loop's.",
        &mut trace.timerlat_ns,
    );
    keys.optional(
        "osnoise",
        // The kernel reports every half second.
        time("5 s").within(SECOND_NS, LONGEST_NS),
        "not measured",
        "Duration of the kernel's noise measurement at the end of each phase: its osnoise tracer, if built in \
         (Linux 5.14, CONFIG_OSNOISE_TRACER), records everything that takes the CPU from a FIFO 95 thread that \
         never sleeps. The tracer uses half of the CPU's time.",
        &mut trace.osnoise_ns,
    );
    keys.optional(
        "sections",
        time("5 s").within(SECOND_NS / 2, LONGEST_NS),
        "not measured",
        "Duration of the recording of non-preemptible kernel sections at the end of each phase: windows with the \
         kernel's preemptirq:* events (CONFIG_PREEMPTIRQ_TRACEPOINTS) alternate with windows without. `wakepath \
         bound` composes a bound from the longest sections, and shows the effect of the events on wake-ups. On a \
         kernel without these events, its tracer preemptirqsoff (CONFIG_PREEMPT_TRACER) gives only the longest \
         section.",
        &mut trace.sections_ns,
    );
    keys.optional(
        "keep-above",
        time("100 us"),
        "all events are kept",
        "Wake-up latency above which the events around a cycle are kept; all others are discarded. Only with a \
         flight recorder.",
        &mut trace.keep_above_ns,
    );
    keys.rule(|| {
        json!({ "not": {
            "properties": { "mode": { "const": "drained" } },
            "required": ["mode", "keep-above"],
        } })
    });
    if trace.mode == Some(TraceBuffer::Drained) && trace.keep_above_ns.is_some() {
        keys.refuse_value(
            "keep-above",
            "conflicts with mode = \"drained\", which writes events before late cycles are known",
            "give mode = \"flight-recorder\", or leave keep-above out",
        );
    }
}

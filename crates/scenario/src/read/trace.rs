//! Reads `trace`: true, false, or a table.

use super::choice;
use crate::document::{Node, Section};
use crate::error::{Finding, Findings};
use crate::units::{parse_duration, parse_size};
use crate::{Trace, TraceBackend, TraceBuffer, keys};

/// Shortest and longest measurement by the kernel in nanoseconds: its buffer holds no more.
const TIMERLAT_NS: (u64, u64) = (100_000_000, 60_000_000_000);
/// The same for measuring CPU time withheld, which the kernel reports every half second.
const OSNOISE_NS: (u64, u64) = (1_000_000_000, 60_000_000_000);
/// The same of sections: half of it is without their events, in turns.
const SECTIONS_NS: (u64, u64) = (500_000_000, 60_000_000_000);

pub(super) fn read_trace(root: &Section<'_>, findings: &mut Findings) -> Option<Option<Trace>> {
    let Some(node) = root.get("trace") else {
        return Some(None);
    };
    if let Ok(wanted) = node.boolean() {
        return Some(wanted.then(Trace::default));
    }
    let remedy = "give true, or a table such as { mode = \"drained\" }";
    let section = findings.keep(node.table(remedy))?;
    keys::check(&section, &keys::TRACE, findings);
    let backend = findings.optional(section.get("backend"), None, |node| {
        let backends = [
            ("tracefs", TraceBackend::Tracefs),
            ("perf", TraceBackend::Perf),
        ];
        choice(node, &backends).map(Some)
    });
    let mode = findings.optional(section.get("mode"), None, |node| {
        let modes = [
            ("flight-recorder", TraceBuffer::FlightRecorder),
            ("drained", TraceBuffer::Drained),
        ];
        choice(node, &modes).map(Some)
    });
    let buffer_bytes = findings.optional(section.get("buffer"), None, |node| {
        read_buffer(node).map(Some)
    });
    let keep_above_ns = findings.optional(section.get("keep-above"), None, |node| {
        let ns = node.quantity("give a time such as \"100 us\"", parse_duration)?;
        Ok(Some(ns))
    });
    let by_kernel = |node: &Node<'_>, (least, most): (u64, u64), right: &str| {
        let ns = node.quantity("give a time such as \"5 s\"", parse_duration)?;
        match (least..=most).contains(&ns) {
            true => Ok(Some(ns)),
            false => Err(node.refuse("is out of range", right)),
        }
    };
    let timerlat_ns = findings.optional(section.get("timerlat"), None, |node| {
        by_kernel(node, TIMERLAT_NS, "give \"100 ms\" to \"60 s\"")
    });
    let osnoise_ns = findings.optional(section.get("osnoise"), None, |node| {
        by_kernel(node, OSNOISE_NS, "give \"1 s\" to \"60 s\"")
    });
    let sections_ns = findings.optional(section.get("sections"), None, |node| {
        by_kernel(node, SECTIONS_NS, "give \"500 ms\" to \"60 s\"")
    });
    let (backend, mode, keep_above_ns) = (backend?, mode?, keep_above_ns?);
    if let (Some(TraceBuffer::Drained), Some(_), Some(node)) =
        (mode, keep_above_ns, section.get("keep-above"))
    {
        findings.push(node.refuse(
            "conflicts with mode = \"drained\", which writes events before late cycles are known",
            "give mode = \"flight-recorder\", or leave keep-above out",
        ));
        return None;
    }
    Some(Some(Trace {
        backend,
        mode,
        buffer_bytes: buffer_bytes?,
        keep_above_ns,
        timerlat_ns: timerlat_ns?,
        osnoise_ns: osnoise_ns?,
        sections_ns: sections_ns?,
    }))
}

fn read_buffer(node: &Node<'_>) -> Result<u64, Finding> {
    let (least, most) = keys::TRACE_BUFFER;
    match node.quantity("give a size such as \"16 MiB\"", parse_size)? {
        bytes if bytes < least => Err(node.refuse("is too small", "give at least \"1 MiB\"")),
        bytes if bytes > most => Err(node.refuse("is too large", "give at most \"16 GiB\"")),
        bytes => Ok(bytes),
    }
}

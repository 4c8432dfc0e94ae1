//! What LITMUS^RT's Feather-Trace recorded in a run's segments, as overheads of their phases. How its records are
//! paired is the explainer's.

use super::{ExplainError, add};
use wakepath_archive::{FeatherBuffer, FeatherTraceFile, Run};
use wakepath_explain::{FeatherCounts, FeatherTrace, OverheadTable, Overheads};

/// The segments that Feather-Trace recorded.
pub(super) struct Recorded {
    /// Each with its phase.
    segments: Vec<(u32, String, Overheads)>,
    counts: FeatherCounts,
}

impl Recorded {
    /// Reads all of a run's. A file that was cut short has no span of cycles, and tells nothing.
    pub(super) fn read(run: &Run) -> Result<Self, ExplainError> {
        let mut recorded = Self {
            segments: Vec::new(),
            counts: FeatherCounts::default(),
        };
        for segment in &run.manifest.segments {
            let Some(file) = FeatherTraceFile::open(run.directory(), segment.segment)? else {
                continue;
            };
            let Some((begun, ended)) = file.span() else {
                continue;
            };
            let mut trace = FeatherTrace::new(
                ended.cycles - begun.cycles,
                ended.monotonic_ns - begun.monotonic_ns,
            );
            file.records(|buffer, bytes| trace.records(number_of(buffer), bytes))?;
            let (overheads, counts) = trace.end();
            // Without a record the core was built without its tracing, and others may tell.
            if counts.records > 0 {
                recorded.counts.add(&counts);
                let phase = segment.phase.clone();
                recorded.segments.push((segment.segment, phase, overheads));
            }
        }
        Ok(recorded)
    }

    /// Whether there are any.
    pub(super) fn any(&self) -> bool {
        !self.segments.is_empty()
    }

    /// Whether a segment is among them.
    pub(super) fn holds(&self, segment: u32) -> bool {
        self.segments.iter().any(|(own, ..)| *own == segment)
    }

    /// The run's table, with the results from tracepoints for its other segments.
    pub(super) fn table(&self, mut overheads: Vec<(String, Overheads)>) -> OverheadTable {
        for (_, phase, own) in &self.segments {
            add(&mut overheads, phase, own);
        }
        let mut table = OverheadTable::new(&overheads);
        table.feather_trace = self.any().then_some(self.counts);
        table
    }
}

/// One number for each buffer.
fn number_of(buffer: FeatherBuffer) -> u64 {
    match buffer {
        FeatherBuffer::Cpu(cpu) => u64::from(cpu) << 1,
        FeatherBuffer::Messages(cpu) => (u64::from(cpu) << 1) | 1,
    }
}

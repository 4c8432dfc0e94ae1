//! One pass over a log: everything the manifest says and where each thread's samples lie. It
//! refuses a log that contradicts itself; what is merely missing is noted.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use wakepath_timeline::Sample;

use crate::error::{ArchiveError, Result};
use crate::event::{Ending, Event, RunStarted, SegmentEnded, SegmentStarted, ThreadStarted};
use crate::log::{Content, LogReader};
use crate::manifest::{Manifest, Recovered, SegmentRecord, ThreadRecord};
use crate::samples::Columns;
use crate::virtual_time::emulator_of;
use crate::{FORMAT_VERSION, LOG_NAME, MEASURED_FORMAT_VERSION};

/// What a log holds.
pub(crate) struct Survey {
    /// Without files; `recovered` says what is missing, if anything is.
    pub manifest: Manifest,
    /// Offsets of each segment's and thread's sample blocks, in order.
    pub blocks: BTreeMap<(u32, u16), Vec<u64>>,
    /// Columns in which some sample is not 0.
    pub columns: Columns,
    /// The reader, at the log's end; it reads the blocks again.
    pub reader: LogReader<File>,
}

/// Reads the whole log in `directory`.
pub(crate) fn survey(directory: &Path) -> Result<Survey> {
    let path = directory.join(LOG_NAME);
    let mut reader = LogReader::open(&path)?;
    let mut surveyor = Surveyor::default();
    while let Some(block) = reader.next_block()? {
        let holes = !reader.damage().gaps.is_empty();
        let taken = match block.content {
            Content::Event(event) => surveyor.take_event(event, holes),
            Content::Samples {
                segment,
                thread,
                samples,
            } => surveyor.take_samples(segment, thread, &samples, block.offset, holes),
            Content::Unknown { .. } => Ok(()),
        };
        taken.map_err(|why| ArchiveError::Inconsistent {
            path: path.clone(),
            why: format!("block {} at offset {}: {why}", block.sequence, block.offset),
        })?;
    }
    surveyor.missing.damage = reader.damage().clone();
    let Surveyor {
        blocks, columns, ..
    } = &mut surveyor;
    let (blocks, columns) = (std::mem::take(blocks), *columns);
    let mut manifest = surveyor
        .into_manifest()
        .map_err(|why| ArchiveError::NotRecognised {
            path,
            expected: "log of a run",
            why,
        })?;
    if let Some(virtual_time) = &mut manifest.virtual_time {
        virtual_time.emulator = emulator_of(directory)?;
    }
    Ok(Survey {
        manifest,
        blocks,
        columns,
        reader,
    })
}

#[derive(Default)]
struct Surveyor {
    started: Option<Box<RunStarted>>,
    segments: Vec<SegmentRecord>,
    facts: Vec<crate::FactsTaken>,
    notes: Vec<String>,
    tracing: Option<crate::TracingSetUp>,
    kernel_latency: Vec<crate::KernelLatency>,
    kernel_noise: Vec<crate::KernelNoise>,
    imported: Option<crate::Imported>,
    ending: Option<Ending>,
    blocks: BTreeMap<(u32, u16), Vec<u64>>,
    last_cycle: BTreeMap<(u32, u16), u64>,
    columns: Columns,
    missing: Recovered,
}

impl Surveyor {
    fn take_event(&mut self, event: Event, holes: bool) -> Result<(), String> {
        match event {
            Event::RunStarted(_) if self.started.is_some() => {
                return Err("the run starts a second time".to_owned());
            }
            Event::RunStarted(started) => self.started = Some(started),
            Event::FactsTaken(facts) => self.facts.push(facts),
            Event::SegmentStarted(segment) => self.start_segment(segment)?,
            Event::SegmentEnded(segment) => self.end_segment(segment, holes)?,
            Event::TracingSetUp(tracing) => self.tracing = Some(tracing),
            Event::KernelLatency(latency) => self.kernel_latency.push(latency),
            Event::KernelNoise(noise) => self.kernel_noise.push(noise),
            Event::SegmentTraced(trace) => {
                let mut segments = self.segments.iter_mut();
                // A segment whose start lies in a hole has no record to hold it.
                if let Some(segment) = segments.find(|s| s.segment == trace.segment) {
                    segment.trace = Some(trace);
                }
            }
            Event::Imported(_) if self.imported.is_some() => {
                return Err("the run is imported a second time".to_owned());
            }
            Event::Imported(imported) => self.imported = Some(*imported),
            Event::Note { text } => self.notes.push(text),
            Event::RunEnded { ending } => self.ending = Some(ending),
            Event::Unknown => {}
        }
        Ok(())
    }

    fn start_segment(&mut self, segment: SegmentStarted) -> Result<(), String> {
        let SegmentStarted {
            segment,
            phase,
            repetition,
            condition,
            traced,
            threads,
        } = segment;
        if self.segments.iter().any(|known| known.segment == segment) {
            return Err(format!("segment {segment} starts a second time"));
        }
        let mut records: Vec<ThreadRecord> = Vec::with_capacity(threads.len());
        for thread in threads {
            if records.iter().any(|known| known.thread == thread.thread) {
                return Err(format!(
                    "segment {segment} has thread {} twice",
                    thread.thread
                ));
            }
            records.push(record(thread));
        }
        self.segments.push(SegmentRecord {
            segment,
            phase,
            repetition,
            condition,
            traced,
            trace: None,
            ended: false,
            threads: records,
            loads: Vec::new(),
        });
        Ok(())
    }

    fn end_segment(&mut self, ended: SegmentEnded, holes: bool) -> Result<(), String> {
        let number = ended.segment;
        let Some(segment) = self
            .segments
            .iter_mut()
            .find(|known| known.segment == number)
        else {
            // Its start lies in a hole: what it measured can't be told any more.
            return if holes {
                Ok(())
            } else {
                Err(format!("segment {number} ends before it starts"))
            };
        };
        if segment.ended {
            return Err(format!("segment {number} ends a second time"));
        }
        segment.ended = true;
        segment.loads = ended.loads;
        for thread in ended.threads {
            let Some(record) = segment
                .threads
                .iter_mut()
                .find(|t| t.thread == thread.thread)
            else {
                return Err(format!(
                    "segment {number} has no thread {} to end",
                    thread.thread
                ));
            };
            record.written = Some(thread.written);
            record.appended = Some(thread.recorded);
            record.lost = Some(thread.lost);
            record.skipped = thread.skipped;
            record.page_faults = thread.page_faults;
            record.modules = thread.modules;
            record.counters = thread.counters;
            record.ended = Some(thread.ended);
        }
        Ok(())
    }

    fn take_samples(
        &mut self,
        segment: u32,
        thread: u16,
        samples: &[Sample],
        offset: u64,
        holes: bool,
    ) -> Result<(), String> {
        let known = self
            .segments
            .iter_mut()
            .find(|known| known.segment == segment);
        let record = known.and_then(|s| s.threads.iter_mut().find(|t| t.thread == thread));
        let Some(record) = record else {
            if !holes {
                return Err(format!(
                    "samples of segment {segment}, thread {thread}, which has not started"
                ));
            }
            self.missing.samples_without_segment += samples.len() as u64;
            return Ok(());
        };
        for sample in samples {
            let due_ns = record.due.due_ns(sample.cycle);
            if sample.due_ns != due_ns {
                return Err(format!(
                    "segment {segment}, thread {thread}: cycle {} was due at {} ns, the sample says {} ns",
                    sample.cycle, due_ns, sample.due_ns
                ));
            }
            if sample.reserved != 0 {
                return Err(format!(
                    "segment {segment}, thread {thread}: cycle {} has a reserved field that is not 0",
                    sample.cycle
                ));
            }
            let before = self.last_cycle.insert((segment, thread), sample.cycle);
            if before.is_some_and(|before| before >= sample.cycle) {
                return Err(format!(
                    "segment {segment}, thread {thread}: cycle {} comes after cycle {}",
                    sample.cycle,
                    before.unwrap_or_default()
                ));
            }
            self.columns.note(sample);
        }
        record.recorded += samples.len() as u64;
        self.blocks
            .entry((segment, thread))
            .or_default()
            .push(offset);
        Ok(())
    }

    fn into_manifest(mut self) -> Result<Manifest, String> {
        let Some(started) = self.started else {
            return Err("its first event is missing, so nothing can be said about the run".into());
        };
        let RunStarted {
            run_id,
            tool,
            command,
            started,
            scenario,
            clock_source,
            notes,
            planned,
            virtual_time,
        } = *started;
        self.missing.end_recorded = self.ending.is_some();
        let open = self.segments.iter().filter(|s| !s.ended).map(|s| s.segment);
        self.missing.segments_without_end = open.collect();
        // A run that ended by itself and stopped early has said so: nothing is missing from it.
        if self.ending.is_none() || !self.missing.damage.gaps.is_empty() {
            let begun = |number| self.segments.iter().any(|s| s.segment == number);
            let never = planned
                .iter()
                .map(|s| s.segment)
                .filter(|&number| !begun(number));
            self.missing.segments_never_started = never.collect();
        }
        Ok(Manifest {
            // An older reader must not take histograms for a run without samples.
            format_version: match &self.imported {
                Some(_) => FORMAT_VERSION,
                None => MEASURED_FORMAT_VERSION,
            },
            run_id,
            tool,
            command,
            started,
            ending: self.ending.unwrap_or(Ending::CutShort),
            recovered: (!self.missing.is_nothing()).then_some(self.missing),
            scenario,
            clock_source,
            virtual_time,
            imported: self.imported,
            planned,
            tracing: self.tracing,
            kernel_latency: self.kernel_latency,
            kernel_noise: self.kernel_noise,
            segments: self.segments,
            facts: self.facts,
            notes: notes.into_iter().chain(self.notes).collect(),
            files: Vec::new(),
        })
    }
}

fn record(thread: ThreadStarted) -> ThreadRecord {
    ThreadRecord {
        thread: thread.thread,
        name: thread.name,
        due: thread.due,
        requested: thread.requested,
        effective: thread.effective,
        cpus: thread.cpus,
        first_judged_cycle: thread.first_judged_cycle,
        expected: thread.end_cycle,
        recorded: 0,
        lost: None,
        written: None,
        appended: None,
        skipped: None,
        page_faults: None,
        modules: Vec::new(),
        counters: None,
        ended: None,
    }
}

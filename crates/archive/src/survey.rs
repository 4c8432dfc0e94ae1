//! One pass over a log, for the manifest and the positions of each thread's samples.
//!
//! Missing parts are noted. A block that contradicts earlier ones is noted and left out, and the
//! rest is read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek};

use wakepath_directory::Directory;
use wakepath_timeline::Sample;

use crate::contradiction::Contradiction;
use crate::error::{ArchiveError, Result};
use crate::event::{
    Ending, Event, FactsTaken, RunStarted, SegmentEnded, SegmentStarted, ThreadStarted,
};
use crate::log::block::{FILE_HEADER, file_header};
use crate::log::{Content, LogReader};
use crate::manifest::{Contradictions, Manifest, Recovered, SegmentRecord, ThreadRecord};
use crate::samples::Columns;
use crate::virtual_time::{VirtualTime, emulator_of};
use crate::{FORMAT_VERSION, LOG_NAME, MEASURED_FORMAT_VERSION};

/// Content of a log.
pub(crate) struct Survey {
    /// Without files; `recovered` has the missing parts, if any.
    pub manifest: Manifest,
    /// Offsets of each segment's and thread's sample blocks, in order.
    pub blocks: BTreeMap<(u32, u16), Vec<u64>>,
    /// Columns in which some sample is not 0.
    pub columns: Columns,
    /// The reader, at the log's end; it reads the blocks again.
    pub reader: LogReader<File>,
}

/// Reads the whole log in `directory`.
pub(crate) fn survey(directory: &Directory) -> Result<Survey> {
    let nothing = || ArchiveError::NothingRecorded {
        path: directory.path().to_owned(),
    };
    let mut reader = match LogReader::open_in(directory) {
        Err(ArchiveError::NotRecognised { .. }) if is_blank(directory)? => return Err(nothing()),
        opened => opened?,
    };
    let mut surveyor = Surveyor::default();
    surveyor.take_all(&mut reader)?;
    let damage = reader.damage().clone();
    if surveyor.is_empty() && !damage.is_corruption() {
        return Err(nothing());
    }
    surveyor.missing.damage = damage;
    let Surveyor {
        blocks, columns, ..
    } = &mut surveyor;
    let (blocks, columns) = (std::mem::take(blocks), *columns);
    let manifest = surveyor.into_manifest();
    let mut manifest = manifest.ok_or_else(|| ArchiveError::NotRecognised {
        path: directory.path_of(LOG_NAME),
        expected: "log of a run",
        why: "its first event is missing, so the run can't be read; it is kept".into(),
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

/// Whether the log's header never reached the disk completely: it has only the header's start, or
/// zeros, as a power cut leaves them.
fn is_blank(directory: &Directory) -> Result<bool> {
    let path = directory.path_of(LOG_NAME);
    let failed = |e| ArchiveError::io("read the log", &path, e);
    let mut file = directory.open(LOG_NAME).map_err(failed)?;
    let mut piece = [0; 4096];
    let mut beginning = true;
    loop {
        let length = file.read(&mut piece).map_err(failed)?;
        let bytes = &piece[..length];
        let begun = beginning && length < FILE_HEADER;
        let is_header = begun && file_header(MEASURED_FORMAT_VERSION).starts_with(bytes);
        if length == 0 || (is_header && length < FILE_HEADER) {
            return Ok(true);
        }
        if bytes.iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        beginning = false;
    }
}

/// The log's records so far.
#[derive(Default)]
pub(crate) struct Surveyor {
    started: Option<Box<RunStarted>>,
    segments: Vec<SegmentRecord>,
    facts: Vec<FactsTaken>,
    notes: Vec<String>,
    tracing: Option<crate::TracingSetUp>,
    kernel_latency: Vec<crate::KernelLatency>,
    kernel_noise: Vec<crate::KernelNoise>,
    kernel_sections: Vec<crate::KernelSections>,
    core_latency: Vec<crate::CoreLatency>,
    imported: Option<crate::Imported>,
    ending: Option<Ending>,
    blocks: BTreeMap<(u32, u16), Vec<u64>>,
    last_cycle: BTreeMap<(u32, u16), u64>,
    columns: Columns,
    missing: Recovered,
}

impl Surveyor {
    /// Reads to the log's end.
    pub fn take_all<R: Read + Seek>(&mut self, reader: &mut LogReader<R>) -> Result<()> {
        while let Some(block) = reader.next_block()? {
            let taken = match block.content {
                Content::Event(event) => self.take_event(event),
                Content::Samples {
                    segment,
                    thread,
                    samples,
                } => self.take_samples(segment, thread, &samples, block.offset),
                Content::Unknown { .. } => Ok(()),
            };
            if let Err(contradiction) = taken {
                let Contradictions { blocks, first } = &mut self.missing.contradictions;
                *blocks += 1;
                first.get_or_insert_with(|| {
                    format!(
                        "block {} at offset {}: {contradiction}",
                        block.sequence, block.offset
                    )
                });
            }
        }
        Ok(())
    }

    /// A segment's records; `None` for one that has not begun.
    pub fn segment(&self, segment: u32) -> Option<&SegmentRecord> {
        self.segments.iter().rfind(|known| known.segment == segment)
    }

    /// The run's virtual time, if it has one.
    pub fn virtual_time(&self) -> Option<&VirtualTime> {
        self.started.as_ref()?.virtual_time.as_ref()
    }

    /// Facts about the machine.
    pub fn facts(&self) -> &[FactsTaken] {
        &self.facts
    }

    /// Offsets of the blocks with a thread's samples, in order.
    pub fn offsets(&self, segment: u32, thread: u16) -> &[u64] {
        self.blocks
            .get(&(segment, thread))
            .map_or(&[], Vec::as_slice)
    }

    /// Whether nothing but a run's end was found: it neither began nor has samples.
    fn is_empty(&self) -> bool {
        self.started.is_none()
            && self.segments.is_empty()
            && self.facts.is_empty()
            && self.imported.is_none()
            && self.missing.samples_without_segment == 0
            && self.missing.contradictions.blocks == 0
    }

    fn take_event(&mut self, event: Event) -> Result<(), Contradiction> {
        match event {
            Event::RunStarted(_) if self.started.is_some() => {
                return Err(Contradiction::SecondRun);
            }
            Event::RunStarted(started) => self.started = Some(started),
            Event::FactsTaken(facts) => self.facts.push(facts),
            Event::SegmentStarted(segment) => self.start_segment(segment)?,
            Event::SegmentEnded(segment) => self.end_segment(segment)?,
            Event::TracingSetUp(tracing) => self.tracing = Some(tracing),
            Event::KernelLatency(latency) => self.kernel_latency.push(latency),
            Event::KernelNoise(noise) => self.kernel_noise.push(noise),
            Event::KernelSections(sections) => self.kernel_sections.push(*sections),
            Event::CoreLatency(latency) => self.core_latency.push(*latency),
            Event::SegmentTraced(trace) => {
                let mut segments = self.segments.iter_mut();
                // A segment whose start is unreadable has no record for it.
                if let Some(segment) = segments.find(|s| s.segment == trace.segment) {
                    segment.trace = Some(trace);
                }
            }
            Event::Imported(_) if self.imported.is_some() => {
                return Err(Contradiction::SecondImport);
            }
            Event::Imported(imported) => self.imported = Some(*imported),
            Event::Note { text } => self.notes.push(text),
            Event::RunEnded { ending } => self.ending = Some(ending),
            Event::Unknown => {}
        }
        Ok(())
    }

    fn start_segment(&mut self, segment: SegmentStarted) -> Result<(), Contradiction> {
        let SegmentStarted {
            segment,
            phase,
            repetition,
            condition,
            traced,
            threads,
        } = segment;
        if self.segments.iter().any(|known| known.segment == segment) {
            return Err(Contradiction::SecondStart { segment });
        }
        let mut records: Vec<ThreadRecord> = Vec::with_capacity(threads.len());
        for thread in threads {
            if records.iter().any(|known| known.thread == thread.thread) {
                let thread = thread.thread;
                return Err(Contradiction::ThreadTwice { segment, thread });
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

    fn end_segment(&mut self, ended: SegmentEnded) -> Result<(), Contradiction> {
        let number = ended.segment;
        let mut known = self.segments.iter_mut();
        let Some(segment) = known.find(|known| known.segment == number) else {
            // Its start is in an unreadable part, or found no space on a full disk: its samples
            // can't be interpreted.
            self.note_without_start(number);
            return Ok(());
        };
        if segment.ended {
            return Err(Contradiction::SecondEnd { segment: number });
        }
        let has = |thread: u16| segment.threads.iter().any(|known| known.thread == thread);
        if let Some(unknown) = ended.threads.iter().find(|of| !has(of.thread)) {
            return Err(Contradiction::NoThreadToEnd {
                segment: number,
                thread: unknown.thread,
            });
        }
        segment.ended = true;
        segment.loads = ended.loads;
        for thread in ended.threads {
            let mut known = segment.threads.iter_mut();
            let Some(record) = known.find(|known| known.thread == thread.thread) else {
                continue;
            };
            record.written = Some(thread.written);
            record.appended = Some(thread.recorded);
            record.lost = Some(thread.lost);
            record.skipped = thread.skipped;
            record.page_faults = thread.page_faults;
            record.modules = thread.modules;
            record.counters = thread.counters;
            record.on_a_core = thread.on_a_core;
            record.ended = Some(thread.ended);
        }
        Ok(())
    }

    fn note_without_start(&mut self, segment: u32) {
        let noted = &mut self.missing.segments_without_start;
        if !noted.contains(&segment) {
            noted.push(segment);
        }
    }

    fn take_samples(
        &mut self,
        segment: u32,
        thread: u16,
        samples: &[Sample],
        offset: u64,
    ) -> Result<(), Contradiction> {
        // The segment under way is the last one.
        let mut known = self.segments.iter_mut();
        let known = known.rfind(|known| known.segment == segment);
        let record = known.and_then(|s| s.threads.iter_mut().find(|t| t.thread == thread));
        let Some(record) = record else {
            self.missing.samples_without_segment += samples.len() as u64;
            if !self.segments.iter().any(|known| known.segment == segment) {
                self.note_without_start(segment);
            }
            return Ok(());
        };
        let last = self.last_cycle.get(&(segment, thread)).copied();
        if let Some(wrong) = Contradiction::of_samples(record.due, last, samples) {
            return Err(wrong.in_thread(segment, thread));
        }
        if let Some(last) = samples.last() {
            self.last_cycle.insert((segment, thread), last.cycle);
        }
        for sample in samples {
            self.columns.note(sample);
        }
        record.recorded += samples.len() as u64;
        self.blocks
            .entry((segment, thread))
            .or_default()
            .push(offset);
        Ok(())
    }

    /// The manifest; `None` without the run's first event.
    fn into_manifest(mut self) -> Option<Manifest> {
        let started = self.started?;
        let RunStarted {
            run_id,
            tool,
            command,
            invocation,
            first_process,
            quick,
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
        // A run that stopped early and recorded its end has nothing missing.
        if self.ending.is_none() || !self.missing.damage.gaps.is_empty() {
            let begun = |number| self.segments.iter().any(|s| s.segment == number);
            let never = planned
                .iter()
                .map(|s| s.segment)
                .filter(|&number| !begun(number));
            self.missing.segments_never_started = never.collect();
        }
        Some(Manifest {
            // An older reader must not take histograms for a run without samples.
            format_version: match &self.imported {
                Some(_) => FORMAT_VERSION,
                None => MEASURED_FORMAT_VERSION,
            },
            run_id,
            tool,
            command,
            invocation,
            first_process,
            quick,
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
            kernel_sections: self.kernel_sections,
            core_latency: self.core_latency,
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
        on_a_core: None,
        ended: None,
    }
}

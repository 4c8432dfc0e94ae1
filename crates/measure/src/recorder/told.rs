//! Log records and other telemetry of a user's loops, out of shared memory and into files. Nothing there is
//! trusted: a record that no loop of wakepath's library writes ends it for that loop, and is reported.

use super::doubted::DoubtedDueTimes;
use super::format::formatted;
use std::collections::BTreeSet;
use wakepath_archive::{ArchiveError, LineSaid, LinesWriter, LoopLine, Told, ToldWriter};
use wakepath_directory::Directory;
use wakepath_rt::said::{Reader, Said};
use wakepath_rt::shared::SharedMemory;
use wakepath_timeline::one_line;

/// Longest log of all loops of a run.
const MOST_LINES_BYTES: u64 = 64 << 20;

/// The files, made when there is something to be written.
pub(super) struct ToldFiles<'a> {
    directory: &'a Directory,
    segment: Option<(u32, ToldWriter)>,
    lines: Option<LinesWriter>,
    lines_left_out: u64,
}

impl<'a> ToldFiles<'a> {
    pub(super) fn new(directory: &'a Directory) -> Self {
        Self {
            directory,
            segment: None,
            lines: None,
            lines_left_out: 0,
        }
    }

    fn told(&mut self, segment: u32, told: &Told) -> Result<(), ArchiveError> {
        if self.segment.as_ref().is_none_or(|(of, _)| *of != segment) {
            self.segment = Some((segment, ToldWriter::create_in(self.directory, segment)?));
        }
        match &mut self.segment {
            Some((_, writer)) => writer.append(told),
            None => Ok(()),
        }
    }

    fn line(&mut self, line: &LoopLine) -> Result<(), ArchiveError> {
        if self.lines.is_none() {
            self.lines = Some(LinesWriter::create_in(self.directory, MOST_LINES_BYTES)?);
        }
        match &mut self.lines {
            Some(writer) => writer.append(line),
            None => Ok(()),
        }
    }

    /// Makes records safe from a kill.
    pub(super) fn flush(&mut self) -> Result<(), ArchiveError> {
        if let Some((_, writer)) = &mut self.segment {
            writer.flush()?;
        }
        self.lines.as_mut().map_or(Ok(()), LinesWriter::flush)
    }

    /// Makes records safe from a power cut.
    pub(super) fn sync(&mut self) -> Result<(), ArchiveError> {
        if let Some((_, writer)) = &mut self.segment {
            writer.sync()?;
        }
        self.lines.as_mut().map_or(Ok(()), LinesWriter::sync)
    }

    /// Ends a segment's file, and reports records that did not go into either.
    pub(super) fn end_segment(&mut self, remarks: &mut Vec<String>) -> Result<(), ArchiveError> {
        if let Some((_, mut writer)) = self.segment.take() {
            writer.sync()?;
            if writer.left_out() > 0 {
                remarks.push(format!(
                    "{} runs of sections and due times are recorded only in sums: the file of its segment is full",
                    writer.left_out()
                ));
            }
        }
        let left_out = self.lines.as_ref().map_or(0, LinesWriter::left_out);
        let more = left_out - std::mem::replace(&mut self.lines_left_out, left_out);
        if more > 0 {
            remarks.push(format!(
                "{more} lines and values of the loops' log are missing: it is limited to {} MiB",
                MOST_LINES_BYTES >> 20
            ));
        }
        self.flush()
    }
}

/// The loops of the segment under way.
pub(super) struct ToldBeside<'a> {
    memory: &'a SharedMemory,
    segment: u32,
    readers: Vec<OneLoop<'a>>,
}

struct OneLoop<'a> {
    reader: Reader<'a>,
    /// Sections whose names are written.
    named: BTreeSet<u16>,
    is_foreign: bool,
    doubted: DoubtedDueTimes,
}

impl<'a> ToldBeside<'a> {
    pub(super) fn new(memory: &'a SharedMemory, segment: u32, threads: u32) -> Self {
        let one = |thread| OneLoop {
            reader: memory.said_reader(thread),
            named: BTreeSet::new(),
            is_foreign: false,
            doubted: DoubtedDueTimes::default(),
        };
        Self {
            memory,
            segment,
            readers: (0..threads).map(one).collect(),
        }
    }

    pub(super) fn take(&mut self, files: &mut ToldFiles<'_>) -> Result<(), ArchiveError> {
        let mut outcome = Ok(());
        for (ring, of) in (0..).zip(&mut self.readers) {
            let (named, is_foreign) = (&mut of.named, &mut of.is_foreign);
            let doubted = &mut of.doubted;
            of.reader.take(|record| {
                if *is_foreign {
                    return;
                }
                let Some(said) = Said::new(record) else {
                    *is_foreign = true;
                    return;
                };
                if let Said::Due { cycle, due_ns } = said
                    && doubted.is_another(cycle, due_ns)
                {
                    return;
                }
                let written = write(self.memory, (self.segment, ring), said, named, files);
                if let (Ok(()), Err(error)) = (&outcome, written) {
                    outcome = Err(error);
                }
            });
        }
        outcome
    }

    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for (ring, of) in (0..).zip(&self.readers) {
            let name = name(self.memory, ring);
            let dropped = self.memory.said_indices(ring).dropped();
            if dropped > 0 {
                remarks.push(format!(
                    "{name}: {dropped} lines, values or times of sections were dropped, because the recorder was \
                     too slow; the loop did not wait"
                ));
            }
            let doubted = of.doubted.sentences();
            remarks.extend(doubted.map(|sentence| format!("{name}: {sentence}")));
            if of.is_foreign || of.reader.is_damaged() {
                remarks.push(format!(
                    "{name}: its counters contradict its samples, so something overwrote them: later records are \
                     not in the run"
                ));
            }
        }
        remarks
    }
}

/// The name that a loop gives itself.
pub(super) fn name(memory: &SharedMemory, ring: u32) -> String {
    let announced = memory.announcement(ring).announced();
    announced.map_or_else(|| format!("loop {ring}"), |of| one_line(&of.name))
}

fn write(
    memory: &SharedMemory,
    (segment, ring): (u32, u32),
    said: Said,
    named: &mut BTreeSet<u16>,
    files: &mut ToldFiles<'_>,
) -> Result<(), ArchiveError> {
    let thread = ring as u16;
    let announcement = memory.announcement(ring);
    let format = |number| {
        announcement
            .format(number)
            .map_or_else(String::new, |of| of.1)
    };
    let line = |cycle, at_ns, said| LoopLine {
        segment,
        thread,
        cycle,
        at_ns,
        said,
    };
    match said {
        Said::Section {
            section,
            cycle,
            from_ns,
            to_ns,
        } => {
            let section = u8::try_from(section).unwrap_or(u8::MAX);
            if named.insert(section.into()) {
                let sections = announcement.sections();
                let name = sections.get(usize::from(section));
                let name = name.map_or(String::new(), |of| one_line(&of.name));
                files.told(
                    segment,
                    &Told::Name {
                        thread,
                        section,
                        name,
                    },
                )?;
            }
            let span = Told::Span {
                thread,
                section,
                cycle,
                from_ns,
                to_ns,
            };
            files.told(segment, &span)
        }
        Said::Due { cycle, due_ns } => {
            let due = Told::Due {
                thread,
                cycle,
                due_ns,
            };
            files.told(segment, &due)
        }
        Said::Line {
            format,
            cycle,
            at_ns,
            arguments,
        } => {
            let text = match announcement.format(format) {
                Some((style, text)) => formatted(style, &text, &arguments),
                None => "a line with an unknown format".into(),
            };
            files.line(&line(cycle, at_ns, LineSaid::Text(text)))
        }
        Said::Value {
            number,
            cycle,
            at_ns,
            value,
        } => {
            let said = LineSaid::Value {
                name: one_line(&format(number)),
                is: value,
            };
            files.line(&line(cycle, at_ns, said))
        }
    }
}

//! A segment: some cycles of one loop as an ordinary run directory, numbered from 0.
//!
//! Written by a crash-safe log; it evaluates nothing and removes nothing.

use crate::terms::{Described, Found};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use wakepath_archive::{
    ArchiveError, Effective, Ending, Event, FactsTaken, LinesWriter, LogWriter, LoopLine,
    PlannedSegment, RunStarted, SegmentEnded, SegmentStarted, SegmentTraced, ThreadEnd,
    ThreadEnded, ThreadStarted, Told, ToldWriter, TracingSetUp, When,
};
use wakepath_directory::{Directory, DirectoryError, Trust};
use wakepath_timeline::{DueTimes, Sample};

/// Most bytes of a segment's log lines.
const MOST_LINES_BYTES: u64 = 4 << 20;
/// Most segments that begin in the same second.
const MOST_TRIES: u32 = 100;

/// Parent directory of segments, and a function that creates one, which must not exist before.
pub(crate) type Place<'a> = (&'a Directory, &'a dyn Fn(&str) -> io::Result<PathBuf>);

/// One that is being written.
pub(crate) struct Segment {
    pub(crate) name: String,
    /// The loop's cycle that is its cycle 0.
    pub(crate) base: u64,
    /// Its number of due times.
    pub(crate) cycles: u64,
    directory: Directory,
    log: LogWriter,
    told: Option<ToldWriter>,
    lines: Option<LinesWriter>,
    recorded: u64,
    lost: u64,
    next: u64,
}

/// How the segment ended.
pub(crate) enum End {
    /// All its cycles are in it.
    Full,
    /// The loop ended within it.
    Early(ThreadEnd),
}

impl Segment {
    /// Begins one with this sample.
    pub(crate) fn begin(
        segments: Place<'_>,
        found: &Found,
        described: Described,
        (first, cycles): (&Sample, u64),
        traced: Option<TracingSetUp>,
    ) -> Result<Self, ArchiveError> {
        let (name, directory) = make(segments, &found.name)?;
        let mut log = LogWriter::create_in(&directory)?;
        let Described {
            start,
            phase,
            facts,
            ..
        } = described;
        let condition = found.policy.to_string();
        let is_traced = traced.is_some();
        let planned = PlannedSegment {
            segment: 0,
            phase: phase.clone(),
            repetition: 0,
            condition: condition.clone(),
            traced: is_traced,
        };
        log.append_event(&Event::RunStarted(Box::new(RunStarted {
            planned: vec![planned],
            ..start
        })))?;
        if let Some(set_up) = traced {
            log.append_event(&Event::TracingSetUp(set_up))?;
        }
        log.append_event(&Event::FactsTaken(FactsTaken {
            when: When::Before,
            phase: Some(phase.clone()),
            repetition: Some(0),
            at_ns: first.due_ns,
            facts,
        }))?;
        log.append_event(&Event::SegmentStarted(SegmentStarted {
            segment: 0,
            phase,
            repetition: 0,
            condition: condition.clone(),
            traced: is_traced,
            threads: vec![ThreadStarted {
                thread: 0,
                name: found.name.clone(),
                due: DueTimes {
                    start_ns: first.due_ns,
                    period_ns: found.period_ns,
                },
                requested: found.policy,
                effective: Effective {
                    text: condition,
                    details: found.effective.clone(),
                },
                cpus: found.cpus.clone(),
                first_judged_cycle: 0,
                end_cycle: cycles,
            }],
        }))?;
        Ok(Self {
            name,
            base: first.cycle,
            cycles,
            directory,
            log,
            told: None,
            lines: None,
            recorded: 0,
            lost: 0,
            next: 0,
        })
    }

    /// The number of a loop's cycle in this segment; none for cycles outside of it.
    pub(crate) fn number_of(&self, cycle: u64) -> Option<u64> {
        cycle.checked_sub(self.base).filter(|&of| of < self.cycles)
    }

    /// Appends samples that are all in this segment, with the number lost between them.
    pub(crate) fn append(&mut self, samples: &mut [Sample], lost: u64) -> Result<(), ArchiveError> {
        for sample in samples.iter_mut() {
            sample.cycle -= self.base;
            sample.reserved = 0;
        }
        if let Some(last) = samples.last() {
            self.next = last.cycle + 1;
        }
        self.recorded += samples.len() as u64;
        self.lost += lost;
        self.log.append_samples(0, 0, samples)
    }

    /// Appends the loop's telemetry and markers, by its own cycle numbers.
    pub(crate) fn tell(&mut self, told: &Told) -> Result<(), ArchiveError> {
        if self.told.is_none() {
            self.told = Some(ToldWriter::create_in(&self.directory, 0)?);
        }
        self.told.as_mut().map_or(Ok(()), |of| of.append(told))
    }

    /// Appends a line, by its own numbers.
    pub(crate) fn say(&mut self, line: &LoopLine) -> Result<(), ArchiveError> {
        if self.lines.is_none() {
            self.lines = Some(LinesWriter::create_in(&self.directory, MOST_LINES_BYTES)?);
        }
        self.lines.as_mut().map_or(Ok(()), |of| of.append(line))
    }

    /// Its directory.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Appends the result of its trace.
    pub(crate) fn traced(&mut self, traced: SegmentTraced) -> Result<(), ArchiveError> {
        self.log.append_event(&Event::SegmentTraced(traced))
    }

    /// Makes data safe from a kill.
    pub(crate) fn flush(&mut self) -> Result<(), ArchiveError> {
        self.log.flush_block()?;
        self.told.as_mut().map_or(Ok(()), ToldWriter::flush)?;
        self.lines.as_mut().map_or(Ok(()), LinesWriter::flush)
    }

    /// Makes data safe from a power cut.
    pub(crate) fn sync(&mut self) -> Result<(), ArchiveError> {
        self.log.sync()?;
        self.told.as_mut().map_or(Ok(()), ToldWriter::sync)?;
        self.lines.as_mut().map_or(Ok(()), LinesWriter::sync)
    }

    /// Ends it, with the times of its sections.
    pub(crate) fn end(mut self, end: End) -> Result<(), ArchiveError> {
        let due = match end {
            End::Full => self.cycles,
            End::Early(_) => self.next,
        };
        let (ended, ending) = match end {
            End::Full => (ThreadEnd::AllCycles, Ending::Complete),
            End::Early(why) => (why, Ending::Interrupted),
        };
        self.log.append_event(&Event::SegmentEnded(SegmentEnded {
            segment: 0,
            threads: vec![ThreadEnded {
                thread: 0,
                written: self.recorded,
                recorded: self.recorded,
                lost: self.lost,
                skipped: Some(due.saturating_sub(self.recorded + self.lost)),
                page_faults: None,
                modules: Vec::new(),
                counters: None,
                on_a_core: None,
                ended,
            }],
            loads: Vec::new(),
        }))?;
        if let Some(told) = &mut self.told {
            told.sync()?;
        }
        if let Some(lines) = &mut self.lines {
            lines.sync()?;
        }
        self.log.end(ending)
    }
}

/// A new directory, named by loop and time.
fn make((segments, new): Place<'_>, name: &str) -> Result<(String, Directory), ArchiveError> {
    let now = SystemTime::now();
    for later in 0..MOST_TRIES {
        let at = now + Duration::from_secs(later.into());
        let time: String = humantime::format_rfc3339_seconds(at)
            .to_string()
            .chars()
            .filter(|of| !matches!(of, '-' | ':'))
            .collect();
        let name = format!("{}-{time}", file_name(name));
        match new(&name) {
            Ok(path) => return Ok((name, Directory::to_write(&path, Trust::Own)?)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                return Err(ArchiveError::Directory(DirectoryError::Io {
                    action: "make the directory",
                    path: segments.path_of(&name),
                    source: error,
                }));
            }
        }
    }
    Err(ArchiveError::DirectoryNotEmpty {
        path: segments.path().to_owned(),
    })
}

/// A loop's name as part of a file name.
pub(crate) fn file_name(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    match name.trim_matches('-') {
        "" => "loop".into(),
        name => name.into(),
    }
}

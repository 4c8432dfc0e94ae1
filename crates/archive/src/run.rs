//! Reads a run, whatever state it is in: being recorded, cut short or finished. It changes
//! nothing in the directory.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

use wakepath_directory::Directory;
use wakepath_timeline::{DueTimes, Sample};

use crate::counts::CountProblem;
use crate::durable::to_read;
use crate::error::{ArchiveError, Result};
use crate::finish::finished;
use crate::legible::legible;
use crate::lock;
use crate::log::{LOG_NAME, LogReader};
use crate::manifest::{FileProblem, MANIFEST_NAME, Manifest};
use crate::samples::{PARQUET_NAME, ParquetSamples};
use crate::seal;
use crate::survey::survey;

/// An open run directory.
pub struct Run {
    /// Everything known about the run except its samples. For a log it covers the log's length when
    /// it was opened, and has `recovered` set if something is missing.
    pub manifest: Manifest,
    directory: Directory,
    state: State,
    source: Source,
}

/// State of a run directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// A process records or finishes it now.
    BeingWritten {
        /// The process, as far as `/proc/locks` shows it.
        by: String,
    },
    /// A log without a writer: it has to be finished or recovered.
    NotFinished,
    /// Parquet and a manifest that match.
    Finished,
}

enum Source {
    Log {
        blocks: BTreeMap<(u32, u16), Vec<u64>>,
    },
    Parquet(Box<ParquetSamples>),
}

impl Run {
    /// Opens a run for display. No text in its manifest then contains a control character, a line
    /// break or an invisible character; texts that differ in nothing else become equal. The digests
    /// of a finished run's files are checked, which reads the files completely.
    ///
    /// # Errors
    /// As [`Run::open_exact`].
    pub fn open(directory: &Path) -> Result<Self> {
        Self::open_in(&to_read(directory)?)
    }

    /// [`Run::open`] in an open directory.
    ///
    /// # Errors
    /// As [`Run::open`].
    pub fn open_in(directory: &Directory) -> Result<Self> {
        let run = Self::open_exact_in(directory)?;
        let manifest = legible(run.manifest);
        Ok(Self { manifest, ..run })
    }

    /// Opens a run with every text unchanged: for further processing, never for a terminal.
    ///
    /// # Errors
    /// [`ArchiveError::NotARun`], [`ArchiveError::NewerFormat`]; [`ArchiveError::Altered`] names
    /// each file that has changed, [`ArchiveError::SealBroken`] the differences from the seal;
    /// [`ArchiveError::Inconsistent`] for a log that contradicts itself;
    /// [`ArchiveError::NotRecognised`] and I/O errors.
    pub fn open_exact(directory: &Path) -> Result<Self> {
        Self::open_exact_in(&to_read(directory)?)
    }

    /// [`Run::open_exact`] in an open directory.
    ///
    /// # Errors
    /// As [`Run::open_exact`].
    pub fn open_exact_in(directory: &Directory) -> Result<Self> {
        seal::check(directory)?;
        let log = directory.path_of(LOG_NAME);
        let has_log = directory.holds(LOG_NAME);
        if directory.holds(MANIFEST_NAME) || !has_log {
            match Self::open_finished(directory) {
                // A power cut while it was being finished: the log is still there and whole.
                Err(ArchiveError::Altered { .. } | ArchiveError::NotRecognised { .. })
                    if has_log => {}
                other => return other,
            }
        }
        let file = directory
            .open(LOG_NAME)
            .map_err(|e| ArchiveError::io("open the log", &log, e))?;
        let state = match lock::writer_of(&file) {
            Some(by) => State::BeingWritten { by },
            None => State::NotFinished,
        };
        let survey = match (survey(directory), &state) {
            (Err(ArchiveError::NothingRecorded { .. }), State::BeingWritten { by }) => {
                return Err(ArchiveError::InUse {
                    path: log,
                    holder: by.clone(),
                });
            }
            (survey, _) => survey?,
        };
        Ok(Self {
            manifest: survey.manifest,
            directory: directory.clone(),
            state,
            source: Source::Log {
                blocks: survey.blocks,
            },
        })
    }

    /// The process that is writing the run in this directory, if any. It reads nothing of the run.
    pub fn writer(directory: &Path) -> Option<String> {
        let log = to_read(directory).ok()?.open(LOG_NAME).ok()?;
        lock::writer_of(&log)
    }

    fn open_finished(directory: &Directory) -> Result<Self> {
        let manifest = finished(directory)?;
        let samples = ParquetSamples::open(directory, PARQUET_NAME)?;
        Ok(Self {
            manifest,
            directory: directory.clone(),
            state: State::Finished,
            source: Source::Parquet(Box::new(samples)),
        })
    }

    /// State of the directory when it was opened.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Reads an additional file of the run, such as its explanation; `None` if it doesn't exist.
    ///
    /// # Errors
    /// As [`Directory::read`].
    pub fn read_beside(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.directory.read(name)
    }

    /// All samples of one thread in one segment, by cycle.
    ///
    /// # Errors
    /// [`ArchiveError::NoSuchThread`], and as [`Run::batches`].
    pub fn samples(&self, segment: u32, thread: u16) -> Result<Vec<Sample>> {
        let mut all = Vec::new();
        for batch in self.batches(segment, thread)? {
            all.append(&mut batch?);
        }
        Ok(all)
    }

    /// The samples of one thread in one segment by cycle, in batches of bounded size (at most 262
    /// 144 samples, 12 MiB), so that a long run does not have to fit into memory.
    ///
    /// # Errors
    /// [`ArchiveError::NoSuchThread`]; a batch is an error if the file can't be read.
    pub fn batches(&self, segment: u32, thread: u16) -> Result<SampleBatches<'_>> {
        let record =
            self.manifest
                .thread(segment, thread)
                .ok_or_else(|| ArchiveError::NoSuchThread {
                    path: self.directory.path().to_owned(),
                    segment,
                    thread,
                })?;
        Ok(SampleBatches {
            source: match &self.source {
                Source::Log { blocks } => BatchSource::Log {
                    reader: Box::new(LogReader::open_in(&self.directory)?),
                    offsets: blocks
                        .get(&(segment, thread))
                        .map_or(&[][..], Vec::as_slice)
                        .iter(),
                },
                Source::Parquet(file) => {
                    let mine = |group: usize| {
                        let found = &file.groups()[group];
                        (found.segment, found.thread) == (segment, thread)
                    };
                    let groups: Vec<_> = (0..file.groups().len()).filter(|&g| mine(g)).collect();
                    BatchSource::Parquet {
                        file,
                        groups: groups.into_iter(),
                    }
                }
            },
            due: record.due,
        })
    }

    /// Reads everything and checks digests, counts and the order of cycles. Empty for a complete
    /// run whose counts add up.
    ///
    /// # Errors
    /// I/O errors; a fault of the run itself is a finding.
    pub fn check(&self) -> Result<Vec<Finding>> {
        let altered = self.manifest.verify_in(&self.directory)?;
        if altered.is_empty() {
            self.check_counts()
        } else {
            Ok(altered.into_iter().map(Finding::File).collect())
        }
    }

    /// [`Run::check`] without the digests, which were compared when the run was opened.
    ///
    /// # Errors
    /// As [`Run::check`].
    pub fn check_counts(&self) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        if self.manifest.recovered.is_some() {
            findings.push(Finding::Incomplete);
        }
        findings.extend(
            self.manifest
                .count_problems()
                .into_iter()
                .map(Finding::Count),
        );
        for segment in &self.manifest.segments {
            for thread in &segment.threads {
                let number = segment.segment;
                let mut found = 0;
                let mut last = None;
                let mut problem = |problem: String| {
                    let thread = thread.thread;
                    findings.push(Finding::Count(CountProblem {
                        segment: number,
                        thread,
                        problem,
                    }));
                };
                for batch in self.batches(number, thread.thread)? {
                    let batch = batch?;
                    found += batch.len() as u64;
                    for cycle in batch.iter().map(|sample| sample.cycle) {
                        if last.is_some_and(|last| last >= cycle) {
                            problem(format!("cycle {cycle} is out of order"));
                        }
                        last = Some(cycle);
                    }
                }
                if found != thread.recorded {
                    problem(format!(
                        "{found} samples are there instead of {}",
                        thread.recorded
                    ));
                }
                if let Some(last) = last.filter(|&last| last >= thread.expected) {
                    problem(format!(
                        "cycle {last} is after the end, {}",
                        thread.expected
                    ));
                }
            }
        }
        Ok(findings)
    }
}

/// Something that keeps a run from being whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A file is not as it was written.
    File(FileProblem),
    /// A count does not add up.
    Count(CountProblem),
    /// The run was cut short or its log damaged; [`Manifest::recovered`] has the missing parts.
    Incomplete,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(problem) => problem.fmt(f),
            Self::Count(problem) => problem.fmt(f),
            Self::Incomplete => f.write_str("the run was cut short, or its log is damaged"),
        }
    }
}

/// Iterator over a thread's samples; see [`Run::batches`].
pub struct SampleBatches<'a> {
    source: BatchSource<'a>,
    due: DueTimes,
}

enum BatchSource<'a> {
    Log {
        reader: Box<LogReader<File>>,
        offsets: std::slice::Iter<'a, u64>,
    },
    Parquet {
        file: &'a ParquetSamples,
        groups: std::vec::IntoIter<usize>,
    },
}

impl Iterator for SampleBatches<'_> {
    type Item = Result<Vec<Sample>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.source {
            BatchSource::Log { reader, offsets } => {
                offsets.next().map(|&offset| reader.samples_at(offset))
            }
            BatchSource::Parquet { file, groups } => {
                groups.next().map(|group| file.read(group, self.due))
            }
        }
    }
}

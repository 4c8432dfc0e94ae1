//! Rounds of a scenario, each a complete run, as one history in bounded space.
//!
//! Each thread of each condition is a loop. A round's minutes are added to the history in one step,
//! and its samples can be removed then. It measures nothing; an interrupted round never gets here.

mod times;

use crate::begin::{self, ServiceError};
use crate::history::{Entry, Minute, RoundFinding, last_round, now_ns, put_round};
use crate::minutes::Minutes;
use crate::recent::{Recent, Seen};
use crate::room::SEGMENTS;
use crate::segments::Segments;
use crate::worst::Worst;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use times::Times;
use wakepath_archive::{ArchiveError, Run, SegmentRecord, ThreadRecord};
use wakepath_directory::{Directory, Trust};
use wakepath_scenario::Criterion;
use wakepath_verdict::{ConditionName, Gaps, JudgedWindow, Until};

/// Rounds under way: nobody else measures into their directory.
#[derive(Debug)]
pub struct Rounds {
    directory: Directory,
    segments: Segments,
    worst: Worst,
    _lock: File,
}

/// A round that was measured to its end.
pub struct Round<'a> {
    /// Its number, from 1.
    pub number: u32,
    /// Planned number of rounds.
    pub of: u32,
    /// Its directory's name below `segments`.
    pub segment: &'a str,
    /// The run that it is.
    pub run: &'a Run,
    /// The judged threads, by segment and thread.
    pub threads: &'a BTreeMap<(u32, u16), RoundThread>,
    /// Findings other than its counts, by the name of the loop.
    pub findings: &'a BTreeMap<String, RoundFinding>,
    /// From `CLOCK_MONOTONIC` to the time since 1970, in nanoseconds, during the round; `None` if
    /// that boot is over.
    pub offset_ns: Option<i64>,
    /// The command line, for the first round that a command measures.
    pub begins: Option<&'a [String]>,
}

/// A thread of a round and its criterion, from the round's own scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct RoundThread {
    /// The condition.
    pub condition: ConditionName,
    /// Its criterion.
    pub criterion: Criterion,
    /// End of its judged due times.
    pub until: Until,
}

/// Why a round is not in the history.
#[derive(Debug, thiserror::Error)]
pub enum RoundError {
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The run can't be read.
    #[error(transparent)]
    Run(#[from] ArchiveError),
}

/// Name of a segment's thread as a loop; `several` if its segment has more than one.
pub fn loop_name(condition: &str, phase: &str, thread: Option<&str>) -> String {
    match thread {
        Some(thread) => format!("{condition}, {phase}, {thread}"),
        None => format!("{condition}, {phase}"),
    }
}

impl Rounds {
    /// Creates the directory, which must be empty or absent, and writes the `plan` into it; without
    /// a plan it must hold rounds to resume. Keeps the `worst` cycles of each loop.
    ///
    /// # Errors
    /// The reason in one line.
    pub fn prepare(
        path: &Path,
        trust: Trust,
        worst: usize,
        plan: Option<&[u8]>,
    ) -> Result<Self, ServiceError> {
        let directory = begin::prepare_for_rounds(path, trust, plan)?;
        let lock = begin::lock(&directory)?;
        let segments = Directory::make(&directory.path().join(SEGMENTS), trust)?;
        let failed = |source| ServiceError::Io {
            path: path.to_owned(),
            source,
        };
        Ok(Self {
            worst: Worst::open(directory.path(), worst),
            segments: Segments::new(&directory, segments).map_err(failed)?,
            directory,
            _lock: lock,
        })
    }

    /// The number of the last round in the history; 0 before the first.
    ///
    /// # Errors
    /// The system's.
    pub fn reached(&self) -> Result<u32, RoundError> {
        last_round(&self.directory).map_err(|source| self.failed(source))
    }

    /// Directory of the rounds.
    pub fn segments(&self) -> &Directory {
        self.segments.directory()
    }

    fn failed(&self, source: io::Error) -> RoundError {
        RoundError::Io {
            path: self.directory.path().to_owned(),
            source,
        }
    }

    /// Adds a round to the history. After a kill in the middle, a repetition gives the same result.
    ///
    /// # Errors
    /// If the run can't be read, or the disk fails: the round is then not in the history.
    pub fn take(&mut self, round: &Round<'_>) -> Result<(), RoundError> {
        let at_ns = now_ns();
        let times = Times::new(round, at_ns);
        let mut entries = Vec::new();
        if let Some(command) = round.begins {
            entries.push(Entry::RoundsBegan {
                at_ns: times.began_ns,
                command: command.to_vec(),
            });
        }
        let segments = round.run.manifest.segments.iter();
        for segment in segments.filter(|segment| !segment.traced) {
            let is_one = segment.threads.len() == 1;
            for thread in &segment.threads {
                let own = (!is_one).then_some(thread.name.as_str());
                let name = loop_name(&segment.condition, &segment.phase, own);
                if let Some(judged) = round.threads.get(&(segment.segment, thread.thread)) {
                    let of = OneThread {
                        segment,
                        thread,
                        judged,
                        name: &name,
                    };
                    self.take_thread((round, times), &of, &mut entries)?;
                }
            }
        }
        entries.push(Entry::RoundEnded {
            at_ns,
            number: round.number,
            of: round.of,
        });
        self.segments
            .own(round.segment)
            .and_then(|()| self.worst.write(&self.directory))
            .and_then(|()| put_round(&self.directory, round.number, &entries))
            .map_err(|source| self.failed(source))
    }

    fn take_thread(
        &mut self,
        (round, times): (&Round<'_>, Times),
        of: &OneThread<'_>,
        entries: &mut Vec<Entry>,
    ) -> Result<(), RoundError> {
        let OneThread {
            thread,
            judged,
            name,
            ..
        } = *of;
        let began_ns = times.due_ns(thread, thread.first_judged_cycle);
        entries.push(Entry::LoopBegan {
            at_ns: began_ns,
            name: name.into(),
            period_ns: thread.due.period_ns,
            policy: thread.requested.to_string(),
            condition: judged.condition.clone(),
            criterion: Some(judged.criterion.clone()),
        });
        let finding = round.findings.get(name);
        if let Some(finding) = finding {
            entries.push(Entry::RoundJudged {
                at_ns: began_ns,
                name: name.into(),
                finding: finding.clone(),
            });
        }
        if !matches!(finding, Some(RoundFinding::Invalid(_))) {
            let minutes = self.minutes((round, times), of)?;
            entries.extend(minutes.into_iter().map(|of| Entry::Minute(Box::new(of))));
        }
        entries.push(Entry::LoopEnded {
            at_ns: times.due_ns(thread, thread.expected),
            name: name.into(),
            how: "the round ended".into(),
            died: false,
        });
        Ok(())
    }

    /// The judged cycles of a thread, minute by minute; the worst of them are kept.
    fn minutes(
        &mut self,
        (round, times): (&Round<'_>, Times),
        of: &OneThread<'_>,
    ) -> Result<Vec<Minute>, RoundError> {
        let OneThread {
            segment,
            thread,
            judged,
            name,
        } = *of;
        let mut account = Minutes::new(
            name,
            Some(&judged.criterion),
            thread.due.period_ns,
            times.offset_ns.into(),
        );
        account.begin(JudgedWindow {
            due: thread.due,
            first_judged_cycle: thread.first_judged_cycle,
            end_cycle: thread.expected,
            thread: thread.thread.into(),
            lost: thread.lost.unwrap_or(0),
            gaps: Gaps::Skipped,
        });
        let mut recent = Recent::default();
        let seen = Seen {
            name,
            segment: round.segment,
            base: 0,
            offset_ns: times.offset_ns.into(),
        };
        let mut minutes = Vec::new();
        let mut to_cycle = thread.first_judged_cycle;
        let mut kept = |mut minute: Minute, to_cycle: u64| {
            // Two repetitions of a condition are two stretches of one run.
            minute.segment = format!("{} {}", round.segment, segment.segment);
            minute.to_cycle = to_cycle;
            minutes.push(minute);
        };
        for batch in round.run.batches(segment.segment, thread.thread)? {
            for sample in batch? {
                if sample.cycle >= thread.first_judged_cycle {
                    recent.push(sample, &seen, &mut self.worst, &[]);
                }
                // A contradictory sample makes the tally invalid.
                if let (Some(minute), _) = account.add(&sample) {
                    kept(minute, to_cycle);
                }
                to_cycle = to_cycle.max(sample.cycle + 1);
            }
        }
        recent.end(&seen, &mut self.worst, &[]);
        account.end(judged.until);
        if let Some(minute) = account.take() {
            kept(minute, thread.expected);
        }
        Ok(minutes)
    }

    /// Removes the samples of the oldest rounds until `bytes` are left. Anything else in the
    /// directory stays, and is named in the returned sentence.
    ///
    /// # Errors
    /// The system's.
    pub fn keep(&self, bytes: u64) -> Result<Option<String>, RoundError> {
        let kept = self.segments.keep(bytes, &[]);
        kept.map(|strange| strange.sentence(self.segments.directory()))
            .map_err(|source| self.failed(source))
    }
}

/// A thread of a segment of a round.
#[derive(Clone, Copy)]
struct OneThread<'a> {
    segment: &'a SegmentRecord,
    thread: &'a ThreadRecord,
    judged: &'a RoundThread,
    name: &'a str,
}

#[cfg(test)]
mod tests;

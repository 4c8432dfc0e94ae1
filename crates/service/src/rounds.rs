//! Rounds of a scenario, each a complete run, as one history in bounded space.
//!
//! Each thread of each condition is a loop. A round's minutes are added to the history in one step,
//! and its samples can be removed then. It measures nothing; an interrupted round never gets here.

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
use std::time::SystemTime;
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
            segments: Segments::of(&directory, segments).map_err(failed)?,
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
        let times = Times::of(round, at_ns);
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

/// Times of a round, in nanoseconds since 1970.
#[derive(Clone, Copy)]
struct Times {
    began_ns: u64,
    offset_ns: i64,
}

impl Times {
    /// By the manifest; of a boot that is over, by the first cycle too, which was due some tenths of a second after
    /// the run began.
    fn of(round: &Round<'_>, now_ns: u64) -> Self {
        let began = humantime::parse_rfc3339(&round.run.manifest.started).ok();
        let began = began.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let began_ns = began.and_then(|since| u64::try_from(since.as_nanos()).ok());
        let began_ns = began_ns.unwrap_or(now_ns);
        let segments = round.run.manifest.segments.iter();
        let first = segments
            .flat_map(|of| &of.threads)
            .filter(|of| has_started(of));
        let first_ns = first.map(|thread| thread.due.start_ns).min().unwrap_or(0);
        let offset = || {
            began_ns
                .cast_signed()
                .saturating_sub(first_ns.cast_signed())
        };
        Self {
            began_ns,
            offset_ns: round.offset_ns.unwrap_or_else(offset),
        }
    }

    /// Due time of a cycle; of a thread that never started, the beginning of the round.
    fn due_ns(self, thread: &ThreadRecord, cycle: u64) -> u64 {
        let due_ns = i128::from(thread.due.due_ns(cycle)) + i128::from(self.offset_ns);
        match has_started(thread) {
            true => due_ns.max(0) as u64,
            false => self.began_ns,
        }
    }
}

/// A thread that could not start or get its policy has no due times.
fn has_started(thread: &ThreadRecord) -> bool {
    thread.due.start_ns > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room;
    use crate::summary::summary;
    use wakepath_archive::{
        Effective, Ending, Event, LogWriter, SegmentEnded, SegmentStarted, ThreadEnd, ThreadEnded,
        ThreadStarted,
    };
    use wakepath_scenario::PoliciesNeeded;
    use wakepath_timeline::{DueTimes, Policy, Sample, SampleFlags};
    use wakepath_verdict::{Judgement, Outcome, Reason};

    const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/format-1");

    fn taken(rounds: &mut Rounds, number: u32, findings: &BTreeMap<String, RoundFinding>) {
        let run = Run::open(Path::new(FIXTURE)).unwrap();
        let command = ["wakepath".to_owned()];
        rounds
            .take(&Round {
                number,
                of: 3,
                segment: &format!("round-{number:06}"),
                run: &run,
                threads: &threads_of(&run),
                findings,
                offset_ns: Some(0),
                begins: (number == 1).then_some(&command[..]),
            })
            .unwrap();
    }

    fn criterion() -> Criterion {
        Criterion {
            latency_ns: None,
            deadline_ns: 1_000_000,
            miss_fraction: 1.0,
            evidence: None,
            confidence: 0.95,
            consecutive_misses: None,
            outage_ns: None,
            mode_switches: 0.0,
            policies: PoliciesNeeded::Any,
        }
    }

    fn threads_of(run: &Run) -> BTreeMap<(u32, u16), RoundThread> {
        let mut all = BTreeMap::new();
        for segment in run.manifest.segments.iter().filter(|of| !of.traced) {
            for thread in &segment.threads {
                let of = RoundThread {
                    condition: ConditionName {
                        policy: Some(thread.requested),
                        phase: segment.phase.clone(),
                        task: Some(thread.name.clone()),
                    },
                    criterion: criterion(),
                    until: Until::WindowEnd,
                };
                all.insert((segment.segment, thread.thread), of);
            }
        }
        all
    }

    fn judgement_of(found: &crate::Summary, name: &str) -> Judgement {
        let mut judged = found.judged().into_iter();
        let of = judged.find(|of| of.loops.iter().any(|own| own == name));
        of.unwrap().judgement
    }

    /// Judged due times by the name of the loop, and their samples.
    fn in_the_fixture() -> BTreeMap<String, (u64, u64)> {
        let run = Run::open(Path::new(FIXTURE)).unwrap();
        let mut all: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for segment in run.manifest.segments.iter().filter(|of| !of.traced) {
            for thread in &segment.threads {
                let own = (segment.threads.len() > 1).then_some(&thread.name[..]);
                let name = loop_name(&segment.condition, &segment.phase, own);
                let samples = run.samples(segment.segment, thread.thread).unwrap();
                let first = thread.first_judged_cycle;
                let judged = samples.iter().filter(|of| of.cycle >= first).count() as u64;
                let its = all.entry(name).or_default();
                *its = (its.0 + thread.expected - first, its.1 + judged);
            }
        }
        all
    }

    #[test]
    fn every_due_time_of_each_round_is_counted_once_however_often_a_round_is_taken() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("rounds");
        let mut rounds = Rounds::prepare(&path, Trust::Any, 5, Some(b"{}")).unwrap();
        assert_eq!(rounds.reached().unwrap(), 0);
        // A kill between worst cycles and history has a round taken again.
        for number in [1, 1, 2] {
            taken(&mut rounds, number, &BTreeMap::new());
        }
        assert_eq!(rounds.reached().unwrap(), 2);
        let found = summary(&path).unwrap();
        assert_eq!(
            (found.rounds, found.starts, found.is_running),
            (Some((2, 3)), 1, true)
        );
        let known = in_the_fixture();
        assert_eq!(found.loops.len(), known.len());
        for (name, (due, samples)) in known {
            let of = &found.loops[&name];
            assert_eq!(
                (of.tally.scheduled(), of.tally.executed),
                (2 * due, 2 * samples),
                "{name}"
            );
            assert_eq!(of.latencies.count(), 2 * samples);
        }
        let worst = crate::read_worst(&path).unwrap();
        for cycles in worst.values() {
            let mut all: Vec<_> = cycles.iter().map(|of| (&of.segment, of.due_ns)).collect();
            all.dedup();
            assert_eq!(all.len(), 5);
        }
    }

    #[test]
    fn a_condition_that_is_no_evidence_is_in_no_count_and_keeps_the_whole_from_passing() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("rounds");
        let mut rounds = Rounds::prepare(&path, Trust::Any, 5, Some(b"{}")).unwrap();
        let (name, (due, _)) = in_the_fixture().pop_first().unwrap();
        let why = RoundFinding::Invalid("a load did not prove its work".into());
        taken(&mut rounds, 1, &BTreeMap::from([(name.clone(), why)]));
        let first = summary(&path).unwrap();
        let judged = judgement_of(&first, &name);
        let nothing = "no due time is recorded yet";
        let only = "no evidence in 1 round: a load did not prove its work";
        let reasons: Vec<String> = judged.reasons.iter().map(ToString::to_string).collect();
        assert_eq!(reasons, [nothing, only], "no finding without due times");
        taken(&mut rounds, 2, &BTreeMap::new());
        let found = summary(&path).unwrap();
        let of = &found.loops[&name];
        assert_eq!((of.tally.scheduled(), of.rounds.invalid.0), (due, 1));
        let judged = judgement_of(&found, &name);
        assert_eq!(judged.outcome, Outcome::Undecided);
        let set_aside = |reason: &Reason| matches!(reason, Reason::RoundsSetAside { rounds: 1, last } if last.contains("did not prove"));
        assert!(judged.reasons.iter().any(set_aside), "{judged:?}");
        let failed = RoundFinding::Failed("the vehicle was lost".into());
        taken(&mut rounds, 3, &BTreeMap::from([(name.clone(), failed)]));
        let found = summary(&path).unwrap();
        assert_eq!(judgement_of(&found, &name).outcome, Outcome::Failed);
        assert!(!found.is_running, "the last round is measured");
    }

    /// A complete round of 1000 due times of 1 ms, with each sample changed or removed by `change`.
    fn made_up_round(place: &Path, change: impl Fn(Sample) -> Option<Sample>) -> Run {
        let due = DueTimes {
            start_ns: 5_000_000_000,
            period_ns: 1_000_000,
        };
        let policy = Policy::Fifo { priority: 80 };
        let mut log = LogWriter::create(place).unwrap();
        let mut event = |event: Event| log.append_event(&event).unwrap();
        event(Event::RunStarted(Box::default()));
        event(Event::SegmentStarted(SegmentStarted {
            segment: 0,
            phase: "idle".into(),
            repetition: 0,
            condition: policy.to_string(),
            traced: false,
            threads: vec![ThreadStarted {
                thread: 0,
                name: "loop".into(),
                due,
                requested: policy,
                effective: Effective::default(),
                cpus: vec![1],
                first_judged_cycle: 0,
                end_cycle: 1_000,
            }],
        }));
        let sample = |cycle: u64| Sample {
            cycle,
            due_ns: due.due_ns(cycle),
            wake_ns: due.due_ns(cycle) + 20_000,
            end_ns: due.due_ns(cycle) + 120_000,
            ..Sample::default()
        };
        let samples: Vec<Sample> = (0..1_000).map(sample).filter_map(change).collect();
        log.append_samples(0, 0, &samples).unwrap();
        let written = samples.len() as u64;
        log.append_event(&Event::SegmentEnded(SegmentEnded {
            segment: 0,
            threads: vec![ThreadEnded {
                thread: 0,
                written,
                recorded: written,
                lost: 0,
                skipped: Some(1_000 - written),
                page_faults: None,
                modules: Vec::new(),
                counters: None,
                on_a_core: None,
                ended: ThreadEnd::AllCycles,
            }],
            loads: Vec::new(),
        }))
        .unwrap();
        log.end(Ending::Complete).unwrap();
        wakepath_archive::finish(place).unwrap();
        Run::open(place).unwrap()
    }

    /// Judgement over rounds that are all such runs.
    fn judged_over(rounds: u32, change: fn(Sample) -> Option<Sample>) -> Judgement {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("rounds");
        let mut all = Rounds::prepare(&path, Trust::Any, 5, Some(b"{}")).unwrap();
        for number in 1..=rounds {
            let segment = format!("round-{number:06}");
            let run = made_up_round(&place.path().join(&segment), change);
            let threads = threads_of(&run).into_iter().map(|(at, of)| {
                let criterion = Criterion {
                    miss_fraction: 0.1,
                    outage_ns: Some(10_000_000),
                    ..of.criterion
                };
                (at, RoundThread { criterion, ..of })
            });
            all.take(&Round {
                number,
                of: rounds,
                segment: &segment,
                run: &run,
                threads: &threads.collect(),
                findings: &BTreeMap::new(),
                offset_ns: Some(0),
                begins: None,
            })
            .unwrap();
        }
        let judged = summary(&path).unwrap().judged();
        assert_eq!(judged.len(), 1);
        judged.into_iter().next().unwrap().judgement
    }

    #[test]
    fn rounds_miss_what_a_run_misses() {
        let clean = judged_over(3, Some);
        assert_eq!(clean.outcome, Outcome::Passed, "{:?}", clean.reasons);
        // 257 of 1000 exchanges without a correct answer, however early the loop was.
        let unanswered = judged_over(3, |sample| {
            let flags = match sample.cycle * 257 % 1_000 < 257 {
                true => SampleFlags::UNANSWERED,
                false => SampleFlags::default(),
            };
            Some(Sample { flags, ..sample })
        });
        assert_eq!(unanswered.outcome, Outcome::Failed);
        assert_eq!(unanswered.cycles.missed(), Some(3 * 257));
        // Nothing ran for the first 12 ms; 10 ms are allowed.
        let late = judged_over(3, |sample| (sample.cycle >= 12).then_some(sample));
        assert_eq!(late.outcome, Outcome::Failed);
        let outage = |reason: &Reason| matches!(reason, Reason::OutageAbove { .. });
        assert!(late.reasons.iter().any(outage), "{:?}", late.reasons);
        // A thread of a real-time core that Linux scheduled in one cycle.
        let switched = judged_over(3, |sample| {
            let flags = match sample.cycle {
                500 => SampleFlags::MODE_SWITCH,
                _ => SampleFlags::default(),
            };
            Some(Sample { flags, ..sample })
        });
        assert_eq!(switched.outcome, Outcome::Invalid);
    }

    #[test]
    fn rounds_and_a_program_s_service_do_not_share_a_directory() {
        let place = tempfile::tempdir().unwrap();
        let (rounds, service) = (place.path().join("rounds"), place.path().join("service"));
        drop(Rounds::prepare(&rounds, Trust::Any, 5, Some(b"{}")).unwrap());
        assert!(room::has_rounds(&rounds));
        assert!(crate::prepare(&rounds, Trust::Any).is_err());
        crate::prepare(&service, Trust::Any).unwrap();
        assert!(Rounds::prepare(&service, Trust::Any, 5, None).is_err());
        // A kill before the mark was written leaves only the plan.
        let begun = place.path().join("begun");
        std::fs::create_dir(&begun).unwrap();
        std::fs::write(begun.join(room::PLAN), "{").unwrap();
        drop(Rounds::prepare(&begun, Trust::Any, 5, Some(b"{}")).unwrap());
        assert_eq!(std::fs::read(begun.join(room::PLAN)).unwrap(), b"{}");
    }
}

//! The recorder's own loop with every operation on its files failing in turn: the first, the second, until
//! one passes without a failure; once, and from then on. It gets a measuring process's commands over real
//! pipes and shared memory. Whatever fails, samples that it had acknowledged are read, recovery works, and
//! anything missing has been reported.

#![allow(unsafe_code)] // The writer's promise to be the only one.

use super::{Command, LiveThread, Reply, SegmentRings, run};
use rustix::pipe::pipe;
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wakepath_archive::{
    ArchiveError, Effective, Ending, Event, FactsTaken, Run, RunStarted, ScenarioText,
    SegmentEnded, SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted, Tool, When, discard_in,
    recover,
};
use wakepath_directory::{Directory, Fault, Faults, Operation, Trust};
use wakepath_rt::shared::SharedMemory;
use wakepath_timeline::{DueTimes, Policy, Sample};
use wakepath_verdict::Limits;

/// Samples of each segment: of the first more than one block of the log.
const SAMPLES: [u64; 2] = [1_500, 300];
const SLOTS: u32 = 2_048;
const DUE: DueTimes = DueTimes {
    start_ns: 1_000_000,
    period_ns: 1_000_000,
};

/// How the measuring process leaves the recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaves {
    InOrder,
    /// Killed in the second segment.
    Dead,
    /// The same, in the middle of a command.
    DeadInACommand,
}

/// The recorder's replies.
#[derive(Debug, Default)]
struct Said {
    /// Samples of each segment that it called taken before it called anything failed.
    taken: Vec<u64>,
    /// It reported a failure, by a reply or by its end.
    failed: bool,
    /// The end is on the disk.
    ended: bool,
}

fn sample(segment: u32, cycle: u64) -> Sample {
    let due_ns = DUE.due_ns(cycle);
    Sample {
        cycle,
        due_ns,
        wake_ns: due_ns + 1_000 + u64::from(segment),
        end_ns: due_ns + 3_000,
        ..Sample::default()
    }
}

fn run_started() -> Event {
    Event::RunStarted(Box::new(RunStarted {
        run_id: "made-up".into(),
        tool: Tool {
            name: "wakepath".into(),
            version: "0".into(),
            commit: None,
        },
        command: Vec::new(),
        invocation: None,
        first_process: None,
        quick: None,
        started: "2026-01-01T00:00:00Z".into(),
        scenario: ScenarioText {
            name: "made up".into(),
            toml: "name = \"made up\"\n".into(),
        },
        clock_source: "CLOCK_MONOTONIC".into(),
        notes: Vec::new(),
        planned: Vec::new(),
        virtual_time: None,
    }))
}

fn facts_taken() -> Event {
    Event::FactsTaken(FactsTaken {
        when: When::After,
        phase: None,
        repetition: None,
        at_ns: 0,
        facts: json!({ "what": "x".repeat(3_000) }),
    })
}

fn segment_started(segment: u32) -> Event {
    Event::SegmentStarted(SegmentStarted {
        segment,
        phase: "idle".into(),
        repetition: segment,
        condition: "OTHER".into(),
        traced: false,
        threads: vec![ThreadStarted {
            thread: 0,
            name: "loop".into(),
            due: DUE,
            requested: Policy::Other { nice: 0 },
            effective: Effective {
                text: "OTHER nice 0".into(),
                details: json!({}),
            },
            cpus: vec![0],
            first_judged_cycle: 0,
            end_cycle: SAMPLES[segment as usize],
        }],
    })
}

fn segment_ended(segment: u32, recorded: u64) -> Event {
    let written = SAMPLES[segment as usize];
    Event::SegmentEnded(SegmentEnded {
        segment,
        threads: vec![ThreadEnded {
            thread: 0,
            written,
            recorded,
            lost: 0,
            skipped: Some(0),
            page_faults: None,
            modules: Vec::new(),
            counters: None,
            on_a_core: None,
            ended: ThreadEnd::AllCycles,
        }],
        loads: Vec::new(),
    })
}

/// A measuring process: sends the recorder its commands and reads its replies.
struct Measuring<'a> {
    memory: &'a SharedMemory,
    commands: File,
    replies: BufReader<File>,
    said: Said,
}

impl Measuring<'_> {
    fn tell(&mut self, command: &Command) {
        // A recorder that is gone shows as the end of its replies.
        let line = serde_json::to_string(command).unwrap() + "\n";
        let _ = self.commands.write_all(line.as_bytes());
    }

    /// The reply that ends a step, or none where the recorder is gone.
    fn hear(&mut self, ends: impl Fn(&Reply) -> bool) -> Option<Reply> {
        loop {
            let mut line = String::new();
            if self.replies.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            let reply = serde_json::from_str(&line).unwrap();
            self.said.failed |= matches!(reply, Reply::Failed { .. });
            if ends(&reply) {
                return Some(reply);
            }
        }
    }

    fn fill_ring(&self, segment: u32) {
        self.memory.reset();
        // SAFETY: this is the only writer, and dropped before the next one is made.
        let mut writer = unsafe { self.memory.writer(0) };
        (0..SAMPLES[segment as usize]).for_each(|cycle| writer.push(sample(segment, cycle)));
    }

    fn carry_out(&mut self, leaves: Leaves) -> Option<()> {
        self.hear(|reply| *reply == Reply::Ready)?;
        self.tell(&Command::Append(Box::new(run_started())));
        for segment in 0..2 {
            self.fill_ring(segment);
            self.tell(&Command::Append(Box::new(segment_started(segment))));
            let rings = SegmentRings {
                segment,
                threads: vec![LiveThread {
                    limits: Limits::default(),
                    period_ns: 1_000_000,
                    judged: None,
                }],
            };
            self.tell(&Command::Take(rings));
            if segment == 1 && leaves != Leaves::InOrder {
                return None;
            }
            self.tell(&Command::TakeRest);
            let Reply::Taken { recorded, .. } =
                self.hear(|it| matches!(it, Reply::Taken { .. }))?
            else {
                unreachable!("only that ends the step")
            };
            if !self.said.failed {
                self.said.taken.push(recorded[0]);
            }
            let ended = segment_ended(segment, recorded[0]);
            self.tell(&Command::Append(Box::new(ended)));
        }
        // Nobody waits for an answer between the last facts and the end.
        self.tell(&Command::Append(Box::new(facts_taken())));
        self.tell(&Command::End(Ending::Complete));
        self.hear(|reply| *reply == Reply::Ended)?;
        self.said.ended = true;
        Some(())
    }
}

/// A run into `path` by a recorder whose disk fails so.
fn recorded(path: &Path, faults: &Arc<Faults>, leaves: Leaves) -> Said {
    let memory = SharedMemory::create(1, SLOTS).unwrap();
    let directory = Directory::make(path, Trust::Any).unwrap();
    let directory = directory.with_faults(faults.clone());
    let (commands, to_recorder) = pipe().unwrap();
    let (from_recorder, replies) = pipe().unwrap();
    std::thread::scope(|scope| {
        let recorder = scope.spawn(|| {
            let (commands, replies) = (File::from(commands), File::from(replies));
            run(&memory, &directory, commands, replies)
        });
        let mut measuring = Measuring {
            memory: &memory,
            commands: to_recorder.into(),
            replies: BufReader::new(from_recorder.into()),
            said: Said::default(),
        };
        let _ = measuring.carry_out(leaves);
        let Measuring {
            mut commands,
            replies,
            mut said,
            ..
        } = measuring;
        if leaves == Leaves::DeadInACommand {
            commands.write_all(b"{\"Take").unwrap();
        }
        drop(commands);
        // A recorder whose measuring process died has no one to report to, and continues.
        let outcome = recorder.join().unwrap();
        drop(replies);
        said.failed |=
            outcome.is_err() || memory.words().recorder_failed.load(Ordering::Acquire) != 0;
        said
    })
}

/// Checks the readable samples against the replies.
fn assert_readable(path: &Path, said: &Said, faults: &Faults, leaves: Leaves, what: &str) {
    let closed_badly = faults.failed().contains(&Operation::Close);
    let mut missing = false;
    match Run::open(path) {
        Ok(run) => {
            for segment in 0..2_u32 {
                let there = run.samples(segment, 0).unwrap_or_default();
                let all = SAMPLES[segment as usize];
                let expected: Vec<_> = (0..there.len() as u64)
                    .map(|of| sample(segment, of))
                    .collect();
                assert!(there == expected, "{what}: samples are altered or left out");
                let least = said.taken.get(segment as usize).copied().unwrap_or(0);
                let kept = there.len() as u64 >= least;
                assert!(
                    kept || closed_badly,
                    "{what}: {} of {least}, {said:?}",
                    there.len()
                );
                missing |= (there.len() as u64) < all;
            }
        }
        Err(ArchiveError::NothingRecorded { .. } | ArchiveError::NotARun { .. }) => {
            assert!(
                said.taken.is_empty() || closed_badly,
                "{what}: the run is gone"
            );
            missing = true;
        }
        Err(error) => panic!("{what}: {error}"),
    }
    assert!(
        !missing || said.failed,
        "{what}: something is missing, and nothing reported it"
    );
    assert!(!(said.ended && missing && !said.failed), "{what}");
    if faults.failed().is_empty() {
        assert!(
            !said.failed && said.ended == (leaves == Leaves::InOrder),
            "{what}: {said:?}"
        );
    }
    let recovered = recover(path);
    match recovered {
        Ok(first) => {
            let is_whole = !missing && first.manifest.facts.len() == 1;
            let is_complete = Run::open(path).unwrap().is_complete();
            assert!(
                is_whole || !is_complete,
                "{what}: it lacks something, and ended as {:?}",
                first.manifest.ending
            );
            let again = recover(path).unwrap_or_else(|error| panic!("{what}, again: {error}"));
            assert!(again.manifest == first.manifest, "{what}");
        }
        Err(ArchiveError::NothingRecorded { .. } | ArchiveError::NotARun { .. }) => {
            let _ = discard_in(&Directory::to_write(path, Trust::Any).unwrap());
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

fn every_operation_fails(leaves: Leaves, all: &[(Fault, bool)]) {
    let place = tempfile::tempdir().unwrap();
    let whole = Faults::new(Fault::Broken, 0, false);
    let path = place.path().join("whole");
    let said = recorded(&path, &whole, leaves);
    assert_readable(&path, &said, &whole, leaves, "nothing fails");
    let operations = whole.seen();
    assert!(operations > 10, "{operations} operations");
    let place = place.path();
    for &(fault, lasting) in all {
        // Side by side: one that waits takes no processor.
        std::thread::scope(|scope| {
            for at in 1..=operations {
                scope.spawn(move || {
                    let faults = Faults::new(fault, at, lasting);
                    let path = place.join(format!("{fault:?}-{lasting}-{at}"));
                    let said = recorded(&path, &faults, leaves);
                    let what = format!("{fault:?} at operation {at}, lasting: {lasting}");
                    assert_readable(&path, &said, &faults, leaves, &what);
                });
            }
        });
    }
    println!(
        "{leaves:?}: {operations} operations, {} times each",
        all.len()
    );
}

#[test]
fn a_recorder_whose_disk_fails_at_any_operation_loses_nothing_that_it_called_taken() {
    let faults = [Fault::NoSpace, Fault::Broken, Fault::Short];
    let all = faults.map(|fault| [(fault, false), (fault, true)]);
    every_operation_fails(Leaves::InOrder, all.as_flattened());
}

#[test]
fn a_recorder_left_alone_on_a_disk_that_fails_loses_nothing_that_it_called_taken() {
    every_operation_fails(
        Leaves::Dead,
        &[(Fault::NoSpace, false), (Fault::NoSpace, true)],
    );
}

#[test]
fn a_recorder_left_amid_a_command_ends_in_order_and_says_so_in_the_run() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run");
    let nothing = Faults::new(Fault::Broken, 0, false);
    let said = recorded(&path, &nothing, Leaves::DeadInACommand);
    assert!(!said.failed, "{said:?}");
    let notes = Run::open(&path).unwrap().manifest.notes;
    for wanted in ["is not a command", "the measuring process died"] {
        assert!(notes.iter().any(|note| note.contains(wanted)), "{notes:?}");
    }
}

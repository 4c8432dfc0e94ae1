//! The measuring process's side of the recorder: starting it, telling it, waiting for its answers.

use crate::recorder::{Command, Reply, SegmentRings};
use crate::supervisor::{Child, Heard, NoAnswer};
use crate::{MeasureError, Observer, own_executable};
use std::sync::atomic::Ordering;
use std::time::Duration;
use wakepath_archive::{Ending, Event, Run};
use wakepath_directory::Directory;
use wakepath_rt::shared::SharedMemory;
use wakepath_scenario::{Scenario, Work};

/// The longest that the recorder may be silent: an SD card stalls for seconds, a dead disk
/// forever.
const PATIENCE: Duration = Duration::from_secs(120);
/// The rings hold the samples of as long a stall of the disk.
const RING_SECONDS: u64 = 10;
/// Bounds of a ring in samples: 200 KB to 50 MB.
const RING_SAMPLES: (u64, u64) = (1 << 12, 1 << 20);

/// Words for a user's loop's telemetry in a cycle besides its sample, and bounds of their ring: a run of a
/// section takes 4, a line with three numbers 6. 128 KiB to 8 MiB.
const SAID_WORDS: u64 = 32;
const SAID: (u64, u64) = (1 << 14, 1 << 20);

/// The recorder's process and the memory that it shares with the loop's.
pub(crate) struct Recording {
    child: Child<Reply>,
    pub(crate) memory: SharedMemory,
    directory: Directory,
    /// The recorder's own words when it can't write any more.
    failure: Option<String>,
}

impl Recording {
    pub(crate) fn start(scenario: &Scenario, directory: &Directory) -> Result<Self, MeasureError> {
        let periods = scenario.tasks.iter().map(|task| task.period_ns);
        let shortest = periods.min().unwrap_or(1);
        let slots = (RING_SECONDS * 1_000_000_000 / shortest.max(1))
            .clamp(RING_SAMPLES.0, RING_SAMPLES.1)
            .next_power_of_two();
        // A phase can have a separate program.
        let has_program = scenario
            .works()
            .any(|work| matches!(work, Work::Program { .. }));
        let said_words = if has_program {
            (slots * SAID_WORDS).clamp(SAID.0, SAID.1) as u32
        } else {
            0
        };
        let threads = scenario.tasks.len() as u32;
        let memory = SharedMemory::create_with(threads, slots as u32, said_words)?;
        let child = Child::start(
            &own_executable(),
            "recorder",
            memory.file(),
            Some(directory),
        )
        .map_err(|source| MeasureError::Start {
            which: "recorder",
            source,
        })?;
        let mut recording = Self {
            child,
            memory,
            directory: directory.clone(),
            failure: None,
        };
        recording.answer(|reply| matches!(reply, Reply::Ready).then_some(()))?;
        Ok(recording)
    }

    pub(crate) fn append(&mut self, event: Event) -> Result<(), MeasureError> {
        self.tell(&Command::Append(Box::new(event)))
    }

    pub(crate) fn take(&mut self, rings: SegmentRings) -> Result<(), MeasureError> {
        self.tell(&Command::Take(rings))
    }

    /// Reads its unsolicited replies: a failure is noted, figures go to the observer.
    ///
    /// # Errors
    /// When it is gone.
    pub(crate) fn listen(&mut self, observer: &mut dyn Observer) -> Result<(), MeasureError> {
        loop {
            match self.child.hear(Duration::ZERO) {
                Heard::Said(Reply::Live(figures)) => observer.live(&figures),
                Heard::Said(reply) => note_failure(&mut self.failure, &reply),
                Heard::Nothing => return Ok(()),
                Heard::Gone => return Err(self.died()),
            }
        }
    }

    /// Has the rest of a segment's samples written; returns how many were recorded, by thread, and the
    /// remarks.
    pub(crate) fn take_rest(
        &mut self,
        observer: &mut dyn Observer,
    ) -> Result<(Vec<u64>, Vec<String>), MeasureError> {
        self.tell(&Command::TakeRest)?;
        self.answer(|reply| match reply {
            Reply::Taken { recorded, remarks } => Some((recorded, remarks)),
            Reply::Live(figures) => {
                observer.live(&figures);
                None
            }
            _ => None,
        })
    }

    /// Closes the log. A recorder that couldn't write all is an error also when it ends in order; one that died
    /// after it had written all is none.
    pub(crate) fn end(mut self, ending: Ending) -> Result<(), MeasureError> {
        let ending = match &self.failure {
            Some(reason) => Ending::Failed {
                reason: reason.clone(),
            },
            None => ending,
        };
        self.tell(&Command::End(ending.clone()))?;
        match self.answer(|reply| matches!(reply, Reply::Ended).then_some(())) {
            Err(MeasureError::RecorderDied { .. }) if self.has_written(&ending) => Ok(()),
            Err(error) => Err(error),
            Ok(()) => self.check(),
        }
    }

    /// Whether the log is whole, to this end. Nobody writes it any more.
    fn has_written(&self, ending: &Ending) -> bool {
        let run = Run::open_exact_in(&self.directory);
        run.is_ok_and(|run| {
            let manifest = &run.manifest;
            manifest.recovered.is_none() && manifest.ending == *ending
        })
    }

    /// An error once the recorder can't write any more.
    pub(crate) fn check(&self) -> Result<(), MeasureError> {
        match &self.failure {
            Some(reason) => Err(MeasureError::Recording(reason.clone())),
            None => Ok(()),
        }
    }

    fn tell(&mut self, command: &Command) -> Result<(), MeasureError> {
        match self.child.say(command) {
            Ok(()) => Ok(()),
            Err(_) => {
                // Its last words say why.
                while let Heard::Said(reply) = self.child.hear(PATIENCE) {
                    note_failure(&mut self.failure, &reply);
                }
                Err(self.died())
            }
        }
    }

    fn answer<A>(&mut self, mut is_it: impl FnMut(Reply) -> Option<A>) -> Result<A, MeasureError> {
        let failure = &mut self.failure;
        let answer = self.child.answer(PATIENCE, |reply| {
            note_failure(failure, &reply);
            is_it(reply)
        });
        answer.map_err(|why| {
            if let NoAnswer::Silent(seconds) = why {
                self.failure.get_or_insert_with(|| {
                    format!(
                        "no message from the recorder for {seconds} s: does the disk of {} respond?",
                        self.directory.path().display()
                    )
                });
            }
            self.died()
        })
    }

    /// The recorder is gone: stops the loop and returns how it ended.
    fn died(&mut self) -> MeasureError {
        self.memory.words().stop.store(1, Ordering::Release);
        let how = self.child.end();
        match self.failure.take() {
            // It had given the reason before it went.
            Some(reason) => MeasureError::Recording(reason),
            None => MeasureError::RecorderDied {
                how,
                directory: self.directory.path().into(),
            },
        }
    }
}

/// Keeps the first failure that the recorder reports.
fn note_failure(failure: &mut Option<String>, reply: &Reply) {
    if let (Reply::Failed { error }, None) = (reply, &failure) {
        *failure = Some(error.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use wakepath_archive::{LogWriter, RunStarted, ScenarioText, Tool};
    use wakepath_directory::Trust;

    /// The log of a recorder that was killed before it answered.
    fn log(directory: &Directory, ending: Option<Ending>) {
        let mut log = LogWriter::create_in(directory).unwrap();
        let started = RunStarted {
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
        };
        log.append_event(&Event::RunStarted(Box::new(started)))
            .unwrap();
        if let Some(ending) = ending {
            log.end(ending).unwrap();
        }
    }

    #[test]
    fn a_recorder_killed_before_its_answer_is_an_error_unless_the_end_is_written() {
        let place = tempfile::tempdir().unwrap();
        // It reads a line and dies.
        let program = place.path().join("recorder");
        std::fs::write(&program, "#!/bin/sh\nread -r told\nkill -9 $$\n").unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let failed = Ending::Failed {
            reason: "the measuring process died".into(),
        };
        for (number, (written, is_whole)) in [
            (Some(Ending::Complete), true),
            (Some(Ending::Interrupted), false),
            (Some(failed), false),
            (None, false),
        ]
        .into_iter()
        .enumerate()
        {
            let path = place.path().join(number.to_string());
            let directory = Directory::make(&path, Trust::Own).unwrap();
            log(&directory, written.clone());
            let memory = SharedMemory::create(1, 8).unwrap();
            let child = Child::start(&program, "recorder", memory.file(), Some(&directory));
            let recording = Recording {
                child: child.unwrap(),
                memory,
                directory,
                failure: None,
            };
            let ended = recording.end(Ending::Complete);
            assert_eq!(ended.is_ok(), is_whole, "{written:?}: {ended:?}");
            assert_eq!(wakepath_archive::finish(&path).is_ok(), written.is_some());
        }
    }
}

//! The measuring process's side of the recorder: starting it, telling it, waiting for its answers.

use super::child::{FromChild, JsonChild, own_executable};
use super::recorder::{Command, Reply, SegmentRings};
use super::{MeasureError, Message};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};
use wakepath_archive::{Ending, Event};
use wakepath_rt::shared::SharedMemory;
use wakepath_scenario::Scenario;

/// The longest that the recorder may be silent: an SD card stalls for seconds, a dead disk for
/// ever.
const PATIENCE: Duration = Duration::from_secs(120);
/// The rings hold the samples of as long a stall of the disk.
const RING_SECONDS: u64 = 10;
/// Bounds of a ring in samples: 200 KB to 50 MB.
const RING_SAMPLES: (u64, u64) = (1 << 12, 1 << 20);

/// The recorder's process and the memory that it shares with the loop's.
pub(super) struct Recording {
    child: JsonChild,
    pub(super) memory: SharedMemory,
    directory: PathBuf,
    /// The recorder's own words when it can't write any more.
    failure: Option<String>,
}

impl Recording {
    pub(super) fn start(
        scenario: &Scenario,
        directory: &Path,
        sender: &Sender<Message>,
        messages: &Receiver<Message>,
    ) -> Result<Self, MeasureError> {
        let shortest = scenario
            .tasks
            .iter()
            .map(|task| task.period_ns)
            .min()
            .unwrap_or(1);
        let slots = (RING_SECONDS * 1_000_000_000 / shortest.max(1))
            .clamp(RING_SAMPLES.0, RING_SAMPLES.1)
            .next_power_of_two();
        let memory = SharedMemory::create(scenario.tasks.len() as u32, slots as u32)?;
        let child = JsonChild::start(
            &own_executable(),
            "recorder",
            memory.file(),
            &[directory.as_os_str()],
            sender.clone(),
            Message::Recorder,
        )
        .map_err(|source| MeasureError::Start {
            which: "recorder",
            source,
        })?;
        let mut recording = Self {
            child,
            memory,
            directory: directory.into(),
            failure: None,
        };
        recording.wait_for(messages, |reply| matches!(reply, Reply::Ready))?;
        Ok(recording)
    }

    pub(super) fn append(&mut self, event: Event) -> Result<(), MeasureError> {
        self.tell(&Command::Append(Box::new(event)))
    }

    pub(super) fn take(&mut self, rings: SegmentRings) -> Result<(), MeasureError> {
        self.tell(&Command::Take(rings))
    }

    /// Has the rest of a segment's samples written; returns how many were recorded, by thread.
    pub(super) fn take_rest(
        &mut self,
        messages: &Receiver<Message>,
        mut live: impl FnMut(&Reply),
    ) -> Result<Vec<u64>, MeasureError> {
        self.tell(&Command::TakeRest)?;
        let reply = self.wait_for(messages, |reply| {
            live(reply);
            matches!(reply, Reply::Taken { .. })
        })?;
        match reply {
            Reply::Taken { recorded } => Ok(recorded),
            _ => unreachable!("only this reply was waited for"),
        }
    }

    /// Closes the log. A recorder that couldn't write all is an error also when it ends in order.
    pub(super) fn end(
        mut self,
        ending: Ending,
        messages: &Receiver<Message>,
    ) -> Result<(), MeasureError> {
        let ending = match &self.failure {
            Some(reason) => Ending::Failed {
                reason: reason.clone(),
            },
            None => ending,
        };
        self.tell(&Command::End(ending))?;
        self.wait_for(messages, |reply| matches!(reply, Reply::Ended))?;
        match self.failure.take() {
            Some(reason) => Err(MeasureError::Recording(reason)),
            None => Ok(()),
        }
    }

    /// Notes a failure that the recorder reports on its own.
    pub(super) fn note_failure(&mut self, reply: &Reply) {
        if let (Reply::Failed { error }, None) = (reply, &self.failure) {
            self.failure = Some(error.clone());
        }
    }

    /// An error once the recorder can't write any more.
    pub(super) fn check(&self) -> Result<(), MeasureError> {
        match &self.failure {
            Some(reason) => Err(MeasureError::Recording(reason.clone())),
            None => Ok(()),
        }
    }

    /// The recorder is gone: stops the loop and says how it ended.
    pub(super) fn died(&mut self) -> MeasureError {
        self.memory.words().stop.store(1, Ordering::Release);
        let how = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        match self.failure.take() {
            // It had said why before it went.
            Some(reason) => MeasureError::Recording(reason),
            None => MeasureError::RecorderDied {
                how,
                directory: self.directory.clone(),
            },
        }
    }

    fn tell(&mut self, command: &Command) -> Result<(), MeasureError> {
        match self.child.say(command) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.died()),
        }
    }

    fn wait_for(
        &mut self,
        messages: &Receiver<Message>,
        mut is_it: impl FnMut(&Reply) -> bool,
    ) -> Result<Reply, MeasureError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match messages.recv_timeout(left) {
                Ok(Message::Recorder(FromChild::Said(reply))) => {
                    self.note_failure(&reply);
                    if is_it(&reply) {
                        return Ok(reply);
                    }
                }
                Ok(Message::Recorder(FromChild::Gone)) => return Err(self.died()),
                Ok(Message::Loop(..) | Message::Probe(_)) => {}
                Err(_) => {
                    self.child.kill();
                    self.failure.get_or_insert_with(|| {
                        format!(
                            "the recorder said nothing for {} s: is the disk under {} alive?",
                            PATIENCE.as_secs(),
                            self.directory.display()
                        )
                    });
                    return Err(self.died());
                }
            }
        }
    }
}

//! The requests of a segment to a loop's process: either wakepath's own, which takes lines of JSON, or a
//! user's program.

use crate::supervisor::{Child, Heard};
use std::io;
use std::time::Duration;
use wakepath_measured_loop::{LoopReply, LoopSpec};

/// A process that runs a loop.
pub(crate) trait LoopProcess {
    /// Its number.
    fn id(&self) -> u32;

    /// Says what to run.
    ///
    /// # Errors
    /// When the process is gone.
    fn tell(&mut self, spec: &LoopSpec) -> io::Result<()>;

    /// Its next reply.
    fn hear(&mut self, patience: Duration) -> Heard<LoopReply>;

    /// Notes on it for the run, once its loops have ended.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// A note for the run if the loop had to be stopped late.
    fn left_late(&self) -> Option<String> {
        None
    }

    /// Waits for its end and returns how it ended.
    fn end(&mut self) -> String;

    /// Kills it if it is still running.
    fn kill(&mut self);
}

impl LoopProcess for Child<LoopReply> {
    fn id(&self) -> u32 {
        Self::id(self)
    }

    fn tell(&mut self, spec: &LoopSpec) -> io::Result<()> {
        self.say(spec)
    }

    fn hear(&mut self, patience: Duration) -> Heard<LoopReply> {
        Self::hear(self, patience)
    }

    fn end(&mut self) -> String {
        Self::end(self)
    }

    fn kill(&mut self) {
        Self::kill(self);
    }
}

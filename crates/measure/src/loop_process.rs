//! What a segment asks of a loop's process, whoever's it is: wakepath's own, which is spoken to in
//! lines of JSON, or a program of the user's own.

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

    /// What it says next.
    fn hear(&mut self, patience: Duration) -> Heard<LoopReply>;

    /// What of it is to be said in the run, once its loops have ended.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// What of its end is to be said in the run, once it has been seen to.
    fn left_late(&self) -> Option<String> {
        None
    }

    /// Waits for its end and says how it ended.
    fn end(&mut self) -> String;

    /// Sees to its end.
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

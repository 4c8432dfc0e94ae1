//! How far long computations are, for a person who waits for them. It knows nothing of what is
//! computed.

use crate::terminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use wakepath_archive::Run;
use wakepath_assess::{Assessment, AssessmentError, Picture};

/// A run assessed, with its pictures if it will be `drawn`; long flights show their progress.
pub fn assessed(run: &Run, drawn: bool) -> Result<(Assessment, Vec<Picture>), AssessmentError> {
    let progress = Progress::new("flying");
    let assessment = Assessment::with_progress(run, drawn, &|ready, of| progress.tell(ready, of));
    progress.end();
    assessment
}

/// Says on standard error how far it is, once it has taken longer than a person waits in silence.
pub struct Progress {
    what: &'static str,
    started: Instant,
    told: Mutex<Option<Instant>>,
}

const SILENCE: Duration = Duration::from_secs(2);

impl Progress {
    /// Of something that is done, in a word.
    pub fn new(what: &'static str) -> Self {
        Self {
            what,
            started: Instant::now(),
            told: Mutex::new(None),
        }
    }

    /// Prints how many of the steps are done.
    pub fn tell(&self, ready: usize, of: usize) {
        let Ok(mut told) = self.told.lock() else {
            return;
        };
        if told.unwrap_or(self.started).elapsed() < SILENCE {
            return;
        }
        *told = Some(Instant::now());
        terminal::tell_progress(&format!("{}: {ready} of {of}", self.what));
    }

    /// Clears what a terminal still shows.
    pub fn end(&self) {
        let told = self.told.lock().is_ok_and(|told| told.is_some());
        if told {
            terminal::end_progress();
        }
    }
}

//! Passes a guest's log on while it measures, after each segment. Other output of a run is passed
//! on too, except lines that need an explanation first.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use wakepath_archive::LOG_NAME;
use wakepath_guest::Canary;
use wakepath_measure::{LiveFigures, Observer, Plan, Segment};

/// An observer with a canary.
pub struct WithCanary<O> {
    observer: O,
    canary: Canary,
    log: PathBuf,
    read: u64,
}

impl<O> WithCanary<O> {
    /// Of a run in that directory.
    pub fn new(observer: O, directory: &Path) -> Self {
        Self {
            observer,
            canary: Canary::default(),
            log: directory.join(LOG_NAME),
            read: 0,
        }
    }

    /// Lines added to the log since.
    fn recorded(&mut self) -> io::Result<Vec<u8>> {
        let mut new = Vec::new();
        let mut log = File::open(&self.log)?;
        log.seek(SeekFrom::Start(self.read))?;
        self.read += log.read_to_end(&mut new)? as u64;
        Ok(new)
    }
}

impl<O: Observer> Observer for WithCanary<O> {
    fn begun(&mut self, plan: &Plan, planned_ns: u64, directory: &Path) {
        self.observer.begun(plan, planned_ns, directory);
    }

    fn phase(&mut self, name: &str, repetition: u32, loads: &[String]) {
        self.observer.phase(name, repetition, loads);
    }

    fn segment_begun(&mut self, segment: &Segment) {
        self.observer.segment_begun(segment);
    }

    fn live(&mut self, figures: &LiveFigures) {
        self.observer.live(figures);
    }

    fn segment_ended(&mut self, segment: &Segment, problem: Option<&str>) {
        self.observer.segment_ended(segment, problem);
        let line = match self.recorded() {
            Ok(recorded) => self.canary.after_a_segment(&recorded).to_string(),
            Err(error) => format!("warning: {}: {error}", self.log.display()),
        };
        // A console that is gone ends no measurement.
        let _ = writeln!(io::stdout(), "{line}");
    }

    /// Looks for no worst cycle. An emulated CPU that the loads have as well explains for a hundred virtual seconds what
    /// the host, which has all of it afterwards, explains in one.
    fn traced(&mut self, _: &Segment, _: &Path) {}

    fn note(&mut self, text: &str) {
        self.observer.note(text);
    }

    fn tick(&mut self) {
        self.observer.tick();
    }

    fn finishing(&mut self) {
        self.observer.finishing();
    }
}

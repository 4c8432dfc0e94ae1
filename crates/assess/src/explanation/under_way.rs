//! A run in progress: the worst cycle of each traced segment and the events it waited for, reported at the
//! end of the segment, long before the run ends. Reads only new records of the log and the part of the
//! trace around that cycle; the whole segment is explained when the run has ended.

use super::Out;
use super::feed::feed;
use super::terms::options;
use super::{ExplainError, SegmentLoops};
use std::path::{Path, PathBuf};
use wakepath_archive::{LogFollower, Trace};
use wakepath_explain::{Explained, Explainer, Places};

/// A run that is being recorded.
pub struct UnderWay {
    directory: PathBuf,
    log: LogFollower,
}

/// The worst cycle of a segment.
#[derive(Debug, Clone)]
pub struct WorstCycle {
    /// Its wake-up latency, in nanoseconds.
    pub latency_ns: u64,
    /// The largest part of it besides the wake-up itself, in nanoseconds; `None` if nothing
    /// interfered.
    pub main_cause: Option<(String, u64)>,
}

/// Cycles before the worst that are explained with it: the usual times are measured on them.
const BEFORE: usize = 256;
/// Cycles after it.
const AFTER: usize = 16;
/// Maximum delay of other CPUs' time stamps, in nanoseconds.
const LATER_NS: u64 = 5_000_000;

impl UnderWay {
    /// The run that is recorded there.
    ///
    /// # Errors
    /// When there is no log, or none that can be read.
    pub fn open(directory: &Path) -> Result<Self, ExplainError> {
        Ok(Self {
            log: LogFollower::open(directory)?,
            directory: directory.to_owned(),
        })
    }

    /// The worst judged cycle of a segment that has just ended; `None` where its trace covers none.
    ///
    /// # Errors
    /// When log or trace can't be read.
    pub fn worst_cycle(&mut self, segment: u32) -> Result<Option<WorstCycle>, ExplainError> {
        self.log.read_on()?;
        let record = self.log.segment(segment).cloned();
        let (Some(record), Some(trace)) = (record, Trace::open(&self.directory, segment)?) else {
            return Ok(None);
        };
        let mut loops = SegmentLoops::with(&self.directory, &record, &trace, |thread| {
            self.log.samples(segment, thread.thread)
        })?;
        let Some((number, worst, (from_ns, to_ns))) = loops.keep_around_worst(BEFORE, AFTER) else {
            return Ok(None);
        };
        let options = options(
            self.log.facts(),
            self.log.virtual_time(),
            record.trace.as_ref(),
            &trace,
            &loops.threads(),
            Places::default(),
        );
        let mut explainer = Explainer::new(loops.to_explain(), options);
        let mut found = None;
        let look: Out<'_> = &mut |of: usize, cycle: &Explained| {
            if of == number && cycle.sample.cycle == worst.cycle {
                let cause = cycle.main_cause();
                found = Some(WorstCycle {
                    latency_ns: cycle.latency_ns(),
                    main_cause: cause.map(|(cause, ns)| (cause.to_string(), ns)),
                });
            }
        };
        // What ran before the first due time runs on into it.
        let from_ns = from_ns.saturating_sub(loops.period_ns(number));
        let events = trace.between(from_ns, to_ns.saturating_add(LATER_NS))?;
        feed(&mut explainer, events, loops.gaps(), look)?;
        Ok(found)
    }
}

//! Records one loop: empties its ring into its segments, its minutes and the worst cycles.
//!
//! Validates everything in the ring. Knows nothing about other loops.

use crate::history::{Entry, HistoryWriter, now_ns};
use crate::minutes::Minutes;
use crate::recent::{Recent, Seen};
use crate::replay::{Left, Open};
use crate::said::Heard;
use crate::segment::{End, Segment};
use crate::segments::Segments;
use crate::terms::{Found, Terms};
use crate::worst::Worst;
use wakepath_archive::{ArchiveError, ThreadEnd};
use wakepath_measure::{LiveFigures, LiveTally, LiveThread};
use wakepath_rt::announcement::State;
use wakepath_rt::ring::Reader;
use wakepath_rt::shared::SharedMemory;
use wakepath_scenario::Criterion;
use wakepath_timeline::Sample;
use wakepath_verdict::{Limits, Until};

/// Samples taken at once.
const BATCH: usize = 4096;

/// Destinations that all loops share.
pub(crate) struct Places<'a> {
    pub(crate) segments: &'a Segments,
    pub(crate) history: &'a mut HistoryWriter,
    pub(crate) worst: &'a mut Worst,
    pub(crate) terms: &'a dyn Terms,
    /// Bytes of samples in a segment.
    pub(crate) segment_bytes: u64,
    pub(crate) offset_ns: i128,
}

/// One loop.
pub(crate) struct OneLoop<'a> {
    pub(crate) ring: u32,
    pub(crate) found: Found,
    memory: &'a SharedMemory,
    reader: Reader<'a>,
    heard: Heard<'a>,
    criterion: Option<Criterion>,
    minutes: Minutes,
    recent: Recent,
    live: LiveTally,
    lost_seen: u64,
    segment: Option<Segment>,
    offset_ns: i128,
    batch: Vec<Sample>,
    /// Why nothing more is taken.
    pub(crate) damaged: bool,
    /// After a failed write: earliest time of the next attempt at a segment.
    no_segment_before_ns: u64,
    next_cycle: u64,
    /// The last error since it was taken.
    pub(crate) complaint: Option<String>,
}

impl<'a> OneLoop<'a> {
    #[allow(unsafe_code)] // The reader's promise to be the only one.
    pub(crate) fn new(
        memory: &'a SharedMemory,
        ring: u32,
        found: Found,
        criterion: Option<Criterion>,
        left: Option<Left>,
        offset_ns: i128,
    ) -> Self {
        let mut minutes = Minutes::new(&found.name, criterion.as_ref(), found.period_ns, offset_ns);
        let reached = left.as_ref().map(|left| left.cycle);
        if let Some(cycle) = reached {
            minutes.resume(cycle, memory.indices(ring).lost());
        }
        let live = LiveThread {
            limits: criterion.as_ref().map_or(Limits::default(), Limits::new),
            period_ns: found.period_ns,
            judged: None,
        };
        Self {
            ring,
            memory,
            // SAFETY: the recorder is the only process that reads, by its lock, and has one loop for a ring.
            reader: unsafe { memory.reader(ring) },
            heard: Heard::new(
                memory,
                ring,
                left.map(|left| left.doubted).unwrap_or_default(),
            ),
            minutes,
            recent: Recent::default(),
            live: LiveTally::new([live]),
            // A resumed recorder counts losses before its start in its gap.
            lost_seen: reached.map_or(0, |_| memory.indices(ring).lost()),
            segment: None,
            offset_ns,
            batch: Vec::with_capacity(BATCH),
            damaged: false,
            no_segment_before_ns: 0,
            next_cycle: reached.unwrap_or(0),
            complaint: None,
            criterion,
            found,
        }
    }

    /// The segment that is being written.
    pub(crate) fn open(&self, process: u32) -> Option<Open> {
        self.segment.as_ref().map(|segment| Open {
            segment: segment.name.clone(),
            name: self.found.name.clone(),
            criterion: self.criterion.clone(),
            period_ns: self.found.period_ns,
            offset_ns: self.offset_ns as i64,
            ring: self.ring,
            base: segment.base,
            process,
            doubted: self.heard.doubted().so_far(),
        })
    }

    /// Whether it has ended and its ring is empty after a [`Self::take`].
    pub(crate) fn state(&self) -> State {
        self.memory.announcement(self.ring).state()
    }

    /// Empties the ring. Returns whether a segment began or ended.
    pub(crate) fn take(&mut self, places: &mut Places<'_>) -> bool {
        let mut turned = false;
        // Read before the samples: losses come after the samples already present.
        let lost = self.memory.indices(self.ring).lost();
        loop {
            self.batch.clear();
            let mut batch = std::mem::take(&mut self.batch);
            let count = if self.damaged {
                0
            } else {
                self.reader.take(&mut batch, BATCH)
            };
            if count > 0 {
                // The log lines and markers of a cycle are present before its sample.
                self.heard.take(self.segment.as_mut());
                self.live.add(0, &batch);
                turned |= self.samples(&batch, places);
            }
            self.batch = batch;
            if count < BATCH {
                break;
            }
        }
        self.damaged |= self.reader.is_damaged();
        let further = lost.saturating_sub(self.lost_seen);
        self.minutes.lose(further);
        self.live.lose(0, further);
        self.lost_seen = lost.max(self.lost_seen);
        turned
    }

    fn samples(&mut self, batch: &[Sample], places: &mut Places<'_>) -> bool {
        let mut turned = false;
        let mut from = 0;
        let mut lost = 0;
        for (at, sample) in batch.iter().enumerate() {
            let is_in = |segment: &Segment| segment.number_of(sample.cycle).is_some();
            if self.segment.is_none() || !self.segment.as_ref().is_some_and(is_in) {
                self.append(&batch[from..at], std::mem::take(&mut lost));
                from = at;
                turned |= self.turn(sample, places);
            }
            let before = self.next_cycle;
            let (name, base) = match &self.segment {
                Some(segment) => (segment.name.as_str(), segment.base),
                None => ("", 0),
            };
            let (ended, outcome) = self.minutes.add(sample);
            if let Some(minute) = ended {
                minute_ended(minute, name, before.saturating_sub(base), places.history);
            }
            let Ok(lost_before) = outcome else {
                self.append(&batch[from..at], lost);
                self.damaged = true;
                return turned;
            };
            // Cycles before a segment's first one are in no segment.
            if sample.cycle != base {
                lost += lost_before;
            }
            self.next_cycle = sample.cycle + 1;
            let seen = Seen {
                name: &self.found.name,
                segment: name,
                base,
                offset_ns: self.offset_ns,
            };
            self.recent
                .push(*sample, &seen, places.worst, &[self.heard.last()]);
        }
        self.append(&batch[from..], lost);
        turned
    }

    fn append(&mut self, samples: &[Sample], lost: u64) {
        let Some(segment) = &mut self.segment else {
            return;
        };
        if samples.is_empty() {
            return;
        }
        let mut samples = samples.to_vec();
        let outcome = segment.append(&mut samples, lost);
        if let Err(error) = outcome {
            self.give_up(error);
        }
    }

    fn give_up(&mut self, error: ArchiveError) {
        self.complaint = Some(format!(
            "{error}; its figures continue; samples are kept again when there is space"
        ));
        self.segment = None;
        self.no_segment_before_ns = now_ns() + 10_000_000_000;
    }

    /// Ends the segment, and begins another with this sample.
    fn turn(&mut self, first: &Sample, places: &mut Places<'_>) -> bool {
        let is_ended = self.end_segment(End::Full, places);
        if now_ns() < self.no_segment_before_ns {
            return is_ended;
        }
        self.offset_ns = places.offset_ns;
        self.minutes.turn(first, places.offset_ns);
        let cycles = (places.segment_bytes / Sample::BYTES as u64).max(1);
        let described = places.terms.describe(&self.found, cycles);
        let described = match described {
            Ok(described) => described,
            Err(why) => {
                self.complaint = Some(format!("its samples are not kept, only its figures: {why}"));
                self.no_segment_before_ns = u64::MAX;
                return is_ended;
            }
        };
        match Segment::begin(
            (places.segments.directory(), &|name| {
                places.segments.make(name)
            }),
            &self.found,
            described,
            (first, cycles),
            None,
        ) {
            Ok(segment) => {
                self.segment = Some(segment);
                self.heard.repeat(self.segment.as_mut());
            }
            Err(error) => self.give_up(error),
        }
        true
    }

    fn end_segment(&mut self, end: End, places: &mut Places<'_>) -> bool {
        let Some(mut segment) = self.segment.take() else {
            return false;
        };
        // Its minute ends with it: a minute belongs to one segment.
        if let Some(minute) = self.minutes.take() {
            let to = self.next_cycle.saturating_sub(segment.base);
            minute_ended(minute, &segment.name, to, places.history);
        }
        let outcome = segment.flush().and_then(|()| segment.end(end));
        if let Err(error) = outcome {
            self.complaint = Some(error.to_string());
        }
        true
    }

    /// Makes data safe from a kill; with `waits`, also from a power cut.
    pub(crate) fn flush(&mut self, waits: bool) {
        let outcome = match (&mut self.segment, waits) {
            (None, _) => Ok(()),
            (Some(segment), true) => segment.sync(),
            (Some(segment), false) => segment.flush(),
        };
        if let Err(error) = outcome {
            self.give_up(error);
        }
    }

    /// The loop has ended, for this reason.
    pub(crate) fn end(&mut self, why: ThreadEnd, places: &mut Places<'_>) {
        let (name, base) = match &self.segment {
            Some(segment) => (segment.name.clone(), segment.base),
            None => (String::new(), 0),
        };
        let seen = Seen {
            name: &self.found.name,
            segment: &name,
            base,
            offset_ns: self.offset_ns,
        };
        self.recent.end(&seen, places.worst, &[self.heard.last()]);
        self.minutes.end(Until::LastCycle);
        if !self.end_segment(End::Early(why), places)
            && let Some(minute) = self.minutes.take()
        {
            minute_ended(minute, "", self.next_cycle, places.history);
        }
    }

    /// Due times of another clock that it did not believe.
    pub(crate) fn doubted(&self) -> impl Iterator<Item = String> {
        self.heard.doubted().sentences()
    }

    /// For people to watch.
    pub(crate) fn live(&mut self) -> LiveFigures {
        self.live.figures(self.ring, self.lost_seen)
    }
}

fn minute_ended(
    mut minute: crate::Minute,
    segment: &str,
    to_cycle: u64,
    history: &mut HistoryWriter,
) {
    segment.clone_into(&mut minute.segment);
    minute.to_cycle = to_cycle;
    // If the disk fails it waits in memory.
    let _ = history.append(&Entry::Minute(Box::new(minute)));
}

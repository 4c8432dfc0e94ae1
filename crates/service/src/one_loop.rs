//! One loop of the program: its ring emptied into its segments, its minutes and the worst cycles. Nothing that lies in
//! the ring is believed; which loops there are is not known here.

use crate::account::Account;
use crate::history::{Bears, Entry, HistoryWriter, now_ns};
use crate::recorder::{Found, Terms};
use crate::replay::Open;
use crate::segment::{End, Segment};
use crate::worst::{Neighbour, Worst, WorstCycle};
use std::collections::{BTreeSet, VecDeque};
use wakepath_archive::{ArchiveError, LineSaid, LoopLine, ThreadEnd, Told};
use wakepath_directory::Directory;
use wakepath_measure::recorder::formatted;
use wakepath_measure::{Limits, LiveFigures, LiveTally};
use wakepath_rt::announcement::State;
use wakepath_rt::ring::Reader;
use wakepath_rt::said::{self, Said};
use wakepath_rt::shared::SharedMemory;
use wakepath_timeline::{Sample, one_line};

/// Samples taken at once.
const BATCH: usize = 4096;
/// Cycles before and after a bad one that are kept beside it.
const AROUND: usize = 4;
/// What a loop told that is held in memory at most.
const MOST_TOLD: usize = 4096;
/// Lines up to so long before a bad cycle are kept beside it.
const LINES_BEFORE_NS: u64 = 1_000_000_000;
/// So many of them.
const MOST_LINES: usize = 20;

/// What was told beside the samples, by the loop's own numbers.
pub(crate) enum Beside {
    Told(u64, Told, String),
    Line(LoopLine),
}

/// Where samples that are looked at lie.
pub(crate) struct Seen<'a> {
    pub(crate) name: &'a str,
    pub(crate) segment: &'a str,
    pub(crate) base: u64,
    pub(crate) offset_ns: i128,
}

/// The last samples, of which one is looked at when those after it are there.
#[derive(Default)]
pub(crate) struct Recent {
    samples: VecDeque<Sample>,
}

impl Recent {
    /// Takes in a sample, and keeps the one [`AROUND`] before it where it is one of the worst.
    pub(crate) fn push(
        &mut self,
        sample: Sample,
        seen: &Seen<'_>,
        worst: &mut Worst,
        beside: &[&VecDeque<Beside>],
    ) {
        self.samples.push_back(sample);
        if self.samples.len() > 2 * AROUND + 1 {
            self.samples.pop_front();
        }
        if let Some(at) = self.samples.len().checked_sub(AROUND + 1) {
            self.look(at, seen, worst, beside);
        }
    }

    /// No more come: the last ones are looked at as they are.
    pub(crate) fn end(&mut self, seen: &Seen<'_>, worst: &mut Worst, beside: &[&VecDeque<Beside>]) {
        let from = self.samples.len().saturating_sub(AROUND);
        (from..self.samples.len()).for_each(|at| self.look(at, seen, worst, beside));
        self.samples.clear();
    }

    fn look(&self, at: usize, seen: &Seen<'_>, worst: &mut Worst, beside: &[&VecDeque<Beside>]) {
        let of = &self.samples[at];
        if of.response_ns() <= worst.threshold_ns(seen.name) {
            return;
        }
        let after_due = |ns: u64| ns.cast_signed().saturating_sub(of.due_ns.cast_signed());
        let (mut sections, mut lines) = (Vec::new(), Vec::new());
        for one in beside.iter().flat_map(|of| of.iter()) {
            match one {
                Beside::Told(cycle, Told::Span { from_ns, to_ns, .. }, name)
                    if *cycle == of.cycle =>
                {
                    sections.push((name.clone(), after_due(*from_ns), after_due(*to_ns)));
                }
                Beside::Line(line)
                    if line.at_ns + LINES_BEFORE_NS >= of.due_ns
                        && line.at_ns <= of.end_ns
                        && lines.len() < MOST_LINES =>
                {
                    let text = match &line.said {
                        LineSaid::Text(text) => one_line(text),
                        LineSaid::Value { name, is } => format!("{name} = {is}"),
                    };
                    lines.push((after_due(line.at_ns), text));
                }
                _ => {}
            }
        }
        let neighbour = |of: &Sample| Neighbour {
            cycle: of.cycle.saturating_sub(seen.base),
            latency_ns: of.latency_ns(),
            response_ns: of.response_ns(),
        };
        let cycle = WorstCycle {
            at_ns: (i128::from(of.due_ns) + seen.offset_ns).max(0) as u64,
            due_ns: of.due_ns,
            segment: seen.segment.into(),
            cycle: of.cycle.saturating_sub(seen.base),
            latency_ns: of.latency_ns(),
            response_ns: of.response_ns(),
            cpu: of.cpu,
            around: self.samples.iter().map(neighbour).collect(),
            sections,
            lines,
        };
        worst.add(seen.name, cycle);
    }
}

/// What all loops write to.
pub(crate) struct Places<'a> {
    pub(crate) segments: &'a Directory,
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
    said: said::Reader<'a>,
    named: BTreeSet<u8>,
    names: Vec<String>,
    bears: Bears,
    account: Account,
    recent: Recent,
    told: VecDeque<Beside>,
    live: LiveTally,
    lost_seen: u64,
    segment: Option<Segment>,
    offset_ns: i128,
    batch: Vec<Sample>,
    /// Why nothing more is taken.
    pub(crate) damaged: bool,
    /// A segment could not be written: when another may be tried.
    no_segment_before_ns: u64,
    next_cycle: u64,
    /// What went wrong since somebody asked.
    pub(crate) complaint: Option<String>,
}

impl<'a> OneLoop<'a> {
    #[allow(unsafe_code)] // The reader's promise to be the only one.
    pub(crate) fn new(
        memory: &'a SharedMemory,
        ring: u32,
        found: Found,
        bears: Bears,
        reached: Option<u64>,
        offset_ns: i128,
    ) -> Self {
        let mut account = Account::new(&found.name, bears.clone(), offset_ns);
        if let Some(cycle) = reached {
            account.lose_all_until_next(cycle, memory.indices(ring).lost());
        }
        let limits = Limits {
            latency_ns: bears.latency_ns,
            deadline_ns: bears.deadline_ns,
        };
        Self {
            ring,
            memory,
            // SAFETY: the recorder is the only process that reads, by its lock, and has one loop for a ring.
            reader: unsafe { memory.reader(ring) },
            said: memory.said_reader(ring),
            named: BTreeSet::new(),
            names: Vec::new(),
            account,
            recent: Recent::default(),
            told: VecDeque::new(),
            live: LiveTally::of([limits]),
            // What was dropped before is in the gap that a resumed recorder sees.
            lost_seen: reached.map_or(0, |_| memory.indices(ring).lost()),
            segment: None,
            offset_ns,
            batch: Vec::with_capacity(BATCH),
            damaged: false,
            no_segment_before_ns: 0,
            next_cycle: reached.unwrap_or(0),
            complaint: None,
            bears,
            found,
        }
    }

    /// The segment that is being written.
    pub(crate) fn open(&self, process: u32) -> Option<Open> {
        self.segment.as_ref().map(|segment| Open {
            segment: segment.name.clone(),
            name: self.found.name.clone(),
            bears: self.bears.clone(),
            offset_ns: self.offset_ns as i64,
            ring: self.ring,
            base: segment.base,
            process,
        })
    }

    /// Whether it has ended and its ring is empty after a [`Self::take`].
    pub(crate) fn state(&self) -> State {
        self.memory.announcement(self.ring).state()
    }

    /// Empties the ring. Returns whether a segment began or ended.
    pub(crate) fn take(&mut self, places: &mut Places<'_>) -> bool {
        let mut turned = false;
        // Before the samples: what is lost comes after those that are there.
        let lost = self.memory.indices(self.ring).lost();
        loop {
            self.batch.clear();
            let mut batch = std::mem::take(&mut self.batch);
            let count = match self.damaged {
                true => 0,
                false => self.reader.take(&mut batch, BATCH),
            };
            if count > 0 {
                // What is told of a cycle is there before its sample.
                self.take_told();
                self.live.add(0, &batch);
                turned |= self.samples(&batch, places);
            }
            self.batch = batch;
            if count < BATCH {
                break;
            }
        }
        self.damaged |= self.reader.is_damaged();
        self.account.lose(lost.saturating_sub(self.lost_seen));
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
            let lost_before = self.account.lost_so_far();
            let Ok(ended) = self.account.add(sample) else {
                self.append(&batch[from..at], lost);
                self.damaged = true;
                return turned;
            };
            // What lies before a segment's first cycle is in none.
            if sample.cycle != base {
                lost += self.account.lost_so_far() - lost_before;
            }
            if let Some(minute) = ended {
                minute_ended(minute, name, before.saturating_sub(base), places.history);
            }
            self.next_cycle = sample.cycle + 1;
            let seen = Seen {
                name: &self.found.name,
                segment: name,
                base,
                offset_ns: self.offset_ns,
            };
            self.recent
                .push(*sample, &seen, places.worst, &[&self.told]);
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
            "{error}; its figures go on, its samples are kept again when there is room"
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
        self.account.set_offset(places.offset_ns);
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
        match Segment::begin(places.segments, &self.found, described, first, cycles) {
            Ok(segment) => {
                self.segment = Some(segment);
                self.named.clear();
                for beside in &self.told {
                    write_told(self.segment.as_mut(), &mut self.named, beside);
                }
            }
            Err(error) => self.give_up(error),
        }
        true
    }

    fn end_segment(&mut self, end: End, places: &mut Places<'_>) -> bool {
        let Some(mut segment) = self.segment.take() else {
            return false;
        };
        // Its minute does not go on in the next one: each is of one segment.
        if let Some(minute) = self.account.take() {
            let to = self.next_cycle.saturating_sub(segment.base);
            minute_ended(minute, &segment.name, to, places.history);
        }
        let outcome = segment.flush().and_then(|()| segment.end(end));
        if let Err(error) = outcome {
            self.complaint = Some(error.to_string());
        }
        true
    }

    /// What the loop said, into memory and into its segment.
    fn take_told(&mut self) {
        let announcement = self.memory.announcement(self.ring);
        let (told, names) = (&mut self.told, &mut self.names);
        let mut fresh = VecDeque::new();
        let format = |number| announcement.format(number);
        self.said.take(|record| {
            let beside = match Said::of(record) {
                Some(Said::Section {
                    section,
                    cycle,
                    from_ns,
                    to_ns,
                }) => {
                    let section = u8::try_from(section).unwrap_or(u8::MAX);
                    if names.len() <= usize::from(section) {
                        *names = announcement
                            .sections()
                            .iter()
                            .map(|of| one_line(&of.name))
                            .collect();
                    }
                    let name = names.get(usize::from(section)).cloned().unwrap_or_default();
                    let span = Told::Span {
                        thread: 0,
                        section,
                        cycle,
                        from_ns,
                        to_ns,
                    };
                    Beside::Told(cycle, span, name)
                }
                Some(Said::Due { cycle, due_ns }) => {
                    let due = Told::Due {
                        thread: 0,
                        cycle,
                        due_ns,
                    };
                    Beside::Told(cycle, due, String::new())
                }
                Some(Said::Line {
                    format: number,
                    cycle,
                    at_ns,
                    arguments,
                }) => {
                    let text = match format(number) {
                        Some((style, text)) => formatted(style, &text, &arguments),
                        None => "a line whose format is not known".into(),
                    };
                    Beside::Line(line(cycle, at_ns, LineSaid::Text(text)))
                }
                Some(Said::Value {
                    number,
                    cycle,
                    at_ns,
                    value,
                }) => {
                    let name = format(number).map_or_else(String::new, |(_, name)| one_line(&name));
                    Beside::Line(line(cycle, at_ns, LineSaid::Value { name, is: value }))
                }
                None => return,
            };
            fresh.push_back(beside);
        });
        for beside in fresh {
            write_told(self.segment.as_mut(), &mut self.named, &beside);
            told.push_back(beside);
        }
        while told.len() > MOST_TOLD {
            told.pop_front();
        }
    }

    /// What a kill can't take away any more; with `waits`, a power cut neither.
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
        self.recent.end(&seen, places.worst, &[&self.told]);
        self.account.settle();
        if !self.end_segment(End::Early(why), places)
            && let Some(minute) = self.account.take()
        {
            minute_ended(minute, "", self.next_cycle, places.history);
        }
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
    // Where the disk takes nothing it waits in memory.
    let _ = history.append(&Entry::Minute(Box::new(minute)));
}

fn line(cycle: u64, at_ns: u64, said: LineSaid) -> LoopLine {
    LoopLine {
        segment: 0,
        thread: 0,
        cycle,
        at_ns,
        said,
    }
}

/// By the segment's own numbers; what is of another segment is left out, and what can't be written too: samples come
/// first.
fn write_told(segment: Option<&mut Segment>, named: &mut BTreeSet<u8>, beside: &Beside) {
    let Some(segment) = segment else {
        return;
    };
    let _ = match beside {
        Beside::Line(line) => match segment.number_of(line.cycle) {
            Some(cycle) => segment.say(&LoopLine {
                cycle,
                ..line.clone()
            }),
            None => Ok(()),
        },
        Beside::Told(cycle, told, name) => {
            let Some(number) = segment.number_of(*cycle) else {
                return;
            };
            let mut told = told.clone();
            match &mut told {
                Told::Span { cycle, section, .. } => {
                    *cycle = number;
                    if named.insert(*section) {
                        let _ = segment.tell(&Told::Name {
                            thread: 0,
                            section: *section,
                            name: name.clone(),
                        });
                    }
                }
                Told::Due { cycle, .. } => *cycle = number,
                Told::Name { .. } => {}
            }
            segment.tell(&told)
        }
    };
}

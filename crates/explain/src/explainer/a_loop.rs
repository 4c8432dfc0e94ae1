//! One loop whose cycles are explained: what happened to its thread, and the cycles that wait for what is usual.

use super::{Options, REORDERING_NS};
use crate::cycle::Explained;
use crate::interference::Counting;
use crate::loop_thread::LoopThread;
use crate::other_tasks::OtherTasks;
use crate::placement::Placement;
use crate::resolve::{Raw, Usual, resolve};
use crate::track::{Happened, Mark, Track};
use wakepath_timeline::Sample;

/// Cycles over which the usual is measured.
const CYCLES_FOR_USUAL: usize = 256;
/// It is measured over fewer cycles if they have more pieces than this: one of a loop a second behind has thousands.
const PIECES_FOR_USUAL: usize = 100_000;

pub(super) struct Loop {
    pub thread: u32,
    pub cpus: Vec<u16>,
    samples: std::vec::IntoIter<Sample>,
    pub track: Track,
    /// The cycle before the next one.
    pub before: Option<Sample>,
    pub usual: Option<Usual>,
    pub waiting: Vec<Raw>,
    pub pieces_waiting: usize,
    pub previous: Option<Explained>,
    pub counting: Option<Counting>,
    /// Whether its system calls are recorded.
    pub calls: bool,
    pub until_next_wake_up: bool,
    pub is_real_time: bool,
    /// Whether the first cycle is the program's first.
    is_from_start: bool,
    /// When it first slept until a due time that had passed, in nanoseconds.
    pub began_ns: Option<u64>,
    pub placement: Placement,
    pub other_tasks: OtherTasks,
}

impl Loop {
    pub fn new(of: LoopThread, other_tasks: OtherTasks, options: &Options) -> Self {
        Self {
            counting: Counting::new(&of, &options.own),
            thread: of.thread,
            cpus: of.cpus,
            samples: of.samples.into_iter(),
            track: Track::default(),
            before: None,
            usual: options.usual.clone(),
            waiting: Vec::new(),
            pieces_waiting: 0,
            previous: None,
            calls: false,
            until_next_wake_up: of.until_next_wake_up,
            is_real_time: of.is_real_time,
            is_from_start: of.is_from_start,
            began_ns: None,
            placement: Placement::new(of.allowed),
            other_tasks,
        }
    }

    pub fn mark(&mut self, at_ns: u64, cpu: u16, what: Happened) {
        self.track.push(Mark { at_ns, cpu, what });
    }

    /// Finds out whether the loop first slept for a due time after that, in a program's first cycle.
    pub fn begins(&mut self, first: &Sample) {
        let is_for_it = |mark: &&Mark| {
            let asked_ns = match mark.what {
                Happened::Slack { asked_ns, .. } => Some(asked_ns),
                _ => None,
            };
            asked_ns == Some(first.due_ns) && mark.at_ns > first.due_ns
        };
        if self.before.is_none() && self.is_from_start {
            let asked = self.track.marks().iter().find(is_for_it);
            self.began_ns = asked.map(|mark| mark.at_ns);
        }
    }

    /// The next cycle to explain.
    pub fn next_sample(&self) -> Option<&Sample> {
        self.samples.as_slice().first()
    }

    /// Takes the next cycle if it ended before an instant.
    pub fn next_ended(&mut self, before_ns: u64) -> Option<Sample> {
        let has_ended = |sample: &Sample| sample.end_ns < before_ns;
        self.next_sample()
            .is_some_and(has_ended)
            .then(|| self.samples.next())?
    }

    /// Forgets what the next cycle does not need; returns from when on it does need events.
    pub fn forget(&mut self) -> u64 {
        let Some(next) = self.next_sample() else {
            return u64::MAX;
        };
        let needed = self
            .before
            .map_or(u64::MAX, |of| of.end_ns)
            .min(next.due_ns);
        let needed = needed.saturating_sub(REORDERING_NS);
        // The loop was stopped when it was last woken, perhaps some cycles ago.
        let woken_ns = self.track.woken_before(needed);
        self.track.forget_before(woken_ns);
        self.placement.forget_before(needed);
        needed
    }

    pub fn hand(&mut self, number: usize, raw: Raw, out: &mut impl FnMut(usize, &Explained)) {
        if self.usual.is_some() {
            return self.resolved(number, raw, out);
        }
        self.pieces_waiting += raw.explained.pieces();
        self.waiting.push(raw);
        let is_much = self.pieces_waiting > PIECES_FOR_USUAL;
        if is_much || self.waiting.len() == CYCLES_FOR_USUAL {
            self.settle(number, out);
        }
    }

    /// Says what is usual, and hands out the cycles that it was measured on.
    pub fn settle(&mut self, number: usize, out: &mut impl FnMut(usize, &Explained)) {
        let waiting = std::mem::take(&mut self.waiting);
        self.usual.get_or_insert_with(|| Usual::new(&waiting));
        for raw in waiting {
            self.resolved(number, raw, out);
        }
    }

    /// Hands out a cycle, once it is known what is usual.
    fn resolved(&mut self, number: usize, raw: Raw, out: &mut impl FnMut(usize, &Explained)) {
        let Some(usual) = &self.usual else { return };
        let mut explained = resolve(raw, usual, self.previous.as_ref());
        self.other_tasks.name(&mut explained);
        out(number, &explained);
        self.previous = Some(explained);
    }
}

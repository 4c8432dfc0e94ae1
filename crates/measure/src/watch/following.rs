//! Watched threads while they are watched: latencies of those that have shown a period, out of the trace that
//! the probe is writing. For a person to look at and to know when to stop; the final figures and verdict are
//! computed from the whole trace.

use crate::{LiveFigures, LiveTally, LiveThread};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use wakepath_archive::watch::Threads;
use wakepath_archive::{ArchiveError, TraceFollower};
use wakepath_assess::watched::{gaps, shows_each_cycle};
use wakepath_directory::Directory;
use wakepath_explain::watch::{Activation, Activations, BegunBy, Rhythm, Taken, row};
use wakepath_ros2::{Begun, Live};
use wakepath_timeline::Sample;
use wakepath_verdict::Limits;

/// The probe writes its events once a second, and all CPUs within a little more: an event does not come later
/// than this. Where a viewer waits for one it writes more often, and notes up to when the trace is complete.
const LAG_NS: u64 = 1_200_000_000;
/// Number of activations in which a rhythm is looked for.
const RECENT: usize = 200;
/// After this many activations without a period it is no longer waited for.
const LEAST_IRREGULAR: usize = 50;
/// Pause after a look, as a multiple of its length.
const SHARE: u32 = 8;
/// The same where a viewer waits for an event.
const AWAITED_SHARE: u32 = 1;
/// Least time between two looks.
const LEAST: Duration = Duration::from_millis(200);
/// The same where a viewer waits for an event.
const AWAITED_LEAST: Duration = Duration::from_millis(50);

/// Follows a watch.
pub struct Following<'a> {
    directory: &'a Directory,
    follower: Option<TraceFollower>,
    activations: Activations,
    threads: BTreeMap<u32, Followed>,
    callbacks: Live,
    limits: Limits,
    is_awaited: bool,
    /// When to look again.
    next: Instant,
}

/// One thread.
struct Followed {
    tally: LiveTally,
    turns: Taken,
    rhythm: Option<Rhythm>,
    /// The last activation that was counted, and its cycle.
    last: Option<(Activation, u64)>,
}

/// News since the last look.
#[derive(Default)]
pub struct News {
    /// Of threads that showed a period or a rhythm.
    pub threads: Vec<Seen>,
    /// The latest of the callbacks of ROS 2 that began since the last look, and its latency in nanoseconds.
    pub callback: Option<(u64, String)>,
    /// Callbacks of ROS 2 that began for the first time.
    pub begun: Vec<Begun>,
}

/// A thread's figures, and its new cycles.
pub struct Seen {
    /// Number of the thread.
    pub thread: u32,
    /// Whether its latest activations have a period. Without one its latencies count all the same.
    pub is_periodic: bool,
    /// Whether it only runs an executor of ROS 2: the latencies of its callbacks count, not its own.
    pub is_executing: bool,
    /// All of it so far.
    pub figures: LiveFigures,
    /// Its cycles since it was last looked at.
    pub samples: Vec<Sample>,
}

impl<'a> Following<'a> {
    /// Of the watch that is recorded there; above `latency_ns` a cycle counts as missed. A viewer may wait for an event.
    pub fn new(directory: &'a Directory, latency_ns: Option<u64>, is_awaited: bool) -> Self {
        Self {
            directory,
            follower: None,
            activations: Activations::new([]),
            threads: BTreeMap::new(),
            callbacks: Live::default(),
            limits: Limits {
                latency_ns,
                deadline_ns: None,
            },
            is_awaited,
            next: Instant::now(),
        }
    }

    /// News of these threads; nothing if it is too early to look again.
    ///
    /// # Errors
    /// When the trace can't be read.
    pub fn look(&mut self, threads: &Threads) -> Result<News, ArchiveError> {
        let begun = Instant::now();
        let mut news = News::default();
        if begun < self.next {
            return Ok(news);
        }
        if self.follower.is_none() {
            self.follower = TraceFollower::open_in(self.directory, 0)?;
        }
        for thread in threads.keys() {
            self.activations.follow(*thread);
        }
        let Some(follower) = &mut self.follower else {
            return Ok(news);
        };
        let activations = &mut self.activations;
        let (callbacks, latest) = (&mut self.callbacks, &mut news.callback);
        let process = |thread: u32| threads.get(&thread).map(|of| of.process);
        let (share, least) = if self.is_awaited {
            (AWAITED_SHARE, AWAITED_LEAST)
        } else {
            (SHARE, LEAST)
        };
        follower.take(LAG_NS, |event| {
            activations.event(&event);
            if let Some((callback, latency_ns)) = callbacks.event(&event, process) {
                let is_latest = latest
                    .as_ref()
                    .is_none_or(|(latest, _)| latency_ns > *latest);
                if is_latest {
                    *latest = Some((latency_ns, callback.to_string()));
                }
            }
        })?;
        news.begun = callbacks.take_begun();
        for (thread, taken) in activations.take() {
            let limits = self.limits;
            let of = self.threads.entry(thread).or_insert_with(|| Followed {
                tally: LiveTally::new([thread_of(limits)]),
                turns: Taken::default(),
                rhythm: None,
                last: None,
            });
            of.turns.by_lasting_timers = taken.by_lasting_timers;
            of.turns.takes_turns = taken.takes_turns;
            of.turns.timers.extend(taken.timers);
            of.turns.handed.extend(taken.handed);
            of.turns.marked.extend(taken.marked);
            let is_executing = self.callbacks.is_executing(thread);
            news.threads.extend(of.seen(thread).map(|seen| Seen {
                is_executing,
                ..seen
            }));
        }
        // A trace that fills faster than it is read takes the view, not the machine.
        self.next = Instant::now() + begun.elapsed() * share;
        self.next = self.next.max(begun + least);
        Ok(news)
    }

    /// The callbacks of ROS 2 that began for the first time since the last look, once the trace is complete: a look
    /// lags, and takes only part of a trace that grows fast.
    ///
    /// # Errors
    /// When the trace can't be read.
    pub fn begun_since(&mut self, threads: &Threads) -> Result<Vec<Begun>, ArchiveError> {
        if self.follower.is_none() {
            self.follower = TraceFollower::open_in(self.directory, 0)?;
        }
        let callbacks = &mut self.callbacks;
        let process = |thread: u32| threads.get(&thread).map(|of| of.process);
        if let Some(follower) = &mut self.follower {
            follower.take_rest(LAG_NS, |event| {
                callbacks.event(&event, process);
            })?;
        }
        Ok(callbacks.take_begun())
    }
}

impl Followed {
    fn seen(&mut self, thread: u32) -> Option<Seen> {
        let rhythm = self.find_rhythm()?;
        let own = match rhythm.begun_by {
            BegunBy::Timer => &self.turns.timers,
            BegunBy::Other => &self.turns.handed,
            BegunBy::Marks => &self.turns.marked,
        };
        // The last counted activation shows how many due times lie between it and the new ones.
        let counted = self.last.map_or(0, |(last, _)| {
            own.iter().position(|of| *of == last).map_or(0, |at| at + 1)
        });
        let from = counted.saturating_sub(1);
        let found = row(&own[from..], rhythm).samples;
        let (first, skip) = match (self.last, found.first()) {
            (Some((last, cycle)), Some(first)) if is_of(first, &last) => (cycle, 1),
            (Some((_, cycle)), _) => (cycle + 1, 0),
            (None, _) => (0, 0),
        };
        let new = found.iter().skip(skip);
        let samples: Vec<Sample> = new
            .map(|sample| Sample {
                cycle: first + sample.cycle,
                ..*sample
            })
            .collect();
        let shows_each_cycle = shows_each_cycle(rhythm.begun_by, self.turns.by_lasting_timers);
        let gaps = gaps(rhythm, shows_each_cycle);
        self.tally.add_as_due(0, rhythm.period_ns, gaps, &samples);
        if let Some(last) = samples.last() {
            let of = own.iter().rev().find(|of| is_of(last, of));
            self.last = of.map(|of| (*of, last.cycle));
        }
        let Taken {
            timers,
            handed,
            marked,
            ..
        } = &mut self.turns;
        for list in [timers, handed, marked] {
            let beyond = list.len().saturating_sub(RECENT);
            list.drain(..beyond);
        }
        Some(Seen {
            thread,
            is_periodic: rhythm.is_periodic,
            is_executing: false,
            figures: self.tally.figures(0, 0),
            samples,
        })
    }

    /// That of the latest activations; a rhythm that was found is kept until another one shows.
    fn find_rhythm(&mut self) -> Option<Rhythm> {
        fn recent(list: &[Activation]) -> &[Activation] {
            &list[list.len().saturating_sub(RECENT)..]
        }
        let Taken {
            timers,
            handed,
            marked,
            ..
        } = &self.turns;
        if self.turns.takes_turns && marked.is_empty() {
            self.rhythm = Rhythm::irregular(recent(timers), BegunBy::Timer).or(self.rhythm);
            return self.rhythm;
        }
        let best = Rhythm::best(recent(timers), recent(handed), recent(marked));
        // Several timers of one thread, or none with a period: its latencies count all the same.
        let any = || {
            if self.rhythm.is_none() && timers.len() >= LEAST_IRREGULAR {
                Rhythm::irregular(recent(timers), BegunBy::Timer)
            } else {
                None
            }
        };
        if let Some(now) = best.ok().or_else(any) {
            let is_another = self
                .rhythm
                .is_some_and(|before| before.begun_by != now.begun_by);
            if is_another {
                self.last = None;
            }
            self.rhythm = Some(now);
        }
        self.rhythm
    }
}

/// A thread whose period shows while it is watched.
fn thread_of(limits: Limits) -> LiveThread {
    LiveThread {
        limits,
        period_ns: 0,
        judged: None,
    }
}

fn is_of(sample: &Sample, activation: &Activation) -> bool {
    sample.wake_ns == activation.switched_in_ns && sample.end_ns == activation.end_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wakes each millisecond, 20 µs late; every hundredth 700 µs; due time 250 is skipped.
    fn activation(number: u64) -> Activation {
        let programmed_ns = 1_000_000 * (number + u64::from(number >= 250));
        let late_ns = if number % 100 == 50 { 700_000 } else { 20_000 };
        Activation {
            programmed_ns: Some(programmed_ns),
            expiry_ns: programmed_ns + 1_000,
            switched_in_ns: programmed_ns + late_ns,
            end_ns: programmed_ns + late_ns + 100_000,
            run_ns: 100_000,
            cpu: 1,
            ..Activation::default()
        }
    }

    #[test]
    fn what_is_seen_piece_by_piece_is_what_there_is() {
        let mut of = Followed {
            tally: LiveTally::new([thread_of(Limits {
                latency_ns: Some(500_000),
                deadline_ns: None,
            })]),
            turns: Taken::default(),
            rhythm: None,
            last: None,
        };
        let (mut next, mut cycles, mut last) = (0, Vec::new(), None);
        for piece in [3, 4, 30, 1, 0, 2, 300, 60, 600] {
            of.turns.timers.extend((next..next + piece).map(activation));
            next += piece;
            if let Some(seen) = of.seen(9) {
                cycles.extend(seen.samples.iter().map(|sample| sample.cycle));
                last = Some(seen);
            } else {
                assert!(next < 10, "a period shows in ten activations");
            }
        }
        let figures = last.unwrap().figures;
        assert_eq!((figures.executed, figures.skipped), (1000, Some(1)));
        // Ten late ones and the skipped one.
        assert_eq!(figures.missed, Some(11));
        assert_eq!(figures.max_ns, 700_000);
        assert!(cycles.windows(2).all(|two| two[0] < two[1]));
        assert_eq!(cycles.last(), Some(&1000));
        assert!(of.turns.timers.len() <= RECENT);
    }
}

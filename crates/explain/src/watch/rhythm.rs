//! Whether activations come with a period, and with which. It judges no lateness.

use super::activation::{Activation, BegunBy};
use super::late_row;
use super::naps::{are_naps, are_passed_by};
use super::near_row::{NearRow, beside, time_outs};
use super::one_call::{WokenIn, paced};
use super::sleep::Sleep;
use super::sorted::Sorted;

/// How a thread's turns come round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// Its period, in nanoseconds: the median between two expiries, or what that is a multiple of. Of a thread that sleeps for a
    /// time and is often late, that time and what its turns usually take.
    pub period_ns: u64,
    /// One expiry on the row of due times, if expiries are a whole number of periods apart, to the
    /// nanosecond: the thread sleeps until instants. `None` for a thread that sleeps for a time, whose turns
    /// begin later by the length of the previous one.
    pub anchor_ns: Option<u64>,
    /// Whether expiries are those that the thread programmed; otherwise the start of the timer's callback is
    /// used instead, and the timer's own lateness is not seen.
    pub programmed: bool,
    /// The event that begins its turns. If it is not a timer, the wake-up is used as the expiry.
    pub begun_by: BegunBy,
    /// Allowed distance of due times from the row, in nanoseconds: more than 0 for a thread that computes the
    /// time to its next due time and sleeps for that.
    pub beside_ns: u64,
    /// How long the thread asks to sleep each time, in nanoseconds, if it sleeps for a time.
    pub sleeps_ns: Option<u64>,
    /// Whether its turns come with a period; otherwise `period_ns` is only the median between two.
    pub is_periodic: bool,
}

/// Why a thread has no period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotPeriodic {
    /// Too few timers woke it.
    TooFew {
        /// Number of activations.
        activations: usize,
    },
    /// Timers woke it at intervals that differ.
    Irregular {
        /// Activations.
        activations: usize,
        /// A tenth of the intervals are shorter, in nanoseconds.
        low_ns: u64,
        /// A tenth are longer, in nanoseconds.
        high_ns: u64,
    },
    /// Its program's cycles run in any of several threads.
    Moves {
        /// How many, itself included.
        threads: usize,
    },
}

/// Fewer activations show no period.
const LEAST_ACTIVATIONS: usize = 10;
/// How regular intervals must be: `of_ten` of ten within 1/`share` of the period.
#[derive(Debug, Clone, Copy)]
struct Regular {
    of_ten: usize,
    share: u64,
}

/// A thread that keeps its period itself.
const OWN: Regular = Regular {
    of_ten: 8,
    share: 10,
};
/// A thread whose period is that of what it waits for: a device, a sender, another thread.
const PACED: Regular = Regular {
    of_ten: 6,
    share: 4,
};
/// Of a hundred expiries, the number that must be on one row to the nanosecond: a thread can sleep
/// differently while it starts.
const EXACT_OF_HUNDRED: usize = 95;
/// Between what a scenario may have for a period, in nanoseconds.
const SHORTEST_NS: u64 = 10_000;
/// See [`SHORTEST_NS`].
const LONGEST_NS: u64 = 100_000_000_000;
/// For a thread that took one turn, in nanoseconds.
const UNKNOWN_NS: u64 = 1_000_000_000;
/// Of ten activations, the number whose programmed time must have been seen.
const PROGRAMMED_OF_TEN: usize = 9;

impl Rhythm {
    /// The rhythm of cycles between marks if there are any, else of timers, else of other wake-ups.
    ///
    /// # Errors
    /// [`NotPeriodic`], of marks or timers.
    pub fn best(
        timers: &[Activation],
        handed: &[Activation],
        marked: &[Activation],
    ) -> Result<Self, NotPeriodic> {
        let by = |begun_by| move |rhythm| Self { begun_by, ..rhythm };
        if !marked.is_empty() {
            return Self::new(marked).map(by(BegunBy::Marks));
        }
        Self::new(timers).or_else(|why| {
            if are_idle_waits(timers, handed) {
                return Err(why);
            }
            let other = by(BegunBy::Other);
            let handed = &paced(handed);
            if let Ok(rhythm) = Self::new(handed) {
                return Ok(other(rhythm));
            }
            if is_always_late(timers)
                && let Ok(rhythm) = Self::regular(timers, PACED)
            {
                return Ok(rhythm);
            }
            Self::regular(handed, PACED).map(other).map_err(|_| why)
        })
    }

    /// The rhythm of some activations in order.
    ///
    /// # Errors
    /// [`NotPeriodic`].
    pub fn new(activations: &[Activation]) -> Result<Self, NotPeriodic> {
        Self::regular(activations, OWN)
    }

    fn regular(activations: &[Activation], regular: Regular) -> Result<Self, NotPeriodic> {
        let count = activations.len();
        if count < LEAST_ACTIVATIONS {
            return Err(NotPeriodic::TooFew { activations: count });
        }
        let programmed = is_programmed(activations);
        let expiries: Vec<u64> = activations
            .iter()
            .filter_map(|of| expiry_ns(of, programmed))
            .collect();
        let intervals = Sorted::intervals(&expiries);
        let usual_ns = intervals.at(5);
        let of_late = programmed.then(|| late_row::period_ns(activations, usual_ns));
        let period_ns = of_late.flatten().unwrap_or(usual_ns);
        let anchor_ns = expiries[expiries.len() / 2];
        let rhythm = Self {
            period_ns,
            anchor_ns: (programmed && period_ns > 0).then_some(anchor_ns),
            programmed,
            begun_by: BegunBy::Timer,
            beside_ns: 0,
            sleeps_ns: None,
            is_periodic: true,
        };
        let on_row = expiries.iter().filter(|&&at| rhythm.is_on_row(at)).count();
        if on_row * 100 >= expiries.len() * EXACT_OF_HUNDRED {
            return Ok(rhythm);
        }
        let rhythm = Self {
            anchor_ns: None,
            ..rhythm
        };
        let is_regular =
            period_ns > 0 && intervals.near(period_ns, regular.share) >= regular.of_ten;
        let on_grid = programmed && !are_naps(activations);
        let in_milliseconds = if on_grid {
            NearRow::in_milliseconds(activations)
        } else {
            None
        };
        let sleep = if programmed && in_milliseconds.is_none() {
            Sleep::new(activations, &intervals)
        } else {
            None
        };
        let near = if on_grid && sleep.is_none() {
            in_milliseconds.or_else(|| NearRow::new(&expiries, &intervals))
        } else {
            None
        };
        let near = near.filter(|row| !are_passed_by(activations, row));
        if let Some(near) = near {
            return Ok(Self {
                period_ns: near.period_ns,
                anchor_ns: Some(near.anchor_ns),
                beside_ns: near.beside_ns,
                ..rhythm
            });
        }
        match (sleep, is_regular) {
            (Some(sleep), _) if !sleep.is_within_turns() => Ok(Self {
                period_ns: sleep.period_ns(is_regular.then_some(period_ns)),
                sleeps_ns: Some(sleep.asked_ns),
                ..rhythm
            }),
            (None, true) => Ok(rhythm),
            _ => Err(NotPeriodic::Irregular {
                activations: count,
                low_ns: intervals.at(1),
                high_ns: intervals.at(9),
            }),
        }
    }

    /// That of turns whose due times lie near a row.
    pub(super) fn near(row: NearRow) -> Self {
        Self {
            period_ns: row.period_ns,
            anchor_ns: Some(row.anchor_ns),
            programmed: true,
            begun_by: BegunBy::Timer,
            beside_ns: row.beside_ns,
            sleeps_ns: None,
            is_periodic: true,
        }
    }

    /// For turns without a period: the median between two takes its place, so that they can be recorded one
    /// after the other. `None` without any.
    pub fn irregular(activations: &[Activation], begun_by: BegunBy) -> Option<Self> {
        let programmed = is_programmed(activations);
        let expiries = activations
            .iter()
            .filter_map(|of| expiry_ns(of, programmed));
        let expiries: Vec<u64> = expiries.collect();
        let period_ns = match expiries.len() {
            0 => return None,
            1 => UNKNOWN_NS,
            _ => Sorted::intervals(&expiries).at(5),
        };
        Some(Self {
            period_ns: period_ns.clamp(SHORTEST_NS, LONGEST_NS),
            anchor_ns: None,
            programmed,
            begun_by,
            beside_ns: 0,
            sleeps_ns: None,
            is_periodic: false,
        })
    }

    /// Whether an expiry is a whole number of periods from the anchor, or as near to that as this
    /// thread's are; never without one.
    pub(crate) fn is_on_row(&self, expiry_ns: u64) -> bool {
        let beside_ns = |anchor| beside(expiry_ns, anchor, self.period_ns);
        let beside_ns = self.anchor_ns.map(beside_ns);
        beside_ns.is_some_and(|beside_ns| beside_ns <= self.beside_ns)
    }
}

/// Whether time-outs begin most turns, of waits for any event, or of whole milliseconds as an event loop's are: what else
/// wakes the thread now and then has no period of its cycles, in which those waits would be a part of the work.
fn are_idle_waits(timers: &[Activation], handed: &[Activation]) -> bool {
    let waits = timers.iter().filter(|of| of.woken_in == WokenIn::Events);
    let most = handed.len() * 2;
    waits.count() > most || timers.len() > most && time_outs(timers).is_some()
}

/// Whether most turns were due already when the thread asked for them: it never sleeps for its timer, and its period is
/// that of what else it waits for.
fn is_always_late(activations: &[Activation]) -> bool {
    let late = activations.iter().filter(|of| {
        let times = of.programmed_ns.zip(of.asked_at_ns);
        times.is_some_and(|(for_ns, asked_ns)| for_ns <= asked_ns)
    });
    late.count() * 2 > activations.len()
}

fn is_programmed(activations: &[Activation]) -> bool {
    let seen = activations.iter().filter(|of| of.programmed_ns.is_some());
    let seen = seen.count();
    seen > 0 && seen * 10 >= activations.len() * PROGRAMMED_OF_TEN
}

/// When the timer was to expire: as programmed, or when its callback began. `None` where the
/// programmed time is wanted and was not seen.
pub(crate) fn expiry_ns(of: &Activation, programmed: bool) -> Option<u64> {
    if programmed {
        of.programmed_ns
    } else {
        Some(of.expiry_ns)
    }
}

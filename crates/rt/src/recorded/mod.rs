//! The user's loop, whose samples `wakepath record` stores.
//!
//! Without a recorder the same loop runs in the same way. It prepares no thread: use
//! [`crate::Preparation`] before.

mod joined;
mod owner;
mod telling;

use crate::announcement::Left;
use crate::driven::{Due, ForeignClock};
use crate::{Accounting, Activation, Cycles, WaitError, WorkOutcome, ahead, clock};
use joined::{Recorded, begin, recorder};
pub(crate) use joined::{is_recorder_there, record_into};
use std::sync::atomic::Ordering;
use std::time::Duration;
use wakepath_timeline::{DueTimes, Overrun, Sample, WakeUp};

/// The variable with the number of the inherited descriptor of the recorder's memory.
pub const VARIABLE: &str = "WAKEPATH_RECORDING";

/// Value of [`crate::shared::Words::go`] for a recorder that runs as long as the program: each loop
/// begins when it is created, doesn't wait and has no last cycle.
pub const AS_THEY_COME: u32 = 2;

/// Time from a loop's creation to its first due time without a recorder: enough to reach its first
/// wait.
const LEAD_NS: u64 = 10_000_000;
/// Time between two checks for the start.
const LOOK: Duration = Duration::from_millis(1);

/// A periodic loop, recorded where a recorder started this program.
///
/// ```no_run
/// use std::time::Duration;
/// use wakepath_rt::{Loop, Preparation};
///
/// Preparation::default().apply()?;
/// let mut cycles = Loop::new("attitude", Duration::from_millis(4))?;
/// while let Some(activation) = cycles.wait() {
///     // … read, compute, write …
///     cycles.finish(activation);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Under `wakepath record` it ends after as many cycles as the recording has; without a recorder it
/// never does. [`Loop::wait`] and [`Loop::finish`] allocate nothing, take no lock and make no system
/// call but the sleep and the clock.
pub struct Loop {
    cycles: Cycles,
    period: Duration,
    recorded: Option<Recorded>,
    driven: Option<Driven>,
    /// The cycle that has begun and not ended.
    under_way: Option<Activation>,
}

/// The clock that begins a loop's cycles. With an external clock there is no overrun policy: that
/// clock determines the next cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wakes {
    ByItself(Overrun),
    ByAnother,
}

impl Wakes {
    /// A loop with an external clock skips the due times that passed.
    fn overrun(self) -> Overrun {
        match self {
            Self::ByItself(overrun) => overrun,
            Self::ByAnother => Overrun::Skip,
        }
    }
}

/// State of a loop that an external clock drives.
struct Driven {
    clock: ForeignClock,
    /// When its cycles would be due if the clock were ours: as they are recorded.
    row: DueTimes,
    next: u64,
    skipped: u64,
    /// End of the sample before, on the evenly spaced due times.
    ended_ns: u64,
}

/// Reasons why a loop can't be created.
#[derive(Debug, thiserror::Error)]
pub enum LoopError {
    /// A period that no loop has.
    #[error("a period of {0:?} is not a loop's; give 10 µs to 10 s")]
    Period(Duration),
    /// Without a name it can't be distinguished from others.
    #[error("a loop has a name of 1 to 32 bytes without control characters, not {0:?}")]
    Name(String),
    /// The timer that wakes it isn't available.
    #[error(transparent)]
    Wait(#[from] WaitError),
}

impl Loop {
    /// A loop with this name and period, on the calling thread only. If a recorder started this
    /// program, it reports that it is ready and waits until the recording begins, so set up memory,
    /// CPUs and policy before. Due times that its work overruns are skipped.
    ///
    /// # Errors
    /// If name or period is invalid for a loop, or its timer isn't available.
    pub fn new(name: &str, period: Duration) -> Result<Self, LoopError> {
        Self::with_overrun(name, period, Overrun::Skip)
    }

    /// As [`Loop::new`], with what happens when its work runs into the next due time: they are skipped, the cycles are
    /// caught up with one after the other, or the loop stops, which [`Loop::wait`] says with `None`. In a recording's
    /// warm-up an overrun stops nothing.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wakepath_rt::{Loop, Overrun};
    ///
    /// let mut cycles = Loop::with_overrun("integrator", Duration::from_millis(1), Overrun::CatchUp)?;
    /// for number in 0..3 {
    ///     let activation = cycles.wait().expect("nobody ends it");
    ///     assert_eq!(activation.cycle, number, "none is left out");
    ///     cycles.finish(activation);
    /// }
    /// # Ok::<(), wakepath_rt::LoopError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Loop::new`].
    pub fn with_overrun(name: &str, period: Duration, overrun: Overrun) -> Result<Self, LoopError> {
        Self::made(name, period, Wakes::ByItself(overrun))
    }

    /// A loop whose cycles an external clock begins: a bus, a sensor's interrupt, another program's sleep.
    /// Each cycle is between [`Loop::begin_cycle`] and [`Loop::finish`]; the period is the clock's, as far
    /// as it is known. Otherwise as [`Loop::new`].
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use wakepath_rt::{Due, Loop};
    ///
    /// # fn wait_for_the_bus() {}
    /// let mut cycles = Loop::driven("axis", Duration::from_millis(1))?;
    /// loop {
    ///     wait_for_the_bus();
    ///     let Some(activation) = cycles.begin_cycle(Due::Estimated) else { break };
    ///     // … read, compute, write …
    ///     cycles.finish(activation);
    /// }
    /// # Ok::<(), wakepath_rt::LoopError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Loop::new`].
    pub fn driven(name: &str, period: Duration) -> Result<Self, LoopError> {
        Self::made(name, period, Wakes::ByAnother)
    }

    fn made(name: &str, period: Duration, wakes: Wakes) -> Result<Self, LoopError> {
        let is_driven = wakes == Wakes::ByAnother;
        let period_ns = u64::try_from(period.as_nanos()).unwrap_or(u64::MAX);
        if !(10_000..=10_000_000_000).contains(&period_ns) {
            return Err(LoopError::Period(period));
        }
        let is_named = (1..=crate::announcement::NAME_BYTES).contains(&name.len());
        if !is_named || name.contains(char::is_control) {
            return Err(LoopError::Name(name.into()));
        }
        let place = recorder().and_then(|memory| {
            let ring = (0..memory.threads()).find(|&ring| memory.announcement(ring).claim(name));
            if ring.is_none() {
                memory.words().leave_out(name);
            }
            Some((memory, ring?))
        });
        let (start_ns, recorded) = match place {
            None => (clock::monotonic_ns() + LEAD_NS, None),
            Some((memory, ring)) => begin(memory, ring, name, period_ns, wakes),
        };
        let due = DueTimes {
            start_ns,
            period_ns,
        };
        let first_judged = recorded.as_ref().map_or(0, |of| of.first_judged_cycle);
        let cycles = Cycles::with(
            due,
            WakeUp::default(),
            wakes.overrun(),
            Accounting::default(),
            first_judged,
        );
        let driven = is_driven.then(|| Driven {
            clock: ForeignClock::new(period_ns),
            row: due,
            next: 0,
            skipped: 0,
            ended_ns: 0,
        });
        if let (true, Some(recorded)) = (is_driven, &recorded) {
            recorded.await_start(start_ns);
        }
        Ok(Self {
            cycles: cycles?,
            period,
            recorded,
            driven,
            under_way: None,
        })
    }

    /// Waits for the next due time. `None` if the recording is over or an overrun has stopped the
    /// loop, and the program should end. An unfinished cycle, for example after `continue`, ends
    /// here.
    #[inline]
    pub fn wait(&mut self) -> Option<Activation> {
        self.finish_what_is_left();
        if self.is_lost() {
            return None;
        }
        if let Some(recorded) = &mut self.recorded {
            let next = self.cycles.next_cycle();
            let left = if self.cycles.stopped_by_overrun() {
                Some(Left::Overrun)
            } else if next >= recorded.end_cycle {
                // The last cycle might have skipped due times after the planned end.
                let beyond = next - recorded.end_cycle;
                let skipped = self.cycles.skipped().saturating_sub(beyond);
                recorded.writer.note_skipped(skipped);
                Some(Left::AllCycles)
            } else {
                let stop = recorded.memory.words().stop.load(Ordering::Relaxed);
                (stop != 0).then_some(Left::Stopped)
            };
            if let Some(left) = left {
                recorded.end(left);
                return None;
            }
            recorded.skipped = self.cycles.skipped();
            recorded.cycle = next;
        }
        self.under_way = self.cycles.wait();
        self.ask_ahead();
        self.under_way
    }

    /// Other threads have pushed the loop's memory out of the caches while it slept: everything
    /// that this cycle will probably touch is prefetched together, while the loop's own work
    /// begins.
    #[inline]
    fn ask_ahead(&self) {
        if let Some(recorded) = &self.recorded {
            recorded.ask_ahead();
            ahead::ask_for_all_of(self);
        }
    }

    /// The part of the recorder's memory that this process can write, if the loop is recorded.
    #[inline]
    fn ours(&mut self) -> Option<&mut Recorded> {
        self.recorded.as_mut().filter(|of| of.is_ours())
    }

    /// Whether the loop is a copy in a child of its program, or of a recording that is over.
    #[inline]
    fn is_lost(&mut self) -> bool {
        let recorded = self.recorded.as_mut();
        recorded.is_some_and(|of| {
            let is_lost = !of.is_ours();
            if is_lost {
                of.give_up();
            }
            is_lost
        })
    }

    /// Without it the same due time would be waited for again, and a loop of real-time priority never sleep.
    #[inline]
    fn finish_what_is_left(&mut self) {
        if let Some(activation) = self.under_way {
            self.finish(activation);
        }
    }

    /// Begins a cycle now, for a loop that an external clock drives. `None` if the recording is
    /// over, and the program should end; always `None` for a loop with its own clock.
    ///
    /// A due time in the future counts as now. An unfinished cycle ends here.
    #[inline]
    pub fn begin_cycle(&mut self, due: Due) -> Option<Activation> {
        self.finish_what_is_left();
        if self.is_lost() {
            return None;
        }
        let driven = self.driven.as_mut()?;
        let wake_ns = clock::monotonic_ns();
        let (cycle, due_ns) = driven.clock.begin(due, wake_ns);
        let due_ns = due_ns.min(wake_ns);
        let skipped = driven.skipped;
        driven.skipped += cycle - driven.next;
        if let Some(recorded) = &mut self.recorded {
            let stop = recorded.memory.words().stop.load(Ordering::Relaxed);
            let left = if cycle >= recorded.end_cycle {
                let to_the_end = recorded.end_cycle.saturating_sub(driven.next);
                recorded.writer.note_skipped(skipped + to_the_end);
                Some(Left::AllCycles)
            } else {
                (stop != 0).then_some(Left::Stopped)
            };
            if let Some(left) = left {
                recorded.end(left);
                return None;
            }
            // Only now is it known that the last cycle of the warm-up was skipped.
            let first_judged = recorded.first_judged_cycle;
            if driven.next < first_judged && cycle >= first_judged {
                recorded.end_the_warm_up();
            }
            recorded.skipped = driven.skipped;
            recorded.cycle = cycle;
            recorded.said.due(cycle, due_ns);
            // A second one for the same cycle is the given value that was rejected.
            if let Due::At(given_ns) = due
                && driven.clock.is_doubted()
            {
                recorded.said.due(cycle, given_ns);
            }
        }
        driven.next = cycle + 1;
        self.under_way = Some(Activation::driven(cycle, due_ns, wake_ns));
        self.ask_ahead();
        self.under_way
    }

    /// Ends a cycle: its sample is on its way to the recorder.
    #[inline]
    pub fn finish(&mut self, activation: Activation) {
        self.finish_with(activation, WorkOutcome::default());
    }

    /// As [`Loop::finish`], with the work's own result. Has no effect on a cycle that has ended.
    #[inline]
    pub fn finish_with(&mut self, activation: Activation, outcome: WorkOutcome) {
        if self
            .under_way
            .take_if(|of| of.cycle == activation.cycle)
            .is_none()
        {
            return;
        }
        let mut sample = self.cycles.finish_with(activation, outcome);
        let next = match &mut self.driven {
            None => self.cycles.next_cycle(),
            Some(driven) => {
                driven.put_on_row(&mut sample);
                driven.next
            }
        };
        if let Some(recorded) = self.ours() {
            recorded.writer.note_skipped(recorded.skipped);
            recorded.writer.push(sample);
            if sample.cycle < recorded.first_judged_cycle && next >= recorded.first_judged_cycle {
                recorded.end_the_warm_up();
                // Its request for the page faults was a mode switch.
                self.cycles.pass_over_mode_switches();
            }
        }
    }

    /// Whether a recorder has its samples.
    pub fn is_recorded(&self) -> bool {
        self.recorded.as_ref().is_some_and(Recorded::is_ours)
    }

    /// Its period.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Due times at which no cycle ran.
    pub fn skipped(&self) -> u64 {
        match &self.driven {
            None => self.cycles.skipped(),
            Some(driven) => driven.skipped,
        }
    }
}

impl Driven {
    /// Moves a sample to the run's evenly spaced due times: latency and response are preserved. The
    /// offset of its true due time is recorded separately.
    #[inline]
    fn put_on_row(&mut self, sample: &mut Sample) {
        let due_ns = self.row.due_ns(sample.cycle);
        let (latency_ns, response_ns) = (
            sample.wake_ns - sample.due_ns,
            sample.end_ns - sample.due_ns,
        );
        sample.due_ns = due_ns;
        // If the clock is faster than the spacing, the end of a long cycle could pass the next
        // one's start.
        sample.wake_ns = (due_ns + latency_ns).max(self.ended_ns);
        sample.end_ns = (due_ns + response_ns).max(sample.wake_ns);
        self.ended_ns = sample.end_ns;
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if let Some(recorded) = &mut self.recorded {
            recorded.end(Left::GivenUp);
        }
    }
}

#[cfg(test)]
mod tests;

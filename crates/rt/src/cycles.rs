//! The loop itself: waits for the due time, runs the work, records the times.
//!
//! Nothing here allocates, locks, prints or makes a system call besides the sleep and the clock
//! (and those of the accounting).

use crate::clock::thread_cpu_ns;
use crate::wait::{Sleeper, WaitError};
use crate::{affinity, faults};
use wakepath_timeline::{DueTimes, Overrun, Sample, SampleFlags, WakeUp};

/// Values to read at every cycle in addition to the clock; each costs system calls in the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Accounting {
    /// Thread CPU time of the work: two system calls, one of them inside the timed region.
    pub cpu_time: bool,
    /// Involuntary context switches: two system calls, one of them inside the timed region.
    pub switches: bool,
}

/// A cycle that has begun.
#[derive(Debug, Clone, Copy)]
pub struct Activation {
    /// Number of the due time that this cycle serves.
    pub cycle: u64,
    /// When it was due, in nanoseconds on `CLOCK_MONOTONIC`.
    pub due_ns: u64,
    /// Its first instruction, in nanoseconds on `CLOCK_MONOTONIC`.
    pub wake_ns: u64,
    flags: SampleFlags,
    cpu_time_ns: u64,
    switches: u64,
}

impl Activation {
    /// For a cycle that an external clock began.
    pub(crate) fn driven(cycle: u64, due_ns: u64, wake_ns: u64) -> Self {
        Self {
            cycle,
            due_ns,
            wake_ns,
            flags: SampleFlags::default(),
            cpu_time_ns: 0,
            switches: 0,
        }
    }
}

/// The work's own result at the end of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WorkOutcome {
    /// The part of the timed region that the work timed itself, in nanoseconds.
    pub work_ns: Option<u32>,
    /// The work had a fault.
    pub fault: bool,
    /// Whether its exchange got no correct answer in time.
    pub unanswered: bool,
}

/// A periodic loop on the calling thread. Prepare the thread first ([`crate::Preparation`]).
pub struct Cycles {
    due: DueTimes,
    sleeper: Sleeper,
    overrun: Overrun,
    accounting: Accounting,
    /// Cycles below this one are marked as warm-up.
    first_judged: u64,
    next: u64,
    skipped: u64,
    last_end_ns: u64,
    stopped_by_overrun: bool,
    /// The one CPU to which the thread is pinned; `None`: ask at every cycle.
    only_cpu: Option<u16>,
    /// Mode switches counted up to the end of the cycle before; `None` off a core.
    switches_seen: Option<u64>,
    /// Whether the loop is on a core and its latest mode switches are to be ignored.
    passes_over: bool,
}

impl Cycles {
    /// A loop woken by `clock_nanosleep` that skips missed due times.
    ///
    /// # Errors
    /// None with this mechanism; the type is that of [`Cycles::with`].
    pub fn new(due: DueTimes) -> Result<Self, WaitError> {
        Self::with(
            due,
            WakeUp::default(),
            Overrun::default(),
            Accounting::default(),
            0,
        )
    }

    /// A loop with every choice explicit. Cycles below `first_judged` are marked as warm-up.
    ///
    /// # Errors
    /// When the wake-up mechanism can't be set up.
    pub fn with(
        due: DueTimes,
        wake_up: WakeUp,
        overrun: Overrun,
        accounting: Accounting,
        first_judged: u64,
    ) -> Result<Self, WaitError> {
        let sleeper = Sleeper::new(wake_up, due)?;
        let only_cpu = match affinity::current().as_deref() {
            Ok([cpu]) if !sleeper.migrates() => Some(*cpu),
            _ => None,
        };
        let on_a_core = sleeper.is_on_a_core();
        if on_a_core && (accounting.cpu_time || accounting.switches) {
            return Err(WaitError::AccountingOnACore);
        }
        Ok(Self {
            due,
            sleeper,
            overrun,
            accounting,
            first_judged,
            next: 0,
            skipped: 0,
            last_end_ns: 0,
            stopped_by_overrun: false,
            only_cpu,
            switches_seen: None,
            passes_over: on_a_core,
        })
    }

    /// Ignore mode switches before the next cycle, which the loop caused on purpose.
    pub fn pass_over_mode_switches(&mut self) {
        self.passes_over = self.sleeper.is_on_a_core();
    }

    /// Number of the cycle that runs next.
    pub fn next_cycle(&self) -> u64 {
        self.next
    }

    /// Due times passed over so far: those before [`Cycles::next_cycle`] at which no cycle started.
    #[inline]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether the loop ended because its work ran into the next due time
    /// ([`Overrun::Stop`]).
    pub fn stopped_by_overrun(&self) -> bool {
        self.stopped_by_overrun
    }

    /// Sleeps until the next due time and begins its cycle; `None` once the loop has been stopped
    /// by an overrun.
    #[inline]
    pub fn wait(&mut self) -> Option<Activation> {
        if self.stopped_by_overrun {
            return None;
        }
        let cycle = self.next;
        let due_ns = self.due.due_ns(cycle);
        if self.passes_over {
            self.passes_over = false;
            self.switches_seen = self.sleeper.mode_switches();
        }
        let already_past = due_ns <= self.last_end_ns;
        let interrupted = self.sleeper.sleep_until(cycle, due_ns);
        let wake_ns = self.sleeper.now_ns();

        let mut flags = SampleFlags::default();
        if already_past {
            flags = flags.with(SampleFlags::DUE_ALREADY_PAST);
        }
        if interrupted {
            flags = flags.with(SampleFlags::SLEEP_INTERRUPTED);
        }
        let switches = if self.accounting.switches {
            faults::involuntary_switches()
        } else {
            0
        };
        let cpu_time_ns = if self.accounting.cpu_time {
            thread_cpu_ns()
        } else {
            0
        };
        Some(Activation {
            cycle,
            due_ns,
            wake_ns,
            flags,
            cpu_time_ns,
            switches,
        })
    }

    /// Ends a cycle of work without a result.
    #[inline]
    pub fn finish(&mut self, activation: Activation) -> Sample {
        self.finish_with(activation, WorkOutcome::default())
    }

    /// Ends a cycle and decides which due time is served next.
    #[inline]
    pub fn finish_with(&mut self, activation: Activation, outcome: WorkOutcome) -> Sample {
        let end_ns = self.sleeper.now_ns();

        let mut flags = activation.flags;
        let mut sample = Sample {
            cycle: activation.cycle,
            due_ns: activation.due_ns,
            wake_ns: activation.wake_ns,
            end_ns,
            ..Sample::default()
        };
        if self.accounting.cpu_time {
            sample.cpu_time_ns = saturating_u32(thread_cpu_ns() - activation.cpu_time_ns);
            flags = flags.with(SampleFlags::HAS_CPU_TIME);
        }
        if self.accounting.switches {
            let switches = faults::involuntary_switches() - activation.switches;
            sample.involuntary_switches = u16::try_from(switches).unwrap_or(u16::MAX);
            flags = flags.with(SampleFlags::HAS_SWITCHES);
        }
        if let Some(work_ns) = outcome.work_ns {
            sample.work_ns = work_ns;
            flags = flags.with(SampleFlags::HAS_WORK_TIME);
        }
        if outcome.fault {
            flags = flags.with(SampleFlags::WORK_FAULT);
        }
        if outcome.unanswered {
            flags = flags.with(SampleFlags::UNANSWERED);
        }
        if activation.cycle < self.first_judged {
            flags = flags.with(SampleFlags::WARM_UP);
        }
        if self.sleeper.is_on_a_core() {
            // A core that no longer answers has not kept the thread.
            let switches = self.sleeper.mode_switches();
            if switches.is_none() || switches != self.switches_seen {
                flags = flags.with(SampleFlags::MODE_SWITCH);
            }
            self.switches_seen = switches;
        }
        sample.cpu = match self.only_cpu {
            Some(cpu) => cpu,
            None => affinity::this_cpu(),
        };
        sample.flags = flags;

        self.last_end_ns = end_ns;
        let following = activation.cycle + 1;
        let overrun = self.due.due_ns(following) <= end_ns;
        self.next = match self.overrun {
            Overrun::Skip if overrun => self.due.first_due_after(end_ns),
            _ => following,
        };
        self.skipped += self.next - following;
        // The warm-up can overrun: first executions are slow, which is why there is a warm-up.
        self.stopped_by_overrun =
            overrun && self.overrun == Overrun::Stop && activation.cycle >= self.first_judged;
        sample
    }
}

#[inline]
fn saturating_u32(ns: u64) -> u32 {
    u32::try_from(ns).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::monotonic_ns;
    use std::time::Duration;

    const PERIOD_NS: u64 = 10_000_000;

    /// Runs until `end_cycle`, stalling for `stall` in cycle 2.
    fn samples(overrun: Overrun, stall: Duration, end_cycle: u64) -> (DueTimes, Vec<Sample>, u64) {
        let due = DueTimes {
            start_ns: monotonic_ns() + 5_000_000,
            period_ns: PERIOD_NS,
        };
        let mut cycles = Cycles::with(
            due,
            WakeUp::ClockNanosleep,
            overrun,
            Accounting::default(),
            1,
        )
        .unwrap();
        let mut samples = Vec::new();
        while cycles.next_cycle() < end_cycle {
            let Some(activation) = cycles.wait() else {
                break;
            };
            if activation.cycle == 2 {
                std::thread::sleep(stall);
            }
            samples.push(cycles.finish(activation));
        }
        (due, samples, cycles.skipped())
    }

    #[test]
    fn due_times_never_move() {
        let (due, samples, _) = samples(Overrun::Skip, Duration::from_millis(35), 20);
        for sample in &samples {
            assert_eq!(sample.due_ns, due.due_ns(sample.cycle));
            assert!(sample.latency_ns() >= 0);
            assert!(sample.end_ns >= sample.wake_ns);
        }
    }

    #[test]
    fn a_stall_is_skipped_periods_by_default() {
        let (due, samples, _) = samples(Overrun::Skip, Duration::from_millis(35), 12);
        let stalled = samples.iter().position(|s| s.cycle == 2).unwrap();
        let (stalled, after) = (samples[stalled], samples[stalled + 1]);
        assert!(
            after.cycle >= 6,
            "35 ms from cycle 2 on pass over cycles 3 to 5"
        );
        assert_eq!(after.cycle, due.first_due_after(stalled.end_ns));
        assert!(!after.flags.contains(SampleFlags::DUE_ALREADY_PAST));
    }

    #[test]
    fn the_skipped_due_times_are_the_gaps_between_the_cycles() {
        let (due, samples, skipped) = samples(Overrun::Skip, Duration::from_millis(35), 12);
        let last = samples.last().unwrap();
        let next = last.cycle.max(due.first_due_after(last.end_ns) - 1) + 1;
        assert!(skipped >= 3, "35 ms pass over cycles 3 to 5 at least");
        assert_eq!(skipped, next - samples.len() as u64);
    }

    #[test]
    fn a_stall_in_the_last_cycle_is_counted_too() {
        let (due, samples, skipped) = samples(Overrun::Skip, Duration::from_millis(35), 3);
        let last = samples.last().unwrap();
        assert_eq!(last.cycle, 2);
        assert_eq!(
            skipped,
            due.first_due_after(last.end_ns) - samples.len() as u64
        );
    }

    #[test]
    fn a_stall_is_caught_up_when_asked_for() {
        let (_, samples, skipped) = samples(Overrun::CatchUp, Duration::from_millis(35), 12);
        let numbers: Vec<u64> = samples.iter().map(|s| s.cycle).collect();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
        assert!(samples[3].flags.contains(SampleFlags::DUE_ALREADY_PAST));
        assert!(samples[3].latency_ns() > 20_000_000);
        assert_eq!(skipped, 0);
    }

    #[test]
    fn a_stall_stops_the_loop_when_asked_for() {
        let (_, samples, skipped) = samples(Overrun::Stop, Duration::from_millis(35), 12);
        assert_eq!((samples.last().unwrap().cycle, skipped), (2, 0));
    }

    #[test]
    fn only_the_warm_up_is_marked_as_such() {
        let (_, samples, _) = samples(Overrun::Skip, Duration::ZERO, 4);
        assert!(samples[0].is_warm_up());
        assert!(samples[1..].iter().all(|s| !s.is_warm_up()));
    }
}

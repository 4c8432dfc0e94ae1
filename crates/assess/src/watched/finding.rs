//! Findings about the way in which a watched thread waits, which no setting of the machine fixes.

mod detect;
mod passed;

use super::waking::WakerKind;
use serde::{Deserialize, Serialize};
use std::fmt;
use wakepath_archive::SegmentRecord;
use wakepath_explain::fix;
use wakepath_timeline::duration::{length, three_digits};
use wakepath_timeline::number;
use wakepath_verdict::counted;

/// A finding. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Finding {
    /// It sleeps for a time after its work, so that its period is longer than that time.
    SleepsFor {
        /// Time that it asks for.
        asked_ns: u64,
        /// From its wake-up to its next request, on average.
        work_ns: u64,
        /// Wake-up latency, on average.
        latency_ns: u64,
        /// Between two turns, on average.
        interval_ns: u64,
        /// Whether that is the time-out of a wait for any event, as an event loop's is.
        is_time_out: bool,
    },
    /// It sleeps until times of a clock that is set while it runs, or for what is left until one.
    WallClock {
        /// Whether its timers are on another clock: it computes how long to sleep.
        computes: bool,
        /// Between how many turns it slept for longer than one and a half periods.
        gaps: u64,
        /// The longest of those.
        longest_ns: u64,
        /// By how much the clock was set, each time that was seen.
        steps_ns: Vec<i64>,
    },
    /// Its executor of ROS 2 waits until times of a clock that was set while it ran.
    ExecutorClock {
        /// Between how many turns it slept for longer than one and a half periods.
        gaps: u64,
        /// The longest of those.
        longest_ns: u64,
        /// By how much the clock was set, each time that was seen.
        steps_ns: Vec<i64>,
    },
    /// It asked for an instant later than the next due time, although it was in time for that.
    AskedForLater {
        /// How often.
        times: u64,
        /// From the due time before to the one that it asked for, at most.
        longest_ns: u64,
    },
    /// Its program's cycles run in any of several threads, whichever is idle when one is due.
    Moves {
        /// How many, itself included.
        threads: usize,
        /// Period of the cycles of all together, and how many were due; `None` if they have none.
        together: Option<Together>,
    },
    /// Signals ended its sleeps before their time, and it did not sleep on.
    SleepCut {
        /// Who sent them.
        sender: String,
        /// How many.
        times: u64,
        /// How long before the due time it was woken, at most.
        early_ns: u64,
    },
    /// It ran cycles at once that were due already.
    CaughtUp {
        /// How many.
        times: u64,
        /// How late it asked for one, at most.
        longest_ns: u64,
    },
    /// It did not run while due times passed, and then used as much CPU time as cycles for all of them take: it
    /// ran them late, at once.
    RanPassed {
        /// Turns that show it.
        turns: u64,
        /// Due times that passed in those.
        dues: u64,
    },
    /// It did not run while due times passed, and then used no more CPU time than for one cycle: it left them
    /// out.
    LeftOut {
        /// Turns that show it.
        turns: u64,
        /// Due times that passed in those.
        dues: u64,
    },
    /// In each cycle it waits for something else than its timer.
    WaitsInCycle {
        /// The system call that it waits in.
        call: String,
        /// What usually ends these waits.
        waker: String,
        /// Whether that may hand on a device's data: it is no thread of a program.
        may_be_device: bool,
        /// How long one wait takes, on average over those that were seen.
        wait_ns: u64,
        /// How many were seen.
        times: u64,
        /// In how many cycles.
        cycles: u64,
        /// Whether most of its cycles are already due when it requests them: its wait sets its period.
        sets_period: bool,
    },
    /// In its cycles it starts threads or processes, which do the work.
    StartsOthers {
        /// In how many cycles.
        times: u64,
        /// Of so many.
        cycles: u64,
    },
    /// It also wakes to sort its timers.
    TimerWheel,
    /// What wakes it was late, not the thread.
    WokenLate {
        /// What usually wakes it.
        waker: String,
        /// Its kind.
        by: WakerKind,
        /// How often it came later than one and a half periods after the one before.
        times: u64,
        /// The longest time between two.
        longest_ns: u64,
        /// The longest from a wake-up to the thread's running.
        latency_ns: u64,
    },
}

/// Cycles that run in any of several threads. Times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// Their period.
    pub period_ns: u64,
    /// Due times.
    pub dues: u64,
    /// At how many of these an earlier cycle still ran, or no timer woke a thread.
    pub unclear: u64,
}

impl Finding {
    /// Those that a run has recorded, each with the name of its thread.
    pub(crate) fn recorded(segments: &[SegmentRecord]) -> Vec<(String, Self)> {
        let threads = segments.iter().flat_map(|segment| &segment.threads);
        let found = threads.flat_map(|thread| {
            let found = thread.effective.details.get("findings").cloned();
            // Those of a later version may be of kinds that this one does not know.
            let found: Vec<Self> = found
                .and_then(|found| serde_json::from_value(found).ok())
                .unwrap_or_default();
            found
                .into_iter()
                .map(|finding| (thread.name.clone(), finding))
        });
        found.collect()
    }

    /// The time that it costs in all, in nanoseconds, of a thread with this number of cycles.
    pub fn lost_ns(&self, cycles: u64) -> u64 {
        let times = match self {
            Self::SleepsFor { .. } => cycles,
            Self::WallClock { gaps, .. } | Self::ExecutorClock { gaps, .. } => *gaps,
            Self::AskedForLater { times, .. }
            | Self::SleepCut { times, .. }
            | Self::CaughtUp { times, .. }
            | Self::WaitsInCycle { times, .. }
            | Self::WokenLate { times, .. } => *times,
            Self::Moves { .. }
            | Self::StartsOthers { .. }
            | Self::TimerWheel
            | Self::RanPassed { .. }
            | Self::LeftOut { .. } => 0,
        };
        self.size_ns().saturating_mul(times)
    }

    /// The time that it costs a cycle at worst, in nanoseconds.
    pub fn size_ns(&self) -> u64 {
        match self {
            Self::Moves { .. }
            | Self::StartsOthers { .. }
            | Self::TimerWheel
            | Self::RanPassed { .. }
            | Self::LeftOut { .. } => 0,
            Self::SleepsFor {
                work_ns,
                latency_ns,
                ..
            } => work_ns + latency_ns,
            Self::SleepCut { early_ns, .. } => *early_ns,
            Self::WaitsInCycle { wait_ns, .. } => *wait_ns,
            Self::WokenLate { longest_ns, .. }
            | Self::CaughtUp { longest_ns, .. }
            | Self::AskedForLater { longest_ns, .. }
            | Self::WallClock { longest_ns, .. }
            | Self::ExecutorClock { longest_ns, .. } => *longest_ns,
        }
    }

    /// Whether it is about the executor that a thread runs.
    pub(super) fn is_of_executor(&self) -> bool {
        matches!(self, Self::ExecutorClock { .. })
    }

    /// Whether it rests on there being no event of other cycles: where events are missing, those may have run.
    pub(super) fn needs_all_events(&self) -> bool {
        matches!(
            self,
            Self::AskedForLater { .. } | Self::RanPassed { .. } | Self::LeftOut { .. }
        )
    }

    /// The finding and its fix, in one line.
    pub fn with_fix(&self) -> String {
        match self.fix() {
            Some(fix) => format!("{self} → {fix}"),
            None => self.to_string(),
        }
    }

    /// The fix, if there is one.
    pub fn fix(&self) -> Option<&'static str> {
        let row = match self {
            Self::SleepsFor {
                is_time_out: true, ..
            } => &fix::TIME_OUT_FROM_DUE_TIME,
            Self::SleepsFor { .. } => &fix::ABSOLUTE_SLEEP,
            Self::WallClock { .. } => &fix::MONOTONIC_CLOCK,
            Self::ExecutorClock { .. } => &fix::NO_CLOCK_STEPS,
            Self::WokenLate {
                by: WakerKind::Thread | WakerKind::Threads,
                ..
            } => &fix::WATCH_WAKER,
            Self::WokenLate { .. } => &fix::WATCH_SENDER,
            // What such a call waits for may be a device.
            Self::WaitsInCycle {
                call,
                may_be_device: true,
                ..
            } if ["read", "readv", "ioctl"].contains(&&**call) => &fix::ASK_DEVICE_AHEAD,
            Self::WaitsInCycle { .. } => &fix::ASK_AHEAD,
            Self::SleepCut { .. } => &fix::SLEEP_AGAIN,
            Self::StartsOthers { .. } => &fix::ONE_TIMER_THREAD,
            Self::AskedForLater { .. }
            | Self::Moves { .. }
            | Self::TimerWheel
            | Self::CaughtUp { .. }
            | Self::RanPassed { .. }
            | Self::LeftOut { .. } => return None,
        };
        Some(row.words)
    }
}

/// How often a thread on a clock that is set slept too long, and by how much the clock was set.
fn gaps_and_steps(
    f: &mut fmt::Formatter<'_>,
    gaps: u64,
    longest_ns: u64,
    steps_ns: &[i64],
) -> fmt::Result {
    if gaps > 0 {
        let gaps = counted(gaps, "gap", "gaps");
        write!(
            f,
            ": {gaps} of up to {} between its cycles",
            length(longest_ns)
        )?;
    }
    if let Some(first) = steps_ns.iter().max_by_key(|step| step.unsigned_abs()) {
        let times = counted(steps_ns.len() as u64, "time", "times");
        write!(
            f,
            "; the clock was set {times}, by up to {}",
            three_digits(*first)
        )?;
    }
    Ok(())
}

fn together_or_not(f: &mut fmt::Formatter<'_>, together: Option<Together>) -> fmt::Result {
    let probes = "Probes of the program can show them: --cycle BEGIN,END";
    match together {
        None => write!(
            f,
            "their period and their late and skipped ones are unknown. {probes}"
        ),
        Some(of) => {
            write!(f, "together one every {}", length(of.period_ns))?;
            if of.unclear == 0 {
                return Ok(());
            }
            write!(
                f,
                ". At {} of {} an earlier cycle still ran, or no timer woke any: whether their cycles ran, and when, is \
                 unknown. {probes}",
                of.unclear,
                counted(of.dues, "due time", "due times"),
            )
        }
    }
}

/// The finding without its fix.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SleepsFor {
                asked_ns,
                work_ns,
                latency_ns,
                interval_ns,
                ..
            } => write!(
                f,
                "it sleeps for {} after its work, so its period is {} + {} of work + {} of wake-up latency = {} on \
                 average ({} Hz)",
                length(*asked_ns),
                length(*asked_ns),
                three_digits(work_ns.cast_signed()),
                three_digits(latency_ns.cast_signed()),
                length(*interval_ns),
                hertz(*interval_ns),
            ),
            Self::WallClock {
                computes,
                gaps,
                longest_ns,
                steps_ns,
            } => {
                f.write_str(if *computes {
                    "it sleeps for longer when CLOCK_REALTIME is set: it computes its sleeps from that clock, \
                     which NTP and `date` can move"
                } else {
                    "it sleeps until times of CLOCK_REALTIME or CLOCK_TAI, which NTP and `date` can move"
                })?;
                gaps_and_steps(f, *gaps, *longest_ns, steps_ns)
            }
            Self::ExecutorClock {
                gaps,
                longest_ns,
                steps_ns,
            } => {
                f.write_str("its executor waits on CLOCK_REALTIME, as its middleware chose")?;
                gaps_and_steps(f, *gaps, *longest_ns, steps_ns)
            }
            Self::AskedForLater { times, longest_ns } => write!(
                f,
                "it programmed its timer for a later due time than the next one {}, up to {} after the one before: \
                 the program skipped these due times itself",
                counted(*times, "time", "times"),
                three_digits(longest_ns.cast_signed()),
            ),
            Self::Moves { threads, together } => {
                write!(
                    f,
                    "its program's cycles run in any of {threads} threads, whichever is idle when one is due: "
                )?;
                together_or_not(f, *together)
            }
            Self::SleepCut {
                sender,
                times,
                early_ns,
            } => write!(
                f,
                "signals from {sender} ended its sleep (EINTR) {}, up to {} before the due time, and it did not sleep \
                 on: these cycles ran early",
                counted(*times, "time", "times"),
                three_digits(early_ns.cast_signed()),
            ),
            Self::WaitsInCycle {
                call,
                waker,
                wait_ns,
                times,
                cycles,
                sets_period,
                ..
            } => {
                write!(
                    f,
                    "it waits in {call}() within its cycles, {} in {}, {} each on average, until {waker} wakes it",
                    counted(*times, "time", "times"),
                    counted(*cycles, "cycle", "cycles"),
                    three_digits(wait_ns.cast_signed()),
                )?;
                if *sets_period {
                    f.write_str(": this sets its period, not a timer")
                } else {
                    Ok(())
                }
            }
            Self::StartsOthers { times, cycles } => write!(
                f,
                "it starts threads or processes in {times} of {}. Work of theirs that it does not wait for isn't counted, and \
                 whether that is late is unknown",
                counted(*cycles, "cycle", "cycles"),
            ),
            Self::TimerWheel => f.write_str(
                "it also wakes each 64 ms, for less work, as tokio does to sort its timers: that is taken for no task",
            ),
            Self::CaughtUp { times, longest_ns } => write!(
                f,
                "it ran late and caught up: {} due already, up to {} before, ran at once without a sleep; \
                 none of them was skipped",
                counted(*times, "cycle that was", "cycles that were"),
                three_digits(longest_ns.cast_signed()),
            ),
            Self::RanPassed { turns, dues } => write!(
                f,
                "it catches up: {} passed while it did not run, and it then used the CPU time of as many cycles ({}): it \
                 ran them late, at once, and skipped none",
                counted(*dues, "due time", "due times"),
                counted(*turns, "turn", "turns"),
            ),
            Self::LeftOut { turns, dues } => write!(
                f,
                "it does not catch up: {} passed while it did not run, and it then used the CPU time of one cycle ({}): it left the others out",
                counted(*dues, "due time", "due times"),
                counted(*turns, "turn", "turns"),
            ),
            Self::WokenLate {
                waker,
                by,
                times,
                longest_ns,
                latency_ns,
            } => {
                write!(
                    f,
                    "its wake-ups ({waker}) were up to {} apart, later than 1.5 periods {}, while it ran at most {} \
                     after being woken: ",
                    length(*longest_ns),
                    counted(*times, "time", "times"),
                    three_digits(latency_ns.cast_signed()),
                )?;
                f.write_str(match by {
                    WakerKind::Network => "the sender or the network is late",
                    WakerKind::Thread => "that thread is late, or the event that it waits for",
                    WakerKind::Threads => "those threads are late, or the events that it waits for",
                    WakerKind::Device => "the device or its bus is late",
                    WakerKind::Unknown => "the sender is late",
                })
            }
        }
    }
}

fn hertz(interval_ns: u64) -> String {
    number::three_digits(1e9 / interval_ns.max(1) as f64)
}

#[cfg(test)]
mod tests;

//! Findings in words.

use super::{Finding, Together};
use crate::watched::waking::WakerKind;
use std::fmt;
use wakepath_timeline::duration::{length, three_digits};
use wakepath_timeline::number;
use wakepath_verdict::counted;

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

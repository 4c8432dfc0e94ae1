//! A condition's recorded instants as one flight's schedule.
//!
//! Its segments are flown one after the other, as they were measured; the vehicle's state carries over from
//! one segment to the next. If replicas of one loop ran side by side, each one's instants are flown in
//! turn. So the worst bursts are those of the whole condition, and a vehicle lost in any segment is lost.

use crate::conditions::ConditionSegments;
use crate::judged::window_end;
use wakepath_archive::{ArchiveError, Run};
use wakepath_flight::replay::{Choices, Schedule, ScheduleError};
use wakepath_timeline::Sample;

/// A day at 1 kHz, as for one recording.
const MOST_DUE_TIMES: u64 = 86_400_000;

/// Why a condition's instants are not flown.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum NotFlown {
    #[error("the measurement is invalid")]
    Invalid,
    #[error("it spans {due_times} due times; a replay takes at most {MOST_DUE_TIMES}")]
    TooLong { due_times: u64 },
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    #[error(
        "it contains no times of samples: its tool wrote how often each latency occurred, not when"
    )]
    NoInstants,
    #[error("no cycle was recorded after the warm-up")]
    NoCycle,
}

/// The schedule, or why there is none.
///
/// # Errors
/// When the recording can't be read.
pub(super) fn schedule(
    run: &Run,
    condition: &ConditionSegments<'_>,
    choices: Choices,
) -> Result<Result<Schedule, NotFlown>, ArchiveError> {
    let mut threads = condition.threads.clone();
    threads.sort_by_cached_key(|(_, thread)| thread.thread);
    let mut joined: Option<Schedule> = None;
    let mut recorded = 0;
    for (segment, thread) in threads {
        let samples = run.samples(segment.segment, thread.thread)?;
        let first = thread.first_judged_cycle;
        let end = window_end(thread, samples.last().map(|sample| sample.cycle));
        // A loop that never came to its first due time was no loop.
        if end <= first || thread.due.start_ns == 0 {
            continue;
        }
        let mut due_times = end - first;
        due_times = due_times.saturating_add(joined.as_ref().map_or(0, Schedule::due_times));
        if due_times > MOST_DUE_TIMES {
            return Ok(Err(NotFlown::TooLong { due_times }));
        }
        let judged: Vec<Sample> = samples
            .into_iter()
            .filter(|sample| (first..end).contains(&sample.cycle))
            .collect();
        recorded += judged.len();
        let period_ns = thread.due.period_ns;
        let stretch = match judged.first() {
            None => Schedule::without_jobs(period_ns, end - first),
            Some(sample) => match Schedule::from_samples(&judged, period_ns, choices) {
                Ok(schedule) => schedule.within(sample.cycle - first, end - first),
                Err(error) => return Ok(Err(error.into())),
            },
        };
        joined = Some(match joined {
            None => stretch,
            Some(before) => before.followed_by(stretch),
        });
    }
    Ok(match joined {
        Some(schedule) if recorded > 0 => Ok(schedule),
        _ if run.manifest.imported.is_some() => Err(NotFlown::NoInstants),
        _ => Err(NotFlown::NoCycle),
    })
}

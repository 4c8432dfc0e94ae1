//! Which stretches of a segment are worth keeping: those around its late cycles, by the samples in
//! the run's log.

use wakepath_archive::{KeptWindow, LogFollower};
use wakepath_timeline::Sample;

use crate::error::Result;

/// Kept after the end of a late cycle, in nanoseconds: what ran on when it was over.
const AFTER_NS: u64 = 100_000;

/// The windows around a segment's late cycles, by what the run's log holds of it.
///
/// # Errors
/// [`crate::ProbeError::Archive`] when the log can't be read.
pub(crate) fn late_windows(
    log: &mut LogFollower,
    segment: u32,
    above_ns: u64,
) -> Result<Vec<KeptWindow>> {
    log.read_on()?;
    let threads = log.segment(segment).map(|record| &record.threads);
    let threads: Vec<(u16, u64)> = threads
        .into_iter()
        .flatten()
        .map(|thread| (thread.thread, thread.due.period_ns))
        .collect();
    let mut windows = Vec::new();
    for (thread, period_ns) in threads {
        // The sample before: a skipped period is late too.
        let mut last = None;
        for samples in log.batches(segment, thread) {
            windows.extend(around_late(&samples?, period_ns, above_ns, &mut last));
        }
    }
    Ok(windows)
}

/// The windows around the late ones of `samples`: from one period before the due time, so that
/// what began before it is there too, to a little after the cycle's end. Pure.
fn around_late(
    samples: &[Sample],
    period_ns: u64,
    above_ns: u64,
    last: &mut Option<Sample>,
) -> Vec<KeptWindow> {
    let mut windows = Vec::new();
    for sample in samples {
        let before = last.replace(*sample);
        let skipped = before.is_some_and(|before| before.cycle + 1 < sample.cycle);
        let late = sample.latency_ns() > i64::try_from(above_ns).unwrap_or(i64::MAX);
        if late || skipped {
            let due_ns = match before {
                Some(before) if skipped => before.end_ns.min(sample.due_ns),
                _ => sample.due_ns,
            };
            windows.push(KeptWindow {
                from_ns: due_ns.saturating_sub(period_ns),
                to_ns: sample.end_ns.saturating_add(AFTER_NS),
            });
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(cycle: u64, latency_ns: u64) -> Sample {
        let due_ns = 1_000_000 * (cycle + 1);
        Sample {
            cycle,
            due_ns,
            wake_ns: due_ns + latency_ns,
            end_ns: due_ns + latency_ns + 500,
            ..Sample::default()
        }
    }

    #[test]
    fn late_and_skipped_cycles_have_windows_and_others_have_none() {
        let mut last = None;
        let samples = [sample(0, 10), sample(1, 5_001), sample(4, 5_000)];
        let found = around_late(&samples, 1_000_000, 5_000, &mut last);
        let expected = [
            KeptWindow {
                from_ns: 1_000_000,
                to_ns: 2_105_501,
            },
            // Cycles 2 and 3 were skipped: from the end of cycle 1 on.
            KeptWindow {
                from_ns: 1_005_501,
                to_ns: 5_105_500,
            },
        ];
        assert_eq!(found, expected);
    }
}

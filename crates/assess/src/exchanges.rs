//! Results of a loop's exchanges with a bus, by condition: answers, faults by their names, and when
//! frames passed the clock that the devices share. It makes no verdict: an exchange without a right
//! answer
//! is a due time missed, which its sample says.

use crate::conditions::ConditionSegments;
use crate::run_times::RunTimes;
use serde::Serialize;
use wakepath_archive::BusExchanges;
use wakepath_statistics::LatencyHistogram;

/// Of one thread in one condition, over all its segments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exchanges {
    /// The condition: its policy.
    pub condition: String,
    /// The phase.
    pub phase: String,
    /// The thread.
    pub thread: String,
    /// The interface, or its replacement.
    pub bus: String,
    /// How many devices answered.
    pub devices: u16,
    /// The working counter that is right.
    pub counter: u16,
    /// How often process data were due to be sent.
    pub exchanges: u64,
    /// Answers that all devices had taken part in.
    pub right: u64,
    /// Answers after the loop had given them up.
    pub late: u64,
    /// Frames that never came back.
    pub lost: u64,
    /// Answers that not all devices had taken part in.
    pub wrong_counter: u64,
    /// Frames that could not be sent.
    pub not_sent: u64,
    /// Frames that passed the reference clock after the devices had taken that period's outputs.
    pub after_output: u64,
    /// From sending to a right answer.
    pub round_trip: RunTimes,
    /// How much later than usual frames passed the reference clock. A frame that was early counts as 0.
    pub behind: RunTimes,
    /// How far a device's clock was from the reference.
    pub clock_difference: RunTimes,
}

/// Of all conditions, in order.
pub(crate) fn of_all(conditions: &[ConditionSegments<'_>]) -> Vec<Exchanges> {
    let mut all: Vec<Collected> = Vec::new();
    for condition in conditions {
        let first = all.len();
        for (_, thread) in &condition.threads {
            let told = thread
                .modules
                .iter()
                .filter_map(|one| one.exchanges.as_ref());
            for told in told {
                let known = all[first..]
                    .iter()
                    .position(|one| one.of.thread == thread.name);
                let at = known.map_or(all.len(), |place| first + place);
                if known.is_none() {
                    let (condition, phase) = (&condition.condition, &condition.phase);
                    all.push(Collected::new(condition, phase, &thread.name, told));
                }
                all[at].add(told);
            }
        }
    }
    all.into_iter().map(Collected::finish).collect()
}

struct Collected {
    of: Exchanges,
    round_trip: LatencyHistogram,
    behind: LatencyHistogram,
    clock_difference: LatencyHistogram,
}

impl Collected {
    fn new(condition: &str, phase: &str, thread: &str, told: &BusExchanges) -> Self {
        Self {
            of: Exchanges {
                condition: condition.to_owned(),
                phase: phase.to_owned(),
                thread: thread.to_owned(),
                bus: wakepath_timeline::one_line(&told.bus),
                devices: told.devices,
                counter: told.counter,
                exchanges: 0,
                right: 0,
                late: 0,
                lost: 0,
                wrong_counter: 0,
                not_sent: 0,
                after_output: 0,
                round_trip: RunTimes::default(),
                behind: RunTimes::default(),
                clock_difference: RunTimes::default(),
            },
            round_trip: LatencyHistogram::new(),
            behind: LatencyHistogram::new(),
            clock_difference: LatencyHistogram::new(),
        }
    }

    /// Counts of a foreign recording can have any value.
    fn add(&mut self, told: &BusExchanges) {
        let of = &mut self.of;
        let faults = [told.late, told.lost, told.wrong_counter, told.not_sent];
        let faults = faults.into_iter().fold(0, u64::saturating_add);
        let sums = [
            (&mut of.exchanges, told.exchanges),
            (&mut of.right, told.exchanges.saturating_sub(faults)),
            (&mut of.late, told.late),
            (&mut of.lost, told.lost),
            (&mut of.wrong_counter, told.wrong_counter),
            (&mut of.not_sent, told.not_sent),
            (&mut of.after_output, told.after_output),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
        let histograms = [
            (&mut self.round_trip, &told.round_trip),
            (&mut self.behind, &told.behind),
            (&mut self.clock_difference, &told.clock_difference),
        ];
        for (histogram, bins) in histograms {
            for &(_, high, count) in bins {
                histogram.record_many(high.max(0), count);
            }
        }
    }

    fn finish(self) -> Exchanges {
        Exchanges {
            round_trip: times(&self.round_trip),
            behind: times(&self.behind),
            clock_difference: times(&self.clock_difference),
            ..self.of
        }
    }
}

fn times(histogram: &LatencyHistogram) -> RunTimes {
    RunTimes::new(histogram, histogram.max().unwrap_or(0).unsigned_abs())
}

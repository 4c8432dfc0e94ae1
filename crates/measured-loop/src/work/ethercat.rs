//! Exchanges process data with an EtherCAT bus in each cycle, and counts the results.
//!
//! Answers, named faults, and the times at which the frames passed the clock that all devices
//! share. It makes no verdict.

use super::WorkError;
use crate::protocol::EthercatSpec;
use std::time::Duration;
use wakepath_archive::{BusExchanges, ModuleTimes};
use wakepath_ethercat::{Exchange, Master, Ring, Silence, StartMaster};
use wakepath_rt::{WorkOutcome, clock};
use wakepath_statistics::LatencyHistogram;
use wakepath_timeline::Sample;

/// Between two looks at how far the devices' clocks are apart.
const LOOK_EVERY_NS: u64 = 100_000_000;
/// Longest duration of a look; skipped if less of the period is left.
const LOOK_NS: u64 = 200_000;
/// Largest error of a crystal, as one part in this number; the usual time follows this fast.
const SLOWEST_DRIFT: u64 = 20_000;

pub(crate) struct Ethercat {
    _ring: Option<Ring>,
    master: Box<dyn Master>,
    period_ns: u64,
    timeout_ns: u64,
    silence: Silence,
    looked_ns: u64,
    /// The reference clock when the current cycle's frame passed.
    clock_ns: Option<u64>,
    /// When frames usually pass the reference clock, after their due time.
    usual_ns: Option<i64>,
    late_before: u64,
    tally: Tally,
}

#[derive(Default)]
struct Tally {
    exchanges: u64,
    right: u64,
    wrong_counter: u64,
    unanswered: u64,
    not_sent: u64,
    after_output: u64,
    sum_ns: u64,
    round_trip: LatencyHistogram,
    behind: LatencyHistogram,
    clock_difference: LatencyHistogram,
}

impl Ethercat {
    /// Finds the bus and brings it into operation. The ring's process dies with the calling thread.
    pub(super) fn new(
        spec: &EthercatSpec,
        period_ns: u64,
        master: Option<StartMaster>,
    ) -> Result<Self, WorkError> {
        let start = master.ok_or(WorkError::NoMaster)?;
        let (ring, link) = spec.bus.start(None)?;
        let master = start(link, Duration::from_nanos(period_ns))?;
        let now_ns = clock::monotonic_ns();
        Ok(Self {
            _ring: ring,
            master,
            period_ns,
            timeout_ns: spec.timeout_ns.unwrap_or(period_ns / 2),
            silence: Silence::new(period_ns, now_ns),
            looked_ns: now_ns,
            clock_ns: None,
            usual_ns: None,
            late_before: 0,
            tally: Tally::default(),
        })
    }

    /// The first cycle is due then.
    pub(super) fn begin(&mut self, due_ns: u64) {
        self.silence = Silence::new(self.period_ns, due_ns);
    }

    /// One exchange.
    pub(super) fn step(&mut self) -> WorkOutcome {
        let began_ns = clock::monotonic_ns();
        let exchanged = self.master.exchange(began_ns + self.timeout_ns);
        let took_ns = clock::monotonic_ns() - began_ns;
        let tally = &mut self.tally;
        tally.exchanges += 1;
        self.clock_ns = None;
        match exchanged {
            Exchange::Right { clock_ns } => {
                tally.right += 1;
                tally.sum_ns += took_ns;
                tally.round_trip.record(took_ns.cast_signed());
                self.clock_ns = clock_ns;
            }
            Exchange::WrongCounter { .. } => tally.wrong_counter += 1,
            Exchange::Unanswered => tally.unanswered += 1,
            Exchange::NotSent => tally.not_sent += 1,
        }
        self.silence.hear(exchanged, began_ns + took_ns);
        WorkOutcome {
            work_ns: Some(u32::try_from(took_ns).unwrap_or(u32::MAX)),
            unanswered: !matches!(exchanged, Exchange::Right { .. }),
            ..WorkOutcome::default()
        }
    }

    /// Outside of the timed region: compares the bus's clock with the due time.
    pub(super) fn after(&mut self, sample: &Sample, next_due_ns: u64) -> Result<(), WorkError> {
        if let Some(clock_ns) = self.clock_ns.take() {
            self.hold_against(clock_ns.wrapping_sub(sample.due_ns).cast_signed());
        }
        let now_ns = clock::monotonic_ns();
        if let Some(wrong) = self.silence.is_over(now_ns) {
            return Err(WorkError::Bus(self.master.describe(wrong)));
        }
        let left_ns = next_due_ns.saturating_sub(now_ns);
        if now_ns.saturating_sub(self.looked_ns) > LOOK_EVERY_NS && left_ns > 2 * LOOK_NS {
            self.looked_ns = now_ns;
            if let Some(apart_ns) = self.master.clock_difference(now_ns + LOOK_NS) {
                self.tally.clock_difference.record(i64::from(apart_ns));
            }
        }
        Ok(())
    }

    /// The usual time is the median of all frames: it moves a little towards each frame, and so
    /// follows crystals that drift apart. Devices apply outputs half a period after it.
    fn hold_against(&mut self, passed_ns: i64) {
        let usual_ns = *self.usual_ns.get_or_insert(passed_ns);
        let behind_ns = passed_ns.saturating_sub(usual_ns);
        let step_ns = (self.period_ns / SLOWEST_DRIFT).max(1).cast_signed();
        self.usual_ns = Some(usual_ns + behind_ns.clamp(-step_ns, step_ns));
        self.tally.behind.record(behind_ns);
        self.tally.after_output += u64::from(behind_ns > (self.period_ns / 2).cast_signed());
    }

    /// Discards the counts so far.
    pub(super) fn end_warm_up(&mut self) {
        self.tally = Tally::default();
        self.late_before = self.master.late();
    }

    /// All that was counted.
    pub(super) fn modules(&self) -> Vec<ModuleTimes> {
        let tally = &self.tally;
        // Answers that never came were lost; those that came after the wait was over were late.
        let late = (self.master.late() - self.late_before).min(tally.unanswered);
        let bins = |histogram: &LatencyHistogram| histogram.occupied().collect();
        let exchanges = BusExchanges {
            bus: self.master.bus().to_owned(),
            devices: self.master.devices(),
            counter: self.master.expected(),
            exchanges: tally.exchanges,
            wrong_counter: tally.wrong_counter,
            late,
            lost: tally.unanswered - late,
            not_sent: tally.not_sent,
            after_output: tally.after_output,
            round_trip: bins(&tally.round_trip),
            behind: bins(&tally.behind),
            clock_difference: bins(&tally.clock_difference),
        };
        vec![ModuleTimes {
            name: "EtherCAT exchange".into(),
            runs: tally.right,
            sum_ns: tally.sum_ns,
            max_ns: tally.round_trip.max().unwrap_or(0).unsigned_abs(),
            exchanges: Some(exchanges),
            ..ModuleTimes::default()
        }]
    }
}

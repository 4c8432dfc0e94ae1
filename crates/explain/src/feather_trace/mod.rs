//! Costs of LITMUS^RT's own work, from the records of its Feather-Trace: beginnings and ends paired into the
//! overheads that other kernels record by tracepoints. It reads no file and knows no device.
//!
//! A record of a beginning is paired with the next of its end in the same buffer. A pair is left out if a
//! record is missing in it, if an interrupt came in between, or if neither end is a real-time task's, as in
//! the tools of Brandenburg's "Scheduling and Locking in Multiprocessor Real-Time Operating Systems" (2011),
//! chapter 4.

mod record;

use crate::Overheads;
use record::{
    AFTER_SWITCH, BYTES, CONTEXT_SWITCH, Of, RELEASE, RELEASE_LATENCY, RESCHEDULE_SENT, Record,
    SCHEDULING, TICK,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const BEGINNINGS: [u8; 6] = [
    SCHEDULING,
    AFTER_SWITCH,
    CONTEXT_SWITCH,
    RELEASE,
    TICK,
    RESCHEDULE_SENT,
];

/// How many records there were, and what was left out of the overheads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatherCounts {
    /// Records that were read.
    pub records: u64,
    /// Records that the core had no room for, by their numbers.
    pub lost: u64,
    /// Pairs that were taken.
    pub pairs: u64,
    /// Pairs with an interrupt in between.
    pub interrupted: u64,
    /// Pairs of which neither end is a real-time task's.
    pub best_effort: u64,
}

impl FeatherCounts {
    /// With another segment's.
    pub fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.lost += other.lost;
        self.pairs += other.pairs;
        self.interrupted += other.interrupted;
        self.best_effort += other.best_effort;
    }
}

/// Pairs a segment's records.
#[derive(Debug)]
pub struct FeatherTrace {
    cycles: u64,
    ns: u64,
    buffers: BTreeMap<u64, Buffer>,
    overheads: Overheads,
    counts: FeatherCounts,
}

/// State of one buffer after its last record.
#[derive(Debug, Default)]
struct Buffer {
    sequence: Option<u32>,
    /// Beginnings without an end, and whether an interrupt has come since.
    open: Vec<(Record, bool)>,
    /// Scheduling whose rest after the switch may come still.
    scheduling_ns: Option<i64>,
}

impl FeatherTrace {
    /// For records dated by a counter that advances by `cycles` in `ns` nanoseconds.
    pub fn new(cycles: u64, ns: u64) -> Self {
        Self {
            cycles: cycles.max(1),
            ns,
            buffers: BTreeMap::new(),
            overheads: Overheads::default(),
            counts: FeatherCounts::default(),
        }
    }

    /// Takes what a buffer told next: whole records. Within one call they may be out of order, as those are that
    /// several CPUs wrote.
    pub fn records(&mut self, buffer: u64, bytes: &[u8]) {
        let (records, _) = bytes.as_chunks::<BYTES>();
        let mut records: Vec<Record> = records.iter().map(Record::new).collect();
        if let Some(first) = records.first().map(|record| record.sequence) {
            // By their distance from the first, since numbers begin again.
            records.sort_by_cached_key(|record| record.sequence.wrapping_sub(first) as i32);
        }
        for record in &records {
            self.record(buffer, record);
        }
    }

    /// The overheads, and what they are made of.
    pub fn end(mut self) -> (Overheads, FeatherCounts) {
        for buffer in std::mem::take(&mut self.buffers).into_values() {
            if let Some(alone) = buffer.scheduling_ns {
                self.overheads.scheduling.record(alone);
            }
        }
        (self.overheads, self.counts)
    }

    fn record(&mut self, buffer: u64, record: &Record) {
        self.counts.records += 1;
        let buffer = self.buffers.entry(buffer).or_default();
        let before = buffer.sequence.replace(record.sequence);
        let missing = before.map_or(0, |before| {
            record.sequence.wrapping_sub(before).wrapping_sub(1)
        });
        if missing != 0 {
            // One that comes late was counted as missing.
            if missing < 1 << 31 {
                self.counts.lost += u64::from(missing);
            }
            buffer.open.clear();
            if let Some(alone) = buffer.scheduling_ns.take() {
                self.overheads.scheduling.record(alone);
            }
        }
        if record.interrupted {
            for (_, interrupted) in &mut buffer.open {
                *interrupted = true;
            }
        }
        if record.event == RELEASE_LATENCY {
            self.overheads.event.record(record.length());
            return;
        }
        if BEGINNINGS.contains(&record.event) {
            buffer.open.retain(|(open, _)| open.event != record.event);
            buffer.open.push((*record, false));
            return;
        }
        let of_this = |(open, _): &(Record, bool)| open.event.wrapping_add(1) == record.event;
        let Some(at) = buffer.open.iter().position(of_this) else {
            return;
        };
        let (begun, interrupted) = buffer.open.swap_remove(at);
        if interrupted {
            self.counts.interrupted += 1;
            return;
        }
        if begun.of != Of::RealTime && record.of != Of::RealTime {
            self.counts.best_effort += 1;
            return;
        }
        self.counts.pairs += 1;
        let cycles = u128::from(record.cycles_since(&begun));
        let ns = cycles * u128::from(self.ns) / u128::from(self.cycles);
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        match begun.event {
            // The part after the switch belongs to the previous decision.
            SCHEDULING => {
                if let Some(alone) = buffer.scheduling_ns.replace(ns) {
                    self.overheads.scheduling.record(alone);
                }
            }
            AFTER_SWITCH => {
                let decided = buffer.scheduling_ns.take().unwrap_or(0);
                self.overheads.scheduling.record(decided.saturating_add(ns));
            }
            CONTEXT_SWITCH => self.overheads.switch.record(ns),
            RELEASE => self.overheads.release.record(ns),
            TICK => self.overheads.tick.record(ns),
            _ => self.overheads.ipi.record(ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEST_EFFORT: u8 = 0;
    const REAL_TIME: u8 = 1;
    const UNKNOWN: u8 = 2;
    const INTERRUPTED: u8 = 0b1100;

    fn record(sequence: u32, event: u8, cycles: u64, flags: u8) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..6].copy_from_slice(&cycles.to_le_bytes()[..6]);
        bytes[8..12].copy_from_slice(&sequence.to_le_bytes());
        bytes[13] = event;
        bytes[14] = flags;
        bytes
    }

    fn told(records: &[[u8; BYTES]]) -> (crate::OverheadCosts, FeatherCounts) {
        // Three cycles a nanosecond.
        let mut trace = FeatherTrace::new(3_000, 1_000);
        trace.records(0, records.as_flattened());
        let (overheads, counts) = trace.end();
        (overheads.costs(), counts)
    }

    #[test]
    fn pairs_become_the_overheads_of_their_kind_in_nanoseconds() {
        let (costs, counts) = told(&[
            record(5, RELEASE_LATENCY, 850, REAL_TIME),
            record(6, RELEASE, 300, REAL_TIME),
            record(7, RELEASE + 1, 900, REAL_TIME),
            record(8, SCHEDULING, 1_000, UNKNOWN),
            record(9, SCHEDULING + 1, 1_600, REAL_TIME),
            record(10, CONTEXT_SWITCH, 1_700, BEST_EFFORT),
            record(11, CONTEXT_SWITCH + 1, 2_000, REAL_TIME),
            record(12, AFTER_SWITCH, 2_000, REAL_TIME),
            record(13, AFTER_SWITCH + 1, 2_090, REAL_TIME),
            record(14, TICK, 3_000, REAL_TIME),
            record(15, TICK + 1, 3_060, REAL_TIME),
            record(16, SCHEDULING, 4_000, UNKNOWN),
            record(17, SCHEDULING + 1, 4_033, REAL_TIME),
        ]);
        assert_eq!(costs.timer_lateness.max, Some(850));
        assert_eq!(costs.release.max, Some(200));
        // 200 ns and 30 after the switch; a decision without a switch stands alone.
        assert_eq!(costs.scheduling.max, Some(230));
        assert_eq!(
            (costs.scheduling.min, costs.scheduling.count),
            (Some(11), 2)
        );
        assert_eq!(costs.context_switch.max, Some(100));
        assert_eq!(costs.tick.max, Some(20));
        assert_eq!(costs.ipi.count, 0);
        assert_eq!((counts.records, counts.pairs, counts.lost), (13, 6, 0));
    }

    #[test]
    fn what_is_interrupted_lost_or_of_no_real_time_task_is_left_out_and_counted() {
        let (costs, counts) = told(&[
            record(1, CONTEXT_SWITCH, 0, REAL_TIME),
            record(2, CONTEXT_SWITCH + 1, 90, REAL_TIME | INTERRUPTED),
            record(3, CONTEXT_SWITCH, 100, BEST_EFFORT),
            record(4, CONTEXT_SWITCH + 1, 190, BEST_EFFORT),
            record(5, CONTEXT_SWITCH, 200, REAL_TIME),
            record(8, CONTEXT_SWITCH + 1, 900, REAL_TIME),
            // An interrupt before the beginning takes nothing from the pair.
            record(9, CONTEXT_SWITCH, 1_000, REAL_TIME | INTERRUPTED),
            record(10, CONTEXT_SWITCH + 1, 1_030, BEST_EFFORT),
        ]);
        assert_eq!(
            (costs.context_switch.count, costs.context_switch.max),
            (1, Some(10))
        );
        let expected = FeatherCounts {
            records: 8,
            lost: 2,
            pairs: 1,
            interrupted: 1,
            best_effort: 1,
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn records_of_several_writers_are_put_in_order_and_buffers_kept_apart() {
        let mut trace = FeatherTrace::new(1, 1);
        let sent = record(u32::MAX, RESCHEDULE_SENT, 100, REAL_TIME);
        let received = record(0, RESCHEDULE_SENT + 1, 700, BEST_EFFORT);
        trace.records(1, [received, sent].as_flattened());
        let alone = record(0, RESCHEDULE_SENT + 1, 900, REAL_TIME);
        trace.records(2, &alone);
        let (overheads, counts) = trace.end();
        let costs = overheads.costs();
        assert_eq!((costs.ipi.count, costs.ipi.max), (1, Some(600)));
        assert_eq!((counts.records, counts.lost), (3, 0));
    }
}

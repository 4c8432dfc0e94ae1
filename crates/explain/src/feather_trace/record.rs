//! One record of LITMUS^RT's Feather-Trace: its sixteen bytes and the events that are requested. Layout and
//! numbers are those of the core's `include/litmus/trace.h`; records are put together elsewhere.

/// Bytes of a record.
pub(super) const BYTES: usize = 16;
/// Timestamps are cut off to 48 bits.
const TIMESTAMP: u64 = (1 << 48) - 1;

/// Where the core begins what an overhead is made of; the end of each has the next number.
pub(super) const SCHEDULING: u8 = 100;
/// The rest of scheduling after the switch.
pub(super) const AFTER_SWITCH: u8 = 102;
pub(super) const CONTEXT_SWITCH: u8 = 104;
pub(super) const RELEASE: u8 = 106;
pub(super) const TICK: u8 = 110;
pub(super) const RESCHEDULE_SENT: u8 = 190;
/// From a job's release time to its release, in nanoseconds, without a separate end.
pub(super) const RELEASE_LATENCY: u8 = 208;

/// Whose work it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    BestEffort,
    RealTime,
    Unknown,
}

/// A record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    /// Cycles, or nanoseconds for [`RELEASE_LATENCY`].
    stamp: u64,
    pub(super) sequence: u32,
    pub(super) event: u8,
    pub(super) of: Of,
    /// An interrupt came since the record before it.
    pub(super) interrupted: bool,
}

impl Record {
    pub(super) fn new(bytes: &[u8; BYTES]) -> Self {
        let number = u128::from_le_bytes(*bytes);
        let byte = |at: usize| bytes[at];
        Self {
            stamp: (number as u64) & TIMESTAMP,
            sequence: (number >> 64) as u32,
            event: byte(13),
            of: match byte(14) & 0b11 {
                0 => Of::BestEffort,
                1 => Of::RealTime,
                _ => Of::Unknown,
            },
            interrupted: byte(14) & 0b100 != 0,
        }
    }

    /// Cycles from an earlier record, over a counter that may have begun again between them.
    pub(super) fn cycles_since(&self, earlier: &Self) -> u64 {
        self.stamp.wrapping_sub(earlier.stamp) & TIMESTAMP
    }

    /// A length that the core has computed itself, signed.
    pub(super) fn length(&self) -> i64 {
        ((self.stamp << 16) as i64) >> 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_is_where_the_core_has_it() {
        let mut bytes = [0; BYTES];
        bytes[..6].copy_from_slice(&[0x06, 0x05, 0x04, 0x03, 0x02, 0x01]);
        bytes[6..8].copy_from_slice(&[0xff, 0xff]);
        bytes[8..12].copy_from_slice(&0x8000_0001_u32.to_le_bytes());
        bytes[12] = 3;
        bytes[13] = 101;
        // One interrupt, the flag for it, a real-time task.
        bytes[14] = 0b0000_1101;
        let record = Record::new(&bytes);
        assert_eq!(record.stamp, 0x0102_0304_0506);
        assert_eq!(record.sequence, 0x8000_0001);
        assert_eq!(record.event, SCHEDULING + 1);
        assert_eq!(record.of, Of::RealTime);
        assert!(record.interrupted);
        bytes[14] = 0b0000_0010;
        let record = Record::new(&bytes);
        assert_eq!((record.of, record.interrupted), (Of::Unknown, false));
    }

    #[test]
    fn a_counter_that_begins_anew_and_a_negative_length_are_read_right() {
        let stamped = |stamp: u64| {
            let mut bytes = [0; BYTES];
            bytes[..8].copy_from_slice(&(stamp & TIMESTAMP).to_le_bytes());
            Record::new(&bytes)
        };
        let (before, after) = (stamped(u64::MAX - 9), stamped(20));
        assert_eq!(after.cycles_since(&before), 30);
        assert_eq!(stamped((-7_i64) as u64).length(), -7);
        assert_eq!(stamped(1952).length(), 1952);
    }
}

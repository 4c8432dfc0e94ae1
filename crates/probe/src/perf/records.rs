//! perf's records out of a ring's bytes, forwards and backwards. Pure, on any memory; the layout is
//! that of the kernel's `include/uapi/linux/perf_event.h`, with time and raw data in each sample.

use crate::stream::Record;

/// `PERF_RECORD_LOST`, `PERF_RECORD_SAMPLE`.
pub(crate) const LOST: u32 = 2;
pub(crate) const SAMPLE: u32 = 9;
/// Each record begins with type, flags and length.
const HEAD_BYTES: usize = 8;

/// A ring's bytes, at positions that only grow or only shrink and wrap around.
pub(crate) trait Memory {
    /// Length, a power of two.
    fn bytes(&self) -> u64;
    /// Copies the bytes from a position on.
    fn copy(&self, at: u64, into: &mut [u8]);
}

/// A record's content.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// An event's record.
    Sample(Record<'a>),
    /// Records that found no room.
    Lost(u64),
    /// Something else, or nothing that can be understood.
    Other,
}

/// A record's bytes, its head included.
pub(super) fn parse(record: &[u8]) -> Said<'_> {
    let number = |at: usize| Some(u32::from_le_bytes(*record.get(at..)?.first_chunk()?));
    let long = |at: usize| Some(u64::from_le_bytes(*record.get(at..)?.first_chunk()?));
    let said = || match number(0)? {
        SAMPLE => {
            let length = number(16)? as usize;
            let bytes = record.get(20..)?.get(..length)?;
            let at_ns = long(8)?;
            Some(Said::Sample(Record { at_ns, bytes }))
        }
        LOST => Some(Said::Lost(long(16)?)),
        _ => None,
    };
    said().unwrap_or(Said::Other)
}

/// Length of the record at a position; `None` if no record can be there.
fn length(memory: &impl Memory, at: u64, room: u64) -> Option<usize> {
    let mut head = [0; HEAD_BYTES];
    memory.copy(at, &mut head);
    let length = u16::from_le_bytes([head[6], head[7]]);
    (usize::from(length) >= HEAD_BYTES && u64::from(length) <= room).then_some(length.into())
}

/// Reads the record at a position into `into`.
pub(crate) fn read(memory: &impl Memory, at: u64, room: u64, into: &mut Vec<u8>) -> Option<usize> {
    let length = length(memory, at, room)?;
    into.resize(length, 0);
    memory.copy(at, into);
    Some(length)
}

/// Where the records begin that were written backwards from `first` (whole, newest first) to `head`.
/// The oldest ones are gone where more was written than there is room for: then the second is true.
pub(super) fn backwards(memory: &impl Memory, head: u64, first: u64) -> (Vec<u64>, bool) {
    let written = first.wrapping_sub(head);
    let held = written.min(memory.bytes());
    let mut begins = Vec::new();
    let mut past = 0;
    while past < held {
        let at = head.wrapping_add(past);
        // The oldest one that is left is torn, as a rule.
        let Some(length) = length(memory, at, held - past) else {
            break;
        };
        begins.push(at);
        past += length as u64;
    }
    (begins, written > memory.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Memory for Vec<u8> {
        fn bytes(&self) -> u64 {
            self.len() as u64
        }

        fn copy(&self, at: u64, into: &mut [u8]) {
            for (number, byte) in into.iter_mut().enumerate() {
                *byte = self[at.wrapping_add(number as u64) as usize % self.len()];
            }
        }
    }

    /// A sample with its raw data, padded as the kernel pads.
    fn sample(at_ns: u64, raw: &[u8]) -> Vec<u8> {
        let mut body = at_ns.to_le_bytes().to_vec();
        body.extend((raw.len() as u32).to_le_bytes());
        body.extend(raw);
        body.resize(body.len().next_multiple_of(8), 0);
        let mut record = SAMPLE.to_le_bytes().to_vec();
        record.extend([0, 0]);
        record.extend((body.len() as u16 + 8).to_le_bytes());
        record.extend(body);
        record
    }

    /// Writes records backwards from 0, as the kernel does; returns the head.
    fn written(memory: &mut [u8], records: &[Vec<u8>]) -> u64 {
        let mut head = 0_u64;
        for record in records {
            head = head.wrapping_sub(record.len() as u64);
            for (number, byte) in record.iter().enumerate() {
                let at = head.wrapping_add(number as u64) as usize % memory.len();
                memory[at] = *byte;
            }
        }
        head
    }

    fn times(memory: &Vec<u8>, begins: &[u64]) -> Vec<u64> {
        let mut record = Vec::new();
        let time = |at: &u64| {
            read(memory, *at, 1 << 16, &mut record)?;
            match parse(&record) {
                Said::Sample(sample) => Some(sample.at_ns),
                _ => None,
            }
        };
        begins.iter().filter_map(time).collect()
    }

    #[test]
    fn a_sample_gives_its_instant_and_its_bytes() {
        let record = sample(77, b"abcd");
        let expected = Record {
            at_ns: 77,
            bytes: b"abcd",
        };
        assert_eq!(parse(&record), Said::Sample(expected));
    }

    #[test]
    fn a_count_of_lost_records_is_read_behind_the_events_number() {
        let mut record = LOST.to_le_bytes().to_vec();
        record.extend([0, 0, 24, 0]);
        record.extend(5_u64.to_le_bytes());
        record.extend(1234_u64.to_le_bytes());
        assert_eq!(parse(&record), Said::Lost(1234));
        assert_eq!(parse(&record[..20]), Said::Other);
    }

    #[test]
    fn records_written_backwards_are_found_newest_first() {
        let mut memory = vec![0; 128];
        let head = written(&mut memory, &[sample(1, b"aaaa"), sample(2, b"bbbb")]);
        let (begins, overwritten) = backwards(&memory, head, 0);
        assert_eq!(times(&memory, &begins), [2, 1]);
        assert!(!overwritten);
        // Only what came after the first, as in a second recording.
        let since = begins[1];
        assert_eq!(times(&memory, &backwards(&memory, head, since).0), [2]);
    }

    #[test]
    fn the_oldest_are_gone_where_the_ring_was_too_small_and_a_torn_one_is_none() {
        // Records of 24 bytes: 64 bytes hold two and a part.
        let mut memory = vec![0; 64];
        let records: Vec<Vec<u8>> = (1..=5).map(|at| sample(at, b"aaaa")).collect();
        let head = written(&mut memory, &records);
        let (begins, overwritten) = backwards(&memory, head, 0);
        assert_eq!(times(&memory, &begins), [5, 4]);
        assert!(overwritten);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic_and_to_an_end(
            bytes in proptest::collection::vec(any::<u8>(), 256..=256), head in any::<u64>(),
            first in any::<u64>(),
        ) {
            let (begins, _) = backwards(&bytes, head, first);
            prop_assert!(begins.len() <= 32);
            let mut record = Vec::new();
            for at in begins {
                if read(&bytes, at, 256, &mut record).is_some() {
                    let _ = parse(&record);
                }
            }
        }
    }
}

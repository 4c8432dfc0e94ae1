//! One page of the ring buffer, as `trace_pipe_raw` gives it: a head with an instant and a length, then
//! records, each with the time since the previous one. The layout is that of the kernel's
//! `include/linux/ring_buffer.h` and `kernel/trace/ring_buffer.c`, on little-endian machines.

use super::format::PageFormat;

/// Length of the records in the head's `commit`; the kernel keeps flags above it.
const LENGTH: u64 = (1 << 20) - 1;
/// `RB_MISSED_EVENTS`: events were lost before this page.
const MISSED: u64 = 1 << 31;
/// `RB_MISSED_STORED`: their number is stored after the records.
const MISSED_STORED: u64 = 1 << 30;

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// An absolute time stamp has 59 bits; the rest is that of the page.
const TIME_STAMP_BITS: u64 = (1 << 59) - 1;

/// A page whose head has been read.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Instant of the page's beginning, in nanoseconds on the trace's clock.
    pub at_ns: u64,
    /// Whether events were lost before it.
    pub missed: Option<Missed>,
    records: &'a [u8],
}

/// Events were lost before a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missed {
    /// How many; 0 where the kernel does not say.
    pub count: u64,
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// When, in nanoseconds on the trace's clock.
    pub at_ns: u64,
    /// Its bytes, beginning with the event's number.
    pub bytes: &'a [u8],
}

impl<'a> Page<'a> {
    /// Reads a page's head. `None` where the bytes are too short for what it claims.
    pub fn parse(bytes: &'a [u8], format: &PageFormat) -> Option<Self> {
        let at_ns = format.timestamp.number(bytes)? as u64;
        let commit = format.commit.number(bytes)? as u64;
        let length = (commit & LENGTH) as usize;
        let data = bytes.get(format.data..)?;
        let records = data.get(..length)?;
        let missed = (commit & MISSED != 0).then(|| {
            let count = (commit & MISSED_STORED != 0)
                .then(|| word(data, length, format.commit.size))
                .flatten();
            Missed {
                count: count.unwrap_or(0),
            }
        });
        Some(Self {
            at_ns,
            missed,
            records,
        })
    }

    /// Its records in order.
    pub fn records(&self) -> Records<'a> {
        Records {
            rest: self.records,
            at_ns: self.at_ns,
            torn: false,
        }
    }
}

/// Iterator over a page's records.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    rest: &'a [u8],
    at_ns: u64,
    torn: bool,
}

impl Records<'_> {
    /// Whether the page ended within a record: never, as the kernel writes them.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    fn tear<T>(&mut self) -> Option<T> {
        (self.rest, self.torn) = (&[], true);
        None
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            let Some(head) = word(self.rest, 0, 4) else {
                return self.tear();
            };
            let (kind, delta) = (head as u32 & 31, head >> 5);
            let long = word(self.rest, 4, 4);
            let (from, to) = match (kind, long) {
                (1..=28, _) => (4, 4 + 4 * kind as usize),
                (PADDING, _) if delta == 0 => {
                    // Nothing follows on this page.
                    self.rest = &[];
                    return None;
                }
                // A discarded event: its length has replaced its bytes. The kernel's own reader does not
                // count its time.
                (PADDING, Some(length)) if length >= 4 => {
                    let Some(rest) = self.rest.get(4 + length as usize..) else {
                        return self.tear();
                    };
                    self.rest = rest;
                    continue;
                }
                (TIME_EXTEND, Some(high)) => {
                    self.at_ns = self.at_ns.wrapping_add((high << 27) + delta);
                    self.rest = &self.rest[8..];
                    continue;
                }
                (TIME_STAMP, Some(high)) => {
                    let stamp = ((high << 27) + delta) & TIME_STAMP_BITS;
                    self.at_ns = (self.at_ns & !TIME_STAMP_BITS) | stamp;
                    self.rest = &self.rest[8..];
                    continue;
                }
                (0, Some(length)) if length >= 4 => (8, 4 + length as usize),
                _ => return self.tear(),
            };
            let Some((record, rest)) = self.rest.split_at_checked(to) else {
                return self.tear();
            };
            self.at_ns = self.at_ns.wrapping_add(delta);
            self.rest = rest;
            return Some(Record {
                at_ns: self.at_ns,
                bytes: &record[from..],
            });
        }
    }
}

#[inline]
fn word(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + size)?;
    match size {
        4 => Some(u32::from_le_bytes(bytes.try_into().ok()?).into()),
        8 => Some(u64::from_le_bytes(bytes.try_into().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER_PAGE: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

    fn page(at_ns: u64, flags: u64, words: &[u32]) -> Vec<u8> {
        let mut bytes = at_ns.to_le_bytes().to_vec();
        bytes.extend((flags | (words.len() * 4) as u64).to_le_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.resize(4096, 0);
        bytes
    }

    fn read(bytes: &[u8]) -> Vec<(u64, usize)> {
        let format = PageFormat::parse(HEADER_PAGE).unwrap();
        let page = Page::parse(bytes, &format).unwrap();
        page.records().map(|r| (r.at_ns, r.bytes.len())).collect()
    }

    #[test]
    fn times_add_up_over_records_and_extensions() {
        let words = [
            2 | 100 << 5, // two words, 100 ns later
            0xaaaa,
            0xbbbb,      //
            30 | 5 << 5, // time extend: 5 + 1 · 2²⁷ ns
            1,           //
            29 | 1 << 5, // a discarded event of one word
            8,           //
            0xdead,      //
            0,           // a long record: its length, itself included, is 8
            8,
            0xcccc, //
            29,     // the rest is padding
            0x1234_5678,
        ];
        let found = read(&page(1_000, 0, &words));
        assert_eq!(found, [(1_100, 8), (1_100 + 5 + (1 << 27), 4)]);
    }

    #[test]
    fn an_absolute_stamp_replaces_the_time_and_keeps_the_pages_highest_bits() {
        let high = 1 << 60;
        let found = read(&page(high + 7, 0, &[31 | 9 << 5, 2, 1 | 1 << 5, 0]));
        assert_eq!(found, [(high + (2 << 27) + 9 + 1, 4)]);
    }

    #[test]
    fn lost_events_are_counted_from_behind_the_records() {
        let format = PageFormat::parse(HEADER_PAGE).unwrap();
        let mut bytes = page(5, MISSED | MISSED_STORED, &[1, 0]);
        bytes[24..32].copy_from_slice(&77_u64.to_le_bytes());
        let missed = Page::parse(&bytes, &format).unwrap().missed;
        assert_eq!(missed, Some(Missed { count: 77 }));
        let bytes = page(5, MISSED, &[1, 0]);
        let missed = Page::parse(&bytes, &format).unwrap().missed;
        assert_eq!(missed, Some(Missed { count: 0 }));
    }

    #[test]
    fn a_page_that_ends_within_a_record_says_so() {
        let format = PageFormat::parse(HEADER_PAGE).unwrap();
        let bytes = page(5, 0, &[3, 0]);
        let mut records = Page::parse(&bytes, &format).unwrap().records();
        assert_eq!(records.next(), None);
        assert!(records.is_torn());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic_and_to_an_end(
            bytes in proptest::collection::vec(any::<u8>(), 0..600), length in 0..600_u64,
        ) {
            let format = PageFormat::parse(HEADER_PAGE).unwrap();
            let mut bytes = bytes;
            if bytes.len() >= 16 {
                bytes[8..16].copy_from_slice(&length.to_le_bytes());
            }
            if let Some(page) = Page::parse(&bytes, &format) {
                prop_assert!(page.records().count() <= bytes.len());
            }
        }
    }
}

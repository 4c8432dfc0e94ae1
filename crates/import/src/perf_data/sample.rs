//! How a sample is laid out, which its event's attributes tell: `PERF_RECORD_SAMPLE` of
//! perf_event_open(2).

use crate::bytes::Bytes;

/// Bits of `sample_type`, in the order in which a sample has them except for the first.
const IDENTIFIER: u64 = 1 << 16;
const IP: u64 = 1 << 0;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDR: u64 = 1 << 3;
const ID: u64 = 1 << 6;
const STREAM_ID: u64 = 1 << 9;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const READ: u64 = 1 << 4;
const CALLCHAIN: u64 = 1 << 5;
const RAW: u64 = 1 << 10;
/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;

/// Layout of an event's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    sample_type: u64,
    read_format: u64,
    /// The tracepoint's number; `None` for an event of another kind.
    pub(super) tracepoint: Option<u64>,
}

/// The parts of a sample in use.
pub(super) struct Sample<'a> {
    pub(super) at_ns: u64,
    pub(super) cpu: u16,
    pub(super) raw: &'a [u8],
}

impl Layout {
    /// From the beginning of a `struct perf_event_attr`.
    pub(super) fn of_attribute(bytes: &mut Bytes<'_>) -> Option<Self> {
        let kind = bytes.u32()?;
        let _size = bytes.u32()?;
        let config = bytes.u64()?;
        let _period = bytes.u64()?;
        Some(Self {
            sample_type: bytes.u64()?,
            read_format: bytes.u64()?,
            tracepoint: (kind == TRACEPOINT).then_some(config),
        })
    }

    fn has(&self, bit: u64) -> bool {
        self.sample_type & bit != 0
    }

    /// Whether a sample begins with the number of its event.
    pub(super) fn is_identified(&self) -> bool {
        self.has(IDENTIFIER)
    }

    /// Whether a sample is laid out as one of the other is.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.sample_type, self.read_format) == (other.sample_type, other.read_format)
    }

    /// What samples of a tracepoint must hold and these do not.
    pub(super) fn lacks(&self) -> Option<&'static str> {
        [
            (TIME, "their time"),
            (CPU, "their CPU: record with -a or -C"),
            (RAW, "the event's own fields"),
        ]
        .into_iter()
        .find(|(bit, _)| !self.has(*bit))
        .map(|(_, what)| what)
    }

    /// Reads the body of a sample; `None` if it is shorter than its layout.
    pub(super) fn read<'a>(&self, mut body: Bytes<'a>) -> Option<Sample<'a>> {
        let mut word = |bit: u64| if self.has(bit) { body.u64() } else { Some(0) };
        word(IDENTIFIER)?;
        word(IP)?;
        word(TID)?;
        let at_ns = word(TIME)?;
        word(ADDR)?;
        word(ID)?;
        word(STREAM_ID)?;
        // CPU and a reserved half.
        let cpu = word(CPU)? & 0xffff_ffff;
        word(PERIOD)?;
        if self.has(READ) {
            self.skip_counts(&mut body)?;
        }
        if self.has(CALLCHAIN) {
            let frames = body.u64()?;
            body.skip_words(frames)?;
        }
        let raw = if self.has(RAW) {
            let length = body.u32()?;
            body.take(length.into())?
        } else {
            &[]
        };
        Some(Sample {
            at_ns,
            cpu: u16::try_from(cpu).ok()?,
            raw,
        })
    }

    /// `read_format`: total times 1 and 2, number 4, group 8, lost 16.
    fn skip_counts(&self, body: &mut Bytes<'_>) -> Option<()> {
        let has = |bit: u64| u64::from(self.read_format & bit != 0);
        let (times, each) = (has(1) + has(2), 1 + has(4) + has(16));
        let values = match has(8) {
            1 => body.u64()?,
            _ => 1,
        };
        body.skip_words(times.checked_add(values.checked_mul(each)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_the_raw_bytes_is_stepped_over() {
        let layout = Layout {
            sample_type: IDENTIFIER | IP | TID | TIME | CPU | PERIOD | READ | CALLCHAIN | RAW,
            // Times, a group of two, each with number and lost.
            read_format: 1 | 2 | 4 | 8 | 16,
            tracepoint: Some(7),
        };
        let mut bytes = Vec::new();
        for word in [7_u64, 0, 0, 1_234, 3, 1] {
            bytes.extend(word.to_le_bytes());
        }
        // The group's count, two times, two of three words; two frames.
        for word in [2_u64, 0, 0, 1, 1, 1, 1, 1, 1, 2, 9, 9] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(5_u32.to_le_bytes());
        bytes.extend(b"hello");
        let sample = layout.read(Bytes(&bytes)).unwrap();
        assert_eq!(
            (sample.at_ns, sample.cpu, sample.raw),
            (1_234, 3, &b"hello"[..])
        );
        assert!(layout.read(Bytes(&bytes[..bytes.len() - 1])).is_none());
    }
}

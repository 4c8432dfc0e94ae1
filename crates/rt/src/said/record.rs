//! Records in a loop's ring of words: encoding, and validation when reading.

use super::ring::Writer;
use super::{Argument, Code, MOST_ARGUMENTS, TEXT_BYTES};

const SECTION: u64 = 1;
const LINE: u64 = 2;
const VALUE: u64 = 3;
const DUE: u64 = 4;

/// A record's head: kind (8 bits), its words (8), which section, format or value (16), argument codes
/// (4 bits each).
#[inline]
const fn head(kind: u64, words: usize, number: u16, codes: u32) -> u64 {
    kind | (words as u64) << 8 | (number as u64) << 16 | (codes as u64) << 32
}

/// The words of the record that begins with this one.
pub(super) const fn words_of(head: u64) -> usize {
    (head >> 8) as u8 as usize
}

/// An owned argument, for the recorder.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// A number with a sign.
    Integer(i64),
    /// A number without one.
    Natural(u64),
    /// A number with a fraction.
    Real(f64),
    /// A text.
    Text(String),
    /// An address.
    Address(u64),
}

/// A record. Instants in nanoseconds on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// A section ran.
    Section {
        /// Which.
        section: u16,
        /// In which cycle.
        cycle: u64,
        /// Its begin.
        from_ns: u64,
        /// Its end.
        to_ns: u64,
    },
    /// A line of the loop's log.
    Line {
        /// Which format.
        format: u16,
        /// In which cycle.
        cycle: u64,
        /// When.
        at_ns: u64,
        /// Its arguments.
        arguments: Vec<Told>,
    },
    /// A value.
    Value {
        /// Which; its name is a format's text.
        number: u16,
        /// In which cycle.
        cycle: u64,
        /// When.
        at_ns: u64,
        /// The value.
        value: f64,
    },
    /// A due time of a foreign clock.
    Due {
        /// Its cycle.
        cycle: u64,
        /// When it was due.
        due_ns: u64,
    },
}

impl Said {
    /// Decodes a record; `None` if it is invalid.
    pub fn new(record: &[u64]) -> Option<Self> {
        let (&head, rest) = record.split_first()?;
        let number = (head >> 16) as u16;
        Some(match (head & 0xff, rest) {
            (SECTION, &[cycle, from_ns, to_ns]) => Self::Section {
                section: number,
                cycle,
                from_ns,
                to_ns,
            },
            (LINE, [cycle, at_ns, words @ ..]) => Self::Line {
                format: number,
                cycle: *cycle,
                at_ns: *at_ns,
                arguments: arguments(head >> 32, words)?,
            },
            (VALUE, &[cycle, at_ns, bits]) => Self::Value {
                number,
                cycle,
                at_ns,
                value: f64::from_bits(bits),
            },
            (DUE, &[cycle, due_ns]) => Self::Due { cycle, due_ns },
            _ => return None,
        })
    }
}

fn arguments(mut codes: u64, mut words: &[u64]) -> Option<Vec<Told>> {
    let mut found = Vec::new();
    while codes != 0 {
        let (&word, rest) = words.split_first()?;
        words = rest;
        found.push(match Code::new(codes)? {
            Code::Int | Code::Long | Code::LongLong => Told::Integer(word.cast_signed()),
            Code::UnsignedInt | Code::UnsignedLong | Code::UnsignedLongLong => Told::Natural(word),
            Code::Double => Told::Real(f64::from_bits(word)),
            Code::Address => Told::Address(word),
            Code::Text => {
                let length = usize::try_from(word)
                    .ok()
                    .filter(|&one| one <= TEXT_BYTES)?;
                let (text, rest) = words.split_at_checked(length.div_ceil(8))?;
                words = rest;
                let bytes: Vec<u8> = text.iter().flat_map(|word| word.to_le_bytes()).collect();
                Told::Text(String::from_utf8_lossy(&bytes[..length]).into_owned())
            }
        });
        codes >>= 4;
    }
    words.is_empty().then_some(found)
}

impl Writer<'_> {
    /// A section's number, its cycle, begin and end.
    #[inline]
    pub(crate) fn section(&mut self, (section, cycle, from_ns, to_ns): (u16, u64, u64, u64)) {
        self.push(4, |place| {
            place.put(head(SECTION, 4, section, 0));
            place.put(cycle);
            place.put(from_ns);
            place.put(to_ns);
        });
    }

    /// A value.
    #[inline]
    pub(crate) fn value(&mut self, number: u16, cycle: u64, at_ns: u64, value: f64) {
        self.push(4, |place| {
            place.put(head(VALUE, 4, number, 0));
            place.put(cycle);
            place.put(at_ns);
            place.put(value.to_bits());
        });
    }

    /// A due time.
    #[inline]
    pub(crate) fn due(&mut self, cycle: u64, due_ns: u64) {
        self.push(3, |place| {
            place.put(head(DUE, 3, 0, 0));
            place.put(cycle);
            place.put(due_ns);
        });
    }

    /// A line; of more than [`MOST_ARGUMENTS`] arguments, the first ones.
    #[inline]
    pub(crate) fn line(&mut self, format: u16, cycle: u64, at_ns: u64, arguments: &[Argument<'_>]) {
        let arguments = &arguments[..arguments.len().min(MOST_ARGUMENTS)];
        let (mut codes, mut words) = (0_u32, 3);
        for (at, argument) in arguments.iter().enumerate() {
            codes |= (argument.code() as u32) << (4 * at);
            words += argument.words();
        }
        self.push(words, |place| {
            place.put(head(LINE, words, format, codes));
            place.put(cycle);
            place.put(at_ns);
            for argument in arguments {
                match *argument {
                    Argument::Integer(number) => place.put(number.cast_unsigned()),
                    Argument::Natural(number) | Argument::Address(number) => place.put(number),
                    Argument::Real(number) => place.put(number.to_bits()),
                    Argument::Text(text) => {
                        let bytes = &text.as_bytes()[..text.len().min(TEXT_BYTES)];
                        place.put(bytes.len() as u64);
                        for chunk in bytes.chunks(8) {
                            let mut word = [0; 8];
                            word[..chunk.len()].copy_from_slice(chunk);
                            place.put(u64::from_le_bytes(word));
                        }
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::said::{ReaderSide, SaidIndices, Word, WriterSide, reader, writer};

    #[test]
    fn arguments_come_as_they_went_and_long_texts_are_cut() {
        let words = Vec::from_iter((0..256).map(|_| Word::default()));
        let sides = (WriterSide::default(), ReaderSide::default());
        let indices = SaidIndices::new(&sides.0, &sides.1);
        let long = "x".repeat(100);
        let arguments = [
            (-7).into(),
            u64::MAX.into(),
            0.25.into(),
            "nine byte".into(),
            long.as_str().into(),
            Argument::Address(0x10),
            true.into(),
            "".into(),
            "one too many".into(),
        ];
        writer(indices, &words).line(5, 42, 99, &arguments);
        let mut found = Vec::new();
        reader(indices, &words).take(|record| found.extend(Said::new(record)));
        let told = vec![
            Told::Integer(-7),
            Told::Natural(u64::MAX),
            Told::Real(0.25),
            Told::Text("nine byte".into()),
            Told::Text("x".repeat(TEXT_BYTES)),
            Told::Address(16),
            Told::Text("true".into()),
            Told::Text(String::new()),
        ];
        let line = Said::Line {
            format: 5,
            cycle: 42,
            at_ns: 99,
            arguments: told,
        };
        assert_eq!(found, [line]);
    }

    #[test]
    fn records_that_no_loop_wrote_are_none() {
        for record in [
            &[][..],
            &[0],
            &[head(SECTION, 2, 0, 0), 1],
            &[head(LINE, 3, 0, 8), 1, 2],
            &[head(LINE, 4, 0, 8), 1, 2, u64::MAX],
            &[head(LINE, 4, 0, 8), 1, 2, 9],
            &[head(LINE, 4, 0, 15), 1, 2, 9],
            &[head(LINE, 4, 0, 0), 1, 2, 9],
            &[head(99, 1, 0, 0)],
        ] {
            assert_eq!(Said::new(record), None, "{record:x?}");
        }
    }
}

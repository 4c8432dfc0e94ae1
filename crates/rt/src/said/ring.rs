//! A wait-free ring of words for records of different lengths: one writer, one reader.
//!
//! A full ring drops the record and counts it. Every word is an atomic, so that reading is safe
//! even if other code overwrites the memory.

use super::MOST_WORDS;
use std::sync::atomic::{AtomicU64, Ordering};

/// A word of the ring.
pub type Word = AtomicU64;

/// The writer's side of the indices.
#[repr(C)]
#[derive(Debug, Default)]
pub struct WriterSide {
    /// Words written so far.
    written: AtomicU64,
    /// Records dropped because the ring was full.
    dropped: AtomicU64,
}

/// The reader's side of the indices.
#[repr(C)]
#[derive(Debug, Default)]
pub struct ReaderSide {
    /// Words read so far.
    read: AtomicU64,
}

/// The shared indices of a ring.
#[derive(Debug, Clone, Copy)]
pub struct SaidIndices<'a> {
    writer: &'a WriterSide,
    reader: &'a ReaderSide,
}

impl<'a> SaidIndices<'a> {
    /// Those of these two sides.
    pub fn new(writer: &'a WriterSide, reader: &'a ReaderSide) -> Self {
        Self { writer, reader }
    }

    /// Records dropped so far because the ring was full.
    pub fn dropped(self) -> u64 {
        self.writer.dropped.load(Ordering::Acquire)
    }

    /// Makes the ring empty. Only while neither side is in use.
    pub fn reset(self) {
        self.reader.read.store(0, Ordering::Relaxed);
        self.writer.dropped.store(0, Ordering::Relaxed);
        self.writer.written.store(0, Ordering::Release);
    }
}

/// The loop's end.
#[derive(Debug)]
pub struct Writer<'a> {
    indices: SaidIndices<'a>,
    words: &'a [Word],
    written: u64,
    /// The reader's index as last read.
    read_seen: u64,
    dropped: u64,
}

/// The loop's end of a ring.
///
/// # Panics
/// When the number of words isn't a power of two.
pub fn writer<'a>(indices: SaidIndices<'a>, words: &'a [Word]) -> Writer<'a> {
    assert!(words.is_empty() || words.len().is_power_of_two());
    Writer {
        indices,
        words,
        written: indices.writer.written.load(Ordering::Acquire),
        read_seen: indices.reader.read.load(Ordering::Acquire),
        dropped: indices.writer.dropped.load(Ordering::Acquire),
    }
}

impl Writer<'_> {
    /// Prefetches the space of the next records: a section's, and a line's with three numbers, are
    /// 80 bytes together.
    #[inline]
    pub(crate) fn ask_ahead(&self) {
        if self.words.is_empty() {
            return;
        }
        let at = self.written as usize & (self.words.len() - 1);
        let next = self.words[at..].as_ptr();
        for line in 0..3 {
            crate::ahead::ask_for(next.wrapping_add(8 * line));
        }
    }

    /// Writes a record of `count` words, or drops and counts it. `fill` writes each word.
    #[inline]
    pub(crate) fn push(&mut self, count: usize, fill: impl FnOnce(&mut Place<'_>)) {
        let capacity = self.words.len() as u64;
        if self.written + count as u64 - self.read_seen > capacity {
            self.read_seen = self.indices.reader.read.load(Ordering::Acquire);
            if (self.written + count as u64).wrapping_sub(self.read_seen) > capacity {
                self.drop_one();
                return;
            }
        }
        let mut place = Place {
            words: self.words,
            at: self.written,
        };
        fill(&mut place);
        self.written += count as u64;
        debug_assert_eq!(place.at, self.written);
        self.indices
            .writer
            .written
            .store(self.written, Ordering::Release);
    }

    /// Counts a record that is not written.
    #[cold]
    pub(crate) fn drop_one(&mut self) {
        self.dropped += 1;
        self.indices
            .writer
            .dropped
            .store(self.dropped, Ordering::Release);
    }
}

/// Position of the next word of a record.
pub(crate) struct Place<'a> {
    words: &'a [Word],
    at: u64,
}

impl Place<'_> {
    #[inline]
    pub(crate) fn put(&mut self, word: u64) {
        let at = self.at as usize & (self.words.len() - 1);
        self.words[at].store(word, Ordering::Relaxed);
        self.at += 1;
    }
}

/// The recorder's end.
#[derive(Debug)]
pub struct Reader<'a> {
    indices: SaidIndices<'a>,
    words: &'a [Word],
    read: u64,
    is_damaged: bool,
}

/// The recorder's end of a ring.
pub fn reader<'a>(indices: SaidIndices<'a>, words: &'a [Word]) -> Reader<'a> {
    Reader {
        indices,
        words,
        read: indices.reader.read.load(Ordering::Acquire),
        is_damaged: false,
    }
}

impl Reader<'_> {
    /// Passes on the available records, each as its words; at most as many as the ring holds, so
    /// that a fast writer can't keep the reader here.
    pub fn take(&mut self, mut each: impl FnMut(&[u64])) {
        let capacity = self.words.len() as u64;
        let written = self.indices.writer.written.load(Ordering::Acquire);
        self.is_damaged |= written.wrapping_sub(self.read) > capacity;
        let mut record = [0; MOST_WORDS];
        while !self.is_damaged && self.read != written {
            let word = |at: u64| {
                let at = at as usize & (self.words.len() - 1);
                self.words[at].load(Ordering::Relaxed)
            };
            let count = super::record::words_of(word(self.read));
            if count == 0 || count > MOST_WORDS || count as u64 > written - self.read {
                self.is_damaged = true;
                break;
            }
            for (at, place) in (self.read..).zip(&mut record[..count]) {
                *place = word(at);
            }
            each(&record[..count]);
            self.read += count as u64;
        }
        if !self.is_damaged {
            self.indices.reader.read.store(self.read, Ordering::Release);
        }
    }

    /// Whether something else than its writer wrote there; nothing more is taken.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::said::Said;

    type Sides = (WriterSide, ReaderSide);

    fn words(count: usize) -> Vec<Word> {
        (0..count).map(|_| Word::default()).collect()
    }

    fn taken(reader: &mut Reader<'_>) -> Vec<Said> {
        let mut found = Vec::new();
        reader.take(|record| found.push(Said::new(record).expect("a record")));
        found
    }

    #[test]
    fn a_full_ring_drops_whole_records_and_counts_them() {
        let (sides, words) = (Sides::default(), words(16));
        let indices = SaidIndices::new(&sides.0, &sides.1);
        let (mut writer, mut reader) = (writer(indices, &words), reader(indices, &words));
        let span = |cycle| (1, cycle, 10 * cycle, 10 * cycle + 3);
        (0..6).for_each(|cycle| writer.section(span(cycle)));
        let kept = taken(&mut reader);
        assert_eq!((kept.len(), indices.dropped()), (4, 2));
        // The next ones wrap around the ring's end.
        (6..9).for_each(|cycle| writer.value(3, cycle, 70, 0.5));
        let Some(Said::Value {
            cycle: 8,
            number: 3,
            at_ns: 70,
            value,
        }) = taken(&mut reader).pop()
        else {
            panic!("another record");
        };
        assert_eq!(value, 0.5);
    }

    #[test]
    fn impossible_indices_and_lengths_are_damage() {
        for (written, head) in [(99, 4), (4, 0), (4, u64::MAX), (4, 5 << 8)] {
            let (sides, words) = (Sides::default(), words(16));
            let indices = SaidIndices::new(&sides.0, &sides.1);
            let mut reader = reader(indices, &words);
            words[0].store(head, Ordering::Relaxed);
            indices.writer.written.store(written, Ordering::Relaxed);
            reader.take(|_| panic!("nothing is there"));
            assert!(reader.is_damaged(), "{written} {head}");
        }
    }

    #[test]
    fn two_threads_agree_on_every_record() {
        const COUNT: u64 = if cfg!(miri) { 2_000 } else { 100_000 };
        let (sides, words) = (Sides::default(), words(1 << 10));
        let indices = SaidIndices::new(&sides.0, &sides.1);
        let mut reader = reader(indices, &words);
        let mut cycles = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut writer = writer(indices, &words);
                (0..COUNT).for_each(|cycle| match cycle % 2 {
                    0 => writer.section((2, cycle, cycle, cycle + 5)),
                    _ => writer.line(7, cycle, cycle, &["a text".into(), 3.into()]),
                });
            });
            while cycles.len() as u64 + indices.dropped() < COUNT {
                reader.take(|record| match Said::new(record).expect("whole") {
                    Said::Section {
                        cycle,
                        from_ns,
                        to_ns,
                        section: 2,
                    } => {
                        assert_eq!((from_ns, to_ns), (cycle, cycle + 5));
                        cycles.push(cycle);
                    }
                    Said::Line {
                        cycle, arguments, ..
                    } => {
                        assert_eq!(arguments.len(), 2);
                        cycles.push(cycle);
                    }
                    other => panic!("{other:?}"),
                });
            }
        });
        assert!(cycles.is_sorted());
    }
}

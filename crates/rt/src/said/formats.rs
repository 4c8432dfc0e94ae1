//! Formats of a loop's log lines and names of its values.
//!
//! They are identified by their address in the loop, and written once into shared memory for the
//! recorder. Nothing is formatted here.

use super::{Code, MOST_ARGUMENTS};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Formats and names of one loop, together.
pub const MOST_FORMATS: usize = 128;
/// Stored bytes of a format.
pub const FORMAT_BYTES: usize = 112;
/// Places of the loop's own table: never more than half full.
const PLACES: usize = 2 * MOST_FORMATS;

/// Number of recently used entries to prefetch.
const LATEST: usize = 4;

/// How a format is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Style {
    /// `{}`, as in Rust and C++20.
    Braces = 1,
    /// `%d`, as in C.
    Printf = 2,
    /// The name of a value.
    Name = 3,
}

/// A format, as the recorder reads it.
#[repr(C)]
#[derive(Debug, Default)]
pub struct SharedFormat {
    style: AtomicU32,
    length: AtomicU32,
    text: [AtomicU64; FORMAT_BYTES / 8],
}

impl SharedFormat {
    /// The format; `None` if none was written, or it is invalid.
    pub fn read(&self) -> Option<(Style, String)> {
        let style = match self.style.load(Ordering::Acquire) {
            1 => Style::Braces,
            2 => Style::Printf,
            3 => Style::Name,
            _ => return None,
        };
        let length = (self.length.load(Ordering::Relaxed) as usize).min(FORMAT_BYTES);
        let words = self.text.iter().map(|word| word.load(Ordering::Relaxed));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).take(length).collect();
        Some((style, String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn write(&self, style: Style, text: &[u8]) {
        let text = &text[..text.len().min(FORMAT_BYTES)];
        for (place, chunk) in self.text.iter().zip(text.chunks(8)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            place.store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
        self.length.store(text.len() as u32, Ordering::Relaxed);
        self.style.store(style as u32, Ordering::Release);
    }

    pub(crate) fn reset(&self) {
        self.style.store(0, Ordering::Release);
    }
}

/// A format that the loop has used before.
#[derive(Debug, Clone, Copy)]
struct Known {
    address: usize,
    length: usize,
    number: u16,
    codes: u32,
}

const NOBODY: Known = Known {
    address: 0,
    length: 0,
    number: 0,
    codes: 0,
};

/// The loop's own side: which number a format has.
#[derive(Debug)]
pub struct Formats {
    shared: &'static [SharedFormat; MOST_FORMATS],
    known: Box<[Known; PLACES]>,
    count: usize,
    /// Positions of the most recently used ones, which the next cycle will probably use again.
    latest: [u8; LATEST],
    uses: u8,
}

impl Formats {
    /// Without any known format.
    pub(crate) fn new(shared: &'static [SharedFormat; MOST_FORMATS]) -> Self {
        Self {
            shared,
            known: Box::new([NOBODY; PLACES]),
            count: 0,
            latest: [0; LATEST],
            uses: 0,
        }
    }

    /// The number of a text that stays at its address; `None` if there are too many.
    #[inline]
    pub(crate) fn number(&mut self, text: &'static [u8], style: Style) -> Option<u16> {
        let key = (text.as_ptr().addr(), text.len());
        match self.find(key) {
            Ok(at) => Some(self.used(at).number),
            Err(place) => self.add(place, key, text, style, 0),
        }
    }

    /// Number and argument codes of a C format that stays at its address; `None` if there are too
    /// many, or it needs an argument that can't be copied.
    ///
    /// # Safety
    /// `text` ends with a NUL.
    #[inline]
    #[allow(unsafe_code)] // A text of C.
    pub(crate) unsafe fn of_c(&mut self, text: *const std::ffi::c_char) -> Option<(u16, u32)> {
        let key = (text.addr(), 0);
        match self.find(key) {
            Ok(at) => {
                let known = self.used(at);
                Some((known.number, known.codes))
            }
            Err(place) => {
                // SAFETY: the caller's promise.
                let text = unsafe { std::ffi::CStr::from_ptr(text) }.to_bytes();
                let codes = codes_of(text)?;
                let number = self.add(place, key, text, Style::Printf, codes)?;
                Some((number, codes))
            }
        }
    }

    #[inline]
    fn used(&mut self, at: usize) -> Known {
        self.latest[usize::from(self.uses) % LATEST] = at as u8;
        self.uses = self.uses.wrapping_add(1);
        self.known[at]
    }

    /// Prefetches the entries that the cycle before has used.
    #[inline]
    pub(crate) fn ask_ahead(&self) {
        for &at in &self.latest {
            crate::ahead::ask_for(&self.known[usize::from(at)]);
        }
    }

    /// Position of the entry with this key, or the free position for it.
    #[inline]
    fn find(&self, (address, length): (usize, usize)) -> Result<usize, usize> {
        // Fibonacci hashing, because texts are at nearby addresses.
        let mixed = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut at = (mixed >> 32) as usize % PLACES;
        loop {
            let known = self.known[at];
            if known.address == address && known.length == length {
                return Ok(at);
            }
            if known.address == 0 {
                return Err(at);
            }
            at = (at + 1) % PLACES;
        }
    }

    #[cold]
    fn add(
        &mut self,
        place: usize,
        (address, length): (usize, usize),
        text: &[u8],
        style: Style,
        codes: u32,
    ) -> Option<u16> {
        let shared = self.shared.get(self.count)?;
        shared.write(style, text);
        let number = self.count as u16;
        self.known[place] = Known {
            address,
            length,
            number,
            codes,
        };
        self.count += 1;
        Some(number)
    }
}

/// The codes of a `printf` format's arguments, the first lowest; `None` if one can't be copied
/// (`%n`, `long double`, a width from an argument) or there are more than [`MOST_ARGUMENTS`].
fn codes_of(format: &[u8]) -> Option<u32> {
    let (mut codes, mut count) = (0, 0);
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            continue;
        }
        if rest.next_if_eq(&b'%').is_some() {
            continue;
        }
        while rest
            .next_if(|byte| b"-+ #0123456789.'".contains(byte))
            .is_some()
        {}
        let (mut long, mut size) = (0, None);
        while let Some(letter) = rest.next_if(|byte| b"hljztL".contains(byte)) {
            match letter {
                b'l' => long += 1,
                b'h' => {}
                other => size = Some(other),
            }
        }
        let whole = |signed: bool| {
            match (size, long) {
                (Some(b'j'), _) | (None, 2) => Some((Code::LongLong, Code::UnsignedLongLong)),
                (Some(b'z' | b't'), _) | (None, 1) => Some((Code::Long, Code::UnsignedLong)),
                (None, 0) => Some((Code::Int, Code::UnsignedInt)),
                _ => None,
            }
            .map(|(of, unsigned)| if signed { of } else { unsigned })
        };
        let code = match rest.next()? {
            b'd' | b'i' => whole(true)?,
            b'u' | b'x' | b'X' | b'o' => whole(false)?,
            b'c' if long == 0 && size.is_none() => Code::Int,
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' if size.is_none() => Code::Double,
            b's' if long == 0 && size.is_none() => Code::Text,
            b'p' => Code::Address,
            _ => return None,
        };
        if count == MOST_ARGUMENTS {
            return None;
        }
        codes |= (code as u32) << (4 * count);
        count += 1;
    }
    Some(codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formats() -> Formats {
        Formats::new(Box::leak(Box::new(
            [const {
                SharedFormat {
                    style: AtomicU32::new(0),
                    length: AtomicU32::new(0),
                    text: [const { AtomicU64::new(0) }; FORMAT_BYTES / 8],
                }
            }; MOST_FORMATS],
        )))
    }

    #[test]
    fn a_format_is_written_once_and_has_one_number() {
        let mut formats = formats();
        let (one, two) = (&b"height {}"[..], &b"speed {}"[..]);
        assert_eq!(formats.number(one, Style::Braces), Some(0));
        assert_eq!(formats.number(two, Style::Name), Some(1));
        assert_eq!(formats.number(one, Style::Braces), Some(0));
        // A part of it is another text.
        assert_eq!(formats.number(&one[..6], Style::Braces), Some(2));
        let read = |number: usize| formats.shared[number].read().unwrap();
        assert_eq!(read(0), (Style::Braces, "height {}".into()));
        assert_eq!(read(1), (Style::Name, "speed {}".into()));
        assert_eq!(read(2).1, "height");
        assert!(formats.shared[3].read().is_none());
    }

    #[test]
    fn one_too_many_has_no_number() {
        let text: &'static [u8] = Box::leak(vec![b'x'; MOST_FORMATS + 1].into_boxed_slice());
        let mut formats = formats();
        for at in 0..MOST_FORMATS {
            assert_eq!(formats.number(&text[at..], Style::Braces), Some(at as u16));
        }
        assert_eq!(formats.number(&text[MOST_FORMATS..], Style::Braces), None);
        assert_eq!(formats.number(&text[7..], Style::Braces), Some(7));
    }

    #[test]
    fn a_format_of_c_says_what_it_takes() {
        use Code::{Address, Double, Int, Long, LongLong, Text, UnsignedInt, UnsignedLong};
        let codes = |format: &str| {
            let found = codes_of(format.as_bytes())?;
            let four = (0..8).map_while(|at| Code::new(u64::from(found >> (4 * at))));
            Some(four.collect::<Vec<_>>())
        };
        assert_eq!(codes("no argument: 100 %%"), Some(vec![]));
        let found = codes("%d %-5.2f %s %lu %zu %lld %p %hhx").unwrap();
        let wanted = [
            Int,
            Double,
            Text,
            UnsignedLong,
            UnsignedLong,
            LongLong,
            Address,
            UnsignedInt,
        ];
        assert_eq!(found, wanted);
        assert_eq!(codes("%c%ti").unwrap(), [Int, Long]);
        for bad in ["%n", "%Lf", "%*d", "%", "%ls", "%d%d%d%d%d%d%d%d%d", "%q"] {
            assert_eq!(codes(bad), None, "{bad}");
        }
    }
}

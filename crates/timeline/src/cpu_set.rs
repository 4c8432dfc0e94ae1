//! A set of CPU numbers in the kernel's list form, `0-3,8`. It knows no machine: whether a CPU
//! exists is not its business.

use std::fmt;
use std::str::FromStr;

/// The most CPUs that Linux is built for on any architecture; a higher number is a damaged file
/// or a slip.
pub const MOST_CPUS: u16 = 8192;

/// CPU numbers, ascending, each once. Written and read as the kernel does: `0-3,8`; the empty
/// text is the empty set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct CpuSet(Vec<u16>);

/// Reasons why a text isn't a CPU list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CpuSetError {
    /// A part is neither a number nor a range of numbers.
    NotANumber(String),
    /// A number beyond Linux's limit.
    TooHigh(String),
    /// A range runs backwards.
    Backwards {
        /// The first number.
        first: u16,
        /// The last number, which is lower.
        last: u16,
    },
    /// The text isn't a mask of hexadecimal words.
    NotAMask,
}

impl fmt::Display for CpuSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber(part) => {
                let part = crate::one_line(part);
                write!(f, "`{part}` is not a CPU number; expected e.g. 0-3,8")
            }
            Self::TooHigh(part) => write!(
                f,
                "CPU {part} is beyond {}, the last that Linux knows",
                MOST_CPUS - 1
            ),
            Self::Backwards { first, last } => {
                write!(
                    f,
                    "the range {first}-{last} runs backwards; give {last}-{first}"
                )
            }
            Self::NotAMask => f.write_str("a mask of hexadecimal words was expected"),
        }
    }
}

impl std::error::Error for CpuSetError {}

impl CpuSet {
    /// The numbers, ascending.
    pub fn numbers(&self) -> &[u16] {
        &self.0
    }

    /// Number of CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lowest number.
    pub fn first(&self) -> Option<u16> {
        self.0.first().copied()
    }

    /// Whether this CPU is in the set.
    pub fn contains(&self, cpu: u16) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    /// The CPUs that are only in this set.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let here = self.0.iter().copied();
        here.filter(|&cpu| !other.contains(cpu)).collect()
    }

    /// Reads a mask as the kernel writes it: hexadecimal words of 32 bits, highest first.
    ///
    /// # Errors
    /// [`CpuSetError::NotAMask`], and [`CpuSetError::TooHigh`] for a bit beyond the last CPU.
    pub fn of_mask(text: &str) -> Result<Self, CpuSetError> {
        let mut cpus = Vec::new();
        for (position, word) in text.trim().rsplit(',').enumerate() {
            let bits = u32::from_str_radix(word, 16).map_err(|_| CpuSetError::NotAMask)?;
            for bit in (0..32).filter(|bit| bits >> bit & 1 == 1) {
                cpus.push(number(&(position * 32 + bit).to_string())?);
            }
        }
        Ok(cpus.into_iter().collect())
    }

    /// The mask of these CPUs, as [`CpuSet::of_mask`] reads it.
    pub fn mask(&self) -> String {
        let words = usize::from(self.0.last().map_or(0, |last| last / 32)) + 1;
        let mut bits = vec![0_u32; words];
        for cpu in &self.0 {
            bits[usize::from(cpu / 32)] |= 1 << (cpu % 32);
        }
        let mut highest_first = bits.iter().rev();
        let mut text = highest_first
            .next()
            .map_or(String::new(), |word| format!("{word:x}"));
        for word in highest_first {
            text.push_str(&format!(",{word:08x}"));
        }
        text
    }
}

impl FromIterator<u16> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u16>>(cpus: I) -> Self {
        let mut numbers: Vec<u16> = cpus.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers)
    }
}

impl From<&[u16]> for CpuSet {
    fn from(cpus: &[u16]) -> Self {
        cpus.iter().copied().collect()
    }
}

impl FromStr for CpuSet {
    type Err = CpuSetError;

    fn from_str(text: &str) -> Result<Self, CpuSetError> {
        // Some kernels print "(null)" for a mask that was never allocated.
        let text = text.trim();
        if text.is_empty() || text == "(null)" {
            return Ok(Self::default());
        }
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(CpuSetError::Backwards { first, last });
            }
            numbers.extend(first..=last);
            // A damaged file can repeat the same long range a million times.
            if numbers.len() > 4 * usize::from(MOST_CPUS) {
                numbers.sort_unstable();
                numbers.dedup();
            }
        }
        Ok(numbers.into_iter().collect())
    }
}

fn number(text: &str) -> Result<u16, CpuSetError> {
    let text = text.trim();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CpuSetError::NotANumber(text.into()));
    }
    let number = text.parse().ok().filter(|&cpu| cpu < MOST_CPUS);
    number.ok_or_else(|| CpuSetError::TooHigh(text.into()))
}

impl TryFrom<String> for CpuSet {
    type Error = CpuSetError;

    fn try_from(text: String) -> Result<Self, CpuSetError> {
        text.parse()
    }
}

impl From<CpuSet> for String {
    fn from(set: CpuSet) -> Self {
        set.to_string()
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.0.chunk_by(|a, b| a + 1 == *b);
        for (position, run) in runs.enumerate() {
            if position > 0 {
                f.write_str(",")?;
            }
            match run {
                [only] => write!(f, "{only}")?,
                [first, .., last] => write!(f, "{first}-{last}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    #[test]
    fn the_kernels_list_form_is_read_and_written() {
        for text in ["", "0", "0-3", "0-3,8", "0,2,4-5,63", "8191"] {
            assert_eq!(set(text).to_string(), text);
        }
        assert_eq!(set("3,1,2").to_string(), "1-3");
        assert_eq!(set(" 3, 1, 2-3\n").numbers(), [1, 2, 3]);
        assert!(set("(null)").is_empty());
    }

    #[test]
    fn what_is_no_list_is_refused_with_what_would_be_right() {
        let said = |text: &str| text.parse::<CpuSet>().unwrap_err().to_string();
        assert_eq!(said("3-1"), "the range 3-1 runs backwards; give 1-3");
        assert_eq!(said("a"), "`a` is not a CPU number; expected e.g. 0-3,8");
        assert_eq!(
            said("8192"),
            "CPU 8192 is beyond 8191, the last that Linux knows"
        );
        for text in [",", "1-", "+1", "-1", "1-2-3", "0-4294967295", "99999"] {
            assert!(text.parse::<CpuSet>().is_err(), "{text}");
        }
        assert!(!said("1,a\u{1b}[2J").contains('\u{1b}'));
    }

    #[test]
    fn a_long_range_named_many_times_stays_one_range() {
        // Miri takes a thousand times longer for each of eight million numbers.
        let times = if cfg!(miri) { 2 } else { 1_000 };
        assert_eq!(set(&vec!["0-8191"; times].join(",")).to_string(), "0-8191");
    }

    #[test]
    fn words_of_32_bits_are_read_and_written_highest_first() {
        for (list, mask) in [
            ("", "0"),
            ("0-2", "7"),
            ("0,33", "2,00000001"),
            ("64", "1,00000000,00000000"),
        ] {
            assert_eq!(set(list).mask(), mask);
            assert_eq!(CpuSet::of_mask(mask), Ok(set(list)));
        }
        assert_eq!(CpuSet::of_mask("00000000,00000003\n"), Ok(set("0-1")));
        assert_eq!(CpuSet::of_mask("f,g"), Err(CpuSetError::NotAMask));
        let beyond = format!("1{}", ",00000000".repeat(256));
        assert_eq!(
            CpuSet::of_mask(&beyond),
            Err(CpuSetError::TooHigh("8192".into()))
        );
    }

    #[test]
    fn sets_are_told_apart() {
        let all = set("0-3");
        assert_eq!(all.without(&set("1,3,9")).numbers(), [0, 2]);
        assert!(all.contains(3) && !all.contains(4));
        assert_eq!((all.first(), CpuSet::default().first()), (Some(0), None));
    }

    proptest! {
        #[test]
        fn a_written_set_is_read_back(cpus in proptest::collection::btree_set(0..MOST_CPUS, 0..60)) {
            let written: CpuSet = cpus.iter().copied().collect();
            prop_assert_eq!(set(&written.to_string()), written);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
            let _ = text.parse::<CpuSet>();
        }
    }
}

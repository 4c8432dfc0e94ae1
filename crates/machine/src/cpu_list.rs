//! A set of CPU numbers in the kernel's list form, `0-3,8`. It knows no machine: whether a CPU
//! exists is not its business.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// No Linux kernel is built for more CPUs than this; a longer range is a damaged file.
const MOST_CPUS: u32 = 65_536;

/// CPU numbers, ascending, each once. Written and read as the kernel does: `0-3,8`; the empty
/// text is the empty set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CpuList(Vec<u32>);

impl CpuList {
    /// The numbers, ascending.
    pub fn numbers(&self) -> &[u32] {
        &self.0
    }

    /// How many CPUs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this CPU is one of them.
    pub fn contains(&self, cpu: u32) -> bool {
        self.0.binary_search(&cpu).is_ok()
    }

    /// The CPUs that are here and not there.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        self.0
            .iter()
            .copied()
            .filter(|&cpu| !other.contains(cpu))
            .collect()
    }
}

impl FromIterator<u32> for CpuList {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        let mut numbers: Vec<u32> = cpus.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers)
    }
}

impl FromStr for CpuList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // "(null)" is what some kernels print for a mask that was never allocated.
        let text = text.trim();
        if text.is_empty() || text == "(null)" {
            return Ok(Self::default());
        }
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let number = |digits: &str| {
                digits
                    .trim()
                    .parse::<u32>()
                    .ok()
                    .filter(|&cpu| cpu < MOST_CPUS)
                    .ok_or_else(|| format!("`{digits}` is not a CPU number; expected e.g. 0-3,8"))
            };
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(format!("the range {first}-{last} runs backwards"));
            }
            if numbers.len() > MOST_CPUS as usize {
                return Err("more CPUs than a kernel can have".to_owned());
            }
            numbers.extend(first..=last);
        }
        Ok(numbers.into_iter().collect())
    }
}

impl TryFrom<String> for CpuList {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<CpuList> for String {
    fn from(list: CpuList) -> Self {
        list.to_string()
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, run) in self.0.chunk_by(|a, b| a + 1 == *b).enumerate() {
            if position > 0 {
                write!(out, ",")?;
            }
            match run {
                [only] => write!(out, "{only}")?,
                [first, .., last] => write!(out, "{first}-{last}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_list_form_is_read_and_written() {
        for text in ["", "0", "0-3", "0-3,8", "0,2,4-5,63"] {
            assert_eq!(text.parse::<CpuList>().unwrap().to_string(), text);
        }
        assert_eq!("3,1,2".parse::<CpuList>().unwrap().to_string(), "1-3");
    }

    #[test]
    fn a_range_too_long_for_any_kernel_is_refused() {
        assert!("0-4294967295".parse::<CpuList>().is_err());
        assert!("3-1".parse::<CpuList>().is_err());
        assert!("a".parse::<CpuList>().is_err());
    }
}

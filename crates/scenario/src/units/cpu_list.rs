//! CPU sets as the kernel writes them: "1", "2-3", "0,2-3".

use super::Complaint;
use crate::CpuSet;
use std::fmt;

const REMEDY: &str = "give CPUs such as \"1\", \"2-3\" or \"0,2-3\"";
/// The most that Linux is built for on any architecture.
const MOST_CPUS: u16 = 8192;

/// Reads a CPU list; the set is ascending and without repetition.
pub(crate) fn parse_cpus(text: &str) -> Result<CpuSet, Complaint> {
    let mut cpus = std::collections::BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (cpu_number(first)?, cpu_number(last)?);
        if first > last {
            let problem = format!("has the range {first}-{last}, which runs backwards");
            return Err(Complaint::new(problem, format!("give {last}-{first}")));
        }
        cpus.extend(first..=last);
    }
    Ok(CpuSet(cpus.into_iter().collect()))
}

fn cpu_number(text: &str) -> Result<u16, Complaint> {
    let text = text.trim_matches(' ');
    let plain = !text.is_empty() && text.len() <= 5 && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse::<u16>() {
        Ok(cpu) if plain && cpu < MOST_CPUS => Ok(cpu),
        Ok(_) | Err(_) if plain => Err(Complaint::new(
            "names a CPU beyond 8191, the most that Linux knows",
            REMEDY,
        )),
        _ => Err(Complaint::new("is not a list of CPUs", REMEDY)),
    }
}

/// As the kernel writes it: "0,2-3".
impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        while let [first, ..] = rest {
            let run = 1 + rest
                .windows(2)
                .take_while(|pair| pair[1].checked_sub(1) == Some(pair[0]))
                .count();
            let comma = if run == rest.len() { "" } else { "," };
            match run {
                1 => write!(f, "{first}{comma}")?,
                _ => write!(f, "{first}-{}{comma}", rest[run - 1])?,
            }
            rest = &rest[run..];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_cpus("1"), Ok(CpuSet(vec![1])));
        assert_eq!(parse_cpus("0,2-3"), Ok(CpuSet(vec![0, 2, 3])));
        assert_eq!(parse_cpus("3, 1, 2-3"), Ok(CpuSet(vec![1, 2, 3])));
        for text in [
            "", ",", "1-", "3-2", "a", "+1", "8192", "99999", "1-2-3", "-1",
        ] {
            assert!(parse_cpus(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_set_is_read_back(cpus in proptest::collection::btree_set(0_u16..200, 1..40)) {
            let set = CpuSet(cpus.into_iter().collect());
            prop_assert_eq!(parse_cpus(&set.to_string()), Ok(set));
        }
    }
}

//! CPU sets as a scenario writes them: "1", "2-3", "0,2-3"; never empty.
//!
//! The room `timeline` defines the type and its text form.

use super::Complaint;
use wakepath_timeline::{CpuSet, CpuSetError, MOST_CPUS};

const REMEDY: &str = "give CPUs such as \"1\", \"2-3\" or \"0,2-3\"";

/// Reads a CPU list that names at least one.
pub(crate) fn parse_cpus(text: &str) -> Result<CpuSet, Complaint> {
    match text.parse::<CpuSet>() {
        Ok(set) if !set.is_empty() => Ok(set),
        Err(CpuSetError::Backwards { first, last }) => Err(Complaint::new(
            format!("has the range {first}-{last}, which runs backwards"),
            format!("give {last}-{first}"),
        )),
        Err(CpuSetError::TooHigh(_)) => {
            let most = MOST_CPUS - 1;
            let problem = format!("names a CPU above {most}, the highest in Linux");
            Err(Complaint::new(problem, REMEDY))
        }
        Ok(_) | Err(CpuSetError::NotANumber(_) | CpuSetError::NotAMask) => {
            Err(Complaint::new("is not a list of CPUs", REMEDY))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_set_is_refused_with_what_would_be_right() {
        assert_eq!(parse_cpus("0,2-3").unwrap().numbers(), [0, 2, 3]);
        for (text, said) in [
            ("", "is not a list of CPUs"),
            ("a", "is not a list of CPUs"),
            ("3-2", "has the range 3-2, which runs backwards; give 2-3"),
            ("8192", "names a CPU above 8191"),
        ] {
            let complaint = parse_cpus(text).unwrap_err().to_string();
            assert!(complaint.starts_with(said), "{complaint}");
        }
    }
}

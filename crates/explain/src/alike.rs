//! Causes that are answered together: a consequence with its cause, and those that one fix cures.

use crate::summary::CauseFigures;
use serde::{Deserialize, Serialize};

/// Causes of one condition that are answered together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlikeFigures {
    /// Kind of the one with most time; of a consequence, its own.
    pub kind: String,
    /// The one with most time, as a person reads it; of a consequence, its cause.
    pub cause: String,
    /// How many causes these are; one of them can be in the same cycle as another.
    pub causes: u64,
    /// How many names they have: a consequence has that of its cause.
    pub names: u64,
    /// Cycles of the one in most cycles.
    pub cycles: u64,
    /// Late cycles of the one in most late cycles.
    pub late_cycles: u64,
    /// Their time over all cycles, in nanoseconds.
    pub total_ns: u64,
    /// Their time over late cycles, in nanoseconds.
    pub late_ns: u64,
    /// The largest time of one of them in one cycle, in nanoseconds.
    pub worst_ns: u64,
    /// The largest time of one of them in one late cycle, in nanoseconds.
    pub late_worst_ns: u64,
    /// The fix, if something fits.
    pub remedy: Option<String>,
}

impl AlikeFigures {
    /// Whether they may have a part in more cycles than are counted.
    pub fn are_least(&self) -> bool {
        self.causes > 1
    }

    /// The one with most time, and how many others there are.
    pub fn name(&self) -> String {
        match self.names.saturating_sub(1) {
            0 => self.cause.clone(),
            more => format!("{} and {more} more like it", self.cause),
        }
    }

    fn add(&mut self, other: &CauseFigures) {
        self.causes += 1;
        self.cycles = self.cycles.max(other.cycles);
        self.late_cycles = self.late_cycles.max(other.late_cycles);
        self.total_ns += other.total_ns;
        self.late_ns += other.late_ns;
        self.worst_ns = self.worst_ns.max(other.worst_ns);
        self.late_worst_ns = self.late_worst_ns.max(other.late_worst_ns);
    }
}

/// Puts causes that are ranked together, those with most time in late cycles first.
pub(crate) fn alike(ranked: &[CauseFigures]) -> Vec<AlikeFigures> {
    let mut groups: Vec<(AlikeFigures, Vec<&str>)> = Vec::new();
    for cause in ranked {
        let name = cause.because.as_deref().unwrap_or(&cause.cause);
        let is_alike = |(of, _): &&mut (AlikeFigures, Vec<&str>)| match &cause.remedy {
            Some(_) => of.remedy == cause.remedy,
            None => of.remedy.is_none() && of.cause == name,
        };
        match groups.iter_mut().find(is_alike) {
            Some((group, names)) => {
                if !names.contains(&name) {
                    names.push(name);
                    group.names += 1;
                }
                group.add(cause);
            }
            None => groups.push((first(cause, name), vec![name])),
        }
    }
    let mut groups: Vec<AlikeFigures> = groups.into_iter().map(|(group, _)| group).collect();
    // Stable, so that of equals the order is that of the causes.
    groups.sort_by_cached_key(|of| std::cmp::Reverse((of.late_ns, of.total_ns)));
    groups
}

fn first(cause: &CauseFigures, name: &str) -> AlikeFigures {
    AlikeFigures {
        kind: cause.kind.clone(),
        cause: name.into(),
        causes: 1,
        names: 1,
        cycles: cause.cycles,
        late_cycles: cause.late_cycles,
        total_ns: cause.total_ns,
        late_ns: cause.late_ns,
        worst_ns: cause.worst_ns,
        late_worst_ns: cause.late_worst_ns,
        remedy: cause.remedy.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(cause: &str, late_ns: u64, remedy: Option<&str>) -> CauseFigures {
        CauseFigures {
            kind: "thread".into(),
            cause: cause.into(),
            because: None,
            cycles: 3,
            late_cycles: 2,
            total_ns: late_ns + 1,
            late_ns,
            worst_ns: late_ns,
            worst_cycle: 0,
            late_worst_ns: late_ns,
            remedy: remedy.map(str::to_owned),
        }
    }

    #[test]
    fn many_small_causes_of_one_fix_come_before_a_larger_one_of_another() {
        let overrun = CauseFigures {
            because: Some("rustc 0".into()),
            ..cause("the cycle before: rustc 0", 30, Some("FIFO"))
        };
        let mut all = vec![cause("eth0", 90, Some("another CPU")), overrun];
        all.extend((0..40).map(|number| cause(&format!("rustc {number}"), 5, Some("FIFO"))));
        let found = alike(&all);
        assert_eq!(found.len(), 2);
        let first = &found[0];
        assert_eq!(first.name(), "rustc 0 and 39 more like it");
        assert_eq!((first.late_ns, first.causes, first.names), (230, 41, 40));
        assert_eq!((first.late_cycles, first.are_least()), (2, true));
        assert_eq!(found[1].name(), "eth0");
        assert!(!found[1].are_least());
    }

    #[test]
    fn causes_without_a_fix_are_alike_by_their_name_alone() {
        let overrun = CauseFigures {
            because: Some("own code".into()),
            ..cause("the cycle before: own code", 50, None)
        };
        let found = alike(&[
            overrun,
            cause("own code", 30, None),
            cause("events lost", 9, None),
        ]);
        let found: Vec<_> = found.iter().map(|of| (&*of.cause, of.late_ns)).collect();
        assert_eq!(found, [("own code", 80), ("events lost", 9)]);
    }
}

//! Causes that are answered together: a consequence with its cause, and those that one fix cures.

use crate::cause::Cause;
use crate::fix::Fix;
use crate::ranked::Ranked;
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

/// A cause with less than this percentage of the lateness is answered with others of its kind of fix, of any thread.
const SMALL_PERCENT: u64 = 5;
/// A wait with this percentage or more is answered alone: its fix may have the same words as another's, but changes
/// another thread or call.
const LARGE_PERCENT: u64 = 10;

struct Group<'a> {
    figures: AlikeFigures,
    names: Vec<&'a str>,
    fix: Option<&'static Fix>,
}

/// Puts causes that are ranked together, those with most time in late cycles first.
pub(crate) fn alike(ranked: &[Ranked<'_>]) -> Vec<AlikeFigures> {
    let late_ns: u64 = ranked.iter().map(|of| of.figures.late_ns).sum();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for Ranked {
        cause,
        figures,
        fix,
    } in ranked
    {
        let name = figures.because.as_deref().unwrap_or(&figures.cause);
        let is_alone = is_wait(cause) && figures.late_ns * 100 >= late_ns * LARGE_PERCENT;
        let is_small = figures.late_ns * 100 < late_ns * SMALL_PERCENT;
        let has_name = |of: &Group<'_>| of.figures.cause == name;
        let has_remedy = |of: &Group<'_>| {
            let may_differ = fix.is_some() && !is_alone;
            of.figures.remedy == figures.remedy && (may_differ || has_name(of))
        };
        let has_fix = |of: &Group<'_>| match (fix, of.fix) {
            (Some(fix), Some(of)) => is_small && std::ptr::eq(*fix, of),
            _ => false,
        };
        let known = groups.iter().position(has_remedy);
        match known.or_else(|| groups.iter().position(has_fix)) {
            Some(at) => {
                let group = &mut groups[at];
                if !group.names.contains(&name) {
                    group.names.push(name);
                    group.figures.names += 1;
                }
                group.figures.add(figures);
            }
            None => groups.push(Group {
                figures: first(figures, name),
                names: vec![name],
                fix: *fix,
            }),
        }
    }
    let mut groups: Vec<AlikeFigures> = groups.into_iter().map(|of| of.figures).collect();
    // Stable, so that of equals the order is that of the causes.
    groups.sort_by_cached_key(|of| std::cmp::Reverse((of.late_ns, of.total_ns)));
    groups
}

fn is_wait(cause: &Cause) -> bool {
    match cause {
        Cause::Blocked(_) => true,
        Cause::Overrun(because) => is_wait(because),
        _ => false,
    }
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
    use crate::fix;
    use crate::wait::{Meanwhile, Wait};

    /// A cause with this fix and the rest of its sentence.
    fn ranked<'a>(
        cause: &'a Cause,
        name: &str,
        late_ns: u64,
        fix: Option<(&'static Fix, &str)>,
    ) -> Ranked<'a> {
        Ranked {
            cause,
            fix: fix.map(|(row, _)| row),
            figures: CauseFigures {
                kind: "thread".into(),
                cause: name.into(),
                because: None,
                cycles: 3,
                late_cycles: 2,
                total_ns: late_ns + 1,
                late_ns,
                worst_ns: late_ns,
                worst_cycle: 0,
                late_worst_ns: late_ns,
                remedy: fix.map(|(_, words)| words.to_owned()),
            },
        }
    }

    const HOG: Cause = Cause::OwnCode;
    const POLICY: Option<(&Fix, &str)> = Some((&fix::REAL_TIME_POLICY, "FIFO"));

    fn because<'a>(of: Ranked<'a>, because: &str) -> Ranked<'a> {
        let figures = CauseFigures {
            because: Some(because.into()),
            ..of.figures
        };
        Ranked { figures, ..of }
    }

    #[test]
    fn many_small_causes_of_one_fix_come_before_a_larger_one_of_another() {
        let device = Some((&fix::MOVE_INTERRUPT, "another CPU"));
        let overrun = ranked(&HOG, "the cycle before: rustc 0", 30, POLICY);
        let mut all = vec![
            ranked(&HOG, "eth0", 90, device),
            because(overrun, "rustc 0"),
        ];
        all.extend((0..40).map(|number| ranked(&HOG, &format!("rustc {number}"), 5, POLICY)));
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
    fn large_waits_are_answered_alone_and_small_ones_by_their_kind_of_fix() {
        let wait = Cause::Blocked(Wait::new(Vec::new(), Meanwhile::Ran, None).into());
        let read = Some((&fix::READ_ELSEWHERE, "read elsewhere"));
        let hold = |of: &'static str| Some((&fix::SHORT_HOLD, of));
        let all = [
            ranked(&wait, "read, on the server", 50, read),
            ranked(&wait, "read, until its time-out", 20, read),
            ranked(&wait, "lock of a", 18, hold("a")),
            ranked(&wait, "lock of b", 8, hold("b")),
            ranked(&wait, "read, on a client", 3, read),
            ranked(&wait, "lock of c", 1, hold("c")),
        ];
        let found = alike(&all);
        let found: Vec<_> = found.iter().map(|of| (of.name(), of.late_ns)).collect();
        let expected = [
            ("read, on the server and 1 more like it", 53),
            ("read, until its time-out", 20),
            ("lock of a and 1 more like it", 19),
            ("lock of b", 8),
        ];
        assert_eq!(found, expected.map(|(name, ns)| (name.to_owned(), ns)));
    }

    #[test]
    fn causes_without_a_fix_are_alike_by_their_name_alone() {
        let overrun = ranked(&HOG, "the cycle before: own code", 50, None);
        let found = alike(&[
            because(overrun, "own code"),
            ranked(&HOG, "own code", 30, None),
            ranked(&HOG, "events lost", 9, None),
        ]);
        let found: Vec<_> = found.iter().map(|of| (&*of.cause, of.late_ns)).collect();
        assert_eq!(found, [("own code", 80), ("events lost", 9)]);
    }
}

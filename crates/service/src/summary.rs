//! The whole history of a service in a few figures: for each loop, for each day, and what is missing. It reads, and
//! judges nothing.

use crate::history::{Bears, Entry, Minute, RoundFinding, read_history, written};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use wakepath_statistics::{LatencyHistogram, MissTally};

/// Gaps that are kept one by one.
const MOST_GAPS: usize = 1_000;

/// All that a service's directory says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// First and last instant, in nanoseconds since 1970.
    pub span: Option<(u64, u64)>,
    /// Starts of the program.
    pub starts: u64,
    /// Its last command line.
    pub command: Vec<String>,
    /// Starts of a recorder in the place of one that died.
    pub resumed: u64,
    /// By name.
    pub loops: BTreeMap<String, LoopSummary>,
    /// Where something is missing, in their order.
    pub gaps: Vec<Gap>,
    /// More of them than are kept.
    pub gaps_more: u64,
    /// What the recorder had to say: when, and the line.
    pub notes: Vec<(u64, String)>,
    /// Damaged lines of the history.
    pub damaged: u64,
    /// Whether the program runs, by the last entry.
    pub is_running: bool,
    /// Rounds of a scenario: how many are measured, and how many there are to be; none of a program.
    pub rounds: Option<(u32, u32)>,
    /// The boot of the last start.
    boot: String,
}

/// A stretch of which something is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// From when, in nanoseconds since 1970.
    pub from_ns: u64,
    /// Until when; `None` for counts within a minute.
    pub to_ns: Option<u64>,
    /// What it is.
    pub what: String,
}

/// One loop, under the criterion that it has now.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopSummary {
    /// Its period in nanoseconds.
    pub period_ns: u64,
    /// The policy of its thread.
    pub policy: String,
    /// What it bears.
    pub bears: Bears,
    /// Cycles that are recorded.
    pub executed: u64,
    /// Due times at which none ran.
    pub skipped: u64,
    /// Cycles that are not recorded.
    pub lost: u64,
    /// Misses; due times without those lost.
    pub misses: MissTally,
    /// Longest time from the end of a cycle to the end of the next.
    pub outage_ns: u64,
    /// Largest response time.
    pub max_response_ns: i64,
    /// Times that it ended with its program, while it ran.
    pub died: u64,
    /// Times that the machine went down while it ran.
    pub switched_off: u64,
    /// All latencies.
    pub latencies: LatencyHistogram,
    /// By day in UTC, such as `2026-11-23`.
    pub days: BTreeMap<String, Day>,
    /// What rounds showed beside counts.
    pub rounds: RoundFindings,
    /// Minutes under another criterion, which are not in these figures.
    pub other_criterion: u64,
    /// Segment and end of the last minute.
    last_to: (String, u64),
    /// Whether it has begun and nobody said that it ended.
    is_under_way: bool,
}

/// What rounds of a scenario showed of a loop beside its counts: in how many, and the last reason.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoundFindings {
    /// Rounds that are no evidence, and are not in the counts.
    pub invalid: (u64, String),
    /// Rounds that break the criterion by more than counts.
    pub failed: (u64, String),
    /// Rounds that leave something open.
    pub undecided: (u64, String),
}

impl RoundFindings {
    fn take(&mut self, finding: RoundFinding) {
        let (of, why) = match finding {
            RoundFinding::Invalid(why) => (&mut self.invalid, why),
            RoundFinding::Failed(why) => (&mut self.failed, why),
            RoundFinding::Undecided(why) => (&mut self.undecided, why),
        };
        *of = (of.0 + 1, why);
    }
}

/// One day of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Day {
    /// Due times without those lost.
    pub due: u64,
    /// Misses.
    pub missed: u64,
    /// Not recorded.
    pub lost: u64,
    /// Largest latency.
    pub max_ns: i64,
}

/// Reads a service's history.
///
/// # Errors
/// The system's.
pub fn summary(directory: &Path) -> io::Result<Summary> {
    let mut summary = Summary::default();
    summary.damaged = read_history(directory, |_| true, |entry| summary.add(entry))?;
    Ok(summary)
}

impl Summary {
    fn add(&mut self, entry: Entry) {
        match entry {
            Entry::Started {
                at_ns,
                command,
                boot,
                ..
            } => {
                // On the same boot somebody ended both; on another one the machine went down beneath them.
                let is_other_boot = !boot.is_empty() && !self.boot.is_empty() && boot != self.boot;
                self.boot = boot;
                if let Some((_, last_ns)) = self.span {
                    let what = match self.is_running {
                        true if is_other_boot => {
                            "the machine went down while the program ran, or both were killed before; what was after the \
                             last sync, 5 s at most, is not known"
                        }
                        true => {
                            "the recorder and the program ended without a word (power, or a kill of both)"
                        }
                        false => "the program did not run",
                    };
                    self.gap(last_ns, Some(at_ns), what.into());
                }
                for of in self.loops.values_mut() {
                    // Nobody was left to say how it ended.
                    let ended = u64::from(std::mem::take(&mut of.is_under_way));
                    match is_other_boot {
                        true => of.switched_off += ended,
                        false => of.died += ended,
                    }
                }
                self.is_running = true;
                self.starts += 1;
                self.command = command;
                self.seen(at_ns);
            }
            Entry::Resumed { at_ns } => {
                self.resumed += 1;
                self.gap(
                    at_ns,
                    None,
                    "the recorder had died and was started again".into(),
                );
                self.seen(at_ns);
            }
            Entry::LoopBegan {
                at_ns,
                name,
                period_ns,
                policy,
                bears,
            } => {
                self.seen(at_ns);
                let is_same = self
                    .loops
                    .get(&name)
                    .is_some_and(|of| of.bears == bears && of.period_ns == period_ns);
                if !is_same {
                    let before = self.loops.remove(&name);
                    let mut fresh = LoopSummary::new(period_ns, bears);
                    fresh.other_criterion = before.map_or(0, |of| of.other_criterion + of.executed);
                    self.loops.insert(name.clone(), fresh);
                }
                if let Some(of) = self.loops.get_mut(&name) {
                    of.policy = policy;
                    of.is_under_way = true;
                    of.last_to = (String::new(), 0);
                }
            }
            Entry::Minute(minute) => self.minute(&minute),
            Entry::LoopEnded {
                at_ns,
                name,
                how,
                died,
            } => {
                self.seen(at_ns);
                if let Some(of) = self.loops.get_mut(&name) {
                    of.died += u64::from(died);
                    of.is_under_way = false;
                }
                if died {
                    self.gap(at_ns, None, format!("{name}: {how}"));
                }
            }
            Entry::RoundsBegan { at_ns, command } => {
                if let Some((_, last_ns)) = self.span {
                    self.gap(
                        last_ns,
                        Some(at_ns),
                        "no round was measured to its end".into(),
                    );
                }
                self.starts += 1;
                self.command = command;
                self.is_running = true;
                self.seen(at_ns);
            }
            Entry::RoundEnded { at_ns, number, of } => {
                self.rounds = Some((number, of));
                self.is_running = number < of;
                self.seen(at_ns);
            }
            Entry::RoundJudged { name, finding, .. } => {
                if let Some(of) = self.loops.get_mut(&name) {
                    of.rounds.take(finding);
                }
            }
            Entry::Note { at_ns, text } => {
                self.notes.push((at_ns, text));
                if self.notes.len() > MOST_GAPS {
                    self.notes.remove(0);
                }
            }
            Entry::Ended { at_ns } => {
                self.is_running = false;
                self.seen(at_ns);
            }
            Entry::Unknown => {}
        }
    }

    fn minute(&mut self, of: &Minute) {
        let Some(its) = self.loops.get_mut(&of.name) else {
            return;
        };
        // One that a killed recorder had written, and who read its segment again, too.
        let this = (of.segment.clone(), of.to_cycle);
        if its.last_to == this {
            return;
        }
        its.last_to = this;
        its.add(of);
        let day: String = written(of.at_ns).chars().take(10).collect();
        let day = its.days.entry(day).or_default();
        day.due += of.executed + of.skipped;
        day.missed += of.missed;
        day.lost += of.lost;
        day.max_ns = day.max_ns.max(of.max_ns);
        let due = of
            .executed
            .saturating_add(of.skipped)
            .saturating_add(of.lost);
        let lasted_ns = due.saturating_mul(its.period_ns);
        if of.lost > 0 {
            let what = format!("{}: {} cycles are not recorded", of.name, of.lost);
            self.gap(of.at_ns, None, what);
        }
        self.seen(of.at_ns);
        self.seen(of.at_ns.saturating_add(lasted_ns.min(60_000_000_000)));
    }

    fn seen(&mut self, at_ns: u64) {
        self.span = Some(match self.span {
            None => (at_ns, at_ns),
            Some((first, last)) => (first.min(at_ns), last.max(at_ns)),
        });
    }

    fn gap(&mut self, from_ns: u64, to_ns: Option<u64>, what: String) {
        match self.gaps.len() < MOST_GAPS {
            true => self.gaps.push(Gap {
                from_ns,
                to_ns,
                what,
            }),
            false => self.gaps_more += 1,
        }
    }
}

impl LoopSummary {
    fn new(period_ns: u64, bears: Bears) -> Self {
        Self {
            period_ns,
            policy: String::new(),
            bears,
            executed: 0,
            skipped: 0,
            lost: 0,
            misses: MissTally::default(),
            outage_ns: 0,
            max_response_ns: 0,
            died: 0,
            switched_off: 0,
            latencies: LatencyHistogram::new(),
            days: BTreeMap::new(),
            rounds: RoundFindings::default(),
            other_criterion: 0,
            last_to: (String::new(), 0),
            is_under_way: false,
        }
    }

    fn add(&mut self, of: &Minute) {
        self.executed += of.executed;
        self.skipped = self.skipped.saturating_add(of.skipped);
        self.lost = self.lost.saturating_add(of.lost);
        self.misses.due = self.executed.saturating_add(self.skipped);
        self.misses.missed = self.misses.missed.saturating_add(of.missed);
        self.misses.longest_run = self.misses.longest_run.max(of.longest_run);
        self.misses.largest_cluster = self.misses.largest_cluster.max(of.largest_cluster);
        self.outage_ns = self.outage_ns.max(of.outage_ns);
        self.max_response_ns = self.max_response_ns.max(of.max_response_ns);
        of.add_to(&mut self.latencies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_of_whose_end_nobody_was_left_to_speak_has_died() {
        let mut summary = Summary::default();
        let started = |at_ns| Entry::Started {
            at_ns,
            command: Vec::new(),
            process: 1,
            boot: "one".into(),
            version: String::new(),
        };
        let began = Entry::LoopBegan {
            at_ns: 2,
            name: "loop".into(),
            period_ns: 1_000_000,
            policy: "FIFO 80".into(),
            bears: Bears::default(),
        };
        for entry in [started(1), began.clone(), started(9), began] {
            summary.add(entry);
        }
        assert_eq!(summary.loops["loop"].died, 1, "the second one runs");
        assert_eq!(summary.gaps.len(), 1);
        assert!(summary.gaps[0].what.contains("without a word"));
        let mut after = started(20);
        if let Entry::Started { boot, .. } = &mut after {
            *boot = "another".into();
        }
        summary.add(after);
        let of = &summary.loops["loop"];
        assert_eq!((of.died, of.switched_off), (1, 1));
        assert!(summary.gaps[1].what.contains("the machine went down"));
        let judged = crate::judged(
            of,
            &Bears {
                miss_fraction: 0.5,
                ..Bears::default()
            },
        );
        assert_eq!(judged.outcome, crate::Outcome::Undecided);
        assert!(
            judged
                .reasons
                .iter()
                .any(|of| of.contains("machine went down 1 times"))
        );
    }
}

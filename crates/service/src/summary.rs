//! Summary of a service's history.
//!
//! Figures for each loop and day, and gaps; and the verdict on each condition, by the same rules as
//! a run's.

mod judged;
mod loops;

use crate::history::{Entry, Minute, read_history, written};
pub use judged::JudgedLoops;
pub(crate) use loops::lost_in;
pub use loops::{Day, LoopSummary, RoundFindings};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Most gaps to list individually.
const MOST_GAPS: usize = 1_000;

/// Content of a service's directory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// First and last time, in nanoseconds since 1970.
    pub span: Option<(u64, u64)>,
    /// Starts of the program.
    pub starts: u64,
    /// Its last command line.
    pub command: Vec<String>,
    /// Starts of a recorder in the place of one that died.
    pub resumed: u64,
    /// By name.
    pub loops: BTreeMap<String, LoopSummary>,
    /// The gaps, in order.
    pub gaps: Vec<Gap>,
    /// More of them than are kept.
    pub gaps_more: u64,
    /// The recorder's messages: time and line.
    pub notes: Vec<(u64, String)>,
    /// Damaged lines of the history.
    pub damaged: u64,
    /// Whether the program runs, by the last entry.
    pub is_running: bool,
    /// Number of measured and planned rounds of a scenario; none for a program.
    pub rounds: Option<(u32, u32)>,
    /// The boot of the last start.
    boot: String,
}

/// A stretch with missing data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// From when, in nanoseconds since 1970.
    pub from_ns: u64,
    /// Until when; `None` for counts within a minute.
    pub to_ns: Option<u64>,
    /// The event.
    pub what: String,
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
                // On the same boot both were ended by a user; on another one the machine stopped.
                let is_other_boot = !boot.is_empty() && !self.boot.is_empty() && boot != self.boot;
                self.boot = boot;
                if let Some((_, last_ns)) = self.span {
                    let what = match self.is_running {
                        true if is_other_boot => {
                            "the machine went down while the program ran, or both were killed before; data after the \
                             last sync, 5 s at most, is lost"
                        }
                        true => {
                            "the recorder and the program ended without a record of it (power loss, or both killed)"
                        }
                        false => "the program did not run",
                    };
                    self.gap(last_ns, Some(at_ns), what.into());
                }
                for of in self.loops.values_mut() {
                    // Its recorder was not there to record its end.
                    let ended = u64::from(std::mem::take(&mut of.is_under_way));
                    if is_other_boot {
                        of.switched_off += ended
                    } else {
                        of.died += ended
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
                condition,
                criterion,
            } => {
                self.seen(at_ns);
                let is_same = self
                    .loops
                    .get(&name)
                    .is_some_and(|of| of.criterion == criterion && of.period_ns == period_ns);
                if !is_same {
                    let before = self.loops.remove(&name);
                    let mut fresh = LoopSummary::new(period_ns, condition, criterion);
                    let cycles = |of: LoopSummary| of.other_criterion + of.tally.executed;
                    fresh.other_criterion = before.map_or(0, cycles);
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
        // The killed recorder had written it, and so did the one that read its segment again.
        let this = (of.segment.clone(), of.to_cycle);
        if its.last_to == this {
            return;
        }
        its.last_to = this;
        its.tally.merge(&of.tally);
        of.add_to(&mut its.latencies);
        let day: String = written(of.at_ns).chars().take(10).collect();
        let day = its.days.entry(day).or_default();
        let lost = lost_in(&of.tally);
        day.due = day.due.saturating_add(of.tally.scheduled());
        day.missed = day.missed.saturating_add(of.tally.misses.missed);
        day.lost = day.lost.saturating_add(lost);
        day.max_ns = day.max_ns.max(of.max_ns());
        let due = of.tally.scheduled().saturating_add(of.tally.lost);
        let lasted_ns = due.saturating_mul(its.period_ns);
        if lost > 0 {
            let what = format!("{}: {lost} cycles are not recorded", of.name);
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
        if self.gaps.len() < MOST_GAPS {
            self.gaps.push(Gap {
                from_ns,
                to_ns,
                what,
            })
        } else {
            self.gaps_more += 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::{Criterion, PoliciesNeeded};
    use wakepath_verdict::{ConditionName, Outcome, Reason};

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
            condition: ConditionName {
                policy: None,
                phase: "service".into(),
                task: Some("loop".into()),
            },
            criterion: Some(Criterion {
                latency_ns: None,
                deadline_ns: 1_000_000,
                miss_fraction: 0.5,
                evidence: None,
                confidence: 0.95,
                consecutive_misses: None,
                outage_ns: None,
                mode_switches: 0.0,
                policies: PoliciesNeeded::Any,
            }),
        };
        for entry in [started(1), began.clone(), started(9), began] {
            summary.add(entry);
        }
        assert_eq!(summary.loops["loop"].died, 1, "the second one runs");
        assert_eq!(summary.gaps.len(), 1);
        assert!(summary.gaps[0].what.contains("without a record of it"));
        let mut after = started(20);
        if let Entry::Started { boot, .. } = &mut after {
            *boot = "another".into();
        }
        summary.add(after);
        let of = &summary.loops["loop"];
        assert_eq!((of.died, of.switched_off), (1, 1));
        assert!(summary.gaps[1].what.contains("the machine went down"));
        let judged = &summary.judged()[0].judgement;
        assert_eq!(judged.outcome, Outcome::Undecided);
        let went_down = Reason::MachineWentDown { times: 1 };
        assert!(judged.reasons.contains(&went_down), "{judged:?}");
    }
}

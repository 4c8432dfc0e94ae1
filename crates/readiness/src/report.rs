//! All checks of one machine, judged for one loop, worst first. It prints nothing; `text` does.

use crate::check::printable;
use crate::{Finding, Group, Inspection, LoopAtHand, Severity, State, checks};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wakepath_machine::DebugFiles;

/// Key of a report among the facts that a run begins with.
pub const READINESS_KEY: &str = "readiness";

/// One check with what it found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The check's id.
    pub id: String,
    /// Its group.
    pub group: Group,
    /// Its title.
    pub title: String,
    /// Where the check looks.
    pub reads: String,
    /// Its finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Severity of a bad finding for this loop; for an unknown one, the possible severity.
    pub severity: Severity,
    /// Why it matters.
    pub why: String,
    /// Meaning for this loop, with its figures; only for bad findings.
    pub for_this_loop: Option<String>,
    /// What to do now; empty if nothing can be done.
    pub remedy_now: String,
    /// What to do at boot; empty if nothing can be done.
    pub remedy_at_boot: String,
}

/// How many are in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Tally {
    pub bad: usize,
    pub unknown: usize,
    pub good: usize,
    pub does_not_apply: usize,
}

/// A machine's readiness for a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The loop.
    pub subject: LoopAtHand,
    /// Bad first, by severity; then unknown, good, not applicable.
    pub checks: Vec<Judged>,
    /// How many are in each state.
    pub tally: Tally,
    /// The device interrupts with their CPUs: the devices that are plugged in, for a comparison.
    #[serde(default)]
    pub interrupts: Vec<(String, String)>,
}

impl Report {
    /// From a run's manifest, among its facts. Compiled here once, and not again by
    /// each crate that reads runs.
    ///
    /// # Errors
    /// If this version can't read it.
    pub fn of_json(json: &Value) -> serde_json::Result<Self> {
        Self::deserialize(json)
    }

    /// For a run's manifest.
    ///
    /// # Errors
    /// What JSON can't hold.
    pub fn to_json(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}

/// One check, or one interrupt, that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The check's id, or `interrupt`.
    pub what: String,
    /// Its title, or the device.
    pub title: String,
    /// As it was.
    pub before: String,
    /// As it is.
    pub after: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            what,
            title,
            before,
            after,
        } = self;
        write!(out, "{what} {title}: {before} → {after}")
    }
}

/// A fix that writes to the kernel's debug files, with what makes them writable first.
fn reachable(now: String, debug_files: DebugFiles) -> String {
    match (now.contains("/sys/kernel/debug/"), debug_files) {
        (true, DebugFiles::NotMounted) => {
            let mount = debug_files.remedy().unwrap_or_default();
            match now.rsplit_once(": ") {
                Some((words, command)) => format!("{words}: {mount} && {command}"),
                None => format!("{mount} && {now}"),
            }
        }
        // No command reaches them on this kernel.
        (true, DebugFiles::Absent) => String::new(),
        _ => now,
    }
}

impl Report {
    /// Judges everything.
    pub fn new(seen: &Inspection) -> Self {
        let subject = seen.subject.clone();
        let mut checks: Vec<Judged> = checks::all()
            .map(|check| {
                let finding = (check.judge)(seen);
                let bad = finding.state == State::Bad;
                let figures = finding.magnitude.for_loop(&subject);
                Judged {
                    id: check.id.to_owned(),
                    group: check.group,
                    title: check.title.to_owned(),
                    reads: check.reads.to_owned(),
                    severity: finding.magnitude.severity(&subject, check.weight),
                    why: check.why.to_owned(),
                    for_this_loop: figures.filter(|_| bad),
                    remedy_now: reachable(
                        finding.now.clone().unwrap_or_else(|| check.now.to_owned()),
                        seen.facts.varying.debug_files,
                    ),
                    remedy_at_boot: finding.at_boot.as_deref().unwrap_or(check.boot).to_owned(),
                    finding,
                }
            })
            .collect();
        let order = |judged: &Judged| match judged.finding.state {
            State::Bad => 0,
            State::Unknown => 1,
            State::Good => 2,
            State::DoesNotApply => 3,
        };
        // Stable: within a severity the table's order stays, and so its groups.
        checks.sort_by_cached_key(|judged| {
            let severity = match judged.finding.state {
                State::Bad | State::Unknown => judged.severity,
                _ => Severity::Minor,
            };
            (order(judged), std::cmp::Reverse(severity))
        });
        let count = |state| {
            let of_state = checks.iter().filter(|judged| judged.finding.state == state);
            of_state.count()
        };
        let tally = Tally {
            bad: count(State::Bad),
            unknown: count(State::Unknown),
            good: count(State::Good),
            does_not_apply: count(State::DoesNotApply),
        };
        let interrupts = seen
            .interrupts
            .lines
            .iter()
            .map(|line| {
                let cpus = line.effective.known().map(ToString::to_string);
                (printable(&line.action), cpus.unwrap_or_default())
            })
            .collect();
        Self {
            subject,
            checks,
            tally,
            interrupts,
        }
    }

    /// The bad ones, most severe first.
    pub fn bad(&self) -> impl Iterator<Item = &Judged> {
        self.in_state(State::Bad)
    }

    /// Those in one state.
    pub fn in_state(&self, state: State) -> impl Iterator<Item = &Judged> {
        self.checks
            .iter()
            .filter(move |judged| judged.finding.state == state)
    }

    /// The state of one check.
    pub fn state_of(&self, id: &str) -> Option<State> {
        let judged = self.checks.iter().find(|judged| judged.id == id)?;
        Some(judged.finding.state)
    }

    /// 0 without a major or critical problem and without an unknown check that could be critical, 2
    /// with such a problem, 3 if only unknown ones are left.
    pub fn exit_code(&self) -> u8 {
        if self.bad().any(|judged| judged.severity > Severity::Minor) {
            return 2;
        }
        let unknown = |judged: &Judged| judged.severity == Severity::Grave;
        if self.in_state(State::Unknown).any(unknown) {
            3
        } else {
            0
        }
    }

    /// The checks that are judged otherwise than `earlier` did, and the devices whose interrupts
    /// came, went or moved.
    pub fn differences(&self, earlier: &Self) -> Vec<Difference> {
        let mut differences = Vec::new();
        for judged in &self.checks {
            let Some(was) = earlier.checks.iter().find(|was| was.id == judged.id) else {
                continue;
            };
            if was.finding.state != judged.finding.state {
                let told =
                    |one: &Judged| format!("{} ({})", one.finding.state.word(), one.finding.found);
                differences.push(Difference {
                    what: judged.id.clone(),
                    title: judged.title.clone(),
                    before: told(was),
                    after: told(judged),
                });
            }
        }
        let on = |cpus: &str| match cpus {
            "" => "on no CPU".to_owned(),
            cpus => format!("on CPU {cpus}"),
        };
        let mut lines = |from: &[(String, String)], to: &[(String, String)], came: bool| {
            for (device, cpus) in from {
                let other = to.iter().find(|(other, _)| other == device);
                let (before, after) = match other {
                    None if came => ("not there".to_owned(), on(cpus)),
                    None => (on(cpus), "not there".to_owned()),
                    Some((_, others)) if came && others != cpus => (on(others), on(cpus)),
                    Some(_) => continue,
                };
                differences.push(Difference {
                    what: "interrupt".to_owned(),
                    title: device.clone(),
                    before,
                    after,
                });
            }
        };
        lines(&self.interrupts, &earlier.interrupts, true);
        lines(&earlier.interrupts, &self.interrupts, false);
        differences
    }

    /// One line for a run's report: the bad checks, most severe first.
    pub fn line(&self) -> String {
        let bad: Vec<String> = self
            .bad()
            .filter(|judged| judged.severity > Severity::Minor)
            .map(|judged| format!("{} {}", judged.id, judged.title))
            .collect();
        let minor = self.tally.bad - bad.len();
        match (bad.is_empty(), minor) {
            (true, 0) => format!("no check bad, {} unknown", self.tally.unknown),
            (true, _) => format!("{minor} minor checks bad, {} unknown", self.tally.unknown),
            (false, _) => format!(
                "bad: {}; {minor} minor; {} unknown",
                bad.join(", "),
                self.tally.unknown
            ),
        }
    }
}

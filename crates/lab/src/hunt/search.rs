//! Decides which programs run next: new ones, changed ones, and those whose new sections are to be confirmed. Pure.
//!
//! As in syzkaller, a program that brought something is run again, reduced to the calls that can have caused it, and
//! kept only if it causes it again: earlier programs of a branch and timers add sections of their own.

use super::asked::Way;
use super::corpus::{Corpus, Entry, is_same};
use super::generate::Generator;
use super::section::Section;
use super::slice::slice;
use wakepath_guest::hunt::{Grammar, Program};

/// Shares of new programs among those that confirm nothing: the least, and the most.
const NEW: [f64; 2] = [0.5, 0.9];
/// Share of the changed programs that is made from those in which a call of the user brought something.
const ADDED: f64 = 0.5;
/// Share of the changed programs that only get further calls at their end: these keep what the program reached.
const EXTEND: f64 = 0.6;
/// Share of those whose further calls are a new program, which finds what needs no other.
const FOLLOW: f64 = 0.8;
/// Largest share of a branch that confirms.
const CONFIRM: f64 = 0.5;
/// Instructions that count as one in the cost of programs.
const COST: f64 = 1e6;
/// Sections that changed programs count as if they had brought at first.
const HOPE: f64 = 20.0;
/// Weight of the past after each branch, in what new and changed programs bring.
const PAST: f64 = 0.9;

/// A program to run.
#[derive(Debug)]
pub struct Job {
    /// The program.
    pub program: Program,
    aim: Aim,
}

#[derive(Debug)]
enum Aim {
    /// Something new, from a new or a changed program.
    Explore(Kind),
    /// These sections again; those that are missing with the other program, if there is one.
    Confirm {
        wanted: Vec<Section>,
        otherwise: Option<Program>,
        /// How the program was made that brought them.
        kind: Kind,
    },
}

/// How a program was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    New,
    Changed,
}

/// Sections kept for programs of a kind, and the instructions that these took, confirming included.
#[derive(Debug, Default, Clone, Copy)]
struct Yield {
    kept: f64,
    cost: f64,
}

impl Yield {
    /// Sections for the time, with more of them.
    fn of(self, more: f64) -> f64 {
        (self.kept + more) / (self.cost + 1.0)
    }

    fn spend(&mut self, instructions: u64) {
        self.cost += instructions as f64 / COST;
    }
}

/// The search.
#[derive(Debug)]
pub struct Search<'a> {
    grammar: &'a Grammar,
    /// Number of rules before those that the user added.
    own: usize,
    seed: u64,
    way: Way,
    /// Programs kept, and the longest sections.
    pub corpus: Corpus,
    waiting: Vec<Job>,
    yields: [Yield; 2],
}

impl<'a> Search<'a> {
    /// Of the rules, the first `own` are wakepath's.
    pub fn new(grammar: &'a Grammar, own: usize, seed: u64, way: Way, corpus: Corpus) -> Self {
        Self {
            grammar,
            own,
            seed,
            way,
            corpus,
            waiting: Vec::new(),
            yields: [0.0, HOPE].map(|kept| Yield { kept, cost: 0.0 }),
        }
    }

    /// The programs of a branch.
    pub fn programs(&mut self, branch: u64, count: usize) -> Vec<Job> {
        for one in &mut self.yields {
            (one.kept, one.cost) = (one.kept * PAST, one.cost * PAST);
        }
        let most = ((count as f64 * CONFIRM) as usize)
            .max(1)
            .min(self.waiting.len());
        // The newest first: it is changed next.
        let mut jobs = self.waiting.split_off(self.waiting.len() - most);
        let mut generator = Generator::new(self.grammar, self.own, &[self.seed, branch]);
        while jobs.len() < count {
            jobs.push(self.explore(&mut generator));
        }
        jobs
    }

    /// A program that is new or changed.
    fn explore(&mut self, generator: &mut Generator<'_>) -> Job {
        let of = |kind, program| Job {
            program,
            aim: Aim::Explore(kind),
        };
        if self.way == Way::Random || generator.unit() < self.share_of_new() {
            return of(Kind::New, generator.program());
        }
        let units = [generator.unit(), generator.unit()];
        let mut chosen = None;
        if self.own < self.grammar.calls.len() && generator.unit() < ADDED {
            let (grammar, own) = (self.grammar, self.own);
            chosen = self
                .corpus
                .choose(units, &|entry| brought_by_added(grammar, own, entry));
        }
        let is_added = chosen.is_some();
        let Some(chosen) = chosen.or_else(|| self.corpus.choose(units, &|_| true)) else {
            return of(Kind::New, generator.program());
        };
        let entries = self.corpus.entries();
        let entry = &entries[chosen];
        let other = &entries[generator.below(entries.len() as u64) as usize].program;
        if generator.unit() < EXTEND {
            let is_followed = !is_added && generator.unit() < FOLLOW;
            return of(
                Kind::Changed,
                if is_followed {
                    generator.followed(&entry.program)
                } else {
                    generator.extended(&entry.program)
                },
            );
        }
        let likely = entry.call(generator.unit());
        of(
            Kind::Changed,
            generator.changed(&entry.program, likely, other),
        )
    }

    /// More for the kind that brings more for its time. New ones count as if they had brought one more: as long as
    /// neither brings anything, no known program leads further.
    pub(super) fn share_of_new(&self) -> f64 {
        let [new, changed] = self.yields;
        let (new, changed) = (new.of(1.0), changed.of(0.0));
        let [least, most] = NEW;
        (new / (new + changed)).clamp(least, most)
    }

    /// Takes the sections of a program and the instructions that it took; returns its entry if it is kept.
    pub fn take(&mut self, job: Job, sections: Vec<Section>, cost: u64) -> Option<&Entry> {
        let Job { program, aim } = job;
        match aim {
            Aim::Explore(kind) => {
                self.yields[kind as usize].spend(cost);
                let new = self.corpus.see(sections);
                if new.is_empty() {
                    return None;
                }
                if self.way == Way::Random {
                    return Some(self.corpus.keep(Entry::new(program, new, cost, false)));
                }
                let smaller = slice(&program, &new);
                let otherwise = (smaller != program).then_some(program);
                self.confirm(smaller, new, otherwise, kind);
                None
            }
            Aim::Confirm {
                wanted,
                otherwise,
                kind,
            } => {
                let again =
                    |one: &Section| sections.iter().find(|other| is_same(one, other)).cloned();
                let (is_again, missing): (Vec<_>, Vec<_>) =
                    wanted.into_iter().partition(|one| again(one).is_some());
                let confirmed: Vec<Section> = is_again.iter().filter_map(again).collect();
                self.yields[kind as usize].spend(cost);
                self.yields[kind as usize].kept += confirmed.len() as f64;
                let new = self.corpus.see(sections);
                if !new.is_empty() {
                    self.confirm(program.clone(), new, None, kind);
                }
                let mut lost = Vec::new();
                match otherwise {
                    Some(whole) if !missing.is_empty() => self.confirm(whole, missing, None, kind),
                    _ => lost = missing,
                }
                // Long ones that need earlier programs are no start for others, but are reported.
                lost.retain(|one| self.corpus.is_longest(one));
                let is_confirmed = !confirmed.is_empty();
                let kept = [confirmed, lost].concat();
                let entry = Entry::new(program, kept, cost, is_confirmed);
                (!entry.sections.is_empty()).then(|| self.corpus.keep(entry))
            }
        }
    }

    /// Keeps long sections that are still to be confirmed; returns the number of entries before these.
    pub fn end(&mut self) -> usize {
        let before = self.corpus.entries().len();
        for Job { program, aim } in std::mem::take(&mut self.waiting) {
            let Aim::Confirm {
                mut wanted,
                otherwise,
                ..
            } = aim
            else {
                continue;
            };
            wanted.retain(|one| self.corpus.is_longest(one));
            if !wanted.is_empty() {
                let program = otherwise.unwrap_or(program);
                self.corpus.keep(Entry::new(program, wanted, 0, false));
            }
        }
        before
    }

    fn confirm(
        &mut self,
        program: Program,
        wanted: Vec<Section>,
        otherwise: Option<Program>,
        kind: Kind,
    ) {
        let aim = Aim::Confirm {
            wanted,
            otherwise,
            kind,
        };
        self.waiting.push(Job { program, aim });
    }
}

/// Whether a call that follows a rule of the user brought one of its functions.
fn brought_by_added(grammar: &Grammar, own: usize, entry: &Entry) -> bool {
    let new = entry
        .sections
        .iter()
        .filter(|one| entry.functions.contains(&one.began));
    let mut calls = new.filter_map(|one| entry.program.calls.get(one.call?));
    calls.any(|call| Generator::is_added(grammar, own, call))
}

#[cfg(test)]
mod tests;

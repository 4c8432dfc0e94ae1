//! Programs that brought something new, what they covered, and the longest section of each function.
//!
//! Pure. New is a section that begins in a new function, or in a known one with a new power of two of length, or one
//! that is clearly the longest so far of its function. The function that it ends in does not count: interrupts end
//! sections anywhere.

use super::section::Section;
use std::collections::{HashMap, HashSet};
use wakepath_guest::hunt::Program;

/// Instructions from which on the longest section of a function matters: most have a short one.
const LONG: u64 = 1 << 12;
/// Lengths below this power of two count as one: they vary with every argument.
const SHORT: u32 = 10;
/// A section is clearly longer than another if it is longer by this part of it.
const CLEARLY: u64 = 4;
/// Tries that each entry with a new function gets before others.
const FIRST_TRIES: u64 = 8;
/// Share of the tries that goes to programs that brought a function.
const BRINGERS: f64 = 0.5;
/// Tries after which an entry weighs half.
const TRIES: f64 = 16.0;

/// A program of the corpus.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The program.
    pub program: Program,
    /// Sections that were new.
    pub sections: Vec<Section>,
    /// Instructions that it took; 0 if unknown.
    pub cost: u64,
    /// Whether it caused its sections again; others are never changed.
    pub is_confirmed: bool,
    /// Functions in which no section of another entry began before.
    pub functions: Vec<String>,
    /// Number of programs made from it.
    tries: u64,
}

impl Entry {
    /// An entry that was never tried.
    pub fn new(program: Program, sections: Vec<Section>, cost: u64, is_confirmed: bool) -> Self {
        Self {
            program,
            sections,
            cost,
            is_confirmed,
            functions: Vec::new(),
            tries: 0,
        }
    }

    /// A call that caused one of its sections; none if they came at its beginning or end.
    pub fn call(&self, unit: f64) -> Option<usize> {
        let calls: Vec<usize> = self.sections.iter().filter_map(|one| one.call).collect();
        calls.get((unit * calls.len() as f64) as usize).copied()
    }
}

/// The longest section that began in a function.
#[derive(Debug, Clone)]
pub struct Longest {
    /// The section.
    pub section: Section,
    /// The entry that caused it.
    pub entry: usize,
}

/// A function in which sections begin.
#[derive(Debug, Default)]
struct Function {
    /// Number of programs with such a section.
    programs: u64,
    /// The longest that was new, in instructions.
    seen: u64,
    /// The longest of an entry, if it is long.
    longest: Option<Longest>,
    /// Whether an entry has one.
    is_kept: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Corpus {
    entries: Vec<Entry>,
    functions: HashMap<String, Function>,
    /// Functions and powers of two of length.
    covered: HashSet<(String, u32)>,
}

impl Corpus {
    /// Counts the sections of a program, and returns the new ones.
    pub fn see(&mut self, sections: Vec<Section>) -> Vec<Section> {
        // A program reaches each once, however many of its calls do.
        let mut counted = HashSet::new();
        let is_new = |section: &Section| {
            let function = self.functions.entry(section.began.clone()).or_default();
            let is_longest =
                section.length >= LONG && section.length > function.seen + function.seen / CLEARLY;
            function.programs += u64::from(counted.insert(section.began.clone()));
            let is_new = self.covered.insert(covered(section)) || is_longest;
            if is_new {
                function.seen = section.length.max(function.seen);
            }
            is_new
        };
        sections.into_iter().filter(is_new).collect()
    }

    /// Keeps a program for its sections.
    pub fn keep(&mut self, mut entry: Entry) -> &Entry {
        let number = self.entries.len();
        for section in &entry.sections {
            self.covered.insert(covered(section));
            let is_longest = self.is_longest(section);
            let function = self.functions.entry(section.began.clone()).or_default();
            if !function.is_kept {
                function.is_kept = true;
                entry.functions.push(section.began.clone());
            }
            function.seen = section.length.max(function.seen);
            if is_longest {
                let section = section.clone();
                function.longest = Some(Longest {
                    section,
                    entry: number,
                });
            }
        }
        self.entries.push(entry);
        &self.entries[number]
    }

    /// Whether no entry holds a section of this function that is as long.
    pub fn is_longest(&self, section: &Section) -> bool {
        let function = self.functions.get(&section.began);
        let known = function.and_then(|function| function.longest.as_ref());
        section.length >= LONG && known.is_none_or(|one| one.section.length < section.length)
    }

    /// An entry to change among those that are wanted, by two numbers between 0 and 1. Half of the time it is one
    /// that brought a function; otherwise likely are those that reached what few programs reach, were tried seldom,
    /// take few instructions, or hold one of the longest sections.
    pub fn choose(&mut self, units: [f64; 2], wanted: &dyn Fn(&Entry) -> bool) -> Option<usize> {
        let is_wanted = |entry: &Entry| entry.is_confirmed && wanted(entry);
        let chosen = if units[0] < BRINGERS {
            self.bringer(&is_wanted)
        } else {
            self.weighted(units[1], &is_wanted)
        };
        self.entries[chosen?].tries += 1;
        chosen
    }

    /// The newest that brought a function and had few tries: of a section behind several steps the last step is the
    /// newest. Then the one whose function the fewest programs reach.
    fn bringer(&self, is_wanted: &dyn Fn(&Entry) -> bool) -> Option<usize> {
        let brought = |entry: &Entry| !entry.functions.is_empty() && is_wanted(entry);
        let is_fresh = |entry: &Entry| entry.tries < FIRST_TRIES && brought(entry);
        if let Some(fresh) = self.entries.iter().rposition(is_fresh) {
            return Some(fresh);
        }
        let entries = self
            .entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| brought(entry));
        let rarest = entries.filter_map(|(number, entry)| {
            let rarest = entry.functions.iter().map(|one| self.programs(one)).min()?;
            Some((rarest + entry.tries, number))
        });
        rarest.min().map(|(_, number)| number)
    }

    fn programs(&self, function: &str) -> u64 {
        self.functions
            .get(function)
            .map_or(0, |function| function.programs)
    }

    fn weighted(&self, unit: f64, is_wanted: &dyn Fn(&Entry) -> bool) -> Option<usize> {
        let mut weights: Vec<f64> = self.entries.iter().map(|one| self.rarity(one)).collect();
        for longest in self
            .functions
            .values()
            .filter_map(|function| function.longest.as_ref())
        {
            // Each doubling counts the same: the longest of all must not take every try.
            let doublings = f64::from(longest.section.magnitude() - LONG.ilog2() + 1);
            weights[longest.entry] += doublings;
        }
        let costs = self
            .entries
            .iter()
            .map(|entry| entry.cost as f64)
            .sum::<f64>();
        let mean = (costs / self.entries.len() as f64).max(1.0);
        for (weight, entry) in weights.iter_mut().zip(&self.entries) {
            *weight /= (1.0 + entry.tries as f64 / TRIES) * (1.0 + entry.cost as f64 / mean);
            if !is_wanted(entry) {
                *weight = 0.0;
            }
        }
        let mut left = unit * weights.iter().sum::<f64>();
        weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        })
    }

    /// The sum over its sections of one in the root of the number of programs that began one there: programs made
    /// from it do too, and must not make it unlikely.
    fn rarity(&self, entry: &Entry) -> f64 {
        let programs = entry
            .sections
            .iter()
            .map(|one| self.programs(&one.began).max(1));
        programs
            .map(|programs| 1.0 / (programs as f64).sqrt())
            .sum()
    }

    /// The longest section of each function, the longest first.
    pub fn longest(&self) -> Vec<&Longest> {
        let functions = self.functions.values();
        let mut all: Vec<_> = functions
            .filter_map(|function| function.longest.as_ref())
            .collect();
        all.sort_by_key(|one| (std::cmp::Reverse(one.section.length), one.section.place()));
        all
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Number of pairs of function and power of two.
    pub fn covered(&self) -> usize {
        self.covered.len()
    }
}

/// Whether a section covers the same as another.
pub fn is_same(one: &Section, other: &Section) -> bool {
    covered(one) == covered(other)
}

fn covered(section: &Section) -> (String, u32) {
    (section.began.clone(), section.magnitude().max(SHORT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_guest::hunt::parse;

    fn section(began: &str, length: u64) -> Section {
        Section {
            began: began.into(),
            ended: "end".into(),
            length,
            call: None,
        }
    }

    fn entry(number: u64, began: &str) -> Entry {
        let program = parse(&format!("r0 = dup({number})\n")).unwrap();
        Entry::new(program, vec![section(began, 16)], 1_000, true)
    }

    #[test]
    fn new_is_a_function_a_power_of_two_or_a_longer_section() {
        let mut corpus = Corpus::default();
        let mut new = |began, length| !corpus.see(vec![section(began, length)]).is_empty();
        assert!(new("a", 20_000));
        assert!(!new("a", 20_000) && !new("a", 17_000) && !new("a", 24_000));
        assert!(new("a", 26_000), "longer by a quarter");
        assert!(new("a", 3_000), "another power of two");
        assert!(!new("a", 3_900), "longer by a quarter, but short");
        assert!(new("a", 70) && !new("a", 300), "all short ones are one");
        assert!(
            !new("a", 32_000) && new("a", 32_501),
            "longer than the last new one"
        );
        assert!(new("b", 17_000), "another function");
        assert_eq!(corpus.covered(), 4);
        let mut other = section("b", 17_000);
        other.ended = "an interrupt".into();
        assert!(corpus.see(vec![other]).is_empty());
    }

    #[test]
    fn the_longest_of_each_function_is_kept_with_its_program() {
        let mut corpus = Corpus::default();
        for (number, length) in [(0, 9_000), (1, 30_000), (2, 20_000)] {
            let mut entry = entry(number, "a");
            entry.sections = vec![section("a", length), section("b", length / 10)];
            corpus.keep(entry);
        }
        let longest = corpus.longest();
        let longest: Vec<_> = longest
            .iter()
            .map(|one| (one.section.length, one.entry))
            .collect();
        assert_eq!(longest, [(30_000, 1)], "those of b are short");
        assert!(
            corpus.is_longest(&section("a", 30_001)) && !corpus.is_longest(&section("a", 30_000))
        );
    }

    #[test]
    fn the_newest_that_brought_a_function_comes_first_and_then_the_rarest() {
        let mut corpus = Corpus::default();
        assert_eq!(corpus.choose([0.0, 0.5], &|_| true), None);
        for (number, began) in ["common", "rare", "common"].into_iter().enumerate() {
            corpus.see(vec![section(began, 16)]);
            corpus.keep(entry(number as u64, began));
        }
        let mut unconfirmed = entry(3, "other");
        unconfirmed.is_confirmed = false;
        corpus.keep(unconfirmed);
        let mut first = || corpus.choose([0.0, 0.5], &|_| true);
        for _ in 0..FIRST_TRIES {
            assert_eq!(first(), Some(1), "the third brought nothing");
        }
        for _ in 0..FIRST_TRIES {
            assert_eq!(first(), Some(0));
        }
        assert_eq!(first(), Some(1));
        assert_eq!(
            corpus.choose([0.0, 0.5], &|one| one.program == entry(0, "").program),
            Some(0)
        );
    }

    #[test]
    fn what_few_programs_reach_takes_little_and_was_tried_seldom_is_chosen_more() {
        let share = |change: fn(&mut Entry), seen: u64| {
            let mut corpus = Corpus::default();
            let mut other = entry(1, "b");
            change(&mut other);
            corpus.keep(entry(0, "a"));
            corpus.keep(other);
            for _ in 0..seen {
                corpus.see(vec![section("b", 16)]);
            }
            let units = (0..100).map(|unit| f64::from(unit) / 100.0);
            units
                .filter(|unit| corpus.weighted(*unit, &|_| true) == Some(1))
                .count()
        };
        assert_eq!(share(|_| {}, 1), 50);
        assert!(share(|_| {}, 100) < 15);
        assert!(share(|one| one.cost = 100_000, 1) < 40);
        assert!(share(|one| one.tries = 100, 1) < 20);
        assert!(share(|one| one.sections[0].length = 1 << 16, 1) > 80);
    }
}

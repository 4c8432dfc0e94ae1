//! Programs that brought something new, what they covered, and the longest section of each place.
//!
//! Pure. A program is kept if one of its sections has a new entry and exit, or a known one with a new
//! power of two of length, or is the longest so far of its entry, exit and call by a tenth and long.

use super::section::Section;
use std::collections::{HashMap, HashSet};
use wakepath_guest::hunt::Program;

/// Entry, exit and call: many sections begin and end in the same lock.
type Place = (String, String, String);
/// Entry, exit and the power of two of the length.
type Covered = (String, String, u32);

/// Instructions from which on the longest section of a place matters: most places have a short one.
const LONG: u64 = 1 << 12;

/// A program of the corpus.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The program.
    pub program: Program,
    /// Sections that were new.
    pub sections: Vec<Section>,
    /// Number of programs made from it.
    tries: u64,
}

/// The longest section of a place.
#[derive(Debug, Clone)]
pub struct Longest {
    /// The section.
    pub section: Section,
    /// The entry that caused it.
    pub entry: usize,
}

/// All of them.
#[derive(Debug, Default)]
pub struct Corpus {
    entries: Vec<Entry>,
    /// The number of programs that reached each.
    covered: HashMap<Covered, u64>,
    longest: HashMap<Place, Longest>,
}

impl Corpus {
    /// Takes a program with the sections that it caused; returns its entry if it brought something new.
    pub fn take(&mut self, program: Program, sections: Vec<Section>) -> Option<&Entry> {
        let number = self.entries.len();
        let mut new = Vec::new();
        let mut reached = HashSet::new();
        for section in sections {
            let covered = covered(&section);
            let is_new = !self.covered.contains_key(&covered);
            // A program reaches each once, however many of its calls do.
            if reached.insert(covered.clone()) {
                *self.covered.entry(covered).or_default() += 1;
            }
            let call = section.call_name(&program).to_owned();
            let place = (section.began.clone(), section.ended.clone(), call);
            let known = self.longest.get(&place);
            let known = known.map_or(0, |one| one.section.length);
            let is_longest = section.length >= LONG && section.length > known + known / 10;
            if is_longest {
                let section = section.clone();
                let entry = number;
                self.longest.insert(place, Longest { section, entry });
            }
            if is_new || is_longest {
                new.push(section);
            }
        }
        if new.is_empty() {
            return None;
        }
        self.entries.push(Entry {
            program,
            sections: new,
            tries: 0,
        });
        self.entries.last()
    }

    /// An entry to change. Likely are those that reached what few programs reach, were tried seldom, or
    /// hold one of the longest sections. `unit` is between 0 and 1.
    pub fn choose(&mut self, unit: f64) -> Option<&Program> {
        let mut weights: Vec<f64> = self.entries.iter().map(|one| self.rarity(one)).collect();
        for longest in self.longest.values() {
            // Each doubling counts the same: the longest of all must not take every try.
            let doublings = f64::from(longest.section.magnitude() - LONG.ilog2() + 1);
            weights[longest.entry] += doublings;
        }
        for (weight, entry) in weights.iter_mut().zip(&self.entries) {
            *weight /= 1.0 + entry.tries as f64;
        }
        let mut left = unit * weights.iter().sum::<f64>();
        let chosen = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        let entry = self.entries.get_mut(chosen.unwrap_or(0))?;
        entry.tries += 1;
        Some(&entry.program)
    }

    /// The sum over the sections that it brought of one in the number of programs that reached them.
    fn rarity(&self, entry: &Entry) -> f64 {
        let reached = |section| self.covered.get(&covered(section));
        let sections = entry.sections.iter().filter_map(reached);
        sections.map(|programs| 1.0 / *programs as f64).sum()
    }

    /// The longest sections, the longest first, one for each function that they begin in and call.
    pub fn longest(&self) -> Vec<&Longest> {
        let mut all: Vec<_> = self.longest.iter().collect();
        all.sort_by_key(|(place, one)| (std::cmp::Reverse(one.section.length), *place));
        let mut seen = HashSet::new();
        all.retain(|((began, _, call), _)| seen.insert((began, call)));
        all.into_iter().map(|(_, one)| one).collect()
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Number of triples of entry, exit and power of two.
    pub fn covered(&self) -> usize {
        self.covered.len()
    }
}

fn covered(section: &Section) -> Covered {
    let (began, ended) = (section.began.clone(), section.ended.clone());
    (began, ended, section.magnitude())
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
            call: Some(0),
        }
    }

    fn program(number: u64) -> Program {
        parse(&format!("r0 = dup({number})\n")).unwrap()
    }

    #[test]
    fn a_program_is_kept_for_a_new_place_a_new_power_of_two_or_a_longer_section() {
        let mut corpus = Corpus::default();
        let mut new = |began, length| {
            let sections = vec![section(began, length)];
            corpus.take(program(length), sections).is_some()
        };
        assert!(new("a", 20_000));
        assert!(!new("a", 20_000) && !new("a", 17_000) && !new("a", 21_000));
        assert!(new("a", 24_000), "longer by a tenth");
        assert!(new("a", 30), "another power of two");
        assert!(!new("a", 31), "longer by a tenth, but short");
        assert!(new("b", 17_000), "another place");
        assert_eq!(corpus.covered(), 3);
        let longest = corpus.longest();
        let lengths: Vec<u64> = longest.iter().map(|one| one.section.length).collect();
        assert_eq!(lengths, [24_000, 17_000]);
        assert_eq!(corpus.entries()[longest[0].entry].program, program(24_000));
    }

    #[test]
    fn the_longest_are_told_apart_by_the_call() {
        let mut corpus = Corpus::default();
        corpus.take(program(1), vec![section("lock", 20_000)]);
        let other = parse("r0 = sync()\n").unwrap();
        corpus.take(other, vec![section("lock", 18_000)]);
        assert_eq!(corpus.longest().len(), 2);
        assert_eq!(corpus.covered(), 1);
    }

    #[test]
    fn what_was_tried_often_is_chosen_less() {
        let mut corpus = Corpus::default();
        assert!(corpus.choose(0.5).is_none());
        for number in 0..4 {
            corpus.take(program(number), vec![section(&number.to_string(), 16)]);
        }
        // A tenth of four equal weights is in the first; after nine tries it weighs a tenth of another.
        assert_eq!(corpus.choose(0.1), Some(&program(0)));
        for _ in 0..8 {
            assert_eq!(corpus.choose(0.0), Some(&program(0)));
        }
        assert_eq!(corpus.choose(0.1), Some(&program(1)));
    }

    #[test]
    fn what_few_programs_reach_is_chosen_more() {
        let mut corpus = Corpus::default();
        corpus.take(program(0), vec![section("rare", 16)]);
        for number in 1..100 {
            corpus.take(program(number), vec![section("common", 16)]);
        }
        assert_eq!(corpus.entries().len(), 2);
        let chosen = (0..101).map(|at| corpus.choose(f64::from(at) / 101.0).cloned());
        let rare = chosen.flatten().filter(|one| *one == program(0)).count();
        assert!(rare > 60, "{rare}");
    }
}

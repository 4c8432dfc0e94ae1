//! Programs that brought something new, what they covered, and the longest section of each place.
//!
//! Pure. A program is kept if one of its sections has a new entry and exit, or a known one with a new
//! power of two of length, or is clearly the longest so far of its entry and exit. Calls after the last
//! such section are left out: they can't have contributed.

use super::section::Section;
use std::collections::{HashMap, HashSet};
use wakepath_guest::hunt::{Call, Program};

/// Entry and exit.
type Place = (String, String);
/// Entry, exit and the power of two of the length.
type Covered = (String, String, u32);

/// Instructions from which on the longest section of a place matters: most places have a short one.
const LONG: u64 = 1 << 12;
/// Lengths below this power of two count as one: they vary with every argument.
const SHORT: u32 = 6;
/// A section is clearly longer than another if it is longer by this part of it.
const CLEARLY: u64 = 4;
/// Share of the tries that goes to the newest entries, and the tries that each gets of them: of a section
/// behind several steps the last one is the newest. syzkaller gives each new program 25.
const NEWEST: f64 = 0.5;
const FIRST_TRIES: u64 = 25;
/// Tries after which an entry weighs half.
const TRIES: f64 = 16.0;

/// A program of the corpus.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The program.
    pub program: Program,
    /// Sections that were new.
    pub sections: Vec<Section>,
    /// Numbers of what they covered.
    covered: Vec<usize>,
    /// Whether a call that the user added brought something.
    is_added: bool,
    /// Number of programs made from it.
    tries: u64,
}

impl Entry {
    /// A call that caused one of its sections; none if they came at its beginning or end.
    pub fn call(&self, unit: f64) -> Option<usize> {
        let calls: Vec<usize> = self.sections.iter().filter_map(|one| one.call).collect();
        calls.get((unit * calls.len() as f64) as usize).copied()
    }
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
    /// Each with its number.
    covered: HashMap<Covered, usize>,
    /// The number of programs that reached it.
    reached: Vec<u64>,
    longest: HashMap<Place, Longest>,
}

impl Corpus {
    /// Takes a program with the sections that it caused; returns its entry if it brought something new.
    /// `added` decides whether the user added a call.
    pub fn take(
        &mut self,
        mut program: Program,
        sections: Vec<Section>,
        added: &dyn Fn(&Call) -> bool,
    ) -> Option<&Entry> {
        let number = self.entries.len();
        let (mut new, mut new_covered) = (Vec::new(), Vec::new());
        let mut reached = HashSet::new();
        let before = self.covered.len();
        for section in sections {
            let next = self.covered.len();
            let covered = *self.covered.entry(covered(&section)).or_insert(next);
            let is_new = covered >= before;
            if covered == next {
                self.reached.push(0);
            }
            // A program reaches each once, however many of its calls do.
            if reached.insert(covered) {
                self.reached[covered] += 1;
            }
            let place = (section.began.clone(), section.ended.clone());
            let known = self.longest.get(&place);
            let known = known.map_or(0, |one| one.section.length);
            let is_longest = section.length >= LONG && section.length > known + known / CLEARLY;
            if is_longest {
                let section = section.clone();
                let entry = number;
                self.longest.insert(place, Longest { section, entry });
            }
            if is_new || is_longest {
                new.push(section);
                new_covered.push(covered);
            }
        }
        if new.is_empty() {
            return None;
        }
        // A section without a call can be the end of any of them.
        let last = new
            .iter()
            .map(|one| one.call)
            .reduce(|a, b| Some(a?.max(b?)));
        if let Some(Some(last)) = last {
            program.calls.truncate(last + 1);
        }
        let mut calls = new.iter().filter_map(|one| program.calls.get(one.call?));
        let is_added = calls.any(added);
        self.entries.push(Entry {
            is_added,
            program,
            sections: new,
            covered: new_covered,
            tries: 0,
        });
        self.entries.last()
    }

    /// An entry to change: half of the time one of the newest; otherwise likely are those that reached what few
    /// programs reach, were tried seldom, or hold one of the longest sections. `unit` is between 0 and 1. With `added`
    /// only those count in which a call of the user brought something, if there are any.
    pub fn choose(&mut self, unit: f64, added: bool) -> Option<&Entry> {
        let added = added && self.entries.iter().any(|entry| entry.is_added);
        let is_new = |entry: &Entry| entry.tries < FIRST_TRIES && entry.is_added >= added;
        if unit < NEWEST
            && let Some(newest) = self.entries.iter().rposition(is_new)
        {
            self.entries[newest].tries += 1;
            return self.entries.get(newest);
        }
        let unit = (unit - NEWEST).max(0.0) / (1.0 - NEWEST);
        let mut weights: Vec<f64> = self.entries.iter().map(|one| self.rarity(one)).collect();
        for longest in self.longest.values() {
            // Each doubling counts the same: the longest of all must not take every try.
            let doublings = f64::from(longest.section.magnitude() - LONG.ilog2() + 1);
            weights[longest.entry] += doublings;
        }
        for (weight, entry) in weights.iter_mut().zip(&self.entries) {
            *weight /= 1.0 + entry.tries as f64 / TRIES;
            if added && !entry.is_added {
                *weight = 0.0;
            }
        }
        let mut left = unit * weights.iter().sum::<f64>();
        let chosen = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        let entry = self.entries.get_mut(chosen.unwrap_or(0))?;
        entry.tries += 1;
        Some(entry)
    }

    /// The sum over the sections that it brought of one in the root of the number of programs that
    /// reached them: programs made from it reach them too, and must not make it unlikely.
    fn rarity(&self, entry: &Entry) -> f64 {
        let programs = entry.covered.iter().map(|one| self.reached[*one]);
        programs
            .map(|programs| 1.0 / (programs as f64).sqrt())
            .sum()
    }

    /// The longest sections, the longest first, one for each entry.
    pub fn longest(&self) -> Vec<&Longest> {
        let mut all: Vec<_> = self.longest.iter().collect();
        all.sort_by_key(|(place, one)| (std::cmp::Reverse(one.section.length), *place));
        let mut seen = HashSet::new();
        all.retain(|((began, _), _)| seen.insert(began));
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
    (began, ended, section.magnitude().max(SHORT))
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

    fn program(number: u64) -> Program {
        parse(&format!("r0 = dup({number})\n")).unwrap()
    }

    #[test]
    fn a_program_is_kept_for_a_new_place_a_new_power_of_two_or_a_longer_section() {
        let mut corpus = Corpus::default();
        let mut new = |began, length| {
            let sections = vec![section(began, length)];
            corpus.take(program(length), sections, &|_| false).is_some()
        };
        assert!(new("a", 20_000));
        assert!(!new("a", 20_000) && !new("a", 17_000) && !new("a", 24_000));
        assert!(new("a", 26_000), "longer by a quarter");
        assert!(new("a", 300), "another power of two");
        assert!(!new("a", 500), "longer by a quarter, but short");
        assert!(new("a", 70) && !new("a", 3), "all short ones are one");
        assert!(new("b", 17_000), "another place");
        assert_eq!(corpus.covered(), 4);
        let longest = corpus.longest();
        let lengths: Vec<u64> = longest.iter().map(|one| one.section.length).collect();
        assert_eq!(lengths, [26_000, 17_000]);
        assert_eq!(corpus.entries()[longest[0].entry].program, program(26_000));
    }

    #[test]
    fn calls_after_the_last_new_section_are_left_out() {
        let text = "r0 = dup(1)\nr1 = dup(2)\nr2 = dup(3)\n";
        let kept = |sections: Vec<Section>| {
            let mut corpus = Corpus::default();
            let entry = corpus.take(parse(text).unwrap(), sections, &|_| false);
            entry.map(|entry| (entry.program.calls.len(), entry.call(0.9)))
        };
        let at = |call| Section {
            call,
            ..section(if call.is_some() { "a" } else { "b" }, 9_000)
        };
        assert_eq!(kept(vec![at(Some(1))]), Some((2, Some(1))));
        assert_eq!(kept(vec![at(Some(1)), at(None)]), Some((3, Some(1))));
        assert_eq!(kept(vec![at(None)]), Some((3, None)));
    }

    #[test]
    fn what_was_tried_often_is_chosen_less() {
        let mut corpus = Corpus::default();
        assert!(corpus.choose(0.5, false).is_none());
        for number in 0..4 {
            corpus.take(
                program(number),
                vec![section(&number.to_string(), 16)],
                &|_| false,
            );
        }
        let chosen =
            |corpus: &mut Corpus, unit| corpus.choose(unit, false).unwrap().program.clone();
        assert_eq!(chosen(&mut corpus, 0.0), program(3), "the newest first");
        for _ in 0..4 * FIRST_TRIES {
            chosen(&mut corpus, 0.0);
        }
        // Then a tenth of four equal weights is in the first; after many tries it weighs less than that.
        assert_eq!(chosen(&mut corpus, 0.55), program(0));
        for _ in 0..200 {
            assert_eq!(chosen(&mut corpus, NEWEST), program(0));
        }
        assert_eq!(chosen(&mut corpus, 0.55), program(1));
    }

    #[test]
    fn what_few_programs_reach_is_chosen_more() {
        let mut corpus = Corpus::default();
        corpus.take(program(0), vec![section("rare", 16)], &|_| false);
        for number in 1..100 {
            corpus.take(program(number), vec![section("common", 16)], &|_| false);
        }
        assert_eq!(corpus.entries().len(), 2);
        // Its tries do not make up for that at once.
        let rare =
            |at: f64| corpus.choose(NEWEST + at / 40.0, false).unwrap().program == program(0);
        let rare = (0..20).map(f64::from).map(rare).filter(|is| *is).count();
        assert!(rare > 13, "{rare}");
    }

    #[test]
    fn a_share_of_the_tries_is_for_the_users_calls() {
        let mut corpus = Corpus::default();
        let at = |began: &str| Section {
            call: Some(0),
            ..section(began, 16)
        };
        let is_sync = |call: &Call| call.name == "sync";
        corpus.take(program(0), vec![at("a")], &is_sync);
        assert_eq!(corpus.choose(0.9, true).unwrap().program, program(0));
        let mine = parse("r0 = sync()\n").unwrap();
        corpus.take(mine.clone(), vec![at("b")], &is_sync);
        assert_eq!(corpus.choose(0.0, true).unwrap().program, mine);
        assert_eq!(corpus.choose(NEWEST, false).unwrap().program, program(0));
    }
}

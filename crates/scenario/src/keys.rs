//! The only list of the keys of a scenario file.
//!
//! Reading refuses other keys, and the JSON Schema and the reference page are made from it.

mod ethercat;
mod flight;
mod loads;
mod policies;
mod sections;
mod tables;
mod task_set;
mod work;

pub(crate) use ethercat::MOST_DEVICES;
pub(crate) use flight::{FLIGHT, LONGEST_VEHICLE};
pub(crate) use loads::{EXCHANGE_PERIOD_NS, LOAD};
pub(crate) use policies::POLICY;
pub(crate) use sections::{MOST_INTERRUPTS, SECTION_INTERRUPT, SECTIONS};
pub(crate) use tables::{
    ACCOUNTING, CORE_LATENCY_NS, CRITERION, LONGEST_NAME, LONGEST_WARM_UP_NS, PHASE, SCENARIO,
    TASK, TIER_NAMES, TRACE, TRACE_BUFFER,
};
pub(crate) use task_set::{
    MOST_SET_TASKS, SET_ADMISSION, SET_CACHE_DELAY, SET_CHAIN, SET_EXECUTION, SET_OVERHEADS,
    SET_RESERVATION, SET_TASK, TASK_SET,
};
pub(crate) use work::{
    LONGEST_ANSWER_NS, MOST_TABLE_TASKS, TABLE_FILE, TABLE_TASK, TRAJECTORY, WAYPOINT, WORK,
};

use crate::document::Section;
use crate::error::Findings;
use wakepath_timeline::quoted;

/// A table of the file.
pub(crate) struct Table {
    /// How it is called in messages and headings.
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) keys: &'static [Key],
    /// Groups of keys of which exactly one is required.
    pub(crate) one_of: &'static [&'static [&'static str]],
    /// Pairs of keys that exclude each other.
    pub(crate) not_both: &'static [(&'static str, &'static str)],
}

/// A table whose keys depend on the value of one of them.
pub(crate) struct Variants {
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    /// The key that decides.
    pub(crate) tag: &'static str,
    pub(crate) variants: &'static [Variant],
    /// Pattern of the short form that can replace the table, and its meaning.
    pub(crate) short: (&'static str, &'static str),
}

/// One value of the deciding key.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) keys: &'static [Key],
}

/// A key of a table.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) presence: Presence,
    pub(crate) about: &'static str,
}

/// Whether a key must be given.
pub(crate) enum Presence {
    Required,
    /// The default, as text for the reference.
    Default(&'static str),
}

/// Form of a value.
pub(crate) enum Form {
    Name,
    Text,
    /// Text on one line without invisible characters.
    Line,
    /// Text that matches a pattern of JSON Schema, with its description.
    Fitting(&'static str, &'static str),
    Duration,
    /// A time in this range of nanoseconds.
    Time(u64, u64),
    /// A rate whose period is in this range of nanoseconds.
    Rate(u64, u64),
    Size,
    /// A size in this range of bytes.
    Bytes(u64, u64),
    /// A time, a share of the period, or a number of periods.
    OfPeriod,
    /// A number from 0 to 1, or a percentage.
    Share,
    /// A number between the two, exclusive.
    Number(f64, f64),
    Integer(i64, i64),
    CpuSet,
    Boolean,
    Choice(&'static [&'static str]),
    Either(&'static [Form]),
    /// A list with at least this number of texts.
    Texts(usize),
    /// A list with a number of items in this range.
    List(&'static Form, usize, usize),
    Table(&'static Table),
    Variants(&'static Variants),
}

const fn required(name: &'static str, form: Form, about: &'static str) -> Key {
    Key {
        name,
        form,
        presence: Presence::Required,
        about,
    }
}

const fn optional(
    name: &'static str,
    form: Form,
    default: &'static str,
    about: &'static str,
) -> Key {
    Key {
        name,
        form,
        presence: Presence::Default(default),
        about,
    }
}

/// The most unknown keys reported of one table.
const MOST_UNKNOWN: usize = 20;

/// Refuses keys that the table does not have.
pub(crate) fn check(section: &Section<'_>, table: &Table, findings: &mut Findings) {
    let known: Vec<&str> = table.keys.iter().map(|key| key.name).collect();
    let unknown = section.names().filter(|name| !known.contains(name));
    for name in unknown.take(MOST_UNKNOWN) {
        let problem = format!("is not a key of {}", table.title);
        findings.push(section.refuse_key(name, problem, suggestion(name, &known)));
    }
}

impl Variants {
    /// Finds the variant that a table names and refuses keys that it does not have.
    pub(crate) fn find(
        &'static self,
        section: &Section<'_>,
        findings: &mut Findings,
    ) -> Option<&'static Variant> {
        let names: Vec<&str> = self.variants.iter().map(|variant| variant.name).collect();
        let remedy = format!("give one of {}", listed(&names));
        let node = findings.keep(section.need(self.tag, &remedy))?;
        let text = findings.keep(node.text(&remedy))?;
        let Some(variant) = self.variants.iter().find(|variant| variant.name == text) else {
            let problem = format!("is not a {} that is known", self.title);
            findings.push(node.refuse(problem, suggestion(text, &names)));
            return None;
        };
        let mut known: Vec<&str> = variant.keys.iter().map(|key| key.name).collect();
        let own = match known.is_empty() {
            true => format!("{text} takes nothing else"),
            false => format!("{text} takes {}", listed(&known)),
        };
        known.push(self.tag);
        for name in section
            .names()
            .filter(|name| !known.contains(name))
            .take(MOST_UNKNOWN)
        {
            let elsewhere = self
                .variants
                .iter()
                .any(|other| other.keys.iter().any(|key| key.name == name));
            let (problem, remedy) = match elsewhere {
                true => (
                    format!("does not belong to {} {text}", self.title),
                    own.clone(),
                ),
                false => (
                    format!("is not a key of {}", self.title),
                    suggestion(name, &known),
                ),
            };
            findings.push(section.refuse_key(name, problem, remedy));
        }
        Some(variant)
    }
}

/// "a, b and c".
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// "did you mean …?" if a known name is similar, else all of them.
pub(crate) fn suggestion(name: &str, known: &[&str]) -> String {
    near(name, known).unwrap_or_else(|| format!("known are {}", listed(known)))
}

/// "did you mean …?" if a known name is similar.
pub(crate) fn near(name: &str, known: &[&str]) -> Option<String> {
    const LONGEST: usize = 40;
    let nearest = known
        .iter()
        .filter(|_| name.len() <= LONGEST)
        .map(|candidate| {
            (
                distance(&name.to_lowercase().replace('_', "-"), candidate),
                *candidate,
            )
        })
        .min_by_key(|(distance, _)| *distance);
    nearest
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .map(|(_, candidate)| format!("did you mean {}?", quoted(candidate)))
}

/// The fewest insertions, deletions, replacements and swaps of neighbours (optimal string
/// alignment) that make one text of the other.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    rows[0] = (0..=to.len()).collect();
    for above in 0..from.len() {
        rows[above + 1][0] = above + 1;
        for column in 0..to.len() {
            let same = from[above] == to[column];
            let mut fewest = (rows[above][column] + usize::from(!same))
                .min(rows[above][column + 1] + 1)
                .min(rows[above + 1][column] + 1);
            let swapped = above > 0
                && column > 0
                && from[above] == to[column - 1]
                && from[above - 1] == to[column];
            if swapped {
                fewest = fewest.min(rows[above - 1][column - 1] + 1);
            }
            rows[above + 1][column + 1] = fewest;
        }
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_known_name_is_suggested() {
        let known = ["rate", "period", "warm-up", "cycles"];
        assert_eq!(suggestion("rte", &known), "did you mean \"rate\"?");
        assert_eq!(suggestion("warm_up", &known), "did you mean \"warm-up\"?");
        assert_eq!(
            suggestion("zzzzzz", &known),
            "known are rate, period, warm-up and cycles"
        );
    }

    #[test]
    fn the_distance_counts_single_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
        assert_eq!(distance("cup", "cpu"), 1);
    }
}

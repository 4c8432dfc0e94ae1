//! Which boards are meant: `tag=pi5,tag!=old`, `name=pi5-*`, `all`. It knows no board's state.

use crate::inventory::{Board, Inventory};
use wakepath_timeline::quoted;

/// A selection of boards: those for which all terms of at least one group hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    groups: Vec<Vec<Term>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    All,
    Tag(String),
    NotTag(String),
    Name(String),
}

/// Faults of a selection.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SelectionError {
    /// An invalid term.
    #[error(
        "--on {0}: a term is tag=WORD, tag!=WORD, name=NAME (`*` matches anything) or all; several are joined by commas"
    )]
    Term(String),
    /// No board is meant.
    #[error("--on {0}: no board of the inventory matches; there are {1}")]
    None(String, String),
}

impl Selection {
    /// Reads groups of terms. Without any, every board is meant.
    pub fn parse(groups: &[String]) -> Result<Self, SelectionError> {
        let group = |text: &String| text.split(',').map(term).collect::<Result<Vec<_>, _>>();
        let mut groups = groups.iter().map(group).collect::<Result<Vec<_>, _>>()?;
        if groups.is_empty() {
            groups.push(vec![Term::All]);
        }
        Ok(Self { groups })
    }

    /// The selected boards in the inventory's order; an error if there are none.
    pub fn boards<'a>(&self, inventory: &'a Inventory) -> Result<Vec<&'a Board>, SelectionError> {
        let is_meant = |board: &&Board| {
            let holds = |group: &Vec<Term>| group.iter().all(|term| term.holds(board));
            self.groups.iter().any(holds)
        };
        let meant: Vec<&Board> = inventory.boards.iter().filter(is_meant).collect();
        if meant.is_empty() {
            let names = inventory
                .boards
                .iter()
                .take(8)
                .map(|board| board.name.as_str());
            let mut named = names.collect::<Vec<_>>().join(", ");
            if inventory.boards.len() > 8 {
                named += ", …";
            }
            return Err(SelectionError::None(self.to_string(), named));
        }
        Ok(meant)
    }
}

impl std::fmt::Display for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, group) in self.groups.iter().enumerate() {
            let words: Vec<String> = group.iter().map(Term::word).collect();
            let between = if index == 0 { "" } else { " or " };
            write!(f, "{between}{}", words.join(","))?;
        }
        Ok(())
    }
}

impl Term {
    fn holds(&self, board: &Board) -> bool {
        match self {
            Self::All => true,
            Self::Tag(tag) => board.tags.contains(tag),
            Self::NotTag(tag) => !board.tags.contains(tag),
            Self::Name(pattern) => matches(pattern, &board.name),
        }
    }

    fn word(&self) -> String {
        match self {
            Self::All => "all".into(),
            Self::Tag(tag) => format!("tag={tag}"),
            Self::NotTag(tag) => format!("tag!={tag}"),
            Self::Name(pattern) => format!("name={pattern}"),
        }
    }
}

fn term(text: &str) -> Result<Term, SelectionError> {
    let text = text.trim();
    let of = |word: &str| (!word.is_empty()).then(|| word.to_owned());
    let found = match text.split_once('=') {
        Some(("tag!", tag)) => of(tag).map(Term::NotTag),
        Some(("tag", tag)) => of(tag).map(Term::Tag),
        Some(("name", pattern)) => of(pattern).map(Term::Name),
        None if text == "all" => Some(Term::All),
        _ => None,
    };
    found.ok_or_else(|| SelectionError::Term(quoted(text)))
}

/// Whether `name` matches `pattern`, in which `*` matches anything. Linear in the two lengths
/// except for the pieces between stars, which are found from the left.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else {
        return rest.is_empty();
    };
    for piece in middle {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inventory() -> Inventory {
        let board = |name: &str, tags: &str| {
            format!("[[boards]]\nname = \"{name}\"\naddress = \"a\"\ntags = [{tags}]\n")
        };
        let text =
            board("pi5-1", "'pi5', 'rt'") + &board("pi5-2", "'pi5'") + &board("jetson", "'rt'");
        Inventory::parse(&text, "t").unwrap()
    }

    fn meant(groups: &[&str]) -> Result<Vec<String>, String> {
        let groups: Vec<String> = groups.iter().map(ToString::to_string).collect();
        let selection = Selection::parse(&groups).map_err(|error| error.to_string())?;
        let inventory = inventory();
        let boards = selection
            .boards(&inventory)
            .map_err(|error| error.to_string())?;
        Ok(boards.iter().map(|board| board.name.clone()).collect())
    }

    #[test]
    fn terms_of_a_group_hold_together_and_groups_add() {
        assert_eq!(meant(&[]).unwrap().len(), 3);
        assert_eq!(meant(&["tag=pi5"]).unwrap(), ["pi5-1", "pi5-2"]);
        assert_eq!(meant(&["tag=pi5, tag=rt"]).unwrap(), ["pi5-1"]);
        assert_eq!(
            meant(&["tag=pi5,tag!=rt", "name=j*n"]).unwrap(),
            ["pi5-2", "jetson"]
        );
        assert_eq!(meant(&["name=*-2"]).unwrap(), ["pi5-2"]);
        assert!(matches("a*b*c", "aXbYc") && !matches("a*b", "a") && !matches("ab*ba", "aba"));
    }

    #[test]
    fn what_means_no_board_is_an_error() {
        assert!(
            meant(&["tag=zx"])
                .unwrap_err()
                .contains("there are pi5-1, pi5-2, jetson")
        );
        for wrong in ["pi5", "tag=", "tag", "board=x", ""] {
            assert!(
                meant(&[wrong]).unwrap_err().contains("a term is"),
                "{wrong}"
            );
        }
    }
}

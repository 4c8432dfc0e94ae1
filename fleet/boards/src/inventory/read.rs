//! Reads an inventory from TOML.
//!
//! Every fault is one line with the file, the line and what would be right.

use super::{Board, Inventory, InventoryError};
use crate::schedule::Schedule;
use serde::Deserialize;
use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use wakepath_timeline::{one_line, quoted};

/// Default directory of files on a board.
const DIRECTORY: &str = ".wakepath-fleet";

/// More boards than this are an accident.
const MOST_BOARDS: usize = 100_000;

/// An inventory is text that someone typed.
const MOST_BYTES: u64 = 16 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    boards: Vec<Spanned<Entry>>,
    #[serde(default)]
    schedules: Vec<super::schedules::Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    address: Spanned<String>,
    port: Option<u16>,
    #[serde(default)]
    tags: Vec<Spanned<String>>,
    place: Option<Spanned<String>>,
    directory: Option<Spanned<String>>,
}

impl Inventory {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, InventoryError> {
        let unreadable = |error| InventoryError::Unreadable {
            path: path.to_owned(),
            error,
        };
        let length = std::fs::metadata(path).map_err(unreadable)?.len();
        if length > MOST_BYTES {
            return Err(unreadable(std::io::Error::other(format!(
                "{length} bytes are not an inventory; at most {MOST_BYTES} are read"
            ))));
        }
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Parses `text`, which `place` names in messages.
    pub fn parse(text: &str, place: &str) -> Result<Self, InventoryError> {
        let wrong = |at: Range<usize>, what: String| InventoryError::Wrong {
            place: one_line(place),
            line: text.get(..at.start).unwrap_or(text).matches('\n').count() + 1,
            what: one_line(&what),
        };
        let file: File = toml::from_str(text)
            .map_err(|error| wrong(error.span().unwrap_or(0..0), said(error.message())))?;
        if file.boards.is_empty() {
            let example = "[[boards]] with name = \"pi5-1\" and address = \"pi@pi5-1.lab\"";
            return Err(wrong(0..0, format!("no board; each is {example}")));
        }
        if file.boards.len() > MOST_BOARDS {
            return Err(wrong(0..0, format!("more than {MOST_BOARDS} boards")));
        }
        let mut names = HashSet::new();
        let mut boards = Vec::with_capacity(file.boards.len());
        for entry in file.boards {
            let board = checked(entry.into_inner()).map_err(|(at, what)| wrong(at, what))?;
            if !names.insert(board.0.name.clone()) {
                let what = format!("a second board is called {}", quoted(&board.0.name));
                return Err(wrong(board.1, what));
            }
            boards.push(board.0);
        }
        let mut schedules: Vec<Schedule> = Vec::with_capacity(file.schedules.len());
        for entry in file.schedules {
            let at = entry.name.span();
            let schedule =
                super::schedules::checked(entry).map_err(|(at, what)| wrong(at, what))?;
            if schedules.iter().any(|other| other.name == schedule.name) {
                let what = format!("a second schedule is called {}", quoted(&schedule.name));
                return Err(wrong(at, what));
            }
            schedules.push(schedule);
        }
        Ok(Self { boards, schedules })
    }
}

pub(super) type Fault = (Range<usize>, String);

fn checked(entry: Entry) -> Result<(Board, Range<usize>), Fault> {
    let at = entry.name.span();
    let name = entry.name.into_inner();
    if !is_name(&name) {
        let what = format!(
            "name = {}: a board's name has letters, digits, `.`, `_` and `-`, begins with a letter or digit, \
             and has 64 characters at most",
            quoted(&name)
        );
        return Err((at, what));
    }
    let address = taken(entry.address, is_address, |text| {
        format!("address = {text}: a host, user@host, or a name of OpenSSH's configuration")
    })?;
    let mut tags = Vec::new();
    for tag in entry.tags {
        tags.push(taken(tag, is_tag, |text| {
            format!("tag {text}: letters, digits, `.`, `_`, `-` and `:`, 64 at most")
        })?);
    }
    let place = entry.place.map(|place| {
        taken(place, is_tag, |text| {
            format!("place = {text}: a place's name in labgrid")
        })
    });
    let directory = entry.directory.map(|directory| {
        taken(directory, is_directory, |text| {
            format!(
                "directory = {text}: a path with letters, digits, `.`, `_`, `-` and `/`, without `..`"
            )
        })
    });
    let board = Board {
        name,
        address,
        port: entry.port,
        tags,
        place: place.transpose()?,
        directory: directory.transpose()?.unwrap_or_else(|| DIRECTORY.into()),
    };
    Ok((board, at))
}

pub(super) fn taken(
    text: Spanned<String>,
    is_right: fn(&str) -> bool,
    right: impl Fn(&str) -> String,
) -> Result<String, Fault> {
    if is_right(text.get_ref()) {
        Ok(text.into_inner())
    } else {
        Err((text.span(), right(&quoted(text.get_ref()))))
    }
}

/// Whether `text` can be a board's name: it becomes the name of a directory, and appears in lines.
pub(crate) fn is_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// An option of `ssh` begins with a dash, so that no address does.
fn is_address(text: &str) -> bool {
    text.len() <= 255
        && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-@:%".contains(c))
}

fn is_tag(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 64
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-:".contains(c))
}

/// Accepts only paths that a shell takes as one word and that have no `..`.
fn is_directory(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 255
        && !text.starts_with('-')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c))
        && text.split('/').all(|part| part != "..")
}

/// The parser's message, with advice if a key looks like a secret.
fn said(message: &str) -> String {
    let message = message.replace('\n', ", ");
    let secrets = ["pass", "secret", "token", "key"];
    let unknown = message
        .strip_prefix("unknown field ")
        .map(str::to_lowercase);
    let is_secret = unknown.is_some_and(|unknown| {
        let named = unknown.split(',').next().unwrap_or_default();
        secrets.iter().any(|secret| named.contains(secret))
    });
    if is_secret {
        format!(
            "{message}; an inventory holds no secret: keys and agents are OpenSSH's, in ~/.ssh/config"
        )
    } else {
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Inventory::parse(text, "fleet.toml")
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn boards_are_read_in_their_order() {
        let text = "[[boards]]\nname = \"pi5-1\"\naddress = \"pi@10.0.0.5\"\nport = 2222\n\
                    tags = [\"pi5\", \"rt\"]\nplace = \"rack-3\"\n\n\
                    [[boards]]\nname = \"jetson\"\naddress = \"jetson\"\ndirectory = \"/data/wakepath\"\n";
        let boards = Inventory::parse(text, "fleet.toml").unwrap().boards;
        let first = Board {
            name: "pi5-1".into(),
            address: "pi@10.0.0.5".into(),
            port: Some(2222),
            tags: vec!["pi5".into(), "rt".into()],
            place: Some("rack-3".into()),
            directory: ".wakepath-fleet".into(),
        };
        assert_eq!(boards[0], first);
        assert_eq!(
            (boards[1].name.as_str(), boards[1].directory.as_str()),
            ("jetson", "/data/wakepath")
        );
    }

    #[test]
    fn what_is_wrong_is_one_line_with_its_place() {
        let board = |more: &str| format!("[[boards]]\nname = \"a\"\naddress = \"a\"\n{more}\n");
        let cases = [
            (String::new(), "fleet.toml:1: no board"),
            (board("prot = 22"), "fleet.toml:4: unknown field `prot`"),
            (board("password = \"x\""), "an inventory holds no secret"),
            (board("port = 70000"), "fleet.toml:4: "),
            (
                board("directory = \"../x\""),
                "fleet.toml:4: directory = \"../x\"",
            ),
            (board("tags = [\"a b\"]"), "fleet.toml:4: tag \"a b\""),
            (
                board("") + &board(""),
                "fleet.toml:6: a second board is called \"a\"",
            ),
            (
                "[[boards]]\nname = \"../a\"\naddress = \"a\"".into(),
                "fleet.toml:2: name = \"../a\"",
            ),
            (
                "[[boards]]\nname = \"a\"\naddress = \"-oProxyCommand=x\"".into(),
                "fleet.toml:3: address",
            ),
            (
                "[[boards]]\nname = \"a\"\naddress = \"a\\nb\"".into(),
                "fleet.toml:3: address",
            ),
            ("[[boards]]\nname = \"a\"".into(), "missing field `address`"),
            ("[[boards]\n".into(), "fleet.toml:1: "),
        ];
        for (text, expected) in cases {
            let said = refused(&text);
            assert!(said.contains(expected), "{text:?}: {said}");
            assert!(!said.contains('\n'), "{said}");
        }
    }
}

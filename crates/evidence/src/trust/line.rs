//! One line of a trust file.

use super::{NAMESPACE, Trusted, fits};
use crate::instant::{InstantError, instant};
use crate::key::{KeyError, PublicKey, is_kind};
use wakepath_timeline::quoted;

/// Faults of a line, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// An unknown word before the key.
    #[error(
        "{0}: neither a kind of key nor an option: cert-authority, namespaces=\"wakepath\", \
         valid-after=\"20261124Z\", valid-before=\"20271124Z\""
    )]
    NoOption(String),
    /// The key is invalid.
    #[error("{0}; a line is: BOARD ssh-ed25519 AAAA…")]
    NoKey(KeyError),
    /// A time.
    #[error(transparent)]
    NoInstant(#[from] InstantError),
    /// An option that appears twice, with possibly different values.
    #[error("{0} twice; give it once")]
    Twice(String),
    /// It ends before it begins.
    #[error("valid-after is not before valid-before")]
    NeverValid,
    /// A text without an end.
    #[error("a quotation mark that is not closed")]
    NotClosed,
    /// A value without quotation marks.
    #[error("{0}=: put the value in quotation marks")]
    NotQuoted(String),
}

/// Parses a line; none if it can't concern a seal. An error includes what would be right.
pub(super) fn read(text: &str) -> Result<Option<Trusted>, LineError> {
    let (boards, rest) = word(text)?;
    let boards: Vec<String> = boards.split(',').map(str::to_owned).collect();
    let (mut is_authority, mut from, mut until, mut is_ours) = (false, None, None, true);
    let first = rest.split_ascii_whitespace().next().unwrap_or_default();
    let key = if is_kind(first) {
        rest
    } else {
        let (options, key) = options(rest)?;
        let mut seen: Vec<String> = Vec::new();
        for (name, value) in options {
            let option = name.to_ascii_lowercase();
            if seen.contains(&option) {
                return Err(LineError::Twice(quoted(&name)));
            }
            seen.push(option.clone());
            match (option.as_str(), value) {
                ("cert-authority", None) => is_authority = true,
                ("namespaces", Some(of)) => is_ours = of.split(',').any(|of| fits(of, NAMESPACE)),
                ("valid-after", Some(time)) => from = Some(instant(&time)?),
                ("valid-before", Some(time)) => until = Some(instant(&time)?),
                _ => {
                    return Err(LineError::NoOption(quoted(&name)));
                }
            }
        }
        key
    };
    let key = match PublicKey::from_line(key) {
        Ok(key) => key,
        Err(KeyError::OtherKind(_)) => return Ok(None),
        Err(error) => return Err(LineError::NoKey(error)),
    };
    if from.zip(until).is_some_and(|(from, until)| from >= until) {
        return Err(LineError::NeverValid);
    }
    Ok(is_ours.then_some(Trusted {
        boards,
        key,
        is_authority,
        from,
        until,
    }))
}

/// The first word, possibly in quotation marks, and what follows it.
fn word(text: &str) -> Result<(String, &str), LineError> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (word, rest) = quoted.split_once('"').ok_or(LineError::NotClosed)?;
        return Ok((word.to_owned(), rest.trim_start()));
    }
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    Ok((word.to_owned(), rest.trim_start()))
}

type Options = Vec<(String, Option<String>)>;

/// Parses `name`, `name="value"`, joined by commas; returns what follows them.
fn options(text: &str) -> Result<(Options, &str), LineError> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(|c: char| c == '=' || c == ',' || c.is_whitespace());
        let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        let value = match rest.strip_prefix("=\"") {
            Some(quoted) => {
                let closed = quoted.split_once('"');
                let (value, after) = closed.ok_or(LineError::NotClosed)?;
                rest = after;
                Some(value.to_owned())
            }
            None if rest.starts_with('=') => {
                return Err(LineError::NotQuoted(name.to_owned()));
            }
            None => None,
        };
        found.push((name.to_owned(), value));
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None => return Ok((found, rest.trim_start())),
        }
    }
}

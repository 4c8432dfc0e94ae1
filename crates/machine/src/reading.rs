//! One value as read: known with its path, or unknown with the reason.
//!
//! It is not an error type, because a missing file is an ordinary fact about a machine.

use std::fmt;

use crate::Misread;
use serde::{Deserialize, Deserializer, Serialize};

/// The longest piece of refused text that is kept, in characters.
const KEPT_TEXT: usize = 120;

/// A value read from the machine, or the reason why there is none. Paths are those on the machine
/// itself, without the root of a recorded tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case", from = "Written<T>")]
pub enum Reading<T> {
    /// The value, as in effect when it was read.
    Known {
        /// The value.
        value: T,
        /// The file it was read from.
        path: String,
    },
    /// The file does not exist: this machine or kernel has no such feature.
    Absent {
        /// The file that was looked for.
        path: String,
    },
    /// The file exists, but this process has no right to read it.
    Denied {
        /// The file that was refused.
        path: String,
    },
    /// The file was there and could not be understood or read.
    Unreadable {
        /// The file.
        path: String,
        /// The start of its content; empty if reading failed.
        text: String,
        /// The fault.
        why: String,
    },
    /// It was left unread on purpose.
    Skipped {
        /// The file that would have been read.
        path: String,
        /// Reason why it was not read.
        why: String,
    },
    /// The version that recorded these facts did not read this, or recorded something that this
    /// version does not know.
    #[default]
    NotRead,
}

/// A reading as stored in a file. It has this flat shape and isn't a tagged enum, whose
/// deserialiser buffers its input and would be compiled for some hundred types: a tenth of the code
/// of programs that read a manifest.
#[derive(Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
struct Written<T> {
    state: String,
    #[serde(default = "none", deserialize_with = "given")]
    value: Option<T>,
    #[serde(default)]
    path: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    why: String,
}

fn none<T>() -> Option<T> {
    None
}

/// A value that is there, `null` too: some files hold nothing.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl<T> From<Written<T>> for Reading<T> {
    fn from(written: Written<T>) -> Self {
        let Written {
            state,
            value,
            path,
            text,
            why,
        } = written;
        match (state.as_str(), value) {
            ("known", Some(value)) => Self::Known { value, path },
            ("absent", _) => Self::Absent { path },
            ("denied", _) => Self::Denied { path },
            ("unreadable", _) => Self::Unreadable { path, text, why },
            ("skipped", _) => Self::Skipped { path, why },
            _ => Self::NotRead,
        }
    }
}

impl<T> Reading<T> {
    /// A value and the file it came from.
    pub fn found(value: T, path: impl Into<String>) -> Self {
        Self::Known {
            value,
            path: path.into(),
        }
    }

    /// A text that could not be understood; only its start is kept.
    pub fn unreadable(path: impl Into<String>, text: &str, why: impl Into<String>) -> Self {
        Self::Unreadable {
            path: path.into(),
            text: text.chars().take(KEPT_TEXT).collect(),
            why: why.into(),
        }
    }

    /// The value, if there is one.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The file that was read or looked for; empty if there was none.
    pub fn path(&self) -> &str {
        match self {
            Self::Known { path, .. }
            | Self::Absent { path }
            | Self::Denied { path }
            | Self::Unreadable { path, .. }
            | Self::Skipped { path, .. } => path,
            Self::NotRead => "",
        }
    }

    /// Whether the file does not exist.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent { .. })
    }

    /// The same reading with its value understood further; a refusal keeps the text.
    pub fn parse<U>(self, parser: impl FnOnce(&T) -> Result<U, Misread>) -> Reading<U>
    where
        T: AsRef<str>,
    {
        match self {
            Self::Known { value, path } => match parser(&value) {
                Ok(parsed) => Reading::Known {
                    value: parsed,
                    path,
                },
                Err(why) => Reading::unreadable(path, value.as_ref(), why.to_string()),
            },
            other => other.without_value(),
        }
    }

    /// The same reading with its value turned into another.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Reading<U> {
        match self {
            Self::Known { value, path } => Reading::Known {
                value: change(value),
                path,
            },
            other => other.without_value(),
        }
    }

    /// This reading if it is known, else the other one if that is known, else this one.
    #[must_use]
    pub fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self.known().is_some() {
            return self;
        }
        let second = other();
        if second.known().is_some() {
            second
        } else {
            self
        }
    }

    /// Why there is no value, with the type of another value. A known one becomes `NotRead`.
    pub(crate) fn without_value<U>(self) -> Reading<U> {
        match self {
            Self::Known { .. } | Self::NotRead => Reading::NotRead,
            Self::Absent { path } => Reading::Absent { path },
            Self::Denied { path } => Reading::Denied { path },
            Self::Unreadable { path, text, why } => Reading::Unreadable { path, text, why },
            Self::Skipped { path, why } => Reading::Skipped { path, why },
        }
    }
}

impl<T: fmt::Display> fmt::Display for Reading<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known { value, .. } => write!(out, "{value}"),
            Self::Absent { path } => write!(out, "absent ({path})"),
            Self::Denied { path } => write!(out, "not permitted ({path})"),
            Self::Unreadable { path, why, .. } => write!(out, "not understood ({path}: {why})"),
            Self::Skipped { why, .. } => write!(out, "not read ({why})"),
            Self::NotRead => write!(out, "not read"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_of_a_later_version_is_taken_as_not_read() {
        let later: Reading<u32> =
            serde_json::from_str(r#"{"state":"inferred","value":3,"from":"elsewhere"}"#).unwrap();
        assert_eq!(later, Reading::NotRead);
    }

    #[test]
    fn every_reading_comes_back_from_a_file_as_it_was() {
        let path = || "/x".to_owned();
        let readings: [Reading<Option<u32>>; 7] = [
            Reading::found(Some(3), "/x"),
            Reading::found(None, "/x"),
            Reading::Absent { path: path() },
            Reading::Denied { path: path() },
            Reading::unreadable("/x", "text", "why"),
            Reading::Skipped {
                path: path(),
                why: "why".into(),
            },
            Reading::NotRead,
        ];
        for reading in readings {
            let written = serde_json::to_string(&reading).unwrap();
            assert_eq!(
                serde_json::from_str::<Reading<Option<u32>>>(&written).unwrap(),
                reading
            );
            let value: serde_json::Value = serde_json::from_str(&written).unwrap();
            assert_eq!(
                serde_json::from_value::<Reading<Option<u32>>>(value).unwrap(),
                reading
            );
        }
    }

    #[test]
    fn a_refused_text_is_kept_in_part() {
        let long = "é".repeat(4000);
        let Reading::<u32>::Unreadable { text, .. } = Reading::unreadable("/proc/x", &long, "no")
        else {
            panic!("not unreadable")
        };
        assert_eq!(text.chars().count(), KEPT_TEXT);
    }
}

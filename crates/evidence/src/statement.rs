//! An in-toto statement, version 1, about a run: its files by SHA-256, and which board's run it is.

use crate::envelope::EnvelopeError;
use serde::{Deserialize, Serialize};

/// Version of the statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";

/// Type of the statement about the files.
pub const PREDICATE_TYPE: &str = "https://github.com/wakepath/wakepath/run/v1";

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Version of the statement.
    #[serde(rename = "_type")]
    pub version: String,
    /// The run's files, in the order of their names.
    pub subject: Vec<Subject>,
    /// Type of the statement.
    #[serde(rename = "predicateType")]
    pub predicate_type: String,
    /// The statement itself.
    pub predicate: Predicate,
}

/// A file that a statement is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its name, from the run's directory on.
    pub name: String,
    /// Its content.
    pub digest: Digests,
}

/// Digests of a content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests {
    /// SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// The statement about a run's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Predicate {
    /// The board whose run this is.
    pub board: String,
    /// The job that it was measured for; none for a run that nobody ordered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Job>,
    /// The run, by the name in its manifest.
    pub run: String,
    /// When it began by the board's clock, RFC 3339.
    pub started: String,
    /// When it was sealed by the clock of who sealed it, RFC 3339.
    pub sealed: String,
    /// The program that sealed it.
    pub tool: String,
}

/// A job, as the person who ordered it names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its name.
    pub name: String,
    /// SHA-256 of the scenario that was ordered, in hexadecimal digits.
    pub scenario_sha256: String,
}

/// A file of a run: its name from the run's directory on, and its SHA-256 in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileDigest {
    /// Its name.
    pub name: String,
    /// Its SHA-256.
    pub sha256: String,
}

impl Statement {
    /// States that these are the files.
    pub fn about(mut files: Vec<FileDigest>, predicate: Predicate) -> Self {
        files.sort_unstable();
        let subject = files.into_iter().map(|file| Subject {
            name: file.name,
            digest: Digests {
                sha256: file.sha256,
            },
        });
        Self {
            version: STATEMENT_TYPE.into(),
            subject: subject.collect(),
            predicate_type: PREDICATE_TYPE.into(),
            predicate,
        }
    }

    /// Parses a payload.
    ///
    /// # Errors
    /// Another version, another statement, a file named twice, an invalid digest.
    pub fn from_payload(payload: &[u8]) -> Result<Self, EnvelopeError> {
        let wrong = |what: String| EnvelopeError::Statement(what);
        let statement: Self =
            serde_json::from_slice(payload).map_err(|error| wrong(error.to_string()))?;
        for (is, expected) in [
            (&statement.version, STATEMENT_TYPE),
            (&statement.predicate_type, PREDICATE_TYPE),
        ] {
            if is != expected {
                return Err(wrong(format!("{is:?} where {expected} stands")));
            }
        }
        let mut names: Vec<&str> = statement.subject.iter().map(|s| s.name.as_str()).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(wrong(format!("{:?} is named twice", twice[0])));
        }
        let is_digest = |text: &str| {
            text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        };
        match statement
            .subject
            .iter()
            .find(|s| !is_digest(&s.digest.sha256))
        {
            Some(subject) => Err(wrong(format!("{:?} has no SHA-256", subject.name))),
            None => Ok(statement),
        }
    }
}

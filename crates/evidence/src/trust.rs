//! Whom one trusts: a file of the form of OpenSSH's allowed signers (`man ssh-keygen`), a line for
//! each key: boards' names, options, key. It holds no signature against anything.

mod line;

pub use line::LineError;

use crate::instant::InstantError;
use crate::key::PublicKey;

/// Namespace that a key must be allowed for if its line lists namespaces.
pub(crate) const NAMESPACE: &str = "wakepath";

/// A trust file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trust {
    /// Its keys that can have sealed, in the order of the file.
    pub trusted: Vec<Trusted>,
}

/// A key that is trusted for some boards, for some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// Names of boards, with `*`, `?`, and `!` for exclusions.
    pub boards: Vec<String>,
    /// The key.
    pub key: PublicKey,
    /// Whether it vouches for other keys, by certificates.
    pub is_authority: bool,
    /// Seconds since 1970 from which it holds.
    pub from: Option<u64>,
    /// Seconds since 1970 at which it ends.
    pub until: Option<u64>,
}

/// A fault of a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TrustError {
    /// The line, from 1.
    pub line: usize,
    /// The fault, and what would be right.
    pub what: TrustWrong,
}

/// Faults of a trust file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustWrong {
    /// A line.
    #[error(transparent)]
    Line(#[from] LineError),
    /// No line could be about a seal.
    #[error(
        "the file names no key of Ed25519 or ECDSA on P-256 for the namespace wakepath; a line is: BOARD ssh-ed25519 AAAA…"
    )]
    NoKeyAtAll,
}

impl Trust {
    /// Reads the text of a file. Keys of other kinds than Ed25519 and ECDSA on P-256 can't have sealed anything and are
    /// passed over.
    ///
    /// # Errors
    /// The first line that can't be read, and a file without a key that could have sealed.
    pub fn parse(text: &str) -> Result<Self, TrustError> {
        let mut trusted = Vec::new();
        for (index, text) in text.lines().enumerate() {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let found = line::read(text).map_err(|what| TrustError {
                line: index + 1,
                what: what.into(),
            })?;
            trusted.extend(found);
        }
        if trusted.is_empty() {
            Err(TrustError {
                line: text.lines().count().max(1),
                what: TrustWrong::NoKeyAtAll,
            })
        } else {
            Ok(Self { trusted })
        }
    }
}

impl Trusted {
    /// Whether it is trusted for a board.
    pub fn is_for(&self, board: &str) -> bool {
        let mut is_meant = false;
        for pattern in &self.boards {
            match pattern.strip_prefix('!') {
                Some(pattern) if fits(pattern, board) => return false,
                Some(_) => {}
                None => is_meant |= fits(pattern, board),
            }
        }
        is_meant
    }
}

impl From<InstantError> for String {
    fn from(error: InstantError) -> Self {
        error.to_string()
    }
}

/// Whether `name` matches `pattern`, in which `*` matches anything and `?` one character. It
/// backtracks only to the last star, so that no pattern takes longer than the product of lengths.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut place, mut back) = (0, 0, None);
    while place < name.len() {
        match pattern.get(at) {
            Some('*') => {
                back = Some((at + 1, place));
                at += 1;
            }
            Some(&c) if c == '?' || c == name[place] => {
                at += 1;
                place += 1;
            }
            _ => match back {
                Some((after, from)) => {
                    back = Some((after, from + 1));
                    (at, place) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|&c| c == '*')
}

//! Faults of a sealed run, each in one line.

use std::fmt;
use wakepath_timeline::one_line;

use crate::instant::written;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A file differs from the sealed one.
    Changed(String),
    /// A file that was sealed is not there.
    Missing(String),
    /// A file is there that was not sealed.
    Added(String),
    /// The key isn't in the trust file.
    UnknownKey {
        /// Its fingerprint, from the seal.
        key: String,
    },
    /// A trusted key is named, but did not sign this.
    BadSignature {
        /// Its fingerprint.
        key: String,
    },
    /// The key in the seal did not sign it.
    Altered {
        /// Its fingerprint, from the seal.
        key: String,
    },
    /// A certificate that holds nothing.
    BadCertificate(String),
    /// Signed by a key that is only trusted for other boards.
    KeyOfOtherBoard {
        /// Its fingerprint.
        key: String,
        /// The board in the seal.
        sealed: String,
        /// Boards that the key is trusted for.
        trusted: String,
    },
    /// Sealed as one board's run, and shown as another's.
    OtherBoard {
        /// The board in the seal.
        sealed: String,
        /// The expected board.
        asked: String,
    },
    /// Sealed for another job than the one that it is shown as, or for none.
    OtherJob {
        /// The job in the seal.
        sealed: Option<String>,
        /// The expected job.
        asked: String,
    },
    /// Sealed for that job with another scenario.
    OtherScenario,
    /// Begun before it was ordered.
    Older {
        /// Its start, from the seal.
        started: String,
        /// When it was ordered, seconds since 1970.
        since: u64,
    },
    /// The key, or its certificate, has ended.
    Expired {
        /// Key or certificate.
        what: &'static str,
        /// When it ended, seconds since 1970.
        at: u64,
        /// Whether it had ended when the run was sealed, by the sealer's clock.
        before_sealing: bool,
    },
    /// The key, or its certificate, did not hold yet when the run was sealed.
    NotYet {
        /// Key or certificate.
        what: &'static str,
        /// When it begins, seconds since 1970.
        at: u64,
    },
    /// The time of sealing is invalid, or in the future.
    SealingTime(String),
}

impl Finding {
    /// The finding's name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Changed(_) => "changed-file",
            Self::Missing(_) => "missing-file",
            Self::Added(_) => "added-file",
            Self::UnknownKey { .. } => "unknown-key",
            Self::BadSignature { .. } | Self::Altered { .. } => "bad-signature",
            Self::BadCertificate(_) => "bad-certificate",
            Self::KeyOfOtherBoard { .. } => "key-of-another-board",
            Self::OtherBoard { .. } => "another-board",
            Self::OtherJob { .. } => "another-job",
            Self::OtherScenario => "another-scenario",
            Self::Older { .. } => "older-run",
            Self::Expired { .. } => "expired",
            Self::NotYet { .. } => "not-yet-valid",
            Self::SealingTime(_) => "sealing-time",
        }
    }

    /// The file that it is about.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Changed(name) | Self::Missing(name) | Self::Added(name) => Some(name),
            _ => None,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(name) => {
                write!(
                    f,
                    "changed: {}: not the content that was sealed",
                    one_line(name)
                )
            }
            Self::Missing(name) => write!(f, "missing: {}: sealed, and not there", one_line(name)),
            Self::Added(name) => write!(f, "added: {}: there, and not sealed", one_line(name)),
            Self::UnknownKey { key } => {
                let key = one_line(key);
                write!(f, "unknown key: {key} is not in the trust file")
            }
            Self::BadSignature { key } => write!(
                f,
                "bad signature: {} is trusted and did not sign this: the seal was altered; files were not compared",
                one_line(key)
            ),
            Self::Altered { key } => write!(
                f,
                "bad signature: the seal was altered after {} had signed it; files were not compared",
                one_line(key)
            ),
            Self::BadCertificate(why) => write!(f, "bad certificate: {}", one_line(why)),
            Self::KeyOfOtherBoard {
                key,
                sealed,
                trusted,
            } => write!(
                f,
                "another board's key: sealed as a run of {}, by the key {key} that is trusted for {}",
                one_line(sealed),
                one_line(trusted)
            ),
            Self::OtherBoard { sealed, asked } => write!(
                f,
                "another board's run: sealed as a run of {}, not of {}",
                one_line(sealed),
                one_line(asked)
            ),
            Self::OtherJob {
                sealed: Some(sealed),
                asked,
            } => write!(
                f,
                "another job's run: sealed for {}, not for {}",
                one_line(sealed),
                one_line(asked)
            ),
            Self::OtherJob { asked, .. } => write!(
                f,
                "another job's run: sealed for no job, not for {}",
                one_line(asked)
            ),
            Self::OtherScenario => f.write_str("another scenario: not the one that was ordered"),
            Self::Older { started, since } => write!(
                f,
                "an older run: begun {}, and ordered {}",
                one_line(started),
                written(*since)
            ),
            Self::Expired {
                what,
                at,
                before_sealing: true,
            } => write!(
                f,
                "expired: the {what} ended {}, before this was sealed",
                written(*at)
            ),
            Self::Expired { what, at, .. } => write!(
                f,
                "expired: the {what} ended {}; the run was sealed earlier by the board's own clock, which \
                 nobody vouches for (--at TIME judges by another day)",
                written(*at)
            ),
            Self::NotYet { what, at } => {
                write!(f, "not yet valid: the {what} begins {}", written(*at))
            }
            Self::SealingTime(time) => write!(
                f,
                "time of sealing: {} lies ahead or is none: the clock of who sealed it was wrong",
                one_line(time)
            ),
        }
    }
}

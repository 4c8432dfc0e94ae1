//! Verifies a seal: the signer, their trust for that board at that time, and the files.
//!
//! Each fault is a separate finding.

mod finding;
mod signer;

pub use finding::Finding;

use crate::envelope::{Envelope, EnvelopeError, PAYLOAD_TYPE};
use crate::instant::instant;
use crate::key::PublicKey;
use crate::statement::{FileDigest, Job, Predicate, Statement};
use crate::trust::Trust;
use std::collections::BTreeMap;

/// Maximum lag of a board's clock relative to that of the person who ordered a run, in seconds.
const BEHIND: u64 = 300;

/// Result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The statement; as reliable as its signature.
    pub predicate: Predicate,
    /// Number of files in the statement.
    pub files: usize,
    /// Whose signature was accepted.
    pub key: Option<PublicKey>,
    /// All that is wrong. Nothing: the run is verified.
    pub findings: Vec<Finding>,
}

impl Verification {
    /// Compares the seal with the job that the run was ordered for, which began at `since`, in
    /// seconds since 1970 by the clock of the person who ordered it: a run of another job, or an
    /// older one, is another run.
    #[must_use]
    pub fn ordered(mut self, job: &Job, since: u64) -> Self {
        let sealed = self.predicate.job.as_ref();
        let (asked, found) = (&job.name, sealed.map(|of| &of.name));
        if found != Some(asked) {
            self.findings.push(Finding::OtherJob {
                sealed: found.cloned(),
                asked: asked.clone(),
            });
        } else if sealed.is_some_and(|of| of.scenario_sha256 != job.scenario_sha256) {
            self.findings.push(Finding::OtherScenario);
        }
        let started = &self.predicate.started;
        let is_later = |at| at + BEHIND >= since;
        if !instant(started).is_ok_and(is_later) {
            self.findings.push(Finding::Older {
                started: started.clone(),
                since,
            });
        }
        self
    }

    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Checks an envelope against trust, time and files. `now` is in seconds since 1970; `board` is the
/// board the run is attributed to, if known apart from the seal.
///
/// # Errors
/// Not an envelope, or not a statement about a run.
pub fn verify(
    envelope: &[u8],
    files: &[FileDigest],
    trust: &Trust,
    now: u64,
    board: Option<&str>,
) -> Result<Verification, EnvelopeError> {
    let (envelope, statement) = read(envelope)?;
    let mut findings = Vec::new();
    let key = match signer::of(&envelope, &statement.predicate, trust, now) {
        Ok(key) => Some(key),
        Err(finding) => {
            findings.push(finding);
            None
        }
    };
    let sealed = &statement.predicate.board;
    if let Some(asked) = board.filter(|asked| asked != sealed) {
        findings.push(Finding::OtherBoard {
            sealed: sealed.clone(),
            asked: asked.to_owned(),
        });
    }
    // A list altered after it was signed proves nothing about files.
    if !findings
        .iter()
        .any(|of| matches!(of, Finding::BadSignature { .. }))
    {
        findings.extend(differences(&statement, files));
    }
    Ok(Verification {
        predicate: statement.predicate,
        files: statement.subject.len(),
        key,
        findings,
    })
}

/// Faults that a seal shows without any trust: it was altered after it was signed, or files differ.
/// Empty: the run is as it was sealed, by whomever.
///
/// # Errors
/// As [`verify`].
pub fn disagreements(envelope: &[u8], files: &[FileDigest]) -> Result<Vec<Finding>, EnvelopeError> {
    let (envelope, statement) = read(envelope)?;
    Ok(if envelope.is_signed() {
        differences(&statement, files)
    } else {
        vec![Finding::Altered {
            key: envelope.signatures[0].key.clone(),
        }]
    })
}

fn read(envelope: &[u8]) -> Result<(Envelope, Statement), EnvelopeError> {
    let envelope = Envelope::from_bytes(envelope)?;
    if envelope.payload_type != PAYLOAD_TYPE {
        return Err(EnvelopeError::PayloadType(envelope.payload_type));
    }
    let statement = Statement::from_payload(&envelope.payload)?;
    Ok((envelope, statement))
}

/// Files that differ from the statement, in the order of their names.
fn differences(statement: &Statement, files: &[FileDigest]) -> Vec<Finding> {
    let mut stated: BTreeMap<&str, &str> = BTreeMap::new();
    for subject in &statement.subject {
        stated.insert(&subject.name, &subject.digest.sha256);
    }
    let mut found = Vec::new();
    for file in files {
        match stated.remove(file.name.as_str()) {
            Some(sha256) if sha256 == file.sha256 => {}
            Some(_) => found.push(Finding::Changed(file.name.clone())),
            None => found.push(Finding::Added(file.name.clone())),
        }
    }
    found.extend(
        stated
            .into_keys()
            .map(|name| Finding::Missing(name.to_owned())),
    );
    found.sort_unstable_by(|a, b| a.file().cmp(&b.file()));
    found
}

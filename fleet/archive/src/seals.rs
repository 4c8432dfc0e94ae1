//! Checks seals of an archive's runs against a trust file.
//!
//! It shows whether a run is the one that its board sealed. It makes no seal, and doesn't show
//! whether a measurement is true.

use crate::catalogue::Catalogue;
use crate::error::{FleetArchiveError, Result};
use crate::record::{Kept, Role, RunRecord, seal_name};
use crate::store::Store;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use wakepath_evidence::{FileDigest, Finding, MOST_SEAL_BYTES, Trust, verify};

/// Trusted signers, and the time of the check.
#[derive(Debug, Clone, Default)]
pub struct SealTerms {
    /// The trust file. Without one, a seal must still match its run.
    pub trust: Option<Trust>,
    /// The time, in seconds since 1970: keys end.
    pub now: u64,
}

/// Result of checking a run's seals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// A trusted key sealed these files as a run of this board.
    Verified,
    /// It has a seal that matches it, and no trust file was given.
    Unchecked,
    /// It has no seal.
    Unsealed,
    /// It has a seal, and this is wrong.
    Wrong(String),
}

impl Standing {
    /// Reason why a run must not count, if seals are required.
    pub fn objection(&self) -> Option<String> {
        match self {
            Self::Verified => None,
            other => Some(other.to_string()),
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verified => f.write_str("its seal is verified"),
            Self::Unchecked => f.write_str("nobody says whose seals are trusted"),
            Self::Unsealed => f.write_str("it is not sealed"),
            Self::Wrong(why) => write!(f, "its seal: {why}"),
        }
    }
}

/// One seal against the files of a run.
pub(crate) fn standing(seal: &[u8], files: &[Kept], board: &str, terms: &SealTerms) -> Standing {
    let sealed = files.iter().filter(|file| file.role != Role::Seal);
    let sealed: Vec<FileDigest> = sealed
        .map(|file| FileDigest {
            name: file.name.clone(),
            sha256: file.sha256.clone(),
        })
        .collect();
    let nobody = Trust::default();
    let trust = terms.trust.as_ref().unwrap_or(&nobody);
    let found = match verify(seal, &sealed, trust, terms.now, Some(board)) {
        Ok(found) => found,
        Err(error) => return Standing::Wrong(error.to_string()),
    };
    let is_checked = terms.trust.is_some();
    // Everybody's key is unknown to nobody.
    let mut wrong = found
        .findings
        .iter()
        .filter(|finding| is_checked || !matches!(finding, Finding::UnknownKey { .. }));
    match (wrong.next(), is_checked) {
        (Some(finding), _) => Standing::Wrong(finding.to_string()),
        (None, true) => Standing::Verified,
        (None, false) => Standing::Unchecked,
    }
}

impl Catalogue {
    /// Result for each run, by its name. A run with several seals needs one good seal.
    ///
    /// # Errors
    /// The system's, if a seal exists and can't be read.
    pub fn standings(
        &self,
        store: &dyn Store,
        terms: &SealTerms,
    ) -> Result<BTreeMap<String, Standing>> {
        let mut all = BTreeMap::new();
        for record in &self.records {
            all.insert(
                record.run_id.clone(),
                self.standing_of(store, record, terms)?,
            );
        }
        Ok(all)
    }

    fn standing_of(
        &self,
        store: &dyn Store,
        record: &RunRecord,
        terms: &SealTerms,
    ) -> Result<Standing> {
        let mut of_run = Standing::Unsealed;
        for digest in self.sealed.get(&record.run_id).into_iter().flatten() {
            let name = seal_name(&record.run_id, digest);
            let Some(file) = store.open(&name)? else {
                continue;
            };
            let mut seal = Vec::new();
            let path = store.path_of(&name);
            file.take(MOST_SEAL_BYTES + 1)
                .read_to_end(&mut seal)
                .map_err(FleetArchiveError::io("read", &path))?;
            let found = if seal.len() as u64 > MOST_SEAL_BYTES {
                Standing::Wrong("it is too long for a seal".to_owned())
            } else {
                standing(&seal, &record.files, &record.board, terms)
            };
            let is_good = matches!(found, Standing::Verified | Standing::Unchecked);
            if is_good {
                return Ok(found);
            }
            of_run = found;
        }
        Ok(of_run)
    }
}

//! Which runs count, by the seals that a verb is to trust: each that does not is a line with its reason.

use super::now;
use crate::command_line::Seals;
use crate::terminal::tell_line;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use wakepath_evidence::Trust;
use wakepath_fleet_archive::{Catalogue, SealTerms, Standing, Store};
use wakepath_timeline::count::counted;

/// Name of the trust file in an archive.
const OF_ARCHIVE: &str = "trust";

/// Longest trust file that is read: tens of thousands of keys.
const LONGEST: u64 = 16 << 20;

/// Most runs to list by name; beyond that only their number is shown.
const MOST_NAMED: usize = 20;

/// A verb's own error.
type Wrong = Box<dyn std::error::Error>;

/// Reads a trust file.
pub fn trust(path: &Path) -> Result<Trust, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    read(file, path)
}

fn read(file: File, path: &Path) -> Result<Trust, String> {
    let name = path.display();
    let mut text = String::new();
    let read = file.take(LONGEST).read_to_string(&mut text);
    read.map_err(|error| format!("{name}: {error}"))?;
    Trust::parse(&text).map_err(|error| format!("{name}: {error}"))
}

/// The trust file: that of the command line, else the archive's.
pub fn terms(store: &dyn Store, seals: &Seals) -> Result<SealTerms, Wrong> {
    let trust = match &seals.trust {
        Some(given) => Some(trust(given)?),
        None => match store.open(OF_ARCHIVE)? {
            Some(file) => Some(read(file, &store.path_of(OF_ARCHIVE))?),
            None => None,
        },
    };
    Ok(SealTerms { trust, now: now() })
}

/// Runs that do not count, each with the reason; none without a trust file.
pub struct LeftOut {
    /// Run to reason.
    pub why: BTreeMap<String, String>,
    /// Whether a trust file was given.
    pub is_asked: bool,
}

impl LeftOut {
    /// Looks at every run.
    pub fn new(store: &dyn Store, all: &Catalogue, seals: &Seals) -> Result<Self, Wrong> {
        let terms = terms(store, seals)?;
        if terms.trust.is_none() {
            return Ok(Self {
                why: BTreeMap::new(),
                is_asked: false,
            });
        }
        let standings = all.standings(store, &terms)?.into_iter();
        let wrong = standings
            .filter_map(|(run, standing): (_, Standing)| Some((run, standing.objection()?)));
        Ok(Self {
            why: wrong.collect(),
            is_asked: true,
        })
    }

    /// Says which do not count, on standard error.
    pub fn tell(&self) {
        for (run, why) in self.why.iter().take(MOST_NAMED) {
            tell_line(&format!("{run} does not count: {why}"));
        }
        if let Some(more) = self
            .why
            .len()
            .checked_sub(MOST_NAMED)
            .filter(|more| *more > 0)
        {
            let more = counted(more as u64, "run does", "runs do");
            tell_line(&format!(
                "{more} not count either; list all with `wakepath-fleet check`"
            ));
        }
    }
}

//! A page's entry: everything that the index shows of it, stored next to it as JSON.
//!
//! An index is rendered from entries alone, so that a repeated experiment doesn't need the runs of the others.

use super::file_of;
use crate::{Agreement, GuestRun, Repeated, Setting, findings};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use wakepath_archive::Emulator;
use wakepath_report::CostModel;

/// Data that the index shows of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Name of the experiment, and of its files.
    pub experiment: String,
    /// The experiment's heading.
    pub title: String,
    /// Place of the repetition.
    pub setting: Setting,
    /// One in the laboratory; one for each board.
    pub rows: Vec<Row>,
}

/// One repetition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Numbers of claims.
    pub claims: Verdicts,
    /// Origin of the figures.
    pub provenance: Provenance,
}

/// Number of claims with each verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdicts {
    /// [`Agreement::Agrees`].
    pub agree: usize,
    /// [`Agreement::Contradicts`].
    pub contradict: usize,
    /// [`Agreement::Undecided`].
    pub undecided: usize,
    /// [`Agreement::NotComparable`].
    pub not_comparable: usize,
    /// [`Agreement::NotRun`].
    pub not_run: usize,
}

/// Origin of a repetition's figures. Lists have each value once, in the order of the runs.
///
/// In the laboratory without date and host, so that the same runs make the same entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// Versions of wakepath that measured; empty without runs, or if they were not kept.
    pub wakepath: Vec<String>,
    /// The board, its kernels and the dates, in words; empty in the laboratory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boards: Vec<String>,
    /// Names and versions of the emulators; empty on a board, like all that follow but the claims.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub emulators: Vec<String>,
    /// Kernels of the guests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernels: Vec<KernelFile>,
    /// Virtual time of the guests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub virtual_time: Vec<GuestTime>,
    /// Seeds of the guests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<u64>,
    /// SHA-256 of the registered claims, in hexadecimal.
    pub claims_sha256: String,
    /// Digest of the samples; `None` if those of a run are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SamplesDigest>,
}

/// The kernel of a guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFile {
    /// Its origin.
    #[serde(flatten)]
    pub from: KernelOrigin,
    /// SHA-256 of its file, in hexadecimal.
    pub sha256: String,
}

/// Origin of a kernel. A path would reveal a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelOrigin {
    /// A package and its version.
    Package(String),
    /// The user gave it for the guest of this name.
    GivenFor(String),
}

/// Virtual time of a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestTime {
    /// Its cost model.
    pub cost_model: CostModel,
    /// CPUs of the guest.
    pub cpus: u16,
}

/// One digest of all samples of a repetition: one that differs in a single nanosecond has another, even if no figure
/// of the page shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SamplesDigest {
    /// Number of runs.
    pub runs: usize,
    /// SHA-256 of the SHA-256 of each run's samples, one per line, in hexadecimal.
    pub sha256: String,
}

impl Entry {
    /// An entry of the first repetition of a page.
    pub(super) fn new(repeated: &Repeated) -> Self {
        Self {
            experiment: repeated.experiment.name.to_owned(),
            title: repeated.experiment.title.to_owned(),
            setting: repeated.experiment.setting,
            rows: vec![Row::new(repeated)],
        }
    }

    /// File name of the entry of an experiment.
    pub fn file(experiment: &str) -> String {
        format!("{experiment}.json")
    }

    /// File name of the page.
    pub fn page(&self) -> String {
        file_of(&self.experiment)
    }
}

impl Row {
    /// A row of this repetition.
    pub(super) fn new(repeated: &Repeated) -> Self {
        let found = findings(repeated);
        let count = |wanted: Agreement| {
            let all = found.iter();
            all.filter(|finding| finding.agreement == wanted).count()
        };
        Self {
            claims: Verdicts {
                agree: count(Agreement::Agrees),
                contradict: count(Agreement::Contradicts),
                undecided: count(Agreement::Undecided),
                not_comparable: count(Agreement::NotComparable),
                not_run: count(Agreement::NotRun),
            },
            provenance: Provenance::new(repeated),
        }
    }
}

impl Provenance {
    fn new(repeated: &Repeated) -> Self {
        let guests = || repeated.guests.iter();
        let emulated = guests().filter_map(|guest| Some((guest, emulator(guest)?)));
        let kernels = emulated.clone().map(|(guest, emulator)| KernelFile {
            from: match &emulator.kernel_package {
                Some(package) => KernelOrigin::Package(package.clone()),
                None => KernelOrigin::GivenFor(guest.guest.name.to_owned()),
            },
            sha256: emulator.kernel_sha256.clone(),
        });
        let times = || guests().filter_map(|guest| guest.virtual_time.as_ref());
        let virtual_time = times().map(|time| GuestTime {
            cost_model: CostModel::from(time),
            cpus: time.cpus,
        });
        Self {
            wakepath: distinct(guests().map(|guest| guest.wakepath.clone())),
            boards: distinct(guests().flat_map(|guest| guest.board.iter().cloned())),
            emulators: distinct(emulated.map(|(_, emulator)| emulator.version.clone())),
            kernels: distinct(kernels),
            virtual_time: distinct(virtual_time),
            seeds: distinct(times().map(|time| time.seed)),
            claims_sha256: repeated.claims.sha256.clone(),
            samples: SamplesDigest::new(repeated),
        }
    }
}

impl SamplesDigest {
    fn new(repeated: &Repeated) -> Option<Self> {
        let digests = repeated.kernels().flat_map(|name| repeated.runs_of(name));
        let digests: Option<Vec<&str>> = digests.map(|run| run.samples_sha256.as_deref()).collect();
        let digests = digests.filter(|digests| !digests.is_empty())?;
        let mut hashed = Sha256::new();
        for digest in &digests {
            hashed.update(digest);
            hashed.update("\n");
        }
        let digest = hashed.finalize();
        Some(Self {
            runs: digests.len(),
            sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }
}

fn emulator(guest: &GuestRun) -> Option<&Emulator> {
    guest.virtual_time.as_ref()?.emulator.as_ref()
}

/// Each value once, in the order of their first.
pub(super) fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

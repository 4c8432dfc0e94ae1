//! The short answer as it is kept beside the run, so that showing it reads no samples. It is taken
//! only where it is whole, of this version, and of the very manifest that stands beside it; else
//! the run is judged again.

use super::Answer;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// An answer with what it belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptAnswer {
    /// The wakepath that judged.
    pub wakepath: String,
    /// Digest of the manifest that was judged, which holds those of all other files.
    pub manifest_sha256: String,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// What measured: the words of the command behind the program.
    pub what: String,
    /// The machine in a few words.
    pub machine: String,
    /// The answer.
    pub answer: Answer,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    sha256: String,
    kept: KeptAnswer,
}

impl KeptAnswer {
    /// Name of the file in a run directory.
    pub const FILE_NAME: &'static str = "answer.json";

    /// As it is written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let sealed = Sealed {
            sha256: self.seal(),
            kept: self.clone(),
        };
        // Texts, numbers and lists: nothing that JSON could refuse.
        serde_json::to_vec(&sealed).unwrap_or_default()
    }

    /// What was kept, each text in one line, whoever made the run; `None` where it is not as it was
    /// written.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let Sealed { sha256, kept } = serde_json::from_slice(bytes).ok()?;
        if sha256 != kept.seal() {
            return None;
        }
        wakepath_archive::read_legible(&serde_json::to_vec(&kept).ok()?).ok()
    }

    fn seal(&self) -> String {
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        let digest = Sha256::digest(bytes);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_answer_that_was_changed_is_none() {
        let kept = KeptAnswer {
            wakepath: "0.1.0".into(),
            manifest_sha256: "ab".into(),
            started: "2026-01-01T12:00:00Z".into(),
            what: "check".into(),
            machine: "a machine".into(),
            answer: Answer {
                outcome: "failed".into(),
                exit_code: 2,
                because: Vec::new(),
                criterion: String::new(),
                classes: Vec::new(),
                rows: Vec::new(),
                variants: Vec::new(),
                machine: Vec::new(),
                more_bad: 0,
                next: Vec::new(),
                limits: String::new(),
            },
        };
        let bytes = kept.to_bytes();
        assert_eq!(KeptAnswer::from_bytes(&bytes), Some(kept));
        let text = String::from_utf8(bytes).unwrap();
        for (from, to) in [("failed", "passed"), (":2,", ":0,"), ("{", "")] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text);
            assert_eq!(KeptAnswer::from_bytes(changed.as_bytes()), None);
        }
    }
}

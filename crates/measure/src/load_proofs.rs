//! The loads of a segment's phase, and what each of them proves to have done beside it.

use serde_json::json;
use wakepath_load::{LoadError, Loads, Snapshot};

/// The loads of a phase.
pub(super) enum PhaseLoads {
    Idle,
    Working(Box<Loads>),
    /// They could not be started: the segment is not measured, and says why.
    Missing(String),
}

/// The loads' counters now; `None` without loads.
pub(super) fn snapshot(loads: &mut PhaseLoads) -> Option<Result<Snapshot, LoadError>> {
    match loads {
        PhaseLoads::Working(loads) => Some(loads.snapshot()),
        _ => None,
    }
}

/// What each load did since `before`. A load that can't be asked has no proof, and says so.
pub(super) fn proofs(
    loads: &mut PhaseLoads,
    before: Option<Result<Snapshot, LoadError>>,
) -> Vec<serde_json::Value> {
    let (PhaseLoads::Working(loads), Some(before)) = (loads, before) else {
        return Vec::new();
    };
    let proofs = before.and_then(|before| {
        let after = loads.snapshot()?;
        Ok(loads.proof_between(&before, &after))
    });
    let unproven = |reason: String| missing_proof("loads", &reason);
    match proofs {
        Ok(proofs) => proofs
            .iter()
            .map(|proof| serde_json::to_value(proof).unwrap_or_else(|e| unproven(e.to_string())))
            .collect(),
        Err(error) => vec![unproven(error.to_string())],
    }
}

/// What stands in the place of a proof that there is not.
pub(super) fn missing_proof(name: &str, reason: &str) -> serde_json::Value {
    json!({ "name": name, "working": false, "reason": reason })
}

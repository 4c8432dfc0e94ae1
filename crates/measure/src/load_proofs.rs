//! The loads of a segment's phase, and what each of them proves to have done beside it.

use wakepath_load::{LoadError, Loads, Snapshot};
use wakepath_timeline::LoadProof;

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
) -> Vec<LoadProof> {
    let (PhaseLoads::Working(loads), Some(before)) = (loads, before) else {
        return Vec::new();
    };
    let proofs = before.and_then(|before| {
        let after = loads.snapshot()?;
        Ok(loads.proof_between(&before, &after))
    });
    proofs.unwrap_or_else(|error| vec![LoadProof::missing("loads", error.to_string())])
}

//! Deserialises load proofs.
//!
//! A statement of another version that is unknown here becomes a load without proof, and the rest
//! of the run stays readable.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use wakepath_timeline::LoadProof;

/// Reads a list of proofs, whatever it contains.
pub(crate) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<LoadProof>, D::Error> {
    let statements = Vec::<Value>::deserialize(from)?;
    let proofs = statements.into_iter().map(|statement| {
        serde_json::from_value(statement).unwrap_or_else(|error| {
            let reason = format!("its statement can't be read: {error}");
            LoadProof::missing("a load", reason)
        })
    });
    Ok(proofs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::Disturbance;

    #[test]
    fn statements_of_other_versions_are_read_or_stand_for_no_proof() {
        let written = r#"[
            {"name": "cpu", "working": true, "work_done": 0.30000000000000004, "later": 7},
            {"name": "gpu", "working": false, "reason": "died", "disturbs": ["cpu", "quantum"]},
            {"load": "none", "share": 0.1}, 7]"#;
        let mut text = serde_json::Deserializer::from_str(written);
        let proofs = read(&mut text).unwrap();
        assert_eq!(proofs[0].work_done, 0.1 + 0.2);
        assert_eq!(proofs[0].why_unproven(), None);
        assert_eq!(proofs[1].why_unproven(), Some("died"));
        let disturbs = [Disturbance::Cpu, Disturbance::Unknown];
        assert_eq!(proofs[1].disturbs, disturbs);
        for unreadable in &proofs[2..] {
            let why = unreadable.why_unproven().unwrap();
            assert!(why.starts_with("its statement can't be read: "), "{why}");
        }
    }
}

//! Any bytes as a seal, a trust file, a key or a certificate.
//!
//! No reader may panic, nothing unsigned is verified, and the result is written back unchanged.

use wakepath_evidence::{
    Certificate, Envelope, FileDigest, Finding, PrivateKey, PublicKey, Statement, Trust, verify,
};

/// A time within that of the seeds' keys: 2026-11-25.
const NOW: u64 = 1_795_564_800;

/// The trust file for checking the seeds' seal: the author of `data` has none of these keys.
const TRUST: &str = "pi5-* ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea\n\
    * cert-authority ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAID1AF8PoQ4lakrcKp00bfrycmCzPLsSWjMDNVfEq9GYM";

/// Reads `data` as each of them; returns whether it was valid as any.
///
/// # Panics
/// If a reader violates its properties.
pub fn evidence(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    let is_seal = seal(data);
    let is_trust = trust(&text);
    let is_key = match PrivateKey::from_openssh(&text) {
        Ok(key) => {
            assert!(key.public().signed(b"m", &key.sign(b"m")));
            true
        }
        Err(error) => {
            in_one_line(&error.to_string());
            false
        }
    };
    let is_public = PublicKey::from_line(&text).is_ok_and(|key| {
        assert_eq!(PublicKey::from_line(&key.line()), Ok(key));
        true
    });
    let is_certificate = Certificate::from_line(&text).is_ok();
    is_seal || is_trust || is_key || is_public || is_certificate
}

fn seal(data: &[u8]) -> bool {
    let Ok(envelope) = Envelope::from_bytes(data) else {
        return false;
    };
    let again = Envelope::from_bytes(&envelope.to_bytes());
    assert_eq!(again.expect("the envelope reads back"), envelope);
    let Ok(statement) = Statement::from_payload(&envelope.payload) else {
        return false;
    };
    let files: Vec<FileDigest> = statement
        .subject
        .iter()
        .map(|subject| FileDigest {
            name: subject.name.clone(),
            sha256: subject.digest.sha256.clone(),
        })
        .collect();
    let trust = Trust::parse(TRUST).expect("a trust file");
    let Ok(whole) = verify(data, &files, &trust, NOW, None) else {
        return false;
    };
    for finding in &whole.findings {
        in_one_line(&finding.to_string());
    }
    if whole.is_good() {
        let message = envelope.message();
        let key = whole.key.expect("who signed");
        let signed = |one: &wakepath_evidence::Signature| key.signed(&message, &one.bytes);
        assert!(envelope.signatures.iter().any(signed), "nobody signed this");
        let without = verify(data, files.get(1..).unwrap_or(&[]), &trust, NOW, None);
        let missing = |of: &Finding| matches!(of, Finding::Missing(_));
        let found = without.expect("the same seal").findings;
        assert!(files.is_empty() || found.iter().any(missing));
    }
    true
}

fn trust(text: &str) -> bool {
    match Trust::parse(text) {
        Ok(trust) => {
            assert!(trust.trusted.len() <= text.lines().count());
            for one in &trust.trusted {
                one.is_for("pi5-1");
            }
            true
        }
        Err(error) => {
            assert!(error.line <= text.lines().count().max(1));
            in_one_line(&error.to_string());
            false
        }
    }
}

fn in_one_line(said: &str) {
    assert!(!said.contains('\n'), "{said:?}");
}

//! A certificate of OpenSSH over a sealing key: its owner and validity, vouched for by an
//! authority.
//!
//! `trust` decides whether the authority is trusted.

use crate::key::{ED25519, P256, PublicKey};
use crate::wire::Wire;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use wakepath_timeline::shortened;

/// OpenSSH's names of the kinds, each with that of the key that it is about.
const KINDS: [(&str, &str); 2] = [
    ("ssh-ed25519-cert-v01@openssh.com", ED25519),
    ("ecdsa-sha2-nistp256-cert-v01@openssh.com", P256),
];

/// More names than this in a certificate are an accident.
const MOST_PRINCIPALS: usize = 256;

/// A certificate, whose authority's signature has been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The key that it is about.
    pub key: PublicKey,
    /// Whose key it is.
    pub principals: Vec<String>,
    /// Seconds since 1970 from which it holds.
    pub from: u64,
    /// Seconds since 1970 at which it ends.
    pub until: u64,
    /// The authority.
    pub authority: PublicKey,
}

/// Reasons why a text isn't a valid certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// Not of its form.
    #[error("no certificate of a key that seals (one line, {} AAAA…)", KINDS[0].0)]
    Form,
    /// Cut short, or with more than belongs there.
    #[error("a damaged certificate")]
    Damaged,
    /// An authority with another kind of key.
    #[error(
        "a certificate whose authority's key is of another kind than Ed25519 and ECDSA on P-256"
    )]
    OtherAuthority,
    /// An option that must be understood, and is not.
    #[error("a certificate with the critical option {0:?}, which says nothing about a seal")]
    CriticalOption(String),
    /// The authority's signature doesn't match.
    #[error("a certificate that its authority did not sign")]
    NotSigned,
}

impl Certificate {
    /// Reads the line of a file `…-cert.pub`.
    ///
    /// # Errors
    /// Another kind of line, or a certificate that its authority did not sign.
    pub fn from_line(line: &str) -> Result<Self, CertificateError> {
        let mut words = line.split_ascii_whitespace();
        let (Some(kind), Some(encoded)) = (words.next(), words.next()) else {
            return Err(CertificateError::Form);
        };
        let Some(&(kind, of)) = KINDS.iter().find(|(name, _)| *name == kind) else {
            return Err(CertificateError::Form);
        };
        let blob = STANDARD
            .decode(encoded)
            .map_err(|_| CertificateError::Damaged)?;
        read(&blob, kind, of).unwrap_or(Err(CertificateError::Damaged))
    }
}

/// None if too few bytes are left.
fn read(blob: &[u8], kind: &str, of: &str) -> Option<Result<Certificate, CertificateError>> {
    let mut wire = Wire(blob);
    if wire.text()? != kind {
        return None;
    }
    let _nonce = wire.string()?;
    let key = PublicKey::new(of, &mut wire).ok()?;
    let _serial = wire.u64()?;
    let _user_or_host = wire.u32()?;
    let _identity = wire.string()?;
    let principals = strings(wire.string()?)?;
    let (from, until) = (wire.u64()?, wire.u64()?);
    let critical = Wire(wire.string()?)
        .text()
        .map(|option| shortened(option, 60));
    let _extensions = wire.string()?;
    let _reserved = wire.string()?;
    let authority = wire.string()?;
    let signed = &blob[..blob.len() - wire.0.len()];
    let signature = wire.string()?;
    if !wire.is_empty() {
        return None;
    }
    if let Some(option) = critical {
        return Some(Err(CertificateError::CriticalOption(option)));
    }
    let Ok(authority) = PublicKey::from_blob(authority) else {
        return Some(Err(CertificateError::OtherAuthority));
    };
    let mut signature = Wire(signature);
    let bytes = authority.signature(&mut signature);
    let is_good = |bytes: Vec<u8>| signature.is_empty() && authority.signed(signed, &bytes);
    if !bytes.is_some_and(is_good) {
        return Some(Err(CertificateError::NotSigned));
    }
    Some(Ok(Certificate {
        key,
        principals,
        from,
        until,
        authority,
    }))
}

fn strings(packed: &[u8]) -> Option<Vec<String>> {
    let mut wire = Wire(packed);
    let mut found = Vec::new();
    while !wire.is_empty() {
        if found.len() == MOST_PRINCIPALS {
            return None;
        }
        found.push(wire.text()?.to_owned());
    }
    Some(found)
}

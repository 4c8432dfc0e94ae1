//! A public key: as OpenSSH writes it in a line, its fingerprint, its PEM for other programs, and
//! whether a signature is its own.

use super::{ED25519, KeyError, is_kind};
use crate::wire::{Wire, put};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest, Sha256};
use wakepath_timeline::shortened;

/// What stands before the 32 bytes in a SubjectPublicKeyInfo (RFC 8410, section 4).
const PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/// An Ed25519 public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// Reads `ssh-ed25519 AAAA… comment`.
    ///
    /// # Errors
    /// Another kind of key, and what is no key.
    pub fn from_line(line: &str) -> Result<Self, KeyError> {
        let mut words = line.split_ascii_whitespace();
        let (Some(kind), Some(encoded)) = (words.next(), words.next()) else {
            return Err(KeyError::NotPublic);
        };
        Self::from_words(kind, encoded)
    }

    /// Reads the kind and what stands behind it.
    pub(crate) fn from_words(kind: &str, encoded: &str) -> Result<Self, KeyError> {
        if kind != ED25519 {
            return Err(match is_kind(kind) {
                true => KeyError::OtherKind(shortened(kind, 60)),
                false => KeyError::NotPublic,
            });
        }
        let blob = STANDARD.decode(encoded);
        Self::from_blob(&blob.map_err(|_| KeyError::Damaged("no base64"))?)
    }

    /// Reads the binary form.
    pub(crate) fn from_blob(blob: &[u8]) -> Result<Self, KeyError> {
        let mut wire = Wire(blob);
        let kind = wire.text().ok_or(KeyError::Damaged("cut short"))?;
        if kind != ED25519 {
            return Err(KeyError::OtherKind(shortened(kind, 60)));
        }
        let key = wire.string().and_then(|key| key.try_into().ok());
        match key {
            Some(key) if wire.is_empty() => Ok(Self(key)),
            _ => Err(KeyError::Damaged("not 32 bytes")),
        }
    }

    /// The binary form.
    pub fn blob(&self) -> Vec<u8> {
        let mut blob = Vec::with_capacity(51);
        put(&mut blob, ED25519.as_bytes());
        put(&mut blob, &self.0);
        blob
    }

    /// As in a line of OpenSSH, without a comment.
    pub fn line(&self) -> String {
        format!("{ED25519} {}", STANDARD.encode(self.blob()))
    }

    /// As `ssh-keygen -l` prints it: `SHA256:…`.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(self.blob());
        format!("SHA256:{}", STANDARD_NO_PAD.encode(digest))
    }

    /// As PEM, which openssl and cosign read.
    pub fn pem(&self) -> String {
        let mut der = PREFIX.to_vec();
        der.extend(self.0);
        let encoded = STANDARD.encode(der);
        format!("-----BEGIN PUBLIC KEY-----\n{encoded}\n-----END PUBLIC KEY-----\n")
    }

    /// Whether this key's owner signed `message`.
    pub fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let key = ed25519_compact::PublicKey::new(self.0);
        ed25519_compact::Signature::from_slice(signature)
            .is_ok_and(|signature| key.verify(message, &signature).is_ok())
    }
}

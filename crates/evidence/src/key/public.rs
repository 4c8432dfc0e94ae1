//! A public key: as OpenSSH writes it in a line, its fingerprint, its PEM for other programs, and
//! whether a signature is its own.

use super::{ED25519, KeyError, P256, is_kind, p256};
use crate::wire::{Wire, put};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest, Sha256};
use wakepath_timeline::shortened;

/// OpenSSH's name of the curve.
const CURVE: &str = "nistp256";

/// Bytes before the 32 key bytes in a SubjectPublicKeyInfo (RFC 8410, section 4).
const PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 0x21, 0];

/// A public key of a kind that seals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PublicKey {
    /// Ed25519.
    Ed25519([u8; 32]),
    /// ECDSA on P-256: the point, which is not compressed.
    P256([u8; p256::POINT]),
}

impl PublicKey {
    /// Parses `ssh-ed25519 AAAA… comment`.
    ///
    /// # Errors
    /// Another kind of key, or not a key.
    pub fn from_line(line: &str) -> Result<Self, KeyError> {
        let mut words = line.split_ascii_whitespace();
        let (Some(kind), Some(encoded)) = (words.next(), words.next()) else {
            return Err(KeyError::NotPublic);
        };
        if ![ED25519, P256].contains(&kind) {
            return Err(if is_kind(kind) {
                KeyError::OtherKind(shortened(kind, 60))
            } else {
                KeyError::NotPublic
            });
        }
        let blob = STANDARD.decode(encoded);
        let key = Self::from_blob(&blob.map_err(|_| KeyError::Damaged("no base64"))?)?;
        if key.kind() == kind {
            Ok(key)
        } else {
            Err(KeyError::Damaged("of another kind than its line says"))
        }
    }

    /// Reads the binary form.
    pub(crate) fn from_blob(blob: &[u8]) -> Result<Self, KeyError> {
        let mut wire = Wire(blob);
        let kind = wire.text().ok_or(KeyError::Damaged("cut short"))?;
        let key = Self::new(kind, &mut wire)?;
        if wire.is_empty() {
            Ok(key)
        } else {
            Err(KeyError::Damaged("more than a key"))
        }
    }

    /// Reads the part after the kind, in a key and in a certificate.
    pub(crate) fn new(kind: &str, wire: &mut Wire) -> Result<Self, KeyError> {
        match kind {
            ED25519 => {
                let key = wire.string().and_then(|key| key.try_into().ok());
                key.map(Self::Ed25519)
                    .ok_or(KeyError::Damaged("not 32 bytes"))
            }
            P256 => {
                let is_curve = wire.text() == Some(CURVE);
                let point = wire.string().and_then(p256::point);
                let point = point.filter(|_| is_curve);
                point
                    .map(Self::P256)
                    .ok_or(KeyError::Damaged("no point of P-256"))
            }
            other => Err(KeyError::OtherKind(shortened(other, 60))),
        }
    }

    /// OpenSSH's name of its kind.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Ed25519(_) => ED25519,
            Self::P256(_) => P256,
        }
    }

    /// The binary form.
    pub fn blob(&self) -> Vec<u8> {
        let mut blob = Vec::with_capacity(104);
        put(&mut blob, self.kind().as_bytes());
        match self {
            Self::Ed25519(key) => put(&mut blob, key),
            Self::P256(point) => {
                put(&mut blob, CURVE.as_bytes());
                put(&mut blob, point);
            }
        }
        blob
    }

    /// As in a line of OpenSSH, without a comment.
    pub fn line(&self) -> String {
        format!("{} {}", self.kind(), STANDARD.encode(self.blob()))
    }

    /// As `ssh-keygen -l` prints it: `SHA256:…`.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(self.blob());
        format!("SHA256:{}", STANDARD_NO_PAD.encode(digest))
    }

    /// As PEM, which openssl and cosign read.
    pub fn pem(&self) -> String {
        let der = match self {
            Self::Ed25519(key) => [&PREFIX[..], key].concat(),
            Self::P256(point) => [&p256::PREFIX[..], point].concat(),
        };
        let encoded = STANDARD.encode(der);
        // A line of PEM has 64 characters (RFC 7468, section 2).
        let lines = encoded.as_bytes().chunks(64).map(String::from_utf8_lossy);
        let lines: Vec<_> = lines.collect();
        format!(
            "-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n",
            lines.join("\n")
        )
    }

    /// Whether this key's owner signed `message`: 64 bytes of Ed25519 (RFC 8032), or DER of ECDSA with SHA-256.
    pub fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Ed25519(key) => {
                let key = ed25519_compact::PublicKey::new(*key);
                ed25519_compact::Signature::from_slice(signature)
                    .is_ok_and(|signature| key.verify(message, &signature).is_ok())
            }
            Self::P256(point) => p256::signed(point, message, signature),
        }
    }

    /// Converts OpenSSH's signature into the form that [`Self::signed`] takes; none if it is of
    /// another kind of key.
    pub(crate) fn signature(&self, wire: &mut Wire) -> Option<Vec<u8>> {
        (wire.text()? == self.kind()).then_some(())?;
        let bytes = wire.string()?;
        match self {
            Self::Ed25519(_) => Some(bytes.to_vec()),
            Self::P256(_) => p256::from_openssh(bytes),
        }
    }
}

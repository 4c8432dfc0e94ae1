//! ECDSA on P-256 with SHA-256, checked. Nothing here signs: TPMs, tokens and ssh-agent do.

use crate::wire::Wire;
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};

/// Bytes of a point that is not compressed (SEC 1, section 2.3.3).
pub(super) const POINT: usize = 65;

/// Bytes before the point in a SubjectPublicKeyInfo (RFC 5480, sections 2.1 and 2.2).
pub(super) const PREFIX: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 8, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 3, 1, 7, 3, 0x42, 0,
];

/// A point of the curve, in OpenSSH's form; none if it is invalid.
pub(super) fn point(bytes: &[u8]) -> Option<[u8; POINT]> {
    let point: [u8; POINT] = bytes.try_into().ok()?;
    VerifyingKey::from_sec1_bytes(&point).ok().map(|_| point)
}

/// Whether a signature, in the DER of RFC 3279, section 2.2.3, is over `message`.
pub(super) fn signed(point: &[u8; POINT], message: &[u8], signature: &[u8]) -> bool {
    let key = VerifyingKey::from_sec1_bytes(point);
    let signature = Signature::from_der(signature);
    match (key, signature) {
        (Ok(key), Ok(signature)) => key.verify(message, &signature).is_ok(),
        _ => false,
    }
}

/// A signature in OpenSSH's form (RFC 5656, section 3.1.2: two numbers), converted to the DER that
/// every other program reads; none if it is invalid.
pub(super) fn from_openssh(blob: &[u8]) -> Option<Vec<u8>> {
    let mut wire = Wire(blob);
    let (r, s) = (scalar(wire.string()?)?, scalar(wire.string()?)?);
    if !wire.is_empty() {
        return None;
    }
    let signature = Signature::from_scalars(r, s).ok()?;
    Some(signature.to_der().as_bytes().to_vec())
}

/// A number without a sign in 32 bytes.
fn scalar(number: &[u8]) -> Option<[u8; 32]> {
    let number = match number {
        [0, rest @ ..] => rest,
        all => all,
    };
    let mut bytes = [0; 32];
    let from = bytes.len().checked_sub(number.len())?;
    bytes[from..].copy_from_slice(number);
    Some(bytes)
}

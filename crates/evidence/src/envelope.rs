//! A DSSE envelope: a payload with its type, and signatures over both.
//!
//! It doesn't interpret the payload. <https://github.com/secure-systems-lab/dsse>

use crate::key::PublicKey;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde::{Deserialize, Serialize};

/// Type of an in-toto statement.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Most signatures of a valid seal.
const MOST_SIGNATURES: usize = 64;

/// An envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Type of the payload.
    pub payload_type: String,
    /// The signed bytes.
    pub payload: Vec<u8>,
    /// The signatures.
    pub signatures: Vec<Signature>,
}

/// A signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// A hint as to the key: its fingerprint. Nothing vouches for it.
    pub key: String,
    /// The public key, as in a line of OpenSSH: our own addition. It shows that a seal was altered
    /// after it was signed, but doesn't prove who signed.
    pub public: Option<String>,
    /// The signature.
    pub bytes: Vec<u8>,
    /// The certificate of the key, as in OpenSSH's file `-cert.pub`; our own addition, which needs
    /// no further signature.
    pub certificate: Option<String>,
}

/// Reasons why bytes aren't an envelope.
#[derive(Debug, thiserror::Error)]
pub enum EnvelopeError {
    /// Not of its form.
    #[error("no DSSE envelope: {0}")]
    Form(String),
    /// Another payload.
    #[error("the payload is {0:?}, not application/vnd.in-toto+json")]
    PayloadType(String),
    /// Unknown payload.
    #[error("the payload is not an in-toto statement about a run: {0}")]
    Statement(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    payload_type: String,
    payload: String,
    signatures: Vec<WrittenSignature>,
}

#[derive(Serialize, Deserialize)]
struct WrittenSignature {
    #[serde(default)]
    keyid: String,
    sig: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cert: Option<String>,
}

impl Envelope {
    /// Reads an envelope.
    ///
    /// # Errors
    /// If the bytes aren't an envelope.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        let form = |what: String| EnvelopeError::Form(what);
        let written: Written = serde_json::from_slice(bytes).map_err(|e| form(e.to_string()))?;
        let count = written.signatures.len();
        if count == 0 || count > MOST_SIGNATURES {
            return Err(form(format!(
                "{count} signatures; 1 to {MOST_SIGNATURES} are right"
            )));
        }
        let payload = decoded(&written.payload).ok_or_else(|| form("payload: no base64".into()))?;
        let signatures = written.signatures.into_iter().map(|one| {
            let bytes = decoded(&one.sig).ok_or_else(|| form("sig: no base64".into()))?;
            Ok(Signature {
                key: one.keyid,
                public: one.key,
                bytes,
                certificate: one.cert,
            })
        });
        Ok(Self {
            payload_type: written.payload_type,
            payload,
            signatures: signatures.collect::<Result<_, _>>()?,
        })
    }

    /// Writes it, with a line end.
    pub fn to_bytes(&self) -> Vec<u8> {
        let signatures = self.signatures.iter().map(|one| WrittenSignature {
            keyid: one.key.clone(),
            key: one.public.clone(),
            sig: STANDARD.encode(&one.bytes),
            cert: one.certificate.clone(),
        });
        let written = Written {
            payload_type: self.payload_type.clone(),
            payload: STANDARD.encode(&self.payload),
            signatures: signatures.collect(),
        };
        let mut bytes = serde_json::to_vec(&written).expect("texts and lists");
        bytes.push(b'\n');
        bytes
    }

    /// Whether one of its signatures is by the key that it contains.
    pub fn is_signed(&self) -> bool {
        let message = self.message();
        self.signatures.iter().any(|one| {
            let key = one.public.as_deref().map(PublicKey::from_line);
            matches!(key, Some(Ok(key)) if key.signed(&message, &one.bytes))
        })
    }

    /// The message that is signed.
    pub fn message(&self) -> Vec<u8> {
        encoded(&self.payload_type, &self.payload)
    }
}

/// DSSE's pre-authentication encoding: type and payload, each with its length, so that no part of
/// one passes for the other.
pub(crate) fn encoded(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let lengths = (payload_type.len(), payload.len());
    let mut message = format!("DSSEv1 {} {payload_type} {} ", lengths.0, lengths.1).into_bytes();
    message.extend(payload);
    message
}

/// Either alphabet of base64: the specification allows both.
fn decoded(text: &str) -> Option<Vec<u8>> {
    STANDARD
        .decode(text)
        .or_else(|_| URL_SAFE.decode(text))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_signed_is_the_specifications_example() {
        // https://github.com/secure-systems-lab/dsse/blob/master/protocol.md, test vectors.
        assert_eq!(
            encoded("http://example.com/HelloWorld", b"hello world"),
            b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
        );
    }
}

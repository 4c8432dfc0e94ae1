//! Making a seal: a statement becomes a message, and its signature an envelope. The holder of the
//! key signs it: this program, or an agent.

use crate::certificate::Certificate;
use crate::envelope::{Envelope, PAYLOAD_TYPE, Signature, encoded};
use crate::key::PublicKey;
use crate::statement::Statement;

/// A statement that waits for its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    payload: Vec<u8>,
}

/// Makes a statement's payload.
pub fn message(statement: &Statement) -> Sealed {
    Sealed {
        payload: serde_json::to_vec(statement).expect("texts and lists"),
    }
}

impl Sealed {
    /// The message to sign.
    pub fn message(&self) -> Vec<u8> {
        encoded(PAYLOAD_TYPE, &self.payload)
    }
}

/// The envelope with a signature over [`Sealed::message`]; `None` if it isn't the key's, or the
/// certificate is another key's.
pub fn seal(
    sealed: Sealed,
    key: &PublicKey,
    signature: Vec<u8>,
    certificate: Option<&str>,
) -> Option<Envelope> {
    if !key.signed(&sealed.message(), &signature) {
        return None;
    }
    if let Some(line) = certificate
        && Certificate::from_line(line).ok()?.key != *key
    {
        return None;
    }
    let signature = Signature {
        key: key.fingerprint(),
        public: Some(key.line()),
        bytes: signature,
        certificate: certificate.map(|line| line.trim().to_owned()),
    };
    Some(Envelope {
        payload_type: PAYLOAD_TYPE.into(),
        payload: sealed.payload,
        signatures: vec![signature],
    })
}

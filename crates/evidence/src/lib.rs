//! A run sealed by a signature: an in-toto statement that names its files by SHA-256, in a DSSE
//! envelope signed with a key of OpenSSH (Ed25519, or ECDSA on P-256 by an agent); whom a trust file trusts; and what is found when a
//! seal is looked at again. Pure: it is told which files there are, which time it is, and the text of
//! keys. It judges no run, and knows no disk.

pub mod agent;
mod certificate;
mod envelope;
mod instant;
mod key;
mod limits;
mod seal;
mod statement;
mod trust;
mod verify;
mod wire;

pub use certificate::{Certificate, CertificateError};
pub use envelope::{Envelope, EnvelopeError, PAYLOAD_TYPE, Signature};
pub use instant::{InstantError, compact, instant, written};
pub use key::{KeyError, PrivateKey, PublicKey};
pub use limits::NOT_PROVEN;
pub use seal::{Sealed, message, seal};
pub use statement::{
    Digests, FileDigest, Job, PREDICATE_TYPE, Predicate, STATEMENT_TYPE, Statement, Subject,
};
pub use trust::{LineError, Trust, TrustError, TrustWrong, Trusted};
pub use verify::{Finding, Verification, disagreements, verify};

/// Name of the seal in a run's directory: the one file there that it does not name.
pub const SEAL_NAME: &str = "seal.dsse.json";

/// A larger seal is none: ten thousand files take two megabytes.
pub const MOST_SEAL_BYTES: u64 = 16 << 20;

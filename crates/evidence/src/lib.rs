//! Seals a run with a signature, and verifies seals.
//!
//! A seal is an in-toto statement that names the run's files by SHA-256, in a DSSE envelope signed
//! with a key of OpenSSH (Ed25519, or ECDSA on P-256 by an agent). A trust file lists the trusted
//! keys. Pure: callers pass the files, the time and the text of keys. It judges no run and accesses
//! no disk.

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

/// Most bytes of a valid seal: ten thousand files take two megabytes.
pub const MOST_SEAL_BYTES: u64 = 16 << 20;

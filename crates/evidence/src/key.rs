//! Keys in OpenSSH's form: Ed25519, and the public half of ECDSA on P-256.
//!
//! It asks for no passphrase and contacts no agent.

mod p256;
mod private;
mod public;

pub use private::PrivateKey;
pub use public::PublicKey;

/// OpenSSH's name of the kind of key that signs here.
pub(crate) const ED25519: &str = "ssh-ed25519";

/// OpenSSH's name of the kind of key that agents sign with, for TPMs and tokens.
pub(crate) const P256: &str = "ecdsa-sha2-nistp256";

/// Reasons why a text isn't a usable key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not a private key.
    #[error(
        "no private key of OpenSSH (it begins with -----BEGIN OPENSSH PRIVATE KEY-----): make one with `ssh-keygen -t ed25519`"
    )]
    NotPrivate,
    /// The wrong half.
    #[error(
        "a public key: sealing takes the private one, the file of the same name without .pub, or ssh-agent, which is asked where the public key is given and SSH_AUTH_SOCK is set"
    )]
    Public,
    /// Not a public key.
    #[error("no public key of OpenSSH: one line, ssh-ed25519 AAAA… or ecdsa-sha2-nistp256 AAAA…")]
    NotPublic,
    /// Encrypted.
    #[error(
        "this key is protected by a passphrase: add it to ssh-agent (`ssh-add FILE`) and give its public key, FILE.pub, as --key"
    )]
    Protected,
    /// A private key that only an agent signs with.
    #[error(
        "an ECDSA key, which signs through ssh-agent alone: add it (`ssh-add FILE`) and give its public key, FILE.pub, as --key"
    )]
    AgentAlone,
    /// Another kind of key.
    #[error(
        "a key of the kind {0}: seals are signed by Ed25519 (`ssh-keygen -t ed25519`), or by ECDSA on P-256 through ssh-agent"
    )]
    OtherKind(String),
    /// A key in a TPM.
    #[error(
        "a key in a TPM, as a file for its own tools: add it to ssh-agent by the TPM's PKCS#11 library (`ssh-add -s LIBRARY`) and give its public key (`ssh-add -L`) as --key"
    )]
    Tpm,
    /// A key that contradicts itself.
    #[error("a damaged key: {0}")]
    Damaged(&'static str),
}

/// Whether a word names one of OpenSSH's kinds of keys.
pub(crate) fn is_kind(word: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-", "rsa-"]
        .iter()
        .any(|begin| word.starts_with(begin))
}

//! Ed25519 keys as OpenSSH has them. It asks for no passphrase and speaks to no agent.

mod private;
mod public;

pub use private::PrivateKey;
pub use public::PublicKey;

/// OpenSSH's name of the one kind of key that is used.
pub(crate) const ED25519: &str = "ssh-ed25519";

/// Why a text is no key that can be used here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No private key at all.
    #[error(
        "no private key of OpenSSH (it begins with -----BEGIN OPENSSH PRIVATE KEY-----): make one with `ssh-keygen -t ed25519`"
    )]
    NotPrivate,
    /// The wrong half.
    #[error(
        "a public key: sealing takes the private one, the file of the same name without .pub, or ssh-agent, which is asked where the public key is given and SSH_AUTH_SOCK is set"
    )]
    Public,
    /// No public key at all.
    #[error("no public key of OpenSSH: one line, ssh-ed25519 AAAA…")]
    NotPublic,
    /// Encrypted.
    #[error(
        "this key is protected by a passphrase: add it to ssh-agent (`ssh-add FILE`) and give its public key, FILE.pub, as --key"
    )]
    Protected,
    /// Another kind of key.
    #[error("a key of the kind {0}: seals are signed by Ed25519 alone (`ssh-keygen -t ed25519`)")]
    OtherKind(String),
    /// A key in a TPM.
    #[error("a key in a TPM: not supported; give a key of OpenSSH (`ssh-keygen -t ed25519`)")]
    Tpm,
    /// A key that contradicts itself.
    #[error("a damaged key: {0}")]
    Damaged(&'static str),
}

/// Whether a word names a kind of key of OpenSSH.
pub(crate) fn is_kind(word: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-", "rsa-"]
        .iter()
        .any(|begin| word.starts_with(begin))
}

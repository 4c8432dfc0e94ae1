//! A private key, from the file that `ssh-keygen` writes (openssh-key-v1). A protected one is
//! refused: its passphrase is the agent's business.

use super::{ED25519, KeyError, P256, PublicKey};
use crate::wire::Wire;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_compact::{KeyPair, Seed};
use wakepath_timeline::shortened;

const BEGIN: &str = "-----BEGIN OPENSSH PRIVATE KEY-----";
const END: &str = "-----END OPENSSH PRIVATE KEY-----";
const MAGIC: &[u8] = b"openssh-key-v1\0";

/// An Ed25519 private key. It shows itself to nobody.
pub struct PrivateKey {
    pair: KeyPair,
}

impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrivateKey({})", self.public().fingerprint())
    }
}

impl PrivateKey {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// A text of another kind, a protected key, a key of another type, or one that contradicts
    /// itself.
    pub fn from_openssh(text: &str) -> Result<Self, KeyError> {
        let Some((_, rest)) = text.split_once(BEGIN) else {
            return Err(instead(text));
        };
        let (body, _) = rest.split_once(END).ok_or(KeyError::Damaged("cut short"))?;
        let encoded: String = body.split_ascii_whitespace().collect();
        let decoded = STANDARD.decode(encoded);
        let bytes = decoded.map_err(|_| KeyError::Damaged("no base64"))?;
        let wire = bytes
            .strip_prefix(MAGIC)
            .ok_or(KeyError::Damaged("another version"))?;
        of(&mut Wire(wire))
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey::Ed25519(*self.pair.pk)
    }

    /// Signs.
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sk.sign(message, None).to_vec()
    }
}

fn of(wire: &mut Wire) -> Result<PrivateKey, KeyError> {
    const SHORT: KeyError = KeyError::Damaged("cut short");
    let cipher = wire.text().ok_or(SHORT)?;
    let _function = wire.string().ok_or(SHORT)?;
    let _options = wire.string().ok_or(SHORT)?;
    let keys = wire.u32().ok_or(SHORT)?;
    let public = wire.string().ok_or(SHORT)?;
    // The public half shows the kind of key even if the private one is protected.
    let PublicKey::Ed25519(public) = PublicKey::from_blob(public)? else {
        return Err(KeyError::AgentAlone);
    };
    if cipher != "none" {
        return Err(KeyError::Protected);
    }
    if keys != 1 {
        return Err(KeyError::Damaged("not one key"));
    }
    let mut wire = Wire(wire.string().ok_or(SHORT)?);
    let checks = (wire.u32().ok_or(SHORT)?, wire.u32().ok_or(SHORT)?);
    if checks.0 != checks.1 {
        return Err(KeyError::Damaged("its check numbers differ"));
    }
    let kind = wire.text().ok_or(SHORT)?;
    if kind != ED25519 {
        return Err(match kind {
            P256 => KeyError::AgentAlone,
            _ => KeyError::OtherKind(shortened(kind, 60)),
        });
    }
    let again = wire.string().ok_or(SHORT)?;
    let secret: &[u8; 64] = wire
        .string()
        .and_then(|secret| secret.try_into().ok())
        .ok_or(KeyError::Damaged("not 64 bytes"))?;
    let seed = Seed::from_slice(&secret[..32]).map_err(|_| SHORT)?;
    let pair = KeyPair::from_seed(seed);
    if *pair.pk == public && again == public && secret[32..] == public {
        Ok(PrivateKey { pair })
    } else {
        Err(KeyError::Damaged("its two halves don't belong together"))
    }
}

/// The error for a text that isn't a private key of OpenSSH.
fn instead(text: &str) -> KeyError {
    if PublicKey::from_line(text).is_ok() {
        return KeyError::Public;
    }
    if let Err(other @ KeyError::OtherKind(_)) = PublicKey::from_line(text) {
        return other;
    }
    let forms = [
        ("TSS2 PRIVATE KEY", KeyError::Tpm),
        ("RSA PRIVATE KEY", KeyError::OtherKind("RSA".into())),
        ("EC PRIVATE KEY", KeyError::AgentAlone),
    ];
    let begins = |form: &str| text.contains(&format!("-----BEGIN {form}-----"));
    let found = forms.into_iter().find(|(form, _)| begins(form));
    found.map_or(KeyError::NotPrivate, |(_, error)| error)
}

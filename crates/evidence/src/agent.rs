//! Messages to and from ssh-agent for a signature (draft-ietf-sshm-ssh-agent).
//!
//! The caller handles the socket.

use crate::key::PublicKey;
use crate::wire::{Wire, put};

/// Most bytes of a valid answer.
pub const MOST_ANSWER_BYTES: u32 = 64 << 10;

const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;

/// The request to sign `message` with a key, preceded by its length. `None` for a message that is
/// too long for an agent.
pub fn request(key: &PublicKey, message: &[u8]) -> Option<Vec<u8>> {
    // OpenSSH's agent accepts 256 KiB in total.
    const MOST_MESSAGE_BYTES: usize = 255 << 10;
    if message.len() > MOST_MESSAGE_BYTES {
        return None;
    }
    let mut body = vec![SIGN_REQUEST];
    put(&mut body, &key.blob());
    put(&mut body, message);
    body.extend(0_u32.to_be_bytes());
    let mut request = Vec::with_capacity(body.len() + 4);
    put(&mut request, &body);
    Some(request)
}

/// The key's signature in an answer, without the length before it; `None` if the agent refused.
pub fn signature(key: &PublicKey, answer: &[u8]) -> Option<Vec<u8>> {
    let mut wire = Wire(answer);
    if wire.bytes(1)? != [SIGN_RESPONSE] {
        return None;
    }
    key.signature(&mut Wire(wire.string()?))
}

//! ssh-agent, asked over its socket for one signature.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;
use wakepath_evidence::PublicKey;
use wakepath_evidence::agent::{MOST_ANSWER_BYTES, request, signature};

/// A person may be asked to confirm.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the agent listens.
pub fn socket() -> Option<PathBuf> {
    let path = std::env::var_os("SSH_AUTH_SOCK").map(PathBuf::from);
    path.filter(|path| !path.as_os_str().is_empty())
}

/// Has it sign.
pub fn sign(key: &PublicKey, message: &[u8]) -> Result<Vec<u8>, String> {
    let request = request(key, message)
        .ok_or("the run has too many files for ssh-agent, which signs 255 KiB at most")?;
    let answer = asked(&request).map_err(|error| format!("ssh-agent (SSH_AUTH_SOCK): {error}"))?;
    signature(key, &answer).ok_or_else(|| {
        "ssh-agent does not sign with this key: `ssh-add -l` lists those it has".to_owned()
    })
}

fn asked(request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(socket().unwrap_or_default())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > MOST_ANSWER_BYTES {
        return Err(std::io::Error::other("its answer is too long"));
    }
    let mut answer = vec![0; length as usize];
    stream.read_exact(&mut answer)?;
    Ok(answer)
}

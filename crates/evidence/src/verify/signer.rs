//! Finds an envelope's signer, and checks that the signature is valid for that board and time.

use super::Finding;
use crate::certificate::Certificate;
use crate::envelope::{Envelope, Signature};
use crate::instant::instant;
use crate::key::PublicKey;
use crate::statement::Predicate;
use crate::trust::{Trust, Trusted};

/// Seconds by which a sealer's clock can be ahead of this one.
const AHEAD: u64 = 300;

/// The key of the first valid signature; otherwise the fault of the first signature.
pub(super) fn of(
    envelope: &Envelope,
    predicate: &Predicate,
    trust: &Trust,
    now: u64,
) -> Result<PublicKey, Finding> {
    let time = instant(&predicate.sealed)
        .ok()
        .filter(|at| *at <= now.saturating_add(AHEAD));
    let Some(sealed) = time else {
        return Err(Finding::SealingTime(predicate.sealed.clone()));
    };
    let times = Times { sealed, now };
    let message = envelope.message();
    let mut first = None;
    for signature in &envelope.signatures {
        let found = match &signature.certificate {
            Some(line) => certified(line, signature, &message, predicate, trust, times),
            None => plain(signature, &message, predicate, trust, times),
        };
        match found {
            Ok(key) => return Ok(key),
            Err(finding) => first = first.or(Some(finding)),
        }
    }
    Err(first.expect("an envelope has a signature"))
}

#[derive(Clone, Copy)]
struct Times {
    sealed: u64,
    now: u64,
}

fn plain(
    signature: &Signature,
    message: &[u8],
    predicate: &Predicate,
    trust: &Trust,
    times: Times,
) -> Result<PublicKey, Finding> {
    let keys = || trust.trusted.iter().filter(|one| !one.is_authority);
    let Some(signer) = keys().find(|one| one.key.signed(message, &signature.bytes)) else {
        let key = signature.key.clone();
        let is_known = keys().any(|one| one.key.fingerprint() == key);
        return Err(if is_known {
            Finding::BadSignature { key }
        } else {
            Finding::UnknownKey { key }
        });
    };
    let lines: Vec<&Trusted> = keys().filter(|one| one.key == signer.key).collect();
    for_board(&lines, predicate, times)?;
    Ok(signer.key)
}

fn certified(
    line: &str,
    signature: &Signature,
    message: &[u8],
    predicate: &Predicate,
    trust: &Trust,
    times: Times,
) -> Result<PublicKey, Finding> {
    let read = Certificate::from_line(line);
    let certificate = read.map_err(|error| Finding::BadCertificate(error.to_string()))?;
    let of_authority = |one: &&Trusted| one.is_authority && one.key == certificate.authority;
    let lines: Vec<&Trusted> = trust.trusted.iter().filter(of_authority).collect();
    let key = certificate.key.fingerprint();
    if lines.is_empty() {
        return Err(Finding::UnknownKey {
            key: format!("{}, an authority,", certificate.authority.fingerprint()),
        });
    }
    if !certificate.key.signed(message, &signature.bytes) {
        return Err(Finding::BadSignature { key });
    }
    for_board(&lines, predicate, times)?;
    if !certificate.principals.contains(&predicate.board) {
        return Err(Finding::KeyOfOtherBoard {
            key,
            sealed: predicate.board.clone(),
            trusted: named(certificate.principals.iter()),
        });
    }
    in_time(
        "certificate",
        Some(certificate.from),
        Some(certificate.until),
        times,
    )?;
    Ok(certificate.key)
}

/// Whether one of a key's lines is for the board, and holds.
fn for_board(lines: &[&Trusted], predicate: &Predicate, times: Times) -> Result<(), Finding> {
    let mut outcome = Err(Finding::KeyOfOtherBoard {
        key: lines[0].key.fingerprint(),
        sealed: predicate.board.clone(),
        trusted: named(lines.iter().flat_map(|line| &line.boards)),
    });
    for line in lines.iter().filter(|line| line.is_for(&predicate.board)) {
        outcome = in_time("key", line.from, line.until, times);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Both the sealer's time and ours must be within the validity.
fn in_time(
    what: &'static str,
    from: Option<u64>,
    until: Option<u64>,
    times: Times,
) -> Result<(), Finding> {
    if let Some(at) = until.filter(|until| times.now >= *until || times.sealed >= *until) {
        let before_sealing = times.sealed >= at;
        return Err(Finding::Expired {
            what,
            at,
            before_sealing,
        });
    }
    match from.filter(|from| times.sealed < *from || times.now < *from) {
        Some(at) => Err(Finding::NotYet { what, at }),
        None => Ok(()),
    }
}

fn named<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let mut named: Vec<&str> = names.map(String::as_str).take(5).collect();
    named.dedup();
    if named.is_empty() {
        "nobody".into()
    } else {
        named.join(", ")
    }
}

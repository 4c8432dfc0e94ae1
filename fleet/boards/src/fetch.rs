//! Fetches a run: each file from the byte at which it was cut off, with its digest compared.
//!
//! The complete run is put in place in one step. Nothing is fetched while the board measures,
//! because the board refuses.

mod place;

use crate::answer::{self, RemoteFile};
use crate::inventory::Board;
use crate::job::{Outcome, Record, Stage};
use crate::judge;
use crate::judged::judged;
use crate::ssh::{CallError, Ssh};
use place::Place;
use std::path::{Path, PathBuf};
use wakepath_evidence::{FileDigest, Job, MOST_SEAL_BYTES, SEAL_NAME, Trust, verify};
use wakepath_timeline::shortened;

/// How it is fetched.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The largest run that is taken, bytes.
    pub most_bytes: u64,
    /// Trusted signers; none if no seals are required.
    pub trust: Option<Trust>,
    /// Whether the board's copy is removed once all is here.
    pub remove: bool,
}

/// Reason why a run was not fetched; the next fetch continues with the files received so far.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The board.
    #[error(transparent)]
    Call(#[from] CallError),
    /// This machine's disk.
    #[error("{place}: {1}", place = .0.display())]
    Here(PathBuf, std::io::Error),
    /// A file that did not arrive as it was.
    #[error("{0}: not the content that the board listed; it is fetched again next time")]
    Digest(String),
    /// Too much.
    #[error("the run has {0} bytes; at most {1} are fetched (--most-bytes)")]
    TooLarge(u64, u64),
}

/// Fetches a run that has ended into `to`, and returns its outcome.
///
/// # Errors
/// If a part could not be fetched; nothing is in `to` then.
pub fn fetch(
    ssh: &Ssh,
    board: &Board,
    record: &Record,
    to: &Path,
    terms: &Terms,
    now: impl Fn() -> u64,
) -> Result<Stage, FetchError> {
    let Stage::Ended {
        at,
        code,
        free_kib,
        begun,
        ended,
        why,
    } = &record.stage
    else {
        return Ok(record.stage.clone());
    };
    // A controller can have died between the last step and its record of it.
    if !to.is_dir() {
        bring(ssh, board, record, to, terms.most_bytes)?;
    }
    let last = last_line(&to.join("output"));
    let run = to.join("run");
    let account = judge::ended(*code, *free_kib, begun, ended, record.limit(), &last);
    let (mut outcome, mut reason) = judge::held_against(account, judged(&run));
    let objection = why.clone().or_else(|| {
        let trust = terms.trust.as_ref()?;
        objection(board, record, *at, &run, trust, now())
    });
    if let Some(why) = objection
        && outcome != Outcome::Invalid
    {
        (outcome, reason) = judge::invalid(&why);
    }
    if terms.remove {
        ssh.call(board, &["remove", &record.job], Vec::new())?;
    }
    Ok(Stage::Over {
        outcome,
        reason,
        fetched: true,
    })
}

fn bring(
    ssh: &Ssh,
    board: &Board,
    record: &Record,
    to: &Path,
    most_bytes: u64,
) -> Result<(), FetchError> {
    let answer = ssh.call(board, &["list", &record.job], Vec::new())?;
    let files = answer::files(&answer)
        .ok_or_else(|| CallError::NoAnswer("its list of files is none".into()))?;
    let all = files
        .iter()
        .fold(0_u64, |all, file| all.saturating_add(file.bytes));
    if all > most_bytes {
        return Err(FetchError::TooLarge(all, most_bytes));
    }
    let place = Place::beside(to)?;
    for file in &files {
        one(ssh, board, record, file, &place)?;
    }
    place.keep_only(&files)?;
    place.become_run(to)
}

/// Fetches one file, from the byte at which it was cut off.
fn one(
    ssh: &Ssh,
    board: &Board,
    record: &Record,
    file: &RemoteFile,
    place: &Place,
) -> Result<(), FetchError> {
    let here = place.length(file)?;
    if here < file.bytes {
        let mut to = place.append(file)?;
        let script = format!("{}/board", board.directory);
        let from = here.to_string();
        let words = ["sh", &script, "read", &record.job, &file.name, &from];
        ssh.stream(board, &words, Vec::new(), file.bytes - here, |piece| {
            std::io::Write::write_all(&mut to, piece)
        })?;
        to.sync_all()
            .map_err(|error| FetchError::Here(place.path(file), error))?;
        if place.length(file)? < file.bytes {
            let why = format!("{} came short", file.name);
            return Err(CallError::Unreachable(why).into());
        }
    }
    if place.digest(file)? == file.sha256 {
        Ok(())
    } else {
        place.forget(file)?;
        Err(FetchError::Digest(file.name.clone()))
    }
}

/// Reason why a fetched run isn't the ordered one, from its seal.
fn objection(
    board: &Board,
    record: &Record,
    began: u64,
    run: &Path,
    trust: &Trust,
    now: u64,
) -> Option<String> {
    let seal = run.join(SEAL_NAME);
    match seal.metadata() {
        Err(_) => return Some("it is not sealed".into()),
        Ok(data) if data.len() > MOST_SEAL_BYTES => return Some("its seal is none".into()),
        Ok(_) => {}
    }
    let files = match wakepath_directory::content(run, SEAL_NAME) {
        Ok(files) => files.into_iter(),
        Err(error) => return Some(error.to_string()),
    };
    let files: Vec<FileDigest> = files
        .map(|file| FileDigest {
            name: file.name,
            sha256: file.sha256,
        })
        .collect();
    let job = Job {
        name: record.job.clone(),
        scenario_sha256: record.scenario_sha256.clone(),
    };
    let read = std::fs::read(&seal).map_err(|error| error.to_string());
    let found = read.and_then(|seal| {
        let found = verify(&seal, &files, trust, now, Some(&board.name));
        found.map_err(|error| error.to_string())
    });
    match found {
        Ok(found) => {
            let found = found.ordered(&job, began);
            let first = found.findings.first();
            first.map(|finding| format!("its seal: {finding}"))
        }
        Err(error) => Some(format!("its seal: {error}")),
    }
}

/// The last line of the program's output, for a reason.
fn last_line(output: &Path) -> String {
    let bytes = std::fs::read(output).unwrap_or_default();
    let tail = &bytes[bytes.len().saturating_sub(4096)..];
    let text = String::from_utf8_lossy(tail).into_owned();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // A run prints its verdict first; an error is the only line, or the last one.
    let said = |line: &&str| line.starts_with("wakepath: ") || line.starts_with("verdict: ");
    let found = lines.clone().rfind(said).or_else(|| lines.next_back());
    shortened(found.unwrap_or_default(), 200)
}
